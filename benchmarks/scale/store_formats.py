"""Stores of a million rows, mapped from file to file by `muse map`: seconds, peak memory, and a round trip.

    python -m benchmarks.scale.store_formats FOLDER --out FILE.csv [--rows 1000000] [--dimension 32]
        [--formats qdrant,openai,chroma,pgvector,parquet,npy,faiss]

FOLDER gets a store in each format, a space in which a model of its dimension is rotated, and what is mapped.
The rows are the same in all formats; ids are integers for Qdrant, pgvector and faiss, text for the others.
Qdrant's points and the rows of pgvector have a payload. What is read back of the mapped file must have the
same ids, and the rows that the rotation gives to 1e-5. One row a format is appended to FILE.csv; those there
are not made again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.support.kept_rows import append, read_rows
from benchmarks.support.tables import commit, header, row, today
from muse.files.row_writers import RowFormat, store_writer
from muse.files.vectors.formats import open_table
from muse.files.vectors.table import IntegerId
from muse.normalise import normalise
from muse.space import Provenance, SideToSave, Space, load_space, save_space
from muse.vectors import Matrix, Vectors

COLUMNS = ("format", "rows", "dimension", "file_mb", "seconds", "peak_mb", "most_wrong", "commit", "date")
BLOCK = 10_000
CLOSE = 1e-5


class Form(NamedTuple):
    """The ending of a file, whether its ids are integers, and its lines; None where muse writes it itself."""

    ending: str
    integers: bool
    lines: Callable[[list[str], Matrix], Iterator[str]] | None = None


def blocks(rows: int, dimension: int) -> Iterator[tuple[int, Matrix]]:
    """The rows (b, d) of the store with the place of the first one; the same each time."""
    for begin in range(0, rows, BLOCK):
        rng = np.random.default_rng([0, begin])
        count = min(BLOCK, rows - begin)
        yield begin, rng.normal(0.2, 1, (count, dimension)).astype(np.float32)


def _text(vector: list[float]) -> str:
    return "[" + ",".join([f"{one:.6g}" for one in vector]) + "]"


def _of_qdrant(ids: list[str], rows: Matrix) -> Iterator[str]:
    for one, vector in zip(ids, rows.tolist(), strict=True):
        payload = json.dumps({"text": f"text of {one}", "page": int(one) % 7})
        yield f'{{"id": {one}, "vector": {_text(vector)}, "payload": {payload}}}\n'


def _of_openai(ids: list[str], rows: Matrix) -> Iterator[str]:
    for one, vector in zip(ids, rows.tolist(), strict=True):
        body = f'{{"data": [{{"index": 0, "embedding": {_text(vector)}}}]}}'
        yield f'{{"custom_id": "{one}", "response": {{"status_code": 200, "body": {body}}}, "error": null}}\n'


def _of_chroma(ids: list[str], rows: Matrix) -> Iterator[str]:
    for begin in range(0, len(ids), 1_000):  # a page a line
        some = ids[begin : begin + 1_000]
        vectors = ",".join(_text(one) for one in rows[begin : begin + 1_000].tolist())
        texts = json.dumps([f"text of {one}" for one in some])
        yield f'{{"ids": {json.dumps(some)}, "embeddings": [{vectors}], "documents": {texts}}}\n'


def _of_pgvector(ids: list[str], rows: Matrix) -> Iterator[str]:
    if ids[0] == "0":
        yield "id,embedding,text\n"
    for one, vector in zip(ids, rows.tolist(), strict=True):
        yield f'{one},"{_text(vector)}",text of {one}\n'


FORMS = {
    "qdrant": Form(".jsonl", True, _of_qdrant), "openai": Form(".jsonl", False, _of_openai),
    "chroma": Form(".jsonl", False, _of_chroma), "pgvector": Form(".csv", True, _of_pgvector),
    "parquet": Form(".parquet", False), "npy": Form(".npy", True), "faiss": Form(".faiss", True),
}  # fmt: skip


def ids_of(begin: int, count: int, form: Form) -> list[str]:
    """The ids of rows from a place on."""
    if form.integers:
        return [IntegerId(one) for one in range(begin, begin + count)]
    return [f"doc-{one}" for one in range(begin, begin + count)]


def make(path: Path, form: Form, rows: int, dimension: int) -> None:
    """Writes a store, unless it is there."""
    if path.exists():
        return
    if form.lines is None:
        with store_writer(path, dimension, RowFormat()) as write:
            for begin, block in blocks(rows, dimension):
                write(ids_of(begin, len(block), form), block)
        return
    with (unfinished := path.with_suffix(".partial")).open("w", encoding="utf-8") as file:
        for begin, block in blocks(rows, dimension):
            file.writelines(form.lines(ids_of(begin, len(block), form), block))
    unfinished.replace(path)


def make_space(folder: Path, dimension: int) -> Space:
    """A space with some rows of the store, rotated."""
    if not folder.exists():
        (_, few), *_ = blocks(500, dimension)
        turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(dimension, dimension)))
        unit, steps = normalise(few)
        names = [f"row{place}" for place in range(len(few))]
        sides = {
            "old": SideToSave(
                Vectors("old", names, unit, frequency_ordered=False), steps, turn.astype(np.float32)
            ),
            "new": SideToSave(Vectors("new", names, unit, frequency_ordered=False), steps),
        }
        save_space(folder, sides, pivot="new", provenance=Provenance("procrustes"))
    return load_space(folder)


def measured(name: str, asked: argparse.Namespace) -> dict[str, Any]:
    """The row of a format."""
    form, space = FORMS[name], make_space(asked.folder / "space", asked.dimension)
    path = asked.folder / f"{name}.{asked.rows}.{asked.dimension}{form.ending}"
    make(path, form, asked.rows, asked.dimension)
    out = asked.folder / f"{name}.mapped{form.ending}"
    began = time.perf_counter()
    peak = peak_of([
        sys.executable, "-m", "muse", "map", str(space.folder), "--lang", "old", "--vectors", str(path),
        "--out", str(out), "--quiet",
    ])  # fmt: skip
    seconds = time.perf_counter() - began
    return {
        "format": name, "rows": asked.rows, "dimension": asked.dimension,
        "file_mb": f"{path.stat().st_size / 1e6:.0f}", "seconds": f"{seconds:.0f}", "peak_mb": f"{peak:.0f}",
        "most_wrong": f"{wrong(out, form, space, asked):.1e}", "commit": commit(), "date": today(),
    }  # fmt: skip


def peak_of(command: list[str]) -> float:
    """The peak memory in MB of a command, run in a process of its own beneath a fresh one."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=sys.stderr); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code, *command], check=True, stdout=subprocess.PIPE)
    unit = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss
    return int(done.stdout) * unit / 1e6


