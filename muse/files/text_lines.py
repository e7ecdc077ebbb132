"""Lines of text vectors: plain lines of a block are parsed at once, the others one by one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from muse.errors import BadFile
from muse.files.decimals import MARGIN, Bytes, Places, plain_numbers, with_margins
from muse.files.table import CutWords
from muse.files.text_line import Line, as_number, cut_word, read_line
from muse.vectors import Matrix

# Up to this many numbers in a line that are not plain (exponents, integers) are parsed one by one; with more,
# the whole line is.
_FEW = 16


class ParsedBlock(NamedTuple):
    """The words of a block and their rows, up to the first invalid line if there is one."""

    lines: int
    words: list[str]
    rows: Matrix  # (p, d)
    fault: BadFile | None


class _Places(NamedTuple):
    # Offsets in a block of l lines, r of them with enough separators for a word and d numbers.
    line_starts: Places  # (l,)
    line_ends: Places  # (l,)
    regular: Places  # (r,) which lines those are
    breaks: Places  # (r, d + 1) the separators around the numbers: the first one ends the word


class _Found(NamedTuple):
    # The words and rows read from a block, with their line numbers.
    places: list[int]  # (p,)
    words: list[str]  # (p,)
    rows: Matrix  # (p, d)


def read_block(block: bytes, first: Line, cut: CutWords) -> ParsedBlock:
    """The words and rows of a block of complete lines; `first` is the place of the first.

    Words that end inside a character are left out, and counted in `cut`.
    """
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
    text = with_margins(block)
    places = _places(text, first.dimension)
    plain = _read_plain(block, text, places)
    left = sorted(set(range(len(places.line_ends))).difference(plain.places))
    if not left:
        return ParsedBlock(len(places.line_ends), plain.words, plain.rows, None)
    lines = [block[places.line_starts[i] - MARGIN : places.line_ends[i] - MARGIN] for i in left]
    single, fault = _read_singly(left, lines, first, cut)
    words, rows = _merged(plain, single, end=single.places[-1] if fault else None)
    return ParsedBlock(len(places.line_ends), words, rows, fault)


def _places(text: Bytes, dimension: int) -> _Places:
    newline = text == ord("\n")
    breaks = np.flatnonzero(newline | (text == ord(" ")))
    line_ends = np.flatnonzero(newline)  # (l,)
    line_starts = np.concatenate([[MARGIN], line_ends[:-1] + 1])  # (l,)
    last = np.searchsorted(breaks, line_ends)  # (l,)
    last -= text[line_ends - 1] == ord(" ")  # fastText itself ends its lines with a space
    first = last - dimension
    regular = np.flatnonzero(first >= 0)
    regular = regular[breaks[first[regular]] >= line_starts[regular]]
    if not len(regular):  # otherwise an absurd dimension in a header would allocate a huge array
        return _Places(line_starts, line_ends, regular, np.empty((0, 1), np.intp))
    return _Places(line_starts, line_ends, regular, breaks[first[regular, None] + np.arange(dimension + 1)])


def _read_plain(block: bytes, text: Bytes, places: _Places) -> _Found:
    # The lines that are a word without spaces and d numbers.
    starts = (places.breaks[:, :-1] + 1).ravel()
    ends = places.breaks[:, 1:].ravel()
    values, odd = plain_numbers(text, starts, ends)
    rows = values.reshape(len(places.regular), places.breaks.shape[1] - 1)  # (r, d)
    rejected = _read_odd(rows, np.flatnonzero(odd), block, starts - MARGIN, ends - MARGIN)
    begin = places.line_starts[places.regular] - MARGIN
    words = [_plain_word(block[a:b]) for a, b in zip(begin, places.breaks[:, 0] - MARGIN, strict=True)]
    kept = [i for i, word in enumerate(words) if word is not None and i not in rejected]
    found = places.regular[kept].tolist()
    if len(kept) == len(words):
        return _Found(found, [word for word in words if word is not None], rows)
    return _Found(found, [word for i in kept if (word := words[i]) is not None], rows[kept])


def _read_odd(rows: Matrix, odd: Places, block: bytes, starts: Places, ends: Places) -> set[int]:
    # Fills in the numbers that are not plain; returns the rows with too many of them or with invalid ones.
    if not len(odd):
        return set()
    of_row = odd // rows.shape[1]
    rejected = set(np.flatnonzero(np.bincount(of_row) > _FEW).tolist())
    for place, row in zip(odd.tolist(), of_row.tolist(), strict=True):
        if row in rejected:
            continue
        value = as_number(block[starts[place] : ends[place]])
        if value is None:
            rejected.add(row)
        else:
            rows[row, place % rows.shape[1]] = value
    return rejected


def _plain_word(word: bytes) -> str | None:
    if not word or b" " in word or b"\t" in word:
        return None
    try:
        return word.decode()
    except UnicodeDecodeError:
        return None


def _read_singly(
    places: list[int], lines: list[bytes], first: Line, cut: CutWords
) -> tuple[_Found, BadFile | None]:
    found, words, rows, fault = [], [], [], None
    for place, line in zip(places, lines, strict=True):
        try:
            read = read_line(line, first.after(place))
        except BadFile as error:
            if word := cut_word(line, first.dimension):
                cut.add(word, error)
                continue
            found.append(place)
            fault = error
            break
        if read is not None:
            found.append(place)
            words.append(read[0])
            rows.append(read[1])
    return _Found(found, words, np.array(rows, np.float32)), fault


def _merged(plain: _Found, single: _Found, end: int | None) -> tuple[list[str], Matrix]:
    # In the order of the lines, up to the invalid line `end`.
    before = len(plain.places) if end is None else int(np.searchsorted(plain.places, end))
    if not single.words:
        return plain.words[:before], plain.rows[:before]
    order = np.argsort(plain.places[:before] + single.places[: len(single.words)])
    words = plain.words[:before] + single.words
    rows = np.concatenate([plain.rows[:before].reshape(-1, single.rows.shape[1]), single.rows])  # (p, d)
    return [words[i] for i in order], rows[order]
