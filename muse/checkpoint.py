"""Checkpoint: what a run has learned so far, on disk, so that a killed run can go on."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile
from muse.files.atomic import atomic_path

Arrays = Mapping[str, NDArray[np.generic]]


class Checkpoint:
    """A folder with one file of arrays for each stage; without a folder, nothing is kept."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def load(self, stage: str) -> dict[str, NDArray[np.generic]] | None:
        """The arrays saved for `stage`, or None where there are none; BadFile if they are broken."""
        if self._folder is None or not (path := self._path(self._folder, stage)).exists():
            return None
        try:
            with np.load(path, allow_pickle=False) as arrays:
                return dict(arrays)
        except (ValueError, OSError, zipfile.BadZipFile) as error:
            raise BadFile(f"{path}: expected a checkpoint, found a broken file; run without --resume") from error

    def save(self, stage: str, arrays: Arrays) -> None:
        """Keep the arrays of `stage`, replacing what was kept for it in one step."""
        if self._folder is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        with atomic_path(self._path(self._folder, stage)) as partial, partial.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]

    @staticmethod
    def _path(folder: Path, stage: str) -> Path:
        return folder / f"{stage.replace(':', '-')}.npz"  # a colon is no file name on Windows
