"""Stores' own formats: each row of the table in the documentation, mapped and read back with its ids."""

import csv
import json
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muse.errors import BadFile, BadSetting, Mismatch
from muse.progress import Progress
from muse.space import Space
from muse.space.new_words import StoreFiles, map_rows
from tests.conftest import ROOT
from tests.support.command import Command, refused
from tests.support.spaces import raw_rows, saved

PAGE = ROOT / "docs" / "pages" / "how-to" / "what-muse-reads.md"
QUIET = Progress(quiet=True)
ROWS = raw_rows(5, 6)
PLACES = list(range(6))
INTEGERS = [7, -3, 1 << 40, 0, 12, 5]
NAMES = [f"doc-{row}, é" for row in range(6)]
UUIDS = [str(uuid.UUID(int=row * 7919)) for row in range(6)]
MIXED: list[int | str] = [7, UUIDS[1], "7", 12, UUIDS[4], 5]
Id = int | str


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Space:
    return saved(tmp_path_factory.mktemp("stores") / "space", plain=True)


def lines(path: Path, objects: Iterable[Any]) -> None:
    path.write_text("".join(json.dumps(one) + "\n" for one in objects), encoding="utf-8")


def qdrant(ids: list[Id]) -> Callable[[Path], None]:
    """A point a line, as who scrolls through a collection dumps them."""
    points = [
        {"id": one, "payload": {"a": "b"}, "vector": row} for one, row in zip(ids, ROWS.tolist(), strict=True)
    ]
    return lambda path: lines(path, points)


def scrolled(path: Path) -> None:
    """What scroll answers, two pages of three."""
    points = [
        {"id": one, "vector": {"title": [1.0], "body": row}}
        for one, row in zip(MIXED, ROWS.tolist(), strict=True)
    ]
    pages = [{"result": {"points": points[at : at + 3]}, "status": "ok", "time": 0.1} for at in (0, 3)]
    lines(path, pages)


def nested(record: Callable[[str, list[float]], object]) -> Callable[[Path], None]:
    return lambda path: lines(path, map(record, NAMES, ROWS.tolist()))


def openai(path: Path) -> None:
    lines(
        path,
        (
            {
                "id": f"batch_req_{name}",
                "custom_id": name,
                "response": {"status_code": 200, "body": {"data": [{"index": 0, "embedding": vector}]}},
                "error": None,
            }
            for name, vector in zip(NAMES, ROWS.tolist(), strict=True)
        ),
    )


def parts(path: Path) -> None:
    path.mkdir()
    for place in (0, 3):
        own = INTEGERS[place : place + 3]
        columns = {"id": own, "embedding": ROWS[place : place + 3].tolist()}
        pq.write_table(pa.table(columns), path / f"part-0000{place}.snappy.parquet")


def chroma(path: Path) -> None:
    pages = [
        {"ids": NAMES[at : at + 2], "embeddings": ROWS[at : at + 2].tolist(), "documents": ["a", None]}
        for at in (0, 2, 4)
    ]
    lines(path, pages)


def pgvector(ids: list[Id], header: bool = True) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            if header:
                writer.writerow(["content", "id", "embedding"])
            for one, row in zip(ids, ROWS.tolist(), strict=True):
                vector = f"[{','.join(map(str, row))}]"
                writer.writerow(['two\nlines, "quoted"', one, vector] if header else [one, vector])

    return write


def parquet(ids: Any, **more: Any) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        columns = {} if ids is None else {"id": ids() if callable(ids) else ids}
        parquet.write_table(pa.table({**columns, "v": list(ROWS), **more}), path)

    return write


def uuids() -> Any:
    import pyarrow as pa

    return pa.ExtensionArray.from_storage(
        pa.uuid(), pa.array([uuid.UUID(one).bytes for one in UUIDS], pa.binary(16))
    )


def index(
    kind: Any = None, ids: list[int] | None = None, metric: int = faiss.METRIC_L2
) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        made = faiss.IndexFlat(8, metric)
        if kind is None:
            made.add(ROWS)
        else:
            made = kind(made)
            made.add_with_ids(ROWS, np.array(ids))
        faiss.write_index(made, str(path))

    return write


def safetensors(path: Path) -> None:
    from safetensors.numpy import save_file

    save_file({"rows": ROWS}, path)


