"""Run: one piece of work on a cluster, and the folder of parts that it fills."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muse.cluster.connection import Cluster, connected, require_ray
from muse.cluster.stage import Work, make_parts
from muse.encoders.encoder import SentenceEncoder
from muse.errors import BadFile
from muse.files.parts import MANIFEST as PARTS_MANIFEST
from muse.files.parts import PartFolder, begin_parts, check_parts, read_manifest
from muse.files.pieces import files_of
from muse.files.source import cannot_open
from muse.files.space_folder import MANIFEST, checksum
from muse.progress import Progress
from muse.version import __version__


@dataclass(frozen=True)
class Run:
    """Where a run writes, the address of its cluster, and the settings that make it what it is.

    The same settings again resume a run that was cut off.
    """

    out: Path
    address: str
    settings: Mapping[str, Any]
    progress: Progress

    def result(self) -> dict[str, Any] | None:
        """What `finish` has written, if the run is complete.

        Raise MissingExtra without Ray or pyarrow, and BadSetting if `out` holds anything else.
        """
        require_ray()
        check_parts(self.out, self._named)
        if not (self.out / PARTS_MANIFEST).exists():
            return None
        found = read_manifest(self.out)
        return found["result"] if found["complete"] else None

    @contextmanager
    def begun(self, count: int) -> Iterator[Site]:
        """The site, where `out` is to have so many parts."""
        with connected(self.address) as cluster:
            yield Site(cluster, begin_parts(self.out.resolve(), count, self._named), self.progress)

    @property
    def _named(self) -> dict[str, Any]:
        return {**self.settings, "muse": __version__}


@dataclass(frozen=True)
class Site:
    """The cluster, the parts to make, and under these what is found on the way."""

    cluster: Cluster
    parts: PartFolder
    progress: Progress

    @property
    def encoder(self) -> Path:
        """Where an encoder is saved for all machines while the run is not complete."""
        return self.parts.stage("encoder", 0).folder / "encoder"

    def make(self, name: str, parts: PartFolder, job: Work) -> None:
        """Make what is missing of some parts, on all CPUs."""
        make_parts(name, parts, job, self.cluster.cpus, progress=self.progress)

    def give_up(self) -> None:
        """Remove the folder: there is nothing in it to resume."""
        shutil.rmtree(self.parts.folder, ignore_errors=True)

    def finish(self, **fields: Any) -> dict[str, Any]:
        """The fields, written to the manifest; what was found on the way is removed."""
        found = {**fields, "machines": self.cluster.machines}
        self.parts.finish({"result": found})
        return found


def encoder_as_settings(encoder: SentenceEncoder) -> list[str]:
    """What tells an encoder from others: its name, and the checksum of what it saves."""
    with tempfile.TemporaryDirectory(prefix="muse-") as folder:
        encoder.save(Path(folder) / "encoder")
        return [encoder.name, checksum(Path(folder) / "encoder")]


def spaces_as_settings(*folders: Path) -> list[str]:
    """What tells spaces from others: the checksums of their manifests."""
    return [checksum(folder / MANIFEST) for folder in folders]


def files_as_settings(path: Path | None) -> list[list[Any]]:
    """What tells the state of a file, or of the files in a folder, from another: names, sizes, times."""
    if path is None:
        return []
    try:
        return [[str(file), file.stat().st_size, file.stat().st_mtime_ns] for file in files_of(path)]
    except OSError as error:
        raise BadFile(cannot_open(path, error)) from error
