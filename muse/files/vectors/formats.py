"""Formats: reading a file of word vectors, or of embeddings without a vocabulary, whatever its format."""

import logging
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

from muse.errors import BadSetting
from muse.files.detect import VECTORS, Beginning, kind_of, open_beginning, readable_kind
from muse.files.store_text import csv_table, json_table
from muse.files.vectors.arrays import faiss_table, npy_table, npz_table, safetensors_table
from muse.files.vectors.fasttext import fasttext_table, load_fasttext
from muse.files.vectors.parquet import parquet_table
from muse.files.vectors.pytorch import torch_table
from muse.files.vectors.spacy import find_vectors, load_spacy, spacy_table
from muse.files.vectors.static import static_table
from muse.files.vectors.table import (
    KEY,
    Block,
    ReadOptions,
    Table,
    check_options,
    gather,
    items_table,
    with_texts,
    words_table,
)
from muse.files.vectors.text import text_table
from muse.files.vectors.word2vec import word2vec_table
from muse.held_vectors import held_vectors
from muse.options import NotOfKind
from muse.progress import Progress
from muse.vectors import Vectors

log = logging.getLogger(__name__)

# What reads each kind of file that `muse.files.detect` tells of vectors.
READERS: dict[str, Callable[[Beginning, ReadOptions], Table]] = {
    "spacy": lambda file, options: spacy_table(file.path, options.words),
    "static": lambda file, _: static_table(file.path),
    "parts": lambda file, options: parquet_table(file.path, options),
    "parquet": lambda file, options: parquet_table(file.path, options),
    "npy": lambda file, _: npy_table(file.path),
    "faiss": lambda file, _: faiss_table(file.path),
    "safetensors": lambda file, _: safetensors_table(file.path),
    "npz": lambda file, _: npz_table(file.path),
    "torch": lambda file, _: torch_table(file.path),
    "fasttext": lambda file, options: fasttext_table(file.source, options.words),
    "store": lambda file, options: json_table(file.source, options),
    "csv": lambda file, options: csv_table(file.source, options),
    "word2vec": lambda file, _: word2vec_table(file.source),
    "text": lambda file, _: text_table(file.source),
}
# What loads the kinds that may compose the vectors of any word.
COMPOSED = {"spacy": load_spacy, "fasttext": load_fasttext}
_WITH_COLUMNS = ("parquet", "parts", "store", "csv")
_ROW_NUMBERS = ("npy", "faiss", "safetensors")


def read_vectors(  # noqa: PLR0913 - the public signature; all else takes them as ReadOptions
    path: Path | str | Any,
    language: str,
    *,
    max_vocab: int | None = None,
    lowercase: bool = False,
    words: Sequence[str] | None = None,
    texts: Path | None = None,
    column: str | None = None,
    id_column: str | None = None,
    progress: Progress | None = None,
) -> Vectors:
    r"""The words of a file or an object, and their vectors, the first `max_vocab` of them.

    Read are text vectors, word2vec binary, fastText models, .npz, Parquet, .pt, static embeddings and spaCy
    pipelines, as the page "What muse reads" lists them, and the objects that `muse.align` takes, such as
    (words, array), a dict and KeyedVectors. Of duplicate words, or words that become equal by
    `lowercase`, the first is kept. A few broken words are dropped, with a warning. Where all words are keys
    such as `/c/fr/roi`, those of `language` are read. `words`, most frequent first, are read in place of the
    file's own if n-grams compose their vectors, in a fastText model or a pipeline in mode floret.

    Items, which are embeddings without a vocabulary, are not `frequency_ordered`; their words are their ids,
    or row numbers. Where several columns have vectors, `column` is the one to read; `id_column` is that of
    the ids. Items without a vector are left out, and items that share an id are all read, with a warning.
    What items stand for is read from `texts`, a file with a line for each, or from the column `text` or
    `sentence` of the file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tiny.vec"
    ...     _ = path.write_text("2 3\nthe 0.1 0.2 0.3\nnew york 1 0 0\n")
    ...     read_vectors(path, language="en").words
    ('the', 'new york')
    """
    options = ReadOptions(language, max_vocab, lowercase, words, column, id_column)
    is_file = isinstance(path, str | PathLike)
    with open_table(path, options) if is_file else nullcontext(_held_table(path, options)) as table:
        table = with_texts(table, texts)
        if progress is not None:
            total = min(table.max_rows, max_vocab or table.max_rows)
            blocks = progress.through(
                f"reading {language}", table.blocks, total, lambda block: len(block[0]), "words"
            )
            table = replace(table, blocks=blocks)
        return gather(table, options)