@dataclass(frozen=True)
class Case:
    """A row of the table: the format, who writes it, what muse reads of it, and what it writes.

    `files` are such files, by their names, with the ids that they have; they are mapped to a file with the
    ending `out`.
    """

    format: str
    program: str
    read: str
    written: str
    files: dict[str, tuple[Callable[[Path], object], list[Id]]]
    out: str
    column: str | None = None

    @property
    def row(self) -> str:
        return f"| {self.format} | {self.program} | {self.read} | {self.written} |"


CASES = [
    Case(
        "JSON lines", "Qdrant", "`id`, `vector`, `payload`: a point a line, or what scroll answers",
        "`.jsonl`",
        {"a.jsonl": (qdrant([*INTEGERS]), [*INTEGERS]), "b.jsonl": (qdrant(MIXED), MIXED)}, ".jsonl",
    ),
    Case(
        "JSON lines", "Qdrant, named vectors", "one of them: `--column NAME`", "`.jsonl`",
        {"scroll.jsonl": (scrolled, MIXED)}, ".jsonl", "body",
    ),
    Case(
        "JSON lines", "OpenAI batches", "`custom_id` and each embedding of `response.body.data`", "`.jsonl`",
        {"a.jsonl": (openai, [*NAMES])}, ".jsonl.gz",
    ),
    Case(
        "JSON lines", "Chroma",
        "`ids`, `embeddings`, `documents`: what `collection.get` returns, a page a line",
        "`.jsonl`", {"a.jsonl": (chroma, [*NAMES])}, ".jsonl",
    ),
    Case(
        "JSON lines", "Elasticsearch, Weaviate, Pinecone, Milvus, MongoDB, Vertex",
        "the vector wherever it is, as in `_source` or `hits`", "`.jsonl`",
        {
            "a.jsonl": (nested(lambda name, row: {"_id": name, "_source": {"embedding": row}}), [*NAMES]),
            "b.jsonl": (nested(lambda name, row: {"_additional": {"id": name, "vector": row}}), [*NAMES]),
            "c.jsonl": (nested(lambda name, row: {"id": name, "values": row}), [*NAMES]),
        },
        ".jsonl",
    ),
    Case(
        "CSV", "PostgreSQL with pgvector",
        "a column of `[0.1,0.2]`, `{0.1,0.2}` or `[0.1 0.2]`, and `id`; without a header, ids come first",
        "`.csv`",
        {
            "a.csv": (pgvector([*INTEGERS]), [*INTEGERS]),
            "b.csv": (pgvector([*NAMES], header=False), [*NAMES]),
        },
        ".csv",
    ),
    Case(
        "Parquet", "pandas, DuckDB, Spark, Polars",
        "a column of lists, and perhaps `id` and `text`; a folder of parts (extra `parquet`)", "`.parquet`",
        {
            "a.parquet": (parquet(INTEGERS), [*INTEGERS]), "b.parquet": (parquet(NAMES), [*NAMES]),
            "c.parquet": (parquet(uuids), [*UUIDS]), "d.parquet": (parquet(None), [*PLACES]),
            "e": (parts, [*INTEGERS]),
        },
        ".parquet",
    ),
    Case(
        "Parquet with several columns of vectors", "the same", "one of them: `--column NAME`", "`.parquet`",
        {"a.parquet": (parquet(INTEGERS, w=[[1.0]] * 6), [*INTEGERS])}, ".parquet", "v",
    ),
    Case(
        "faiss", "`IndexFlatIP`, `IndexFlatL2`", "rows, whose ids are their numbers", "`.faiss`",
        {"a.faiss": (index(), [*PLACES])}, ".faiss",
    ),
    Case(
        "faiss with ids", "the same in an `IndexIDMap` or `IndexIDMap2`", "rows and their ids",
        "`.faiss`, in an `IndexIDMap`",
        {
            "a.faiss": (index(faiss.IndexIDMap, INTEGERS), [*INTEGERS]),
            "b.faiss": (index(faiss.IndexIDMap2, INTEGERS, faiss.METRIC_L1), [*INTEGERS]),
        },
        ".faiss",
    ),
    Case(
        "`.npy`", "numpy", "an array (n, d), whose ids are the numbers of the rows", "`.npy`",
        {"a.npy": (lambda path: np.save(path, ROWS), [*PLACES])}, ".npy",
    ),
    Case(
        "`.npz`", "numpy", "the arrays `ids` and `vectors`, or one array alone", "none of these",
        {
            "a.npz": (lambda path: np.savez(path, ids=INTEGERS, vectors=ROWS), [*INTEGERS]),
            "b.npz": (lambda path: np.savez(path, ids=NAMES, vectors=ROWS), [*NAMES]),
        },
        ".parquet",
    ),
    Case(
        "`.safetensors`", "Hugging Face", "one tensor (extra `exchange`)", "none of these",
        {"a.safetensors": (safetensors, [*PLACES])}, ".parquet",
    ),
]  # fmt: skip


