"""Vectors of spaCy pipelines: of known words (mode default), or of n-grams that compose any word (floret).

A pipeline is given by name, as a folder, a wheel or an sdist. spaCy knows words by their hashes. Only its
store of strings and its composition of n-grams are used here: no pipeline is loaded, and none of its code
runs.
"""

from __future__ import annotations

import importlib.util
import logging
import re
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from muse.errors import BadFile, MissingExtra
from muse.files.archive import strictly
from muse.files.detect import SPACY_FILES
from muse.files.json_text import parse_json
from muse.files.source import DAMAGED, check_ratio, temporary_file
from muse.files.vectors.broken import ONE_IN, as_text, few
from muse.files.vectors.table import ReadOptions, Table, check_options, table_of
from muse.installation import install_extra
from muse.vectors import Matrix

log = logging.getLogger(__name__)

# What spaCy writes of the vectors of a pipeline: the rows, the row of each word, the words, the settings.
ROWS, KEYS, STRINGS, SETTINGS = "vectors", "key2row", "strings.json", "vectors.cfg"
VOCAB = "vocab"  # the folder of these files
_BLOCK = 1 << 20
_UNREADABLE = (*DAMAGED, tarfile.TarError, MemoryError)  # the last: a header that asks for any amount
# What broken content of each of the files raises, as observed or documented.
_BROKEN = (*DAMAGED, MemoryError)
_HASHES = range(1, 5)
_LONG = 100  # characters of an n-gram
_OF_FLORET = ("minn", "maxn", "hash_count", "hash_seed", "bow", "eow")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")  # other strings are labels, shapes, spaces and numbers


@dataclass(frozen=True)
class Pipeline:
    """The folder `vocab` of a pipeline, and the path that the user gave, for messages."""

    path: Path
    vocab: Path


def find_vectors(path: Path) -> Path:
    """The path if it exists, or else the folder of the installed pipeline that has this name.

    The package is found without importing it: none of its code runs.
    """
    name = str(path)
    if path.exists() or not name.isidentifier():
        return path  # opening a missing file reports the error
    for folder in _package(name):
        if holders := _holders(folder):
            return _only(path, holders)
    raise BadFile(
        f"{name}: expected a file, a folder or the name of an installed spaCy pipeline, found none of them; "
        "check the name, or install the pipeline"
    )


def _package(name: str) -> list[Path]:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # ValueError: a module without a spec has this name
        return []
    return [] if spec is None else [Path(folder) for folder in spec.submodule_search_locations or ()]


@contextmanager
def open_pipeline(path: Path) -> Iterator[Pipeline]:
    """The pipeline in a folder or an archive, whose files are unpacked for the block."""
    if path.is_dir():
        yield Pipeline(path, _only(path, _holders(path)) / VOCAB)
        return
    with tempfile.TemporaryDirectory(prefix="muse-") as name:
        folder, holders, taken = Path(name), set(), 0
        try:
            for holder, file, stream in _members(path):
                holders.add(Path(holder))
                with temporary_file(folder / file, path) as target:
                    while data := stream.read(_BLOCK):
                        taken += len(data)
                        check_ratio(path, taken, path.stat().st_size)
                        target.write(data)
        except _UNREADABLE as error:
            raise BadFile(
                f"{path}: expected a complete archive of a spaCy pipeline, got a broken one ({error}); "
                "download it again"
            ) from error
        _only(path, sorted(holders))
        yield Pipeline(path, folder)


def _holders(folder: Path) -> list[Path]:
    # A pipeline is a folder with vocab/ in it; an installed package has that folder in its own.
    return [holder for holder in (folder, *sorted(folder.iterdir())) if (holder / VOCAB).is_dir()]


def _only(path: Path, holders: Sequence[Path]) -> Path:
    if len(holders) == 1:
        return holders[0]
    names = ", ".join(holder.name for holder in holders[:3])
    got = f"{len(holders)} ({names}); give one of them" if holders else "none; check what it is"
    raise BadFile(f"{path}: expected one spaCy pipeline, which has a folder {VOCAB}, got {got}")


