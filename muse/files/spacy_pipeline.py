"""SpaCy pipelines: where their vectors are, given a name, a folder, a wheel or an sdist."""

from __future__ import annotations

import importlib.util
import re
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from muse.errors import BadFile
from muse.files.source import DAMAGED, check_ratio

# What spaCy writes of the vectors of a pipeline: the rows, the row of each word, the words, the settings.
ROWS, KEYS, STRINGS, SETTINGS = "vectors", "key2row", "strings.json", "vectors.cfg"
VOCAB = "vocab"  # the folder of these files
_MEMBER = re.compile(rf"(.*?)/?{VOCAB}/({'|'.join(map(re.escape, (ROWS, KEYS, STRINGS, SETTINGS)))})")
_BLOCK = 1 << 20
_UNREADABLE = (*DAMAGED, tarfile.TarError, MemoryError)  # the last: a header that asks for any amount


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


def is_pipeline(path: Path) -> bool:
    """Whether this is the folder of a pipeline, or an archive that may have one."""
    if path.is_dir():
        return bool(_holders(path))
    if not path.is_file():  # a pipe, say, which can be read only once
        return False
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return any(map(_MEMBER.fullmatch, archive.namelist()))
        with tarfile.open(path) as archive:
            return archive.next() is not None  # zeros would do for an archive of nothing
    except _UNREADABLE:
        return False  # opening it as another format reports the error


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
                with (folder / file).open("wb") as target:
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
                if match := _MEMBER.fullmatch(name):
                    with zipped.open(name) as stream:
                        yield match[1], match[2], stream
        return
    with tarfile.open(path) as tarred:
        for member in tarred:
            match = _MEMBER.fullmatch(member.name)
            if match and member.isfile() and (content := tarred.extractfile(member)):
                yield match[1], match[2], content
