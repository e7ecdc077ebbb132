"""Cells: what one cell of a dictionary has: a word, its translations, or a number.

Dictionaries made for people list several translations in a cell. Only what clearly is a list is split.
"""

import math
import re
from collections.abc import Iterable, Sequence
from itertools import islice, product

from muse.errors import BadFile
from muse.orthography import BRACKETED, without_gloss

_MOST = 10_000  # translations in a cell
LONGEST_PHRASE = 4  # words; longer entries of dictionaries made for people are explanations or sentences
# With the spaces of word processors and of Chinese and Japanese keyboards.
_BLANK = (
    " \t\r\n\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
)


def stripped(cell: str) -> str:
    r"""The cell without spaces at its ends, the no-break and the ideographic one among them.

    A cell of nothing else stays: it may be a word.

    >>> stripped("\u00a0roi\u3000 ")
    'roi'
    """
    return cell.strip(_BLANK) or cell.strip(" ")


_WORDS = re.compile(r"[^\W\d_][\w\s'\u2019().\u00b7\u200c\u200d\u0300-\u036f\u0591-\u0670\u0900-\u0dff-]*")
_SEPARATORS = (
    # What stands before a separator is stripped afterwards: looked for here, long spaces take quadratic time.
    re.compile(r"\n\s*"),
    re.compile(r"[|\uff5c]"),
    re.compile(r"[;\uff1b\u061b]"),
    re.compile(r"(?<!\d),|,(?!\d)|[\uff0c\u3001\u060c]"),
    re.compile(r"(?<=\s)[\u00b7\u2022](?=\s)"),
    re.compile(r"/"),
)
_SEPARATED = re.compile(r"<br|[\n|\uff5c;\uff1b\u061b,\uff0c\u3001\u060c/\u00b7\u2022\]]|\d[.)]\s")
_SENSE = re.compile(r"(?<!\S)(\d{1,2})[.)](?=\s)")  # its number
_QUOTE = r"""(?:"[^"]*"|'[^']*')"""
_LISTED = re.compile(rf"\[\s*{_QUOTE}(?:\s*,\s*{_QUOTE})*\s*\]|{_QUOTE}(?:\s*,\s*{_QUOTE})+")
_NO_WORDS = frozenset(
    "... \u2026 etc. etc usw. m f n pl mf nm nf adj adv vt vi".split()
)  # of a list of words


def split_translations(cell: str) -> list[str]:
    """The translations in a cell; the cell itself unless it clearly has several.

    >>> [split_translations(cell) for cell in ("king, kings", "roi|monarque", "1,5", "km/h", "well, well")]
    [['king', 'kings'], ['roi', 'monarque'], ['1,5'], ['km/h'], ['well, well']]
    """
    if not _SEPARATED.search(cell):
        return [cell]
    cell = re.sub(r"<br ?/?>", "; ", cell)
    if _LISTED.fullmatch(cell):  # as Python and JSON write several
        return [stripped(one) for quote in re.findall(_QUOTE, cell) if (one := quote[1:-1]).strip()] or [cell]
    senses = [*_SENSE.finditer(cell)]
    numbers = [int(sense[1]) for sense in senses]
    if len(senses) > 1 and not senses[0].start() and numbers == [*range(1, len(senses) + 1)]:
        bounds = [*(sense.start() for sense in senses[1:]), None]
        texts = (cell[sense.end() : end] for sense, end in zip(senses, bounds, strict=True))
        return [part for text in texts for part in split_translations(text.strip(f"{_BLANK},;"))]
    outside = BRACKETED.sub(lambda gloss: "\0" * len(gloss[0]), cell)  # a gloss may have commas
    for separator in _SEPARATORS:
        if separators := [match.span() for match in islice(separator.finditer(outside), _MOST + 1)]:
            if len(separators) > _MOST:
                return [cell]
            ends, begins = zip(*separators, strict=True)
            cells = (cell[begin:end] for begin, end in zip((0, *begins), (*ends, None), strict=True))
            whole = [stripped(part.strip()) for part in cells]
            # The last sign may end the list.
            whole = [part for place, part in enumerate(whole) if part or not place or place < len(whole) - 1]
            parts = [one for part in whole for one in split_translations(part)]
            parts = [part for part in parts if part not in _NO_WORDS] or parts
            return parts if _are_translations(parts, bare=_has_bare_slash(outside)) else [cell]
    return [cell]


def _has_bare_slash(text: str) -> bool:
    return "/" in text and " /" not in text and "/ " not in text


def _are_translations(parts: Sequence[str], *, bare: bool) -> bool:
    # Units, and/or, TCP/IP and paths are one word each; so is what has a bracket on either side of a comma.
    for part in parts:
        plain = without_gloss(part)
        if not _WORDS.fullmatch(plain) or len(plain.split()) > LONGEST_PHRASE:
            return False
        if plain.count("(") != plain.count(")") or (bare and (len(part) < 3 or part.isupper())):
            return False
    return len(set(parts)) == len(parts)


def pairs_of_cells(source: str, target: str) -> Iterable[tuple[str, str]]:
    """The pairs that two cells have: each translation of the one with each of the other.

    If both have as many parts, such as il/elle and he/she, nothing says which belong together: they stay
    whole; but as many lines stand beside one another.
    """
    lines = [[stripped(one) for one in cell.splitlines() if one.strip()] for cell in (source, target)]
    if len(lines[0]) == len(lines[1]) > 1:
        return [pair for beside in zip(*lines, strict=True) for pair in pairs_of_cells(*beside)]
    targets = split_translations(target)
    # Of a word and its translations only these are often written with a bare slash.
    sources = [source] if _has_bare_slash(source) else split_translations(source)
    if len(sources) == len(targets) > 1:
        return [(source, target)]
    return product(sources, targets)


def read_number(cell: str, where: str) -> float:
    """The finite number in a cell, with a point or a decimal comma; BadFile for anything else."""
    number = number_in(cell)
    if number is None or not math.isfinite(number):
        raise BadFile(f"{where}: expected a finite number, got {cell[:60]!r}; correct it, or remove the row")
    return number


def number_in(cell: str) -> float | None:
    """The number in a cell, perhaps in percent or with a decimal comma; None if it is none."""
    digits = cell.removesuffix("%")
    try:
        number = float(digits.replace(",", ".", 1) if "." not in digits else digits)
        return number if digits == cell else number / 100
    except ValueError:
        return None
