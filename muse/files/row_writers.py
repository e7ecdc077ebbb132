"""Row writers: items, embeddings without a vocabulary, written to files that appear once complete.

.npy             the rows alone
.parquet         the columns `id`, or a text, and `vector`
.jsonl, .csv     an id and a vector a line: objects as Qdrant's points, and pgvector's text with a header
                 (these and Parquet also have what else the rows have: muse.files.payloads)
.faiss           a flat index of inner products, in an IDMap where the rows have ids

The number of rows need not be known. Ids that are integers where they were read are written as integers.
"""

from __future__ import annotations

import codecs
import csv
import json
import logging
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np

from muse.errors import BadSetting, Mismatch
from muse.files.cells import number_in
from muse.files.parquet import VECTOR, parquet_writer, require_pyarrow
from muse.files.payloads import Payload, Values, as_cell, as_json, type_in_column
from muse.files.vectors.arrays import INDEX_HEADER
from muse.files.vectors.table import IntegerId
from muse.files.writing import check_place, replaced
from muse.vectors import Matrix

log = logging.getLogger(__name__)

Write = Callable[[Sequence[str], Matrix], None]
ID = "id"  # the name of what tells a row
ENDINGS = (".npy", ".parquet")
STORE_ENDINGS = (*ENDINGS, ".jsonl", ".csv", ".faiss")
_TEXT = (".jsonl", ".csv")  # which may end in .gz too
CARRYING = (*_TEXT, ".parquet")  # that may have more than ids and vectors
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what one begins with in a spreadsheet
_INNER_PRODUCT, _CONSTANT = 0, 1 << 20  # of faiss: the metric, and what stands twice in each header


@dataclass(frozen=True)
class RowFormat:
    """How rows are written: as float16 in place of float32 if `half`; `numbered` if their ids are places.

    The `payload` is what rows have beside ids and vectors, of those read last; `label` is the column of ids.
    """

    half: bool = False
    numbered: bool = False
    payload: Payload | None = None
    label: str = ID

    @property
    def dtype(self) -> str:
        """The type of the numbers, as numpy names it."""
        return "<f2" if self.half else "<f4"


def check_row_file(path: Path, endings: Sequence[str] = ENDINGS, *, half: bool = False) -> None:
    """Raise what writing rows to a file with one of these endings would raise, before any work is done."""
    if ending_of(path) not in endings:
        raise BadSetting(
            f"{path}: rows are written to a file that ends in {', '.join(endings)}, got {path.name!r}; "
            "choose such a name"
        )
    if half and path.suffix == ".faiss":
        raise BadSetting(f"{path}: a flat faiss index has numbers of 32 bits; leave --float16 out")
    check_place(path)
    if path.suffix == ".parquet":
        require_pyarrow(path)


def ending_of(path: Path) -> str:
    """What the name of a file of rows ends in, but for .gz of what may be packed.

    >>> [ending_of(Path(name)) for name in ("a.npy", "a.jsonl.gz", "a.npy.gz")]
    ['.npy', '.jsonl', '.gz']
    """
    inner = Path(path.stem).suffix
    return inner if path.suffix == ".gz" and inner in _TEXT else path.suffix


def store_writer(path: Path, dimension: int, form: RowFormat = RowFormat()) -> AbstractContextManager[Write]:
    """A function that appends ids and their rows (b, d) to a file, in the format that its name ends in.

    Raise Mismatch where the format cannot have an id.
    """
    check_row_file(path, STORE_ENDINGS, half=form.half)
    writers: dict[str, Callable[[Path, int, RowFormat], AbstractContextManager[Write]]] = {
        ".npy": npy_writer, ".parquet": _parquet, ".faiss": _faiss, ".csv": _csv, ".jsonl": _json_lines,
    }  # fmt: skip
    return writers[ending_of(path)](path, dimension, form)


def npy_writer(path: Path, dimension: int, form: RowFormat = RowFormat()) -> AbstractContextManager[Write]:
    """A function that appends rows (b, d) to a .npy file of float32, or float16."""

    def header(count: int) -> bytes:
        # numpy pads the header for more digits, so the final one is as long as the first.
        shape = {"descr": form.dtype, "fortran_order": False, "shape": (count, dimension)}
        np.lib.format.write_array_header_1_0(stream := BytesIO(), shape)
        return stream.getvalue()

    return _counted(path, form.dtype, header)


@contextmanager
def _counted(
    path: Path, dtype: str, header: Callable[[int], bytes], ids: array[int] | None = None
) -> Iterator[Write]:
    """What writes rows between a header with their number, written again at the end, and their `ids`."""
    count = 0

    def write(named: Sequence[str], rows: Matrix) -> None:
        nonlocal count
        if ids is not None:
            ids.extend(map(int, _of_one_type(path, named, integers=True)))
        stream.write(np.ascontiguousarray(rows, dtype).data)
        count += len(rows)

    with replaced(path) as stream:
        stream.write(header(0))
        yield write
        if ids is not None:
            stream.write(count.to_bytes(8, "little") + np.array(ids, "<i8").tobytes())
        stream.seek(0)
        stream.write(header(count))


