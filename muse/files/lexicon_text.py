"""Dictionaries as text: one pair a line, separated by a tab or, if no word has a space, by spaces."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from muse.errors import BadFile, Mismatch
from muse.files.lexicon_records import PairLine, object_reader, table_reader
from muse.files.lines import blocks_of_lines
from muse.files.source import open_source
from muse.files.writing import check_unicode, replaced, unwritable
from muse.lexicon import Lexicon, Pair

log = logging.getLogger(__name__)

RATED = "two words and a rating"
BOM = "\ufeff"
_COMMENT = "#"  # begins a comment in other formats; here it may be a word, or the first letter of one
_LONGEST = 1 << 16  # of a line, in bytes: two words are shorter


def read_lexicon(path: Path | str, wanted: str = "two words") -> Lexicon:
    r"""The pairs of a dictionary, each once, in order; with scores if all lines have a third, tabbed field.

    Reads the MUSE format, and the tables and JSON lines that `muse induce --format` writes, with their
    probabilities. `wanted` is what an error says of a line. There are no comments: a warning names a pair
    that looks like one.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "en-fr.txt"
    ...     _ = path.write_text("cat chat\nnew york\tnew york\n")
    ...     read_lexicon(path).pairs
    (('cat', 'chat'), ('new york', 'new york'))
    """
    path = Path(path)
    found: dict[Pair, PairLine] = {}
    differ = [
        line.pair for line in _entries(path, wanted) if found.setdefault(line.pair, line).score != line.score
    ]
    if differ and wanted == RATED:
        log.warning(
            "%s: %d pairs are repeated with another rating, the first counts; one is %r and %r",
            path, len(differ), *differ[0],
        )  # fmt: skip
    if not found:
        raise BadFile(f"{path}: expected at least one pair of words, got only blank lines; check the file")
    scores = _of_all(path, "score", [line.score for line in found.values()])
    probabilities = _of_all(path, "probability", [line.probability for line in found.values()])
    return Lexicon(tuple(found), scores, probabilities)


def _of_all(path: Path, name: str, numbers: Sequence[float | None]) -> tuple[float, ...] | None:
    """The numbers, None if no pair has one; BadFile if only some have."""
    known = tuple(number for number in numbers if number is not None)
    if known and len(known) < len(numbers):
        raise BadFile(
            f"{path}: expected a {name} for every pair or for none, got {len(known)} for {len(numbers)} "
            "pairs; add the missing ones"
        )
    return known or None


def _entries(path: Path, wanted: str) -> Iterator[PairLine]:
    lines = _lines(path)
    first = next(lines, "")
    table = table_reader(first)
    named = table or object_reader(first)
    read = named or partial(_read_pair, wanted=wanted)
    comments = []
    for number, line in enumerate(chain([""] if table else [first], lines), 1):
        if line.strip(" \t\r"):
            found = read(line, f"{path}:{number}")
            if named is None and _looks_like_comment(found.pair):
                comments.append((number, found.pair))
            yield found
    if comments:
        log.warning(
            "%s:%d: read as the pair %r and %r; %s",
            path, comments[0][0], *comments[0][1], _if_comments(len(comments)),
        )  # fmt: skip


def _looks_like_comment(pair: Pair) -> bool:
    # "#" and hashtags translate into their like.
    return pair[0].startswith(_COMMENT) and not pair[1].startswith(_COMMENT)


def _if_comments(count: int) -> str:
    if count == 1:
        return "remove the line if it is a comment"
    return f"remove it and the {count - 1:,} others that begin with {_COMMENT} if they are comments"


def _lines(path: Path) -> Iterator[str]:
    with open_source(path) as source:
        blocks = blocks_of_lines(source.read, path, longest=_LONGEST)
        yield from _decoded(path, chain.from_iterable(blocks))


def _decoded(path: Path, lines: Iterator[bytes]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise BadFile(
                f"{path}:{number}: expected UTF-8, got the byte 0x{line[error.start]:02x} in {line[:60]!r}; "
                "convert the file to UTF-8"
            ) from None
        yield text.removeprefix(BOM) if number == 1 else text


def _fields(line: str) -> list[str]:
    # Only the ASCII space and the tab are separators: a word may contain any other kind of space.
    separator = "\t" if "\t" in line else " "
    return [field for part in line.removesuffix("\r").split(separator) if (field := part.strip(" "))]


def _read_pair(line: str, where: str, wanted: str) -> PairLine:
    fields = _fields(line)
    score = _score(fields[2], where) if len(fields) == 3 and "\t" in line else None
    if wanted == RATED and len(fields) == 3 and score is None:
        raise BadFile(
            f"{where}: expected a number as the third field, after a tab, got {fields[2]!r}; correct "
            "the line, or remove it if it is a header"
        )
    if (len(fields) != 2 and score is None) or line.startswith("\t"):
        found = f"{len(fields)} field{'s' * (len(fields) != 1)}"
        comment = "remove the line if it is a comment; else " if line.startswith(_COMMENT) else ""
        raise BadFile(
            f"{where}: expected {wanted}, got {found} ({line.strip()[:60]!r}); {comment}put one pair on a "
            "line, with a space between the two, not a comma, or a tab where one has a space or a number "
            "follows"
        )
    return PairLine((fields[0], fields[1]), score)


def _score(field: str, where: str) -> float | None:
    """The number in a third field, None if it is a word; BadFile for nan and inf, which no score may be."""
    try:
        score = float(field)
    except ValueError:
        return None
    if not math.isfinite(score):
        raise BadFile(
            f"{where}: expected a finite number as the third field, got {field!r}; correct it, or remove the "
            "line"
        )
    return score


def write_lexicon(path: Path | str, lexicon: Lexicon, *, scores: bool = False) -> None:
    r"""Write one pair a line, compressed if the name ends in .gz; `scores` adds a third field.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "en-fr.txt"
    ...     write_lexicon(path, Lexicon((("cat", "chat"), ("new york", "ny"))))
    ...     path.read_text()
    'cat chat\nnew york\tny\n'
    """
    path = Path(path)
    values = lexicon.scores if scores else None
    if scores and values is None:
        raise Mismatch(f"{path}: expected a lexicon with scores, got one without; write it with scores=False")
    if not lexicon.pairs:
        raise Mismatch(f"{path}: expected at least one pair of words to write, got none")
    lines = [pair_line(path, place, pair) for place, pair in enumerate(lexicon.pairs)]
    if values is not None:
        tabbed = ("\t".join(pair) for pair in lexicon.pairs)
        lines = [f"{line}\t{value!r}" for line, value in zip(tabbed, values, strict=True)]
    text = "\n".join([*lines, ""])
    # Readers strip a byte order mark: a first word that begins with one needs another before it.
    mark = BOM if text.startswith(BOM) else ""
    with replaced(path) as stream:
        stream.write((mark + text).encode())


def stands_in_a_line(word: str) -> bool:
    """Whether a word comes back unchanged from a line of text; UTF-8 may still lack it (`check_unicode`)."""
    return bool(word) and word == word.strip(" ") and stands_in_a_field(word)


def stands_in_a_field(word: str) -> bool:
    """Whether a word comes back unchanged from a field of a table with tabs."""
    return not any(sign in word for sign in "\t\n\r")


def pair_line(path: Path, place: int, pair: Pair) -> str:
    """A pair as one line, separated by a space, or by a tab if a word has one; `place` is for the error."""
    for word in pair:
        if not stands_in_a_line(word):
            raise unwritable(path, word, place, kind="pair")
        check_unicode(path, word, place, kind="pair")
    return ("\t" if any(" " in word for word in pair) else " ").join(pair)