def wrong(out: Path, form: Form, space: Space, asked: argparse.Namespace) -> float:
    """The largest difference of a mapped number from the right one; exits where an id is another."""
    found, most = _in_blocks(out), 0.0
    for begin, block in blocks(asked.rows, asked.dimension):
        ids, rows = next(found)
        if ids != ids_of(begin, len(block), form):
            sys.exit(f"{out}: other ids from row {begin} on: {ids[:3]}")
        most = max(most, float(np.abs(rows - space.map_words("old", block)).max()))
    if most > CLOSE or next(found, None) is not None:
        sys.exit(f"{out}: other rows than were written, by up to {most:.1e}")
    return most


def _in_blocks(path: Path) -> Iterator[tuple[list[str], Matrix]]:
    """The ids and rows of a file, BLOCK at a time."""
    ids, parts, held = list[str](), list[Matrix](), 0
    with open_table(path) as table:
        for names, rows in table.blocks:
            ids += names
            parts.append(rows)
            held += len(rows)
            while held >= BLOCK:
                whole = np.concatenate(parts)
                yield ids[:BLOCK], whole[:BLOCK]
                ids, parts, held = ids[BLOCK:], [whole[BLOCK:]], held - BLOCK
    if held:
        yield ids, np.concatenate(parts)


def main() -> None:
    """Measures the formats that are missing."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.csv")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--dimension", type=int, default=32)
    parser.add_argument("--formats", default=",".join(FORMS))
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    done = {(one["format"], one["rows"], one["dimension"]) for one in read_rows(asked.out)}
    header(COLUMNS)
    for name in asked.formats.split(","):
        if (name, str(asked.rows), str(asked.dimension)) not in done:
            found = measured(name, asked)
            append(asked.out, [found], COLUMNS)
            row([found[column] for column in COLUMNS])


if __name__ == "__main__":
    main()