def written(path: Path) -> tuple[list[Id], np.ndarray[Any, Any]]:
    """The ids and rows of a file, read without muse."""
    if path.suffix == ".npy":
        return [*PLACES], np.load(path)
    if path.suffix == ".faiss":
        found: Any = faiss.read_index(str(path))
        mapped = isinstance(found, faiss.IndexIDMap)
        flat = faiss.downcast_index(found.index) if mapped else found
        ids = faiss.vector_to_array(found.id_map).tolist() if mapped else [*PLACES]
        return ids, flat.reconstruct_n(0, flat.ntotal)
    if path.suffix == ".parquet":
        from pyarrow import parquet

        table = parquet.read_table(path)
        return table["id"].to_pylist(), np.array(table["vector"].to_pylist())
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            first, *rest = csv.reader(file)
        assert first[:2] == ["id", "vector"]
        return [int(one) if one.lstrip("-").isdigit() else one for one, *_ in rest], np.array(
            [json.loads(vector) for _, vector, *_ in rest]
        )
    import gzip

    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")
    with opened as lines_of_file:
        points = [json.loads(line) for line in lines_of_file]
    return [point["id"] for point in points], np.array([point["vector"] for point in points])


FILES = [
    pytest.param(case, name, id=f"{case.format}, {case.program}, {name}")
    for case in CASES
    for name in case.files
]


@pytest.mark.parametrize(("case", "name"), FILES)
def test_a_round_trip(space: Space, tmp_path: Path, case: Case, name: str) -> None:
    write, ids = case.files[name]
    write(tmp_path / name)
    files = StoreFiles(tmp_path / name, tmp_path / f"mapped{case.out}", case.column)
    assert map_rows(space, "fr", files, progress=QUIET) == 6
    found, rows = written(files.out)
    assert [(type(one), one) for one in found] == [(type(one), one) for one in ids]
    np.testing.assert_allclose(rows, space.map_words("fr", ROWS), atol=1e-6)
    again = StoreFiles(files.out, tmp_path / f"again{case.out}")  # what muse writes it reads, as the pivot's
    assert map_rows(space, "en", again, progress=QUIET) == 6
    assert written(again.out)[0] == ids


def test_the_table_has_these_rows_and_no_others() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("\n## Vector stores\n")[2].partition("\n#")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    expected = [
        "| format | from | read | written |",
        "| --- | --- | --- | --- |",
        *(case.row for case in CASES),
    ]
    assert rows == expected, "\n".join(expected)


@pytest.mark.parametrize("ending", [".npy", ".parquet", ".jsonl", ".csv"])
def test_half_precision_if_asked_for(space: Space, tmp_path: Path, ending: str) -> None:
    np.savez(tmp_path / "a.npz", ids=NAMES, vectors=ROWS.astype(np.float16))
    files = StoreFiles(tmp_path / "a.npz", tmp_path / f"b{ending}", half=True)
    map_rows(space, "fr", files, progress=QUIET)
    _, rows = written(files.out)
    expected = space.map_words("fr", ROWS.astype(np.float16).astype(np.float32)).astype(np.float16)
    np.testing.assert_array_equal(rows.astype(np.float16), expected)
    if ending == ".npy":
        assert rows.dtype == np.float16
    if ending == ".parquet":
        from pyarrow import parquet

        assert str(parquet.read_schema(files.out).field("vector").type.value_type) == "halffloat"


def test_rows_without_a_vector_are_left_out_and_counted(
    space: Space, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    points = [{"id": one, "vector": row} for one, row in zip(INTEGERS, ROWS.tolist(), strict=True)]
    points[1]["vector"] = points[4]["vector"] = None
    lines(tmp_path / "a.jsonl", points)
    files = StoreFiles(tmp_path / "a.jsonl", tmp_path / "b.faiss")
    assert map_rows(space, "fr", files, progress=QUIET) == 4
    assert "a.jsonl: dropped 2 of 6 rows without a vector, the first is (row 1 (a.jsonl:2))" in caplog.text
    assert written(files.out)[0] == [7, 1 << 40, 0, 5]
    with pytest.raises(BadFile, match=r"known by their places, got none in row 1 \(a\.jsonl:2\)"):
        map_rows(space, "fr", StoreFiles(tmp_path / "a.jsonl", tmp_path / "b.npy"), progress=QUIET)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "b.faiss"]


