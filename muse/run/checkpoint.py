"""Checkpoint: the state of a run on disk, so that a killed run can be resumed."""

import hashlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile, BadSetting
from muse.files.archive import open_archive
from muse.files.atomic import atomic_path, writing
from muse.files.source import DAMAGED, regular_bytes
from muse.files.space_folder import folder_name
from muse.run.processes import ALONE, Processes

Arrays = Mapping[str, NDArray[np.generic]]
RUN = "run.txt"  # in the folder: a fingerprint of the run
RESUMABLE = "interrupted; the same command resumes it with --resume"


def checkpoint_folder(out: Path) -> Path:
    """The hidden folder beside `out` that keeps the state of the run that writes `out`."""
    out = out.resolve()
    return out.with_name(f".{out.name}.checkpoint")


@dataclass(frozen=True)
class Checkpoint:
    """A folder with one file of arrays for each stage; without a folder, nothing is kept.

    A `resumed` one has the state of an earlier run.
    """

    folder: Path | None = None
    resumed: bool = False

    @classmethod
    def open(
        cls, folder: Path, fingerprint: Sequence[str], *, resume: bool, processes: Processes = ALONE
    ) -> "Checkpoint":
        """The checkpoints in `folder`, left by a killed run with the same `fingerprint`, or none yet.

        Without `resume` the checkpoints of an earlier run are removed. Raise BadSetting if there is
        nothing to resume, or if the checkpoints are of other inputs or settings. Of several processes the
        first one opens it, and the others read what it finds there.
        """
        digest = hashlib.sha256("\0".join(fingerprint).encode()).hexdigest()
        note = folder / RUN
        if processes.first and resume:
            if not note.is_file():
                raise BadSetting(
                    f"--resume needs the checkpoints of a killed run, found none in {folder}; omit --resume"
                )
            if regular_bytes(note) != digest.encode():
                raise BadSetting(
                    f"--resume needs the inputs and settings of the killed run, those in {folder} differ; "
                    "use the same ones, or omit --resume to start again"
                )
        elif processes.first:
            shutil.rmtree(folder, ignore_errors=True)
            with writing(folder.parent):
                folder.mkdir(parents=True)
                note.write_text(digest, encoding="utf-8")
        processes.wait()
        return cls(folder, resume)

    def of(self, part: str) -> "Checkpoint":
        """The checkpoints of a part of the run, such as a language, which `clear` forgets with the others."""
        return replace(self, folder=None if self.folder is None else self.folder / folder_name(part))

    def abandon(self, *, breakdown: bool = False) -> bool:
        """Whether the state stays once the run has failed; what is not worth resuming is cleared.

        A resumed run leaves what it resumed. A new one leaves what it has saved only where training had a
        `breakdown`, which a lower rate may avoid: bad input would end it in the same place again.
        """
        saved = breakdown and self.folder is not None and any(self.folder.rglob("*.npz"))
        if not (self.resumed or saved):
            self.clear()
        return self.resumed or saved

    def interrupted(self) -> str:
        """What to say of a run that the user has interrupted: whether it can be resumed."""
        return RESUMABLE if self.abandon(breakdown=True) else "interrupted"

    def clear(self) -> None:
        """Remove all checkpoints."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def load(self, stage: str) -> dict[str, NDArray[np.generic]] | None:
        """The arrays saved for `stage`, or None if there are none; BadFile if they are broken."""
        if self.folder is None or not (path := self.folder / _file(stage)).exists():
            return None
        try:
            with open_archive(path) as arrays:
                return {name: np.asarray(arrays[name]) for name in arrays}
        except ValueError as error:
            raise BadFile(
                f"{path}: expected a checkpoint, found a broken file; run without --resume"
            ) from error

    @contextmanager
    def complete(self) -> Iterator[None]:
        """A block that takes up what `load` gave: BadFile if something is missing or of another kind."""
        try:
            with np.errstate(over="raise", invalid="raise"):
                yield
        except DAMAGED as error:
            raise BadFile(
                f"{self.folder}: the checkpoint must be a complete one of an interrupted run, found an "
                f"incomplete or different one ({error}); run without --resume"
            ) from error

    def save(self, stage: str, arrays: Arrays) -> None:
        """Save the arrays of `stage`, replacing atomically those saved before."""
        if self.folder is None:
            return
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            with atomic_path(self.folder / _file(stage)) as partial, partial.open("wb") as file:
                np.savez(file, **arrays)  # type: ignore[arg-type]


def _file(stage: str) -> str:
    return f"{stage.replace(':', '-')}.npz"  # Windows allows no colon in a file name
