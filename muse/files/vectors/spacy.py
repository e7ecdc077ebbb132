"""Vectors of spaCy pipelines: of known words (mode default), or of n-grams that compose any word (floret).

A pipeline is given by name, as a folder, a wheel or an sdist. spaCy knows words by their hashes. Only its
store of strings and its composition of n-grams are used here: no pipeline is loaded, and none of its code
runs.
"""

import importlib.util
import logging
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from muse.errors import BadFile, MuseError
from muse.files.archive import strictly
from muse.files.detect import SPACY_FILES
from muse.files.json_text import parse_json
from muse.files.source import DAMAGED, check_ratio, files_in, regular_bytes, temporary_file
from muse.files.vectors.broken import ONE_IN, as_text, few
from muse.files.vectors.table import ReadOptions, Table, WordRows, check_options
from muse.optional import library
from muse.vectors import Matrix

log = logging.getLogger(__name__)

# What spaCy writes of the vectors of a pipeline: the rows, the row of each word, the words, the settings.
ROWS, KEYS, STRINGS, SETTINGS = "vectors", "key2row", "strings.json", "vectors.cfg"
VOCAB = "vocab"  # the folder of these files
_BLOCK = 1 << 20
_BROKEN = (*DAMAGED, MemoryError)  # the last: a header that asks for any amount
_LONG = 100  # characters of an n-gram
_OF_FLORET = ("minn", "maxn", "hash_count", "hash_seed", "bow", "eow")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")  # other strings are labels, shapes, spaces and numbers


def find_vectors(path: Path) -> Path:
    """The path if it exists, or else the folder of the installed pipeline that has this name.

    The package is found without importing it: none of its code runs.
    """
    name = str(path)
    if path.exists() or not name.isidentifier():
        return path  # opening a missing file reports the error
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # ValueError: a module without a spec has this name
        spec = None
    for folder in map(Path, (spec and spec.submodule_search_locations) or ()):
        if holders := _holders(folder):
            return _only(path, holders)
    raise BadFile(
        f"{name}: expected a file, a folder or the name of an installed spaCy pipeline, found none of them; "
        "check the name, or install the pipeline"
    )


@contextmanager
def _open_vocab(path: Path) -> Iterator[Path]:
    """The folder `vocab` of a pipeline; the files of an archive are unpacked for the block."""
    if path.is_dir():
        yield _only(path, _holders(path)) / VOCAB
        return
    with tempfile.TemporaryDirectory(prefix="muse-") as name, ExitStack() as opened:
        folder, holders, taken = Path(name), set(), 0
        names, open_member = files_in(path, opened)
        for match in filter(None, map(SPACY_FILES.fullmatch, names)):
            if stream := open_member(match[0]):
                holders.add(Path(match[1]))
                with stream, temporary_file(folder / match[2], path) as target:
                    while data := stream.read(_BLOCK):
                        taken += len(data)
                        check_ratio(path, taken, path.stat().st_size)
                        target.write(data)
        _only(path, sorted(holders))
        yield folder


def _holders(folder: Path) -> list[Path]:
    # A pipeline is a folder with vocab/ in it; an installed package has that folder in its own.
    return [holder for holder in (folder, *sorted(folder.iterdir())) if (holder / VOCAB).is_dir()]


def _only(path: Path, holders: Sequence[Path]) -> Path:
    if len(holders) == 1:
        return holders[0]
    names = ", ".join(holder.name for holder in holders[:3])
    got = f"{len(holders)} ({names}); give one of them" if holders else "none; check what it is"
    raise BadFile(f"{path}: expected one spaCy pipeline, which has a folder {VOCAB}, got {got}")


def spacy_table(path: Path, words: Sequence[str] | None = None) -> Table:
    """The table of the words of a pipeline, or of the given ones if n-grams compose their vectors."""
    vectors = load_spacy(path)
    check_options(path, ReadOptions(words=words), ngrams=vectors.has_ngrams)
    if words is None and vectors.has_ngrams:
        log.warning(
            "%s: floret vectors have no list of words; taking the %d words among the strings of the "
            "vocabulary, in alphabetical order; a list with the most frequent words first is better",
            path, len(vectors.encoded()),
        )  # fmt: skip
    return vectors.table(words)


