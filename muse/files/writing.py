"""Writing: word vectors as text, and the checks that all writers share."""

import gzip
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import numpy as np

from muse.errors import BadFile, BadSetting, Mismatch
from muse.files.atomic import atomic_path, parents_made, refuse_irreplaceable, refuse_special, writing
from muse.files.vectors.broken import SAMPLE, Line, read_line, runs_over
from muse.vectors import Matrix

_ROWS = 1000  # rows written at once
_PACKED = (".bz2", ".xz", ".zst", ".zip")  # endings of what is not written
# The endings of files that other programs open as lines of text, and as something else.
_TEXT = ("csv", "tsv", "txt", "vec")
_NO_TEXT = (
    "apkg arrow avro bin db dix doc docx epub feather h5 hdf5 htm html ifo json jsonl lift martif mobi npy "
    "npz ods odt orc parquet pdf pickle pkl po pt pth rtf safetensors sdltb sqlite tar tbx tei tmx xhtml xlf "
    "xliff xls xlsm xlsx xml yaml yml zip"
).split()


def write_vectors_text(
    path: Path | str,
    words: Sequence[str],
    matrix: Matrix,
    *,
    decimals: int | None = None,
    step: Callable[[int], object] | None = None,
) -> None:
    r"""Write a line "n d", then a word and its numbers a line, compressed if the name ends in .gz.

    Without `decimals` the numbers have nine digits, which restore the same float32. `step` is called with
    the number of words written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tiny.vec"
    ...     write_vectors_text(path, ["the"], np.array([[0.5, -1]], np.float32), decimals=3)
    ...     path.read_text()
    '1 2\nthe 0.500 -1.000\n'
    """
    path = Path(path)
    check_writable(path, words, matrix, forbidden="\n")
    numbers = _numbers(matrix, decimals)
    _check_phrases(path, words, matrix, numbers)
    with replaced(path) as stream:
        for place, block in enumerate(vectors_text(words, matrix, decimals=decimals)):
            stream.write(block.encode())
            if step is not None:
                step(min(place * _ROWS, len(words)))


def vectors_text(words: Sequence[str], matrix: Matrix, *, decimals: int | None = None) -> Iterator[str]:
    """The text that `write_vectors_text` writes of rows (n, d), block by block, without its checks."""
    numbers = _numbers(matrix, decimals)
    yield f"{len(words)} {matrix.shape[1]}\n"
    for begin in range(0, len(words), _ROWS):
        rows = matrix[begin : begin + _ROWS].tolist()
        yield "".join(
            f"{word} {numbers % tuple(row)}"
            for word, row in zip(words[begin : begin + _ROWS], rows, strict=True)
        )


def _numbers(matrix: Matrix, decimals: int | None) -> str:
    number = "%.9g" if decimals is None else f"%.{decimals}f"
    return " ".join([number] * matrix.shape[1]) + "\n"


@contextmanager
def replaced(path: Path) -> Iterator[IO[bytes]]:
    """A stream whose content replaces `path` when the block ends without an error, compressed for .gz.

    Missing parent folders are created, and removed again on an error.
    """
    with writing(path, "path"), parents_made(path), atomic_path(path) as partial, partial.open("wb") as file:
        if path.suffix != ".gz":
            yield file
            return
        # Without name and time in the header, so that equal vectors give equal files.
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as packed:
            yield cast("IO[bytes]", packed)


def check_place(path: Path) -> None:
    """Raise BadFile if no file can be written at `path`; for use before long work, it changes nothing.

    Missing folders are no error: `replaced` creates them.
    """
    if os.path.isdir(path):  # noqa: PTH112 - a Path raises in a folder that may not be searched
        raise BadFile(f"{path}: expected the name of a file, got a folder; give a file in it")
    if path.suffix in _PACKED:
        raise BadFile(f"{path}: expected a name without {path.suffix}, since files are packed as .gz alone")
    check_folder(path.resolve().parent)
    refuse_special(path)
    refuse_irreplaceable(path)


