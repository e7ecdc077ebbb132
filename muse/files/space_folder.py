"""The files in the folder of an aligned space: words, arrays, their names and checksums. None is a pickle."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile, BadSetting, Mismatch
from muse.files.archive import array_in, strictly
from muse.files.source import DAMAGED, refuse_stream
from muse.vectors import Matrix

MANIFEST = "manifest.json"
LONGEST_NAME = 100  # of a language's folder, which is in names of files too
WORDS, VECTORS, MAPPING, MEANS = "words.txt", "vectors.npy", "mapping.npy", "means.npy"
EXAMPLES = "examples.sqlite"  # an index of sentences, which is no part of the space
TEXTS = "texts.txt"  # of unlabelled vectors, if their texts are known
STORE_MAP, HIDDEN = "store-map.npy", "hidden.npy"  # of queries into the unchanged rows of the pivot
Content = NDArray[np.uint8]
AGAIN = "copy the whole folder again or run muse align again"


def folder_name(language: str) -> str:
    """The name of a language's folder, with special characters escaped."""
    try:
        name = quote(language, safe="")
    except UnicodeEncodeError:
        name = ""
    if name in ("", ".", "..", MANIFEST):
        raise BadSetting(
            f"a language needs a name that is valid for a folder, got {language!r}; choose another name"
        )
    if len(name) > LONGEST_NAME:
        raise BadSetting(
            f"a language needs a name of at most {LONGEST_NAME} characters as a folder, got {len(name)} "
            f"({language[:40]}...); choose a shorter name"
        )
    return name


def derived_name(kind: str, language: str, other: str) -> str:
    """The path in a space of what is derived of two languages: `kind` is such as hubness.{}.npy."""
    return f"{folder_name(language)}/{kind.format(folder_name(other))}"


def with_checksum(name: str, digest: str) -> str:
    """A name with the first four digits of a checksum: fr-en.txt@3f2a."""
    return f"{name}@{digest[:4]}"


def checksum(path: Path) -> str:
    """The sha256 of a file, in hexadecimal, or of the names and checksums of the files in a folder."""
    if path.is_dir():
        inside = sorted(inner for inner in path.rglob("*") if inner.is_file())
        text = "".join(f"{inner.relative_to(path).as_posix()} {checksum(inner)}\n" for inner in inside)
        return hashlib.sha256(text.encode()).hexdigest()
    refuse_stream(path, "whose checksum is kept")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_sum(path: Path, expected: object, of: Path | Content) -> None:
    """Raise BadFile unless a file of a space, by a copy or its bytes, has the checksum in its manifest."""
    try:
        found = checksum(of) if isinstance(of, Path) else hashlib.sha256(of.data).hexdigest()
    except OSError as error:
        raise unreadable(path, error) from error
    if found != expected:
        raise BadFile(
            f"{path}: expected the saved file (sha256 {str(expected)[:8]}), got a changed or incomplete one "
            f"({found[:8]}); {AGAIN}"
        )


def read_content(path: Path) -> Content:
    """The bytes (b,) of a file of a space, in memory: nothing that happens to the file changes them."""
    refuse_stream(path, "of a space")
    try:
        with path.open("rb") as file:
            return np.fromfile(file, np.uint8)
    except OSError as error:
        raise unreadable(path, error) from error


def write_lines(path: Path, lines: Iterable[str]) -> None:
    r"""Write one word or text a line, each ended by \n; `check_words` must have accepted words."""
    with path.open("wb") as file:
        for line in lines:
            file.write(line.encode() + b"\n")


def check_words(language: str, words: Sequence[str]) -> None:
    """Raise Mismatch for a word that cannot be written as a line of UTF-8, or that is there twice."""
    if len(set(words)) < len(words):
        again = Counter(words).most_common(1)[0][0]
        raise Mismatch(f"{language}: expected different words, got {again!r} twice; rename or drop one")
    for place, word in enumerate(words):
        try:
            broken = b"\n" in word.encode()
        except UnicodeEncodeError:
            broken = True
        if broken:
            raise Mismatch(
                f"{language}: expected words that fit on a line of UTF-8, got {word!r} (word {place + 1}); "
                "rename or drop it"
            )


def read_words(path: Path, count: int, content: Content) -> list[str]:
    """The `count` words of a file, one a line, whose bytes are in memory."""
    try:
        *lines, rest = content.tobytes().decode().split("\n")
    except UnicodeDecodeError as error:
        raise BadFile(f"{path}: expected UTF-8, got other bytes; {AGAIN}") from error
    if rest or len(lines) != count:
        raise BadFile(f"{path}: expected {count} lines, got {len(lines)}; {AGAIN}")
    if (different := len(set(lines))) < count:  # by its word a row is found
        raise BadFile(f"{path}: expected {count} different lines, got {different}; {AGAIN}")
    return lines


class Texts(Sequence[str]):
    """The `count` texts of a file, one a line, read as they are asked for.

    The file is mapped at once, so that one that replaces it is never mixed with it, or its `content` is in
    memory. Bytes that are not UTF-8 are replaced.
    """

    def __init__(self, path: Path, count: int, content: Content | None = None) -> None:
        self._path, self._count = path, count
        try:
            self._bytes = np.memmap(path, np.uint8, mode="r") if content is None else content
        except OSError as error:
            raise unreadable(path, error) from error
        except ValueError as error:  # an empty file
            raise BadFile(f"{path}: expected {count} lines, got 0; {AGAIN}") from error

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[row] for row in range(self._count)[place]]
        row = range(self._count)[place]
        begin, end = self._bounds[row : row + 2].tolist()
        return self._bytes[begin : end - 1].tobytes().decode(errors="replace")

    @cached_property
    def _bounds(self) -> NDArray[np.int64]:
        """Where each line begins, and where the last one ends (count + 1,)."""
        ends = np.flatnonzero(self._bytes == ord("\n")) + 1
        if len(ends) != self._count or ends[-1] != len(self._bytes):
            raise BadFile(f"{self._path}: expected {self._count} lines, got {len(ends)}; {AGAIN}")
        return np.concatenate([[0], ends])


def write_array(path: Path, shape: tuple[int, ...], chunks: Iterable[Matrix]) -> None:
    """Write an array of float32 of this shape from chunks of its rows, so that it need not fit in memory."""
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": shape}
        # A plain stream: on a full disk it raises, whereas a memory map would kill the process.
        np.lib.format.write_array_header_1_0(file, header)
        for chunk in chunks:
            file.write(chunk.astype("<f4", copy=False).tobytes())


def read_array(path: Path, shape: tuple[int, ...], content: Content | None = None) -> Matrix:
    """The array of float32 of that shape, memory-mapped copy-on-write, or else in its `content` in memory."""
    refuse_stream(path, "of a space")
    try:
        if content is None:
            with strictly():
                array = np.asarray(np.lib.format.open_memmap(path, mode="c"))
        else:
            array = array_in(content)
    except OSError as error:
        raise unreadable(path, error) from error
    except DAMAGED as error:
        raise BadFile(f"{path}: expected an array, found a broken file; {AGAIN}") from error
    if array.shape != shape or array.dtype != np.float32:
        raise BadFile(
            f"{path}: expected float32 of shape {shape} as {MANIFEST} says, got {array.dtype} of shape "
            f"{array.shape}; {AGAIN}"
        )
    return array


def unreadable(path: Path, error: OSError) -> BadFile:
    """The error to raise for a file of a space that cannot be read."""
    return BadFile(f"{path}: expected a file of an aligned space, got {error.strerror or error}; {AGAIN}")
