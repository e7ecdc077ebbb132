"""Files of vectors as other programs write them, and how they are packed."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from muse.errors import BadFile
from muse.files import read_vectors
from muse.vectors import Matrix

Write = Callable[[Path], object]


def zipped(content: bytes, name: str = "x.vec") -> bytes:
    """A .zip with one file."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return stream.getvalue()


def tarred(content: bytes, mode: str = "w") -> bytes:
    """A .tar with one file, packed as the mode says."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:  # type: ignore[call-overload]
        member = tarfile.TarInfo("x.vec")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zip": zipped, "tar": tarred,
    "tar.gz": lambda content: tarred(content, "w:gz"), "tar.bz2": lambda content: tarred(content, "w:bz2"),
    "tar.xz": lambda content: tarred(content, "w:xz"),
}  # fmt: skip


def packed(write: Write, form: str) -> Write:
    """What writes the same, packed."""

    def write_packed(path: Path) -> None:
        write(path)
        path.write_bytes(PACKERS[form](path.read_bytes()))

    return write_packed


def torch_file(thing: Any, **options: Any) -> Write:
    """What writes a file of torch.save."""

    def write(path: Path) -> None:
        import torch

        torch.save(thing, path, **options)

    return write


def flat_index(rows: Matrix, kind: str = "IndexFlatIP") -> Write:
    """What writes a flat index of faiss."""

    def write(path: Path) -> None:
        import faiss

        index = getattr(faiss, kind)(rows.shape[1])
        index.add(rows)
        faiss.write_index(index, str(path))

    return write


def tensor_file(**tensors: Any) -> Write:
    """What writes a .safetensors."""

    def write(path: Path) -> None:
        from safetensors.numpy import save_file

        save_file(tensors, path)

    return write


def fasttext_model(words: list[str], lines: int = 4, **options: int) -> Write:
    """What trains a tiny fastText model on text in which earlier words are more frequent."""

    def write(path: Path) -> None:
        import fasttext

        text = path.with_suffix(".txt")
        text.write_text(
            "\n".join([" ".join(words * (lines - place)) for place in range(lines)]), encoding="utf-8"
        )
        settings = {"dim": 3, "epoch": 1, "minCount": 1, "bucket": 9, "thread": 1, "verbose": 0, **options}
        fasttext.train_unsupervised(str(text), **settings).save_model(str(path))
        text.unlink()

    return write


def refusal(path: Path) -> str:
    """The message with which a file of vectors is refused: one line that begins with its path."""
    with pytest.raises(BadFile) as caught:
        read_vectors(path, language="en")
    message = str(caught.value)
    assert message.startswith(f"{path}:") and message.isprintable()
    return message


def write_sheet(path: Path, cells: Sequence[tuple[int, int]]) -> None:
    """Write a workbook whose one sheet has text in these cells, by row and column from 1, and no others."""
    from openpyxl import Workbook
    from openpyxl.utils import get_column_letter

    rows = dict[int, str]()
    for row, column in sorted(cells):
        text = f"<is><t>{row} {column}</t></is>"
        rows[row] = rows.get(row, "") + f'<c r="{get_column_letter(column)}{row}" t="inlineStr">{text}</c>'
    sheet = "".join(f'<row r="{row}">{found}</row>' for row, found in rows.items()) + "</sheetData>"
    Workbook().save(blank := io.BytesIO())
    with zipfile.ZipFile(blank) as made, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name in made.namelist():
            content = made.read(name).decode()
            file.writestr(name, content.replace("</sheetData>", sheet))
