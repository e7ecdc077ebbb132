"""The names and other things of a text that a translation keeps, for benchmarks/words/translation.py."""

import re
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def names(line: str, reference: str) -> list[str]:
    """The capitalised words of a line that its reference has unchanged: Tom, Six, but not TOM or I."""
    unchanged = set(_WORD.findall(reference))
    found = _WORD.findall(line)
    return [w for w in found if len(w) > 1 and w[0].isupper() and not w.isupper() and w in unchanged]


def kept_names(lines: Sequence[str], references: Sequence[str], translated: Sequence[str]) -> tuple[int, int]:
    """How many of the names of all lines their translations keep, and how many names there are."""
    kept = total = 0
    for line, reference, translation in zip(lines, references, translated, strict=True):
        there, wanted = set(_WORD.findall(translation)), names(line, reference)
        kept, total = kept + sum(name in there for name in wanted), total + len(wanted)
    return kept, total


# What is no word, without the sentence's own signs around it: numbers with what is joined to them, words with
# signs inside, and quotations with the sign that opens or closes them.
_THING = re.compile(
    r"""(?<!\S)[(\[«“"]*(\S*[\d@#&°€$£/+=_<>^~*🏻-🏿😀-🙏]\S*?)[.,;:!?…)\]»”"']*(?!\S)"""
    r"""|(?<!\S)["'‘“](?=\w)|(?<=\w)["”](?=[\s.,;:!?]|$)"""
)


def kept_things(lines: Sequence[str], translated: Sequence[str]) -> tuple[int, int]:
    """How many things of all lines that are no words their translations have as they were, of how many.

    >>> kept_things(["Il a dit 'oui' à 12:45.", "20°C, R&D"], ["He said 'yes' to 12: 45.", "20 ° C, R&D"])
    (2, 4)
    """
    kept = total = 0
    for line, translation in zip(lines, translated, strict=True):
        wanted, found = Counter(_things(line)), Counter(_things(translation))
        kept, total = kept + (wanted & found).total(), total + wanted.total()
    return kept, total


def has_things(line: str) -> bool:
    """Whether a line has a thing that is no word."""
    return _THING.search(line) is not None


def _things(line: str) -> list[str]:
    # French alone has a space before a sign of per cent.
    return [match[1] or match[0] for match in _THING.finditer(re.sub(r"(?<=\d)\s%", "%", line))]
