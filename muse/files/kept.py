"""Kept files: what was computed once and is read again: hubness, probabilities, answers, encoded words.

Each carries a seal: a sha256 of its content, of its name and of the digests of what it was made from. A file
with another seal (a damaged one, one of other vectors, one copied from another place) is not used. So is one
whose values cannot be. What can be computed again then is. A seal finds damage, not an author.

.npy    the seal follows the array, which numpy reads without it
.npz    an array `digest`
.json   a field `digest`
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import math
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from muse.files.archive import array_in, strictly
from muse.files.atomic import atomic_path
from muse.files.json_text import parse_json
from muse.files.source import DAMAGED
from muse.files.space_folder import VECTORS, WORDS, folder_name, remove_outdated, vectors_digest
from muse.vectors import Matrix

log = logging.getLogger(__name__)

Made = TypeVar("Made")
Arrays = Mapping[str, NDArray[Any]]
CHANGED = "another content than was written, or made from something else"
COMPUTED = "it is computed again"
ALIGN = "align again to choose answers by all evidence"
_MARK = b"\nsha256 "  # what stands before the seal of an array
_BLOCK = 1 << 24
# A damaged header may ask for any amount of memory.
_FAILURES = (OSError, *DAMAGED, ValueError, KeyError, IndexError, OverflowError, MemoryError)


@dataclass(frozen=True)
class Origin:
    """What a kept file was made from: a `digest`, and the `digits` of the vectors that are in its name."""

    digits: str
    digest: str

    @classmethod
    def of(cls, checksums: Mapping[str, str], languages: Iterable[str]) -> Origin:
        """The words and vectors of languages of a space, by the checksums of its manifest."""
        names = sorted(f"{folder_name(one)}/{file}" for one in languages for file in (WORDS, VECTORS))
        found = "\n".join(f"{name} {checksums.get(name)}" for name in names)
        return cls(vectors_digest(checksums, languages), hashlib.sha256(found.encode()).hexdigest())


def keep_rows(path: Path, rows: Matrix, origin: Origin) -> None:
    """Write an array of float32 to a .npy file with its seal, if the folder is writable."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f4", "fortran_order": False, "shape": rows.shape}
    )
    content = np.ascontiguousarray(rows, "<f4")
    sealed = _Seal(path, origin)
    sealed.add(header.getvalue())
    sealed.add(content.data)
    _write(path, (header.getvalue(), content.data, _MARK + sealed.digits().encode()), origin)


def read_rows(path: Path, origin: Origin, fits: Callable[[Matrix], bool]) -> Matrix | None:
    """The array that `keep_rows` wrote; None without a file.

    None, with a warning, for a file without the right seal, or with an array that does not fit.
    """

    def read() -> Matrix:
        with path.open("rb") as file:
            content = np.fromfile(file, np.uint8)  # (bytes,), writable, as torch wants its arrays
        end = len(content) - len(_MARK) - 2 * hashlib.sha256().digest_size
        sealed = _Seal(path, origin)
        sealed.add(content[: max(0, end)].data)
        if end < 0 or content[end:].tobytes() != _MARK + sealed.digits().encode():
            raise ValueError(CHANGED)
        rows = array_in(content[:end])
        if rows.dtype != np.float32 or not np.isfinite(rows).all() or not fits(rows):
            raise ValueError(f"impossible values, or {rows.dtype} of shape {rows.shape}")
        return rows

    return _read(path, read, COMPUTED)


def keep_arrays(path: Path, parts: Arrays, origin: Origin) -> None:
    """Write named arrays to an .npz with their seal, if the folder is writable."""
    stream = io.BytesIO()
    content: dict[str, Any] = {**parts, "digest": np.array([_seal_of_arrays(path, parts, origin)])}
    np.savez(stream, **content)
    _write(path, (stream.getbuffer(),), origin)