def _faiss(path: Path, dimension: int, form: RowFormat) -> AbstractContextManager[Write]:
    """A flat index: its header and the number of its numbers, the rows, and in an IDMap their ids."""

    def header(count: int) -> bytes:
        index = dimension, count, _CONSTANT, _CONSTANT, True, _INNER_PRODUCT
        mapped = b"" if form.numbered else INDEX_HEADER.pack(b"IxMp", *index)
        return mapped + INDEX_HEADER.pack(b"IxFI", *index) + (count * dimension).to_bytes(8, "little")

    return _counted(path, "<f4", header, None if form.numbered else array("q"))


@contextmanager
def _parquet(path: Path, dimension: int, form: RowFormat) -> Iterator[Write]:
    # The ids of the first rows say what the column has: it is of one type.
    integers: bool | None = None

    def write(ids: Sequence[str], rows: Matrix) -> None:
        nonlocal integers
        if integers is None:
            integers = bool(ids) and all(isinstance(one, IntegerId) for one in ids)
        append(_of_one_type(path, ids, integers=integers), np.ascontiguousarray(rows, form.dtype))

    with parquet_writer(path, dimension, form.label, half=form.half, payload=form.payload) as append:
        yield write


def _of_one_type(path: Path, ids: Sequence[str], *, integers: bool) -> list[int] | Sequence[str]:
    """The ids as integers of 64 bits, or as text; Mismatch for one that is none."""
    if odd := next((one for one in ids if isinstance(one, IntegerId) != integers), None):
        raise Mismatch(
            f"{path}: ids must be all integers or all text, and integers in a faiss index, got {odd!r}, "
            f"which is {'text' if integers else 'an integer'}; write a .jsonl file, which keeps both"
        )
    found = [int(one) for one in ids] if integers else []
    if large := next((one for one in found if type_in_column(one) is not int), None):
        raise Mismatch(
            f"{path}: integers as ids must fit in 64 bits with a sign, got {large}; write a .jsonl file, "
            "which has any"
        )
    return found if integers else ids


def _vector_texts(rows: Matrix, form: RowFormat) -> Iterator[str]:
    """Rows (b, d) as [0.1,0.2], with so many digits that they give back the same number of 32 or 16 bits."""
    numbers = "[" + ",".join(["%.5g" if form.half else "%.9g"] * rows.shape[1]) + "]"
    return (numbers % tuple(row) for row in np.asarray(rows, form.dtype).tolist())


@contextmanager
def _json_lines(path: Path, _: int, form: RowFormat) -> Iterator[Write]:
    def write(ids: Sequence[str], rows: Matrix) -> None:
        more: Iterable[Values] = form.payload.objects() if form.payload else [{}] * len(ids)
        for one, vector, values in zip(ids, _vector_texts(rows, form), more, strict=True):
            shown = str(one) if isinstance(one, IntegerId) else json.dumps(one, ensure_ascii=False)
            rest = f", {as_json(path, values)[1:-1]}" if values else ""
            stream.write(
                f'{{"{ID}": {shown}, "{VECTOR}": {vector}{rest}}}\n'.encode(errors="backslashreplace")
            )

    with replaced(path) as stream:
        yield write


def _begins_formula(cell: str) -> bool:
    return cell.startswith(_FORMULA) and number_in(cell) is None


@contextmanager
def _csv(path: Path, _: int, form: RowFormat) -> Iterator[Write]:
    payload, names, told = form.payload or Payload(), list[str](), False
    with replaced(path) as stream:
        writer = csv.writer(codecs.getwriter("utf-8")(stream), lineterminator="\n")

        def write(ids: Sequence[str], rows: Matrix) -> None:
            nonlocal told
            if not names:
                names.extend([ID, VECTOR, *payload.names()])
                writer.writerow(names)
            more: Iterable[Values] = payload.columns(path, names[2:]) if form.payload else [{}] * len(ids)
            for one, vector, values in zip(ids, _vector_texts(rows, form), more, strict=True):
                cells = [one, vector, *(as_cell(path, values.get(name)) for name in names[2:])]
                writer.writerow(cells)
                if not told and (begun := next(filter(_begins_formula, cells), None)):
                    told = True
                    log.warning(
                        "%s: %.40r and cells like it are written as they are, for databases; a spreadsheet "
                        "would run them as formulas: let it read them as text, or write .parquet", path, begun
                    )  # fmt: skip

        yield write
        if not names:
            writer.writerow([ID, VECTOR])
