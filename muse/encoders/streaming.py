"""Streaming: encodes the sentences of a file or a stream block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from muse.encoders.encoder import SentenceEncoder
from muse.errors import BadFile, BadSetting
from muse.files.parquet import is_parquet, read_column
from muse.files.plain_text import read_lines
from muse.vectors import Matrix

Write = Callable[[Sequence[str], Matrix], None]


@dataclass(frozen=True)
class StreamCounts:
    """Counts of encoded sentences and of their tokens.

    `empty` sentences had no known word, `unknown` tokens had no vector, and `truncated` sentences were cut
    to the encoder's maximum length.
    """

    sentences: int = 0
    empty: int = 0
    tokens: int = 0
    unknown: int = 0
    truncated: int = 0


def stream_sentences(path: Path, column: str | None = None) -> Iterator[str]:
    """The sentences of a file: the lines of a text, which may be a .gz, or a column of a Parquet file."""
    if is_parquet(path):
        return chain.from_iterable(read_column(path, column))
    if column is not None:
        raise BadSetting(f"--column needs a Parquet file, got {path}; leave it out")
    return read_lines(path)


def encode_stream(
    encoder: SentenceEncoder, sentences: Iterable[list[str]], language: str, write: Write, *, name: str
) -> StreamCounts:
    """The counts of all sentences; each block is encoded and passed to `write` with its rows.

    Raises BadFile if there are no sentences; `name` is the file or stream in the message.
    """
    total = StreamCounts()
    for block in sentences:
        if not block:
            continue
        encoded = encoder.encode(block, language)
        write(block, encoded.matrix)
        total = StreamCounts(
            total.sentences + len(block),
            total.empty + encoded.empty,
            total.tokens + encoded.tokens,
            total.unknown + encoded.unknown,
            total.truncated + encoded.truncated,
        )
    if not total.sentences:
        raise BadFile(f"{name}: expected sentences to encode, one on each line, got nothing; send some")
    return total