@pytest.mark.parametrize(
    ("ids", "out", "message"),
    [
        (MIXED, "b.parquet", "got '7', which is an integer; write a .jsonl file"),
        ([UUIDS[0], 7, 8, 9, 10, 11], "b.parquet", "got '7', which is an integer"),
        ([1 << 63, 1, 2, 3, 4, 5], "b.parquet", "must fit in 64 bits with a sign, got 9223372036854775808"),
        (NAMES, "b.faiss", "integers in a faiss index, got 'doc-0, é', which is text; write a .jsonl"),
    ],
)
def test_ids_that_a_format_has_not(
    space: Space, tmp_path: Path, ids: list[Id], out: str, message: str
) -> None:
    qdrant(ids)(tmp_path / "a.jsonl")
    with pytest.raises(Mismatch, match=message):
        map_rows(space, "fr", StoreFiles(tmp_path / "a.jsonl", tmp_path / out), progress=QUIET)
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_on_the_command_line(muse: Command, space: Space, tmp_path: Path) -> None:
    parquet(INTEGERS, w=[[1.0]] * 6)(tmp_path / "a.parquet")
    line = ("map", space.folder, "--lang", "fr", "--vectors", tmp_path / "a.parquet")
    np.save(tmp_path / "a.npy", ROWS)
    refused(muse(*line[:-1], tmp_path / "a.npy"), "unlabelled vectors", "--out")
    refused(muse(*line[:-1], tmp_path / "a.npy", "--out", tmp_path / "b.npy", "--fit"), "--fit", code=2)
    refused(muse(*line, "--out", tmp_path / "b.csv"), "columns of vectors (v, w), got none")
    ended = muse(*line, "--column", "v", "--float16", "--out", tmp_path / "b.csv", "--json")
    assert ended.json == {"rows": 6, "out": str(tmp_path / "b.csv")}
    assert written(tmp_path / "b.csv")[0] == INTEGERS
    refused(muse(*line, "--column", "v", "--float16", "--out", tmp_path / "b.faiss"), "leave --float16 out")
    refused(muse(*line, "--column", "v", "--out", tmp_path / "b.vec"), "--column", code=2)
    qdrant([*INTEGERS])(tmp_path / "a.jsonl")
    refused(muse(*line[:-1], tmp_path / "a.jsonl"), ".jsonl, .csv or .faiss file; give it as --out")


def test_ids_by_their_column(muse: Command, space: Space, tmp_path: Path) -> None:
    line = (
        "map",
        space.folder,
        "--lang",
        "fr",
        "--vectors",
        tmp_path / "a.jsonl",
        "--out",
        tmp_path / "b.jsonl",
    )
    rows = [{"id": row, "sku": f"A-{row}", "vector": ROWS[row].tolist()} for row in range(6)]
    lines(tmp_path / "a.jsonl", rows)
    muse(*line, "--id", "sku")
    found = [json.loads(one) for one in (tmp_path / "b.jsonl").read_text().splitlines()]
    assert [(one["id"], one["payload.id"]) for one in found] == [(f"A-{row}", row) for row in range(6)]
    muse(*line[:-1], tmp_path / "b.csv", "--id", "sku")
    assert (tmp_path / "b.csv").read_text().splitlines()[0] == "id,vector,payload.id"
    refused(muse(*line, "--id", "kind"), "--id must be one of its columns", "(id, sku)", "got 'kind'")
    rows = [{"sku": f"A-{row % 150}", "vector": ROWS[0].tolist()} for row in range(200)]
    lines(tmp_path / "a.jsonl", rows)
    refused(muse(*line), "expected ids in the column 'sku'", "got some that repeat", "--id sku")
    assert muse(*line, "--id", "sku").code == 0


def test_a_column_of_a_file_without_columns(space: Space, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", ROWS)
    files = StoreFiles(tmp_path / "a.npy", tmp_path / "b.npy", "v")
    with pytest.raises(BadSetting, match="got 'v'"):
        map_rows(space, "fr", files, progress=QUIET)