def check_text_name(path: Path, content: str, endings: str) -> None:
    """Raise BadSetting if a name promises another format than the text that the content is written as.

    >>> check_text_name(Path("d.json"), "pairs", ".txt or .tsv")
    Traceback (most recent call last):
    muse.errors.BadSetting: d.json: pairs are written to a .txt or .tsv file, got .json; choose such a name
    """
    _check_ending(path, content, endings, _NO_TEXT)


def check_binary_name(path: Path, content: str, *own: str) -> None:
    """Raise BadSetting if a name promises another format than the one whose files have one of these endings.

    >>> check_binary_name(Path("fr.vec"), "arrays", ".npz")
    Traceback (most recent call last):
    muse.errors.BadSetting: fr.vec: arrays are written to a .npz file, got .vec; choose such a name
    """
    _check_ending(path, content, " or ".join(own), {*_TEXT, *_NO_TEXT} - {ending[1:] for ending in own})


def _check_ending(path: Path, content: str, endings: str, refused: Collection[str]) -> None:
    ending = Path(path.name.removesuffix(".gz")).suffix
    if ending[1:].lower() in refused:
        raise BadSetting(
            f"{path}: {content} are written to a {endings} file, got {ending}; choose such a name"
        )


def check_folder(path: Path) -> None:
    """Raise BadFile if `path` is not a writable folder and cannot be created as one."""
    within = (path.resolve(), *path.resolve().parents)
    # A Path raises in a folder that may not be searched; the folder itself is found, and is not writable.
    above = next(folder for folder in within if os.path.exists(folder))  # noqa: PTH110
    if not above.is_dir():
        raise BadFile(f"{path}: expected a folder to write in, got the file {above}; choose another folder")
    if not os.access(above, os.W_OK | os.X_OK):
        raise BadFile(f"{path}: expected a writable folder, but {above} is not writable; choose another")


def check_folder_place(path: Path, ours: Collection[str]) -> None:
    """Raise BadFile if the folder cannot be written, or contains other files than `ours`, of an export."""
    check_folder(path)
    refuse_irreplaceable(path)
    if path.exists() and not {inner.name for inner in path.iterdir()} <= set(ours):
        raise BadFile(
            f"{path}: expected a new folder or an earlier export, got one with other files; choose another"
        )


def check_writable(path: Path, words: Sequence[str], matrix: Matrix, *, forbidden: str) -> None:
    """Raise Mismatch for words and rows that could not be read back from the file."""
    if matrix.ndim != 2 or len(words) != len(matrix):
        raise Mismatch(
            f"{path}: every word needs one row, got {len(words)} words for an array of shape {matrix.shape}"
        )
    if not np.isfinite(matrix).all():
        raise Mismatch(f"{path}: expected finite numbers to write, got nan or inf; check their source")
    for place, word in enumerate(words):
        if not word or word != word.strip(" \t\n") or any(sign in word for sign in forbidden):
            raise unwritable(path, word, place)
        if not word.isascii():
            check_unicode(path, word, place)


def check_unicode(path: Path, word: str, place: int, *, kind: str = "word") -> None:
    """Raise Mismatch for half a surrogate pair, which UTF-8 cannot encode."""
    try:
        word.encode()
    except UnicodeEncodeError:
        raise unwritable(path, word, place, kind=kind) from None


def unwritable(path: Path, word: str, place: int, *, kind: str = "word") -> Mismatch:
    """The error to raise for a word that could not be read back unchanged."""
    return Mismatch(
        f"{path}: expected words that this format can represent, got {word!r} ({kind} {place + 1}); "
        "rename or drop it"
    )


def _check_phrases(path: Path, words: Sequence[str], matrix: Matrix, numbers: str) -> None:
    # "version 2.0" would be read as a word with one number too many: see read_line and runs_over.
    if runs_over([word.encode() for word in words[:SAMPLE]], 0):
        raise unwritable(path, words[0], 0)
    for place, word in enumerate(words):
        if " " not in word and "\t" not in word:
            continue
        line = f"{word} {numbers % tuple(matrix[place].tolist())}".encode().rstrip()
        read = read_line(line, Line(path, place + 2, matrix.shape[1]))
        if not isinstance(read, tuple) or read[0] != word:
            raise unwritable(path, word, place)
