"""Formats: the format of a file of word vectors, recognised by its content, and reading it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from muse.errors import BadFile
from muse.files import fasttext_model, npz
from muse.files.parquet import is_parquet
from muse.files.source import Source, open_source
from muse.files.table import Table, Wanted, gather
from muse.files.text import text_table
from muse.files.vectors_parquet import parquet_table
from muse.files.word2vec import is_word2vec, word2vec_table
from muse.progress import Progress
from muse.vectors import Vectors

_HEAD = 1 << 16


def read_vectors(
    path: Path | str,
    *,
    language: str,
    max_vocab: int | None = None,
    lowercase: bool = False,
    progress: Progress | None = None,
) -> Vectors:
    r"""The words of a file and their vectors, the first `max_vocab` of them.

    Reads fastText and word2vec text with or without a first line "n d", GloVe text, word2vec binary and
    fastText models (.bin), each of these also as a .gz or as the only file of a .zip, .npz with the arrays
    `words` and `matrix` or `vectors`, and Parquet with the columns `word` and `vector`. Of duplicate words,
    or words that become equal by `lowercase`, the first is kept.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tiny.vec"
    ...     _ = path.write_text("2 3\nthe 0.1 0.2 0.3\nnew york 1 0 0\n")
    ...     read_vectors(path, language="en").words
    ('the', 'new york')
    """
    wanted = Wanted(language, max_vocab, lowercase)
    path = Path(path)
    if npz.is_npz(path):
        return _gathered(npz.npz_table(path), wanted, progress)
    if is_parquet(path):
        return _gathered(parquet_table(path), wanted, progress)
    with open_source(path) as source:
        return _gathered(_table(source), wanted, progress)


def _gathered(table: Table, wanted: Wanted, progress: Progress | None) -> Vectors:
    if progress is None:
        return gather(table, wanted)
    total = min(table.room, wanted.max_vocab or table.room)
    blocks = progress.through(f"words of {wanted.language}", table.blocks, total, lambda block: len(block[0]))
    return gather(replace(table, blocks=blocks), wanted)


def _table(source: Source) -> Table:
    head = source.peek(_HEAD)
    if not head:
        raise BadFile(f"{source.path}: expected word vectors, got an empty archive; download it again")
    if fasttext_model.is_fasttext(head):
        return fasttext_model.fasttext_table(source)
    if is_word2vec(head):
        return word2vec_table(source)
    return text_table(source)
