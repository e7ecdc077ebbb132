"""Arrays: rows in memory that stand for a file of vectors in `muse.align`."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadSetting
from muse.files.rows import table_of_rows
from muse.files.table import Table


@dataclass(frozen=True, eq=False)
class RowArray:
    """Rows (n, d) in memory, in no order; row i has the id str(i), as in a file without ids."""

    rows: NDArray[Any]

    def table(self, language: str) -> Table:
        """The rows as a file yields them, so that they are checked and copied as those of a file are."""
        return table_of_rows(Path(language), self.rows)


Given = Path | RowArray


def given_vectors(name: str, given: object) -> Given | tuple[Given, ...] | None:
    """The option `name` of `muse.align`: a path, an array, or several of them; BadSetting for all else."""
    if given is None:
        return None
    if isinstance(given, (list, tuple)):
        return tuple(_one(name, one) for one in given)
    return _one(name, given)


def _one(name: str, given: object) -> Given:
    if isinstance(given, RowArray):
        return given
    if isinstance(given, (str, PathLike)):
        return Path(given)
    if not hasattr(given, "__array__"):
        raise BadSetting(_expected(name, type(given).__name__))
    try:
        rows = np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:  # a tensor on a GPU, or of a type numpy lacks
        raise BadSetting(_expected(name, f"{type(given).__name__} ({error})")) from error
    if rows.ndim != 2 or rows.dtype.kind not in "fiu" or not rows.size:
        raise BadSetting(_expected(name, f"an array of {rows.dtype} of shape {rows.shape}"))
    return RowArray(rows)


def _expected(name: str, found: str) -> str:
    return (
        f"{name} must be a path or an array of n rows of d real numbers, got {found}; give "
        "the rows as a two-dimensional numpy array"
    )
