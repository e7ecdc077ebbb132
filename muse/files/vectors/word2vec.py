"""Word2vec binary: a line "n d", then entries of a word, a space and d little-endian float32."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from muse.errors import BadFile
from muse.files.source import Source
from muse.files.vectors.broken import Dropped, keep_whole
from muse.files.vectors.table import Block, Table
from muse.files.vectors.text import Header, parse_header
from muse.files.writing import check_writable, replaced
from muse.vectors import Matrix

_BLOCK = 1 << 20
_HEAD = 1 << 12
_LONGEST_WORD, _LONGEST_PHRASE = 1 << 16, 100
# Bytes that do not occur in text but often in float32.
_CONTROLS = re.compile(rb"[\0-\x1f\x7f]")


def word2vec_table(source: Source) -> Table:
    """The table of a word2vec binary file."""
    head = source.peek(_HEAD)
    header = parse_header(source.path, head)
    if header is None or b"\n" not in head:
        raise BadFile(f"{source.path}: expected the counts of words and dimensions, got {head[:20]!r}")
    source.read(head.index(b"\n") + 1)
    dropped, unpacked = Dropped(), source.size * (2 if source.packed else 1)
    max_rows = min(header.count, unpacked // (4 * header.dimension + 2) + 1)
    return Table(source.path, header.dimension, max_rows, _blocks(source, header, dropped), dropped=dropped)


def _blocks(source: Source, header: Header, dropped: Dropped) -> Iterator[Block]:
    row, data, done, most = 4 * header.dimension, b"", 0, header.count + header.tolerance
    while more := source.read(_BLOCK):
        data += more
        words, rows, used = _split(data, row, most - done, phrases=False)
        if words and not _is_word(b"x".join(words)):
            words, rows, used = _split(data, row, most - done, phrases=True)
        if words:
            matrix = np.frombuffer(b"".join(rows), "<f4").reshape(len(rows), header.dimension)  # (p, d)
            yield keep_whole(source.path, words, matrix, dropped)
            done += len(words)
            data = data[used:]
        # With an absurd dimension in the header, the whole file would be read into memory first.
        no_word = b" " not in data[:_LONGEST_WORD] and len(data) > _LONGEST_WORD
        never_ends = no_word or (not source.packed and row > source.size > 0)
        if never_ends or (done == most and data.strip(b"\n")):
            break
    ended = done >= header.count
    odd = (data + (source.read(2) if ended else b"")).strip(b"\n")
    header.check(source.path, done, ("more" if ended else f"the end after {done}") if odd else "")


def _split(data: bytes, row: int, wanted: int, *, phrases: bool) -> tuple[list[bytes], list[bytes], int]:
    # The complete entries: p words, their rows, and the number of bytes read. With `phrases`, where no word
    # follows a row, it may have begun with the rest of a phrase.
    words: list[bytes] = []
    rows: list[bytes] = []
    at = before = 0  # before: where the row of the word before begins
    while len(words) < wanted:
        space = data.find(b" ", at)
        if space < 0 or len(data) < space + 1 + row:
            break
        word = data[at:space].lstrip(b"\n")
        if phrases and words and word and not _is_word(word) and (rest := _rest(data, before, row)):
            words[-1] += b" " + rest
            before += len(rest) + 1
            at = before + row
            rows[-1] = data[before:at]
            continue
        words.append(word)
        before, at = space + 1, space + 1 + row
        rows.append(data[before:at])
    return words, rows, at


def _rest(data: bytes, start: int, row: int) -> bytes:
    # The rest of a word that may be a phrase, as gensim writes them, if a whole word follows its row then.
    end = data.find(b" ", start, start + _LONGEST_PHRASE)
    while end >= 0 and _is_word(data[start:end]):
        following = data.find(b" ", end + 1 + row)
        if following >= 0 and _is_word(data[end + 1 + row : following].lstrip(b"\n")):
            return data[start:end]
        end = data.find(b" ", end + 1, start + _LONGEST_PHRASE)
    return b""


def _is_word(word: bytes) -> bool:
    try:
        word.decode()
    except UnicodeDecodeError:
        return False
    return bool(word) and not _CONTROLS.search(word)


def write_word2vec(path: Path | str, words: Sequence[str], matrix: Matrix) -> None:
    """Write words and their rows (n, d) as word2vec binary, atomically."""
    path = Path(path)
    check_writable(path, words, matrix, forbidden=" \n")
    with replaced(path) as stream:
        stream.write(b"%d %d\n" % matrix.shape)
        for word, row in zip(words, matrix.astype("<f4", copy=False), strict=True):
            stream.write(b"%s %s\n" % (word.encode(), row.tobytes()))
