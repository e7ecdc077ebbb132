"""Archive: numpy's files, whose headers may say anything, read without a warning and never unpickled."""

import io
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.files.source import DAMAGED, check_archive

LONGEST_HEADER = 10_000  # bytes that numpy reads, at most
Arrays = Mapping[str, NDArray[Any]]


@contextmanager
def open_archive(path: Path) -> Iterator[Arrays]:
    """The arrays of an .npz by name, each read when it is asked for; ValueError in the block for damage.

    BadFile if it becomes too large. What is no array in it is given as bytes.
    """
    try:
        check_archive(path)
        # Opened here: np.load leaves the file open if the archive is broken.
        with path.open("rb") as file, strictly(), np.load(file, allow_pickle=False) as arrays:
            yield arrays
    except (*DAMAGED, MemoryError) as error:
        raise ValueError(str(error) or type(error).__name__) from error


def array_in(content: NDArray[np.uint8]) -> NDArray[Any]:
    """The array of a .npy file whose bytes (b,) are in memory, and are not copied; ValueError for damage."""
    try:
        with strictly():
            head = io.BytesIO(content[:LONGEST_HEADER].tobytes())
            long = np.lib.format.read_magic(head) != (1, 0)
            read = np.lib.format.read_array_header_2_0 if long else np.lib.format.read_array_header_1_0
            shape, fortran, dtype = read(head)
        return content[head.tell() :].view(dtype).reshape(shape, order="F" if fortran else "C")
    except DAMAGED as error:
        raise ValueError(str(error)) from error


@contextmanager
def strictly() -> Iterator[None]:
    """A block in which numpy raises ValueError or ArithmeticError where it would warn of a header."""
    try:
        with np.errstate(all="raise"), warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    except Warning as warning:
        raise ValueError(str(warning)) from warning


def arrays_of(content: bytes) -> Arrays:
    """The named arrays of an uncompressed .npz; ValueError or another of the errors of a damaged archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > len(content):
            raise ValueError("compressed arrays, or some that are said to be longer than the file")
        found = (
            (name, np.frombuffer(bytearray(archive.read(name)), np.uint8)) for name in archive.namelist()
        )
        return {name.removesuffix(".npy"): array_in(array) for name, array in found}


def write_arrays(path: Path, parts: Arrays) -> None:
    """Write named arrays to an .npz, where its folder may be missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **parts)  # type: ignore[arg-type]