def load_spacy(path: Path) -> WordRows:
    """The vectors of the pipeline in a folder or an archive."""
    library("spacy", f"{path}: a spaCy pipeline", "spacy")
    try:
        with _open_vocab(path) as vocab:
            settings = parse_json(regular_bytes(vocab / SETTINGS)) if (vocab / SETTINGS).exists() else {}
            # Before 3.2 spaCy had one mode, and no settings.
            if not isinstance(settings, dict) or settings.get("mode", "default") not in ("default", "floret"):
                raise ValueError(f"{SETTINGS} with another mode than default or floret")
            # Rows stay on the disk, even of unpacked files: a mapping outlives the name of its file. A header
            # that promises more than the file has is an error.
            with strictly():
                mapped = np.lib.format.open_memmap(vocab / ROWS, mode="r")
            if mapped.ndim != 2 or mapped.dtype.kind != "f":
                raise ValueError(f"{mapped.dtype} of shape {mapped.shape}")
            if not mapped.size:
                raise BadFile(
                    f"{path}: expected a pipeline with vectors, got one without, as are those named _sm; use "
                    "one named _md or _lg"
                )
            matrix = np.asarray(mapped, np.float32)
            strings = parse_json(regular_bytes(vocab / STRINGS), "surrogatepass")
            if not isinstance(strings, list) or not all(isinstance(string, str) for string in strings):
                raise ValueError(f"{STRINGS} with other content than strings")
            strings = [string for string in strings if as_text(string) is not None]
            if settings.get("mode") == "floret":
                return _of_ngrams(path, strings, settings, matrix)
            return _of_words(path, strings, regular_bytes(vocab / KEYS), matrix)
    except MuseError:
        raise
    except _BROKEN as error:
        raise BadFile(
            f"{path}: expected the vectors of a spaCy pipeline, got unreadable ones ({error}); copy, install "
            "or download the pipeline again"
        ) from error


def _of_words(path: Path, strings: Sequence[str], keys: bytes, matrix: Matrix) -> WordRows:
    from spacy.strings import StringStore
    from srsly import msgpack

    rows = msgpack.unpackb(keys, raw=False)
    if not isinstance(rows, dict) or not all(
        type(row) is int and 0 <= row < len(matrix) for row in rows.values()
    ):
        raise ValueError(f"{KEYS} with other rows than those of {ROWS}")
    # The first key of a row: pruning keeps rows of frequent words, and gives rarer words the nearest of them.
    first: dict[int, int] = {}
    for key, row in rows.items():
        first.setdefault(row, key)
    if shared := len(rows) - len(first):
        log.warning(
            "%s: left out %d of %d words, with the vector of another word; the first word of each "
            "vector is kept",
            path, shared, len(rows),
        )  # fmt: skip
    store: Any = StringStore(strings)  # whose stub knows no numbers
    index = {store[key]: row for row, key in first.items() if key in store}
    index.pop("", None)
    if lacking := len(first) - len(index):
        if not few(lacking, len(first), ONE_IN):
            raise ValueError(f"{STRINGS} without {lacking} of {len(first)} words")
        log.warning("%s: dropped %d of %d words, empty or no text", path, lacking, len(first))
    return WordRows(
        path, matrix.shape[1], lambda: list(index), False,
        lambda words: matrix[[index[word] for word in words]],
    )  # fmt: skip


def _of_ngrams(path: Path, strings: Sequence[str], settings: dict[str, Any], matrix: Matrix) -> WordRows:
    from spacy.attrs import LOWER
    from spacy.vectors import Vectors as Library

    chosen = {name: settings[name] for name in _OF_FLORET}
    # spaCy itself checks neither, and encodes what stands around a word.
    if not 0 <= chosen["minn"] <= chosen["maxn"] < _LONG or chosen["hash_count"] not in range(1, 5):
        raise ValueError(f"n-grams of {chosen['minn']} to {chosen['maxn']}, {chosen['hash_count']} hashes")
    (chosen["bow"] + chosen["eow"]).encode()
    library = Library(mode="floret", data=matrix, **chosen)
    form = str.lower if settings.get("attr") == LOWER else str  # what spaCy looks up of a token

    def lookup(words: Sequence[str]) -> Matrix:
        return np.asarray(library.get_batch([form(word) for word in words]), np.float32)

    words = [string for string in strings if _WORD.fullmatch(string)]
    return WordRows(path, matrix.shape[1], lambda: words, True, lookup)
