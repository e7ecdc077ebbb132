"""Parts: a folder of Parquet files that are written apart, and a manifest that says what they are.

Each part appears complete or not at all: a run that was cut off is resumed with the parts that are missing.
Names that begin with an underscore are left out by those who read the folder as one table.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile, BadSetting
from muse.files.atomic import atomic_path, make_parents
from muse.files.json_text import parse_json
from muse.files.parquet import open_parquet, require_pyarrow
from muse.files.source import regular_bytes
from muse.files.writing import check_folder, replaced

MANIFEST = "_manifest.json"
WORK = "_work"  # what is found on the way; removed in the end
FORMAT = "muse-parts"
Column = NDArray[Any] | Sequence[str]


@dataclass(frozen=True)
class PartFolder:
    """The parts in a folder, numbered from 0 to `count` - 1."""

    folder: Path
    count: int

    def path(self, number: int) -> Path:
        """The file of a part."""
        return self.folder / f"part-{number:06d}.parquet"

    def missing(self) -> list[int]:
        """The parts that are not written yet."""
        return [number for number in range(self.count) if not self.path(number).exists()]

    def write(
        self, number: int, columns: Mapping[str, Column], counts: Mapping[str, int] | None = None
    ) -> None:
        """Write a part: columns of text, of numbers (n,) or of rows (n, k), and counts of what is in it."""
        import pyarrow as pa
        from pyarrow import parquet

        table = pa.table({name: _array(column) for name, column in columns.items()})
        table = table.replace_schema_metadata({name: str(value) for name, value in (counts or {}).items()})
        with atomic_path(self.path(number)) as partial:
            parquet.write_table(table, partial)

    def read(self, number: int, *columns: str) -> list[Any]:
        """Some columns of a part: lists of text, or arrays (n,) and (n, k)."""
        with open_parquet(self.path(number)) as file:
            table = file.read(list(columns))
            return [_column(table.column(name).combine_chunks()) for name in columns]

    def sizes(self) -> list[int]:
        """The number of rows in each part."""
        found = []
        for number in range(self.count):
            with open_parquet(self.path(number)) as file:
                found.append(file.metadata.num_rows)
        return found

    def counts(self) -> dict[str, int]:
        """The sums over all parts of their counts, and their `rows`."""
        total: dict[str, int] = {"rows": 0}
        for number in range(self.count):
            with open_parquet(self.path(number)) as file:
                total["rows"] += file.metadata.num_rows
                for name, value in (file.schema_arrow.metadata or {}).items():
                    total[name.decode()] = total.get(name.decode(), 0) + int(value)
        return total

    def stage(self, name: str, count: int) -> "PartFolder":
        """A folder of `count` parts for intermediate results."""
        found = PartFolder(self.folder / WORK / name, count)
        make_parents(found.path(0))
        return found

    def finish(self, fields: Mapping[str, Any]) -> None:
        """Write the manifest with these fields beside its own, and remove the intermediate results."""
        count = len(list(self.folder.glob("part-*.parquet")))
        manifest = read_manifest(self.folder)
        _write_manifest(self.folder, {**manifest, **fields, "parts": count, "complete": True})
        shutil.rmtree(self.folder / WORK, ignore_errors=True)
        for partial in self.folder.glob(".part-*.partial"):  # of a worker that was killed
            partial.unlink(missing_ok=True)


def check_parts(folder: Path, settings: Mapping[str, Any]) -> None:
    """Raise BadSetting if `folder` holds anything but parts of the same settings, changing nothing."""
    check_folder(folder)
    require_pyarrow(folder)
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not folder.is_dir() or not (folder / MANIFEST).exists():
        raise BadSetting(f"{folder} exists and does not contain parts written by muse; choose another --out")
    found = read_manifest(folder)["settings"]
    differ = [name for name in settings if found.get(name) != json.loads(json.dumps(settings[name]))]
    if differ:
        raise BadSetting(
            f"{folder} was begun with another {' and '.join(differ)}; choose another --out, or remove it"
        )


def begin_parts(folder: Path, count: int, settings: Mapping[str, Any]) -> PartFolder:
    """The parts of a run with these settings: new ones, or what an interrupted run of the same has left."""
    check_parts(folder, settings)
    if not (folder / MANIFEST).exists():
        folder.mkdir(parents=True, exist_ok=True)
        _write_manifest(
            folder, {"format": FORMAT, "settings": dict(settings), "parts": count, "complete": False}
        )
    return PartFolder(folder, count)


def open_parts(folder: Path) -> PartFolder:
    """The parts of a complete run."""
    count, found = read_manifest(folder).get("parts"), len(list(folder.glob("part-*.parquet")))
    if count != found:
        raise BadFile(f"{folder / MANIFEST}: expected {found} parts, as there are, got {count!r}; make them")
    return PartFolder(folder, found)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a folder of parts; BadFile if it is none."""
    path = folder / MANIFEST
    try:
        manifest = parse_json(regular_bytes(path), "surrogateescape")
    except (OSError, ValueError) as error:
        raise BadFile(f"{path}: expected the manifest of parts, got {error}; make them again") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT or "settings" not in manifest:
        raise BadFile(f"{path}: expected the manifest of parts, got another file; make them again")
    return manifest


def _write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    with replaced(folder / MANIFEST) as stream:
        stream.write((json.dumps(manifest, indent=2) + "\n").encode())


def _array(column: Column) -> Any:
    import pyarrow as pa

    if not isinstance(column, np.ndarray):
        return pa.array(list(column), pa.string())
    if column.ndim == 1:
        return pa.array(column)
    return pa.FixedSizeListArray.from_arrays(pa.array(column.ravel()), column.shape[1])


def _column(array: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_string(array.type):
        return array.to_pylist()
    if not pa.types.is_fixed_size_list(array.type):
        return array.to_numpy(zero_copy_only=False)
    return array.flatten().to_numpy(zero_copy_only=False).reshape(len(array), array.type.list_size)