def _members(path: Path) -> Iterator[tuple[str, str, IO[bytes]]]:
    """The files of vectors in an archive: the folder of their pipeline, their name, their content."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as zipped:
            for name in zipped.namelist():
                if match := SPACY_FILES.fullmatch(name):
                    with zipped.open(name) as stream:
                        yield match[1], match[2], stream
        return
    with tarfile.open(path) as tarred:
        for member in tarred:
            match = SPACY_FILES.fullmatch(member.name)
            if match and member.isfile() and (content := tarred.extractfile(member)):
                yield match[1], match[2], content


@dataclass(frozen=True, eq=False)
class SpacyVectors:
    """The vectors of a pipeline: its words, and the function that returns the rows (n, d) of n words.

    With `has_ngrams` any string has a row; otherwise only `words` have.
    """

    path: Path
    dimension: int
    words: Sequence[str]
    has_ngrams: bool
    lookup: Callable[[Sequence[str]], Matrix]  # finite or not

    def rows(self, words: Sequence[str]) -> Matrix:
        """The vectors (n, d) of n words; BadFile if a number is not finite."""
        found = self.lookup(words)
        finite = np.isfinite(found).all(axis=1)  # (n,)
        if not finite.all():
            word = words[int(np.argmin(finite))]
            raise BadFile(
                f"{self.path}: expected finite numbers, got nan or inf for {word!r}; use another pipeline"
            )
        return found


def spacy_table(path: Path, words: Sequence[str] | None = None) -> Table:
    """The table of the words of a pipeline, or of the given ones if n-grams compose their vectors."""
    vectors = load_spacy(path)
    check_options(path, ReadOptions(words=words), ngrams=vectors.has_ngrams)
    if words is None and vectors.has_ngrams:
        log.warning(
            "%s: floret vectors have no list of words; taking the %d words among the strings of the "
            "vocabulary, in alphabetical order; a list with the most frequent words first is better",
            path, len(vectors.words),
        )  # fmt: skip
    return table_of(path, vectors.dimension, vectors.words if words is None else words, vectors.lookup)


def load_spacy(path: Path) -> SpacyVectors:
    """The vectors of the pipeline in a folder or an archive."""
    _spacy()
    with open_pipeline(path) as pipeline, _reading(pipeline):
        settings, matrix = _settings(pipeline), _matrix(pipeline)
        # Rows stay on the disk, even of files unpacked for now: a mapping outlives the name of its file.
        read = _of_ngrams if settings.get("mode") == "floret" else _of_words
        return read(pipeline, settings, matrix)


def _of_words(pipeline: Pipeline, settings: dict[str, Any], matrix: Matrix) -> SpacyVectors:
    from spacy.strings import StringStore
    from srsly import msgpack

    rows = msgpack.unpackb(_bytes(pipeline, KEYS), raw=False)
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
            "%s: %d of %d words share the vector of another word and are left out; the first word of each "
            "vector is kept",
            pipeline.path, shared, len(rows),
        )  # fmt: skip
    strings: Any = StringStore(_strings(pipeline))  # whose stub knows no numbers
    index = {strings[key]: row for row, key in first.items() if key in strings}
    index.pop("", None)
    if lacking := len(first) - len(index):
        if not few(lacking, len(first), ONE_IN):
            raise ValueError(f"{STRINGS} without {lacking} of {len(first)} words")
        log.warning(
            "%s: dropped %d of %d words, which are empty or no text", pipeline.path, lacking, len(first)
        )

    def lookup(words: Sequence[str]) -> Matrix:
        return matrix[[index[word] for word in words]]

    return SpacyVectors(pipeline.path, matrix.shape[1], list(index), False, lookup)


def _of_ngrams(pipeline: Pipeline, settings: dict[str, Any], matrix: Matrix) -> SpacyVectors:
    from spacy.attrs import LOWER
    from spacy.vectors import Vectors as Library

    chosen = {name: settings[name] for name in _OF_FLORET}
    if not 0 <= chosen["minn"] <= chosen["maxn"] < _LONG:
        raise ValueError(f"n-grams of {chosen['minn']} to {chosen['maxn']} characters")
    if chosen["hash_count"] not in _HASHES:
        raise ValueError(f"{chosen['hash_count']} hashes of an n-gram")
    (chosen["bow"] + chosen["eow"]).encode()  # likewise, since spaCy encodes them
    library = Library(mode="floret", data=matrix, **chosen)
    form = str.lower if settings.get("attr") == LOWER else str  # what spaCy looks up of a token

    def lookup(words: Sequence[str]) -> Matrix:
        return np.asarray(library.get_batch([form(word) for word in words]), np.float32)

    words = [word for word in _strings(pipeline) if _WORD.fullmatch(word)]
    return SpacyVectors(pipeline.path, matrix.shape[1], words, True, lookup)


def _settings(pipeline: Pipeline) -> dict[str, Any]:
    if not (pipeline.vocab / SETTINGS).exists():  # spaCy before 3.2 had one mode
        return {}
    settings = parse_json(_bytes(pipeline, SETTINGS))
    if not isinstance(settings, dict) or settings.get("mode", "default") not in ("default", "floret"):
        raise ValueError(f"{SETTINGS} with another mode than default or floret")
    return settings


def _matrix(pipeline: Pipeline) -> Matrix:
    """The rows (r, d), memory-mapped: a header that promises more than the file has is an error."""
    with strictly():
        array = np.lib.format.open_memmap(pipeline.vocab / ROWS, mode="r")
    if array.ndim != 2 or array.dtype.kind != "f":
        raise ValueError(f"{array.dtype} of shape {array.shape}")
    if not array.size:
        raise BadFile(
            f"{pipeline.path}: expected a pipeline with vectors, got one without, as are those "
            "named _sm; use one named _md or _lg"
        )
    return np.asarray(array if array.dtype == np.float32 else array.astype(np.float32))


def _strings(pipeline: Pipeline) -> list[str]:
    strings = parse_json(_bytes(pipeline, STRINGS), halves=True)
    if not isinstance(strings, list) or not all(isinstance(string, str) for string in strings):
        raise ValueError(f"{STRINGS} with other content than strings")
    return [string for string in strings if as_text(string) is not None]


def _bytes(pipeline: Pipeline, name: str) -> bytes:
    return (pipeline.vocab / name).read_bytes()


@contextmanager
def _reading(pipeline: Pipeline) -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        raise BadFile(
            f"{pipeline.path}: expected the vectors of a spaCy pipeline, got unreadable ones ({error}); copy "
            "or install the pipeline again"
        ) from error


def _spacy() -> None:
    try:
        import spacy  # noqa: F401
    except ImportError:
        raise MissingExtra(f"vectors of a spaCy pipeline need spacy; run {install_extra('spacy')}") from None