def _held_table(value: Any, options: ReadOptions) -> Table:
    """The table of an object that holds vectors, as of a file that is called after the language."""
    path = Path(options.language)
    try:
        held = held_vectors(value)
    except NotOfKind as error:
        raise BadSetting(
            f"vectors must be those of a file or of an object that has some, got {error}"
        ) from None
    check_options(path, options)
    return items_table(path, held.rows) if held.words is None else words_table(path, held.words, held.rows)


@contextmanager
def open_table(path: Path | str, options: ReadOptions | None = None) -> Iterator[Table]:
    """The table of a file that `read_vectors` reads, whose blocks are read in the block of the statement.

    Raise BadFile for a file of another kind, BadSetting for a column or words that its kind has not.
    """
    options = options or ReadOptions()
    with open_beginning(find_vectors(Path(path))) as file:
        kind = readable_kind(file, VECTORS).name
        check_options(file.path, options, ngrams=kind in COMPOSED, columns=kind in _WITH_COLUMNS)
        table = READERS[kind](file, options)
        if table.numbered and kind not in _ROW_NUMBERS:
            named = "; name their column with --id" if kind in _WITH_COLUMNS else ""
            log.warning("%s: the numbers of rows are their ids: nothing there is called id%s", path, named)
        elif table.label is not None and table.label.guessed:
            noun = "words" if table.label.words else "ids"
            known = f"{path}: the {noun} are in {table.label.name!r}, whose first values all differ"
            log.warning("%s%s", known, "" if table.label.words else "; words are in a column called word")
        elif table.label is not None and table.label.repeats:
            log.warning("%s: the ids in %r repeat: name another column with --id", path, table.label.name)
        yield replace(table, blocks=_unmarked(table)) if table.frequency_ordered else table


_LONGEST_MARK = 16
_NEARLY_ALL, _FEWEST = 0.95, 20  # words that have one mark, of at least so many


def _common(words: Sequence[str], part: Callable[[str, int], str]) -> str:
    """The longest part, such as the first letters, that nearly all words have in common."""
    found, enough = "", max(_FEWEST, _NEARLY_ALL * len(words))
    for length in range(1, _LONGEST_MARK + 1):
        ((mark, times),) = Counter(part(word, length) for word in words).most_common(1) or [("", 0)]
        if times < enough or " " in mark:
            break
        found = mark
    return found


def _is_sign(character: str) -> bool:
    return unicodedata.category(character)[0] not in "LMN" or character == "\u0120"  # of GPT


def _unmarked(table: Table) -> Iterator[Block]:
    """The blocks of words without a mark that nearly all have at their beginning or their end."""
    blocks = iter(table.blocks)
    first = next(blocks, None)
    if first is None:
        return
    words = first[0]

    begin = _common(words, lambda word, length: word[:length])
    end = _common(words, lambda word, length: word[-length:])
    begin = begin[: max((at + 1 for at, one in enumerate(begin) if _is_sign(one)), default=0)]
    end = end[min((at for at, one in enumerate(end) if _is_sign(one)), default=len(end)) :]
    begin = "" if KEY.match(f"{begin}a") else begin  # of a language
    if begin or end:
        log.warning(
            "%s: left out %r, which nearly all words have",
            table.path,
            " and ".join(filter(None, (begin, end))),
        )
    for words, rows in chain([first], blocks):
        yield (
            [word.removeprefix(begin).removesuffix(end) or word for word in words] if begin or end else words,
            rows,
        )


def has_row_numbers(path: Path) -> bool:
    """Whether a file can only hold items whose ids, if it has any, are numbers."""
    return kind_of(path).name in _ROW_NUMBERS


def holds_items(path: Path) -> bool:
    """Whether a file begins as one of a vector store: embeddings without a vocabulary."""
    if (kind := kind_of(path).name) in ("store", "csv"):
        with open_table(path) as table:
            return not table.frequency_ordered
    return kind in _ROW_NUMBERS
