"""Formats: the format of a file of word vectors, recognised by its content, and reading it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from muse.errors import BadFile
from muse.files.parquet import is_parquet
from muse.files.row_texts import with_texts
from muse.files.rows import is_rows, npz_rows_table, rows_table
from muse.files.source import Source, open_source
from muse.files.store_text import is_store_text, store_table
from muse.files.vectors import fasttext, npz
from muse.files.vectors.parquet import parquet_table
from muse.files.vectors.programs import is_static, is_torch, refuse_others, static_table, torch_table
from muse.files.vectors.spacy import find_vectors, is_pipeline, spacy_table
from muse.files.vectors.table import ReadOptions, Table, gather, no_columns_error, no_ngrams_error
from muse.files.vectors.text import text_table
from muse.files.vectors.word2vec import is_word2vec, word2vec_table
from muse.progress import Progress
from muse.vectors import Vectors

_HEAD = 1 << 16


def read_vectors(  # noqa: PLR0913 - each says what a file does not
    path: Path | str,
    *,
    language: str,
    max_vocab: int | None = None,
    lowercase: bool = False,
    words: Sequence[str] | None = None,
    texts: Path | None = None,
    column: str | None = None,
    progress: Progress | None = None,
) -> Vectors:
    r"""The words of a file and their vectors, the first `max_vocab` of them.

    Reads fastText and word2vec text with or without a first line "n d", GloVe text, word2vec binary and
    fastText models (.bin), each of these also as .gz, .bz2 or .xz, or as the only file of a .zip or .tar,
    .npz with the arrays `words` and `matrix` or `vectors`, Parquet with the columns `word` and `vector`, .pt
    with a list of words and a matrix, folders of model2vec or of sentence-transformers' StaticEmbedding, and
    spaCy pipelines: the folder, the wheel or sdist, or the name of an installed one.

    Of duplicate words, or words that become equal by `lowercase`, the first is kept. A few broken words are
    dropped, with a warning (muse.files.vectors.broken). Where all words are keys such as `/c/fr/roi`, those
    of `language` are read. `words`, most frequent first, are read in place of the file's own if n-grams
    compose their vectors, in a fastText model or a pipeline in mode floret.

    Unlabelled vectors are read from .npy, .npz without `words`, Parquet without the column `word`,
    .safetensors and flat faiss indices (muse.files.rows), JSON lines and CSV of vector stores
    (muse.files.store_text); their words are their ids, or row numbers, and they are not ranked. Where several
    columns have vectors, `column` is the one to read. Rows without a vector are left out, and rows that share
    an id are all read, with a warning. What rows stand for is read from `texts`, a file with a line for each
    row, or from the column `text` or `sentence` of the file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tiny.vec"
    ...     _ = path.write_text("2 3\nthe 0.1 0.2 0.3\nnew york 1 0 0\n")
    ...     read_vectors(path, language="en").words
    ('the', 'new york')
    """
    wanted = ReadOptions(language, max_vocab, lowercase)
    with ExitStack() as opened:
        table = with_texts(_table(find_vectors(Path(path)), words, column, opened), texts)
        return _gathered(table, wanted, progress)


@contextmanager
def open_table(path: Path | str, column: str | None = None) -> Iterator[Table]:
    """The table of a file that `read_vectors` reads, whose blocks are read in the block of the statement."""
    with ExitStack() as opened:
        yield _table(find_vectors(Path(path)), None, column, opened)


def _gathered(table: Table, wanted: ReadOptions, progress: Progress | None) -> Vectors:
    if progress is None:
        return gather(table, wanted)
    total = min(table.max_rows, wanted.max_vocab or table.max_rows)
    blocks = progress.through(
        f"reading {wanted.language}", table.blocks, total, lambda block: len(block[0]), "words"
    )
    return gather(replace(table, blocks=blocks), wanted)


def _table(path: Path, words: Sequence[str] | None, column: str | None, opened: ExitStack) -> Table:
    if not is_pipeline(path) and not is_static(path):
        if is_parquet(path):
            return _without_words(path, parquet_table(path, column), words)
        if not (is_rows(path) or npz.is_npz(path) or is_torch(path)):
            return _of_source(opened.enter_context(open_source(path)), words, column)
    if column is not None:
        raise no_columns_error(path, column)
    if is_pipeline(path):
        return spacy_table(path, words)
    return _without_words(path, _of_arrays(path), words)


def _of_arrays(path: Path) -> Table:
    if is_static(path):
        return static_table(path)
    if is_rows(path):
        return rows_table(path)
    if npz.is_npz(path):
        return npz_rows_table(path) or npz.npz_table(path)
    return torch_table(path)


def _of_source(source: Source, words: Sequence[str] | None, column: str | None) -> Table:
    path, head = source.path, source.peek(_HEAD)
    if not head:
        raise BadFile(f"{path}: expected word vectors, got an empty archive; download it again")
    if is_store_text(source):
        return _without_words(path, store_table(source, column), words)
    if column is not None:
        raise no_columns_error(path, column)
    if fasttext.is_fasttext(head):
        return fasttext.fasttext_table(source, words)
    refuse_others(path, head)
    return _without_words(path, word2vec_table(source) if is_word2vec(head) else text_table(source), words)


def _without_words(path: Path, table: Table, words: Sequence[str] | None) -> Table:
    """The table; BadSetting if words are given, which only n-grams have vectors of."""
    if words is not None:
        raise no_ngrams_error(path)
    return table