def read_arrays(
    path: Path, most: int, origin: Origin, made: Callable[[Arrays], Made], remedy: str = ALIGN
) -> Made | None:
    """What is `made` of the arrays that `keep_arrays` wrote; None without a file.

    None, with a warning, for a file of more than `most` bytes, without the right seal, or refused by `made`.
    """

    def read() -> Made:
        _check_size(path, most)
        with path.open("rb") as file, strictly(), np.load(file, allow_pickle=False) as kept:
            parts = {name: kept[name] for name in kept.files}
        if str(parts.pop("digest")[0]) != _seal_of_arrays(path, parts, origin):
            raise ValueError(CHANGED)
        return made(parts)

    return _read(path, read, remedy)


def keep_numbers(path: Path, values: Mapping[str, float], origin: Origin) -> None:
    """Write named numbers to a .json file with their seal, if the folder is writable."""
    sealed = {**values, "digest": _seal_of_numbers(path, values, origin)}
    _write(path, (json.dumps(sealed).encode() + b"\n",), origin)


def read_numbers(path: Path, origin: Origin, made: Callable[[Mapping[str, float]], Made]) -> Made | None:
    """What is `made` of the numbers that `keep_numbers` wrote; None without a file.

    None, with a warning, for a file without the right seal, or refused by `made`.
    """

    def read() -> Made:
        found = parse_json(path.read_bytes())
        if not isinstance(found, dict):
            raise ValueError(CHANGED)
        seal = found.pop("digest", None)
        values = {name: float(value) for name, value in found.items()}
        if seal != _seal_of_numbers(path, values, origin) or not all(map(math.isfinite, values.values())):
            raise ValueError(CHANGED)
        return made(values)

    return _read(path, read, COMPUTED)


def _read(path: Path, read: Callable[[], Made], remedy: str) -> Made | None:
    try:
        return read() if path.exists() else None
    except _FAILURES as error:
        found = f"a part is missing: {error}" if isinstance(error, KeyError) else str(error)
        log.warning("%s: not used, %s; %s", path, found or type(error).__name__, remedy)
        return None


def _write(path: Path, parts: tuple[bytes | memoryview, ...], origin: Origin) -> None:
    try:
        with atomic_path(path) as partial, partial.open("wb") as file:
            for part in parts:
                file.write(part)
    except OSError as error:  # a full disk, or a folder that is read only or was replaced
        log.debug("%s: not kept, %s", path, error)
        return
    if origin.digits:
        remove_outdated(path, origin.digits)


def _check_size(path: Path, most: int) -> None:
    # Before anything is unpacked: a compressed file may be of any size.
    with zipfile.ZipFile(path) as archive:
        size = sum(part.file_size for part in archive.infolist())
    if size > most:
        raise ValueError(f"{size} bytes where at most {most} were expected")


class _Seal:
    """The seal of a file, whose content is added piece by piece."""

    def __init__(self, path: Path, origin: Origin) -> None:
        # With the name of its folder: that of the language, beside a space.
        self._found = hashlib.sha256(f"{path.parent.name}/{path.name}\n{origin.digest}\n".encode())

    def add(self, content: bytes | memoryview) -> None:
        """Add the next piece of the content."""
        self._found.update(content)

    def digits(self) -> str:
        """The seal of what was added, in hexadecimal."""
        return self._found.hexdigest()


def _seal_of_arrays(path: Path, parts: Arrays, origin: Origin) -> str:
    sealed = _Seal(path, origin)
    sealed.add(_content(parts).encode())
    return sealed.digits()


def _seal_of_numbers(path: Path, values: Mapping[str, float], origin: Origin) -> str:
    sealed = _Seal(path, origin)
    sealed.add(json.dumps(values, sort_keys=True).encode())
    return sealed.digits()


def _content(parts: Arrays) -> str:
    found = hashlib.sha256()
    for name in sorted(parts):
        found.update(name.encode())
        found.update(np.ascontiguousarray(parts[name]).tobytes())
    return found.hexdigest()
