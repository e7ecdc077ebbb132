"""A run on a cluster: the folder of parts that it fills, and the workers that make those still missing.

The cluster is the Ray cluster at an address, or one that is started on this machine.
"""

import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

import torch

from muse.cluster.parts import MANIFEST as PARTS_MANIFEST
from muse.cluster.parts import PartFolder, begin_parts, check_parts, read_manifest
from muse.errors import BadFile, BadSetting, MuseError
from muse.files.source import cannot_open
from muse.files.space_folder import MANIFEST, checksum
from muse.files.text_slices import files_of
from muse.installation import __version__
from muse.optional import library
from muse.progress import Progress

LOCAL = "local"
ATTEMPTS = 3
REPLACED = 10  # times that a worker may die, as one does whose machine lacks memory for its part
FEW_CPUS = 0.01  # that Ray counts for a worker that waits for others, or must fit in when it is replaced
Make = Callable[[int], None]  # makes the part with a number
Begin = Callable[[], Make]  # loads what a worker needs, on its machine


@dataclass(frozen=True)
class Cluster:
    """The numbers of machines and of their CPUs."""

    machines: int
    cpus: int


@contextmanager
def connected(address: str) -> Iterator[Cluster]:
    """The cluster at `address`: local, auto, HOST:PORT or ray://HOST:PORT.

    local starts one on this machine, which ends with the block. Raise BadSetting if there is none.
    """
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # a replaced worker would be reported at length
    ray = require_ray(address)
    # Ray prints reports of its machines to stdout, where results go.
    with redirect_stdout(sys.stderr):
        _connect(ray, address)
        try:
            alive = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
            cpus = sum(int(node["Resources"]["CPU"]) for node in alive)
            if not cpus:
                raise BadSetting(
                    f"--ray {address}: there must be machines with CPUs, got none; add one to the cluster"
                )
            yield Cluster(len(alive), cpus)
        finally:
            ray.shutdown()


def _connect(ray: Any, address: str) -> None:
    settings = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address == LOCAL:
        settings |= {"num_cpus": torch.get_num_threads(), "include_dashboard": False}
    # Where many processes start at once, the one that a cluster starts for each client of ray:// may end
    # before it has begun; the next one does not.
    for left in reversed(range(ATTEMPTS)):
        try:
            with _native_stderr_discarded():
                ray.init(address, **settings)
            return
        except (ConnectionError, ValueError, RuntimeError, OSError) as error:
            if left and isinstance(error, ConnectionError) and "Initialization failure" in str(error):
                continue
            found = " ".join(str(error).split())
            raise BadSetting(
                "--ray needs the address of a Ray cluster, or local to start one here; got "
                f"{address!r} ({found})"
            ) from error


@contextmanager
def _native_stderr_discarded() -> Iterator[None]:
    # Ray's C++ reports there that its log level was set; no setting prevents that.
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def require_ray(address: str = "") -> Any:
    """The ray package, to be used for a cluster at `address`; MissingExtra if it is not installed.

    One on this machine listens on all addresses, and whoever may ask it runs code: it has a token, which it
    reads when it is loaded.
    """
    if address == LOCAL and "ray" not in sys.modules:
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token_hex()}
    for module in ("ray.data", "ray.util.client"):
        library(module, "--ray", "ray")
    return library("ray", "--ray", "ray")


@dataclass(frozen=True)
class Run:
    """The output folder of a run, the address of its cluster, and the settings that identify it.

    A run with the same settings resumes one that was interrupted.
    """

    out: Path
    address: str
    settings: Mapping[str, Any]
    progress: Progress

    def result(self) -> dict[str, Any] | None:
        """The fields that `finish` wrote, if the run is complete.

        Raise MissingExtra without Ray or pyarrow, and BadSetting if `out` holds anything else.
        """
        require_ray(self.address)
        check_parts(self.out, self._named)
        if not (self.out / PARTS_MANIFEST).exists():
            return None
        found = read_manifest(self.out)
        return found["result"] if found["complete"] else None

    @contextmanager
    def begun(self, count: int) -> "Iterator[Site]":
        """The site of a run whose `out` is to have `count` parts."""
        with connected(self.address) as cluster:
            yield Site(cluster, begin_parts(self.out.resolve(), count, self._named), self.progress)

    @property
    def _named(self) -> dict[str, Any]:
        return {**self.settings, "muse": __version__}


@dataclass(frozen=True)
class Site:
    """The cluster, the folder of parts to make, and in it a folder for intermediate results."""

    cluster: Cluster
    parts: PartFolder
    progress: Progress

    def make(self, name: str, parts: PartFolder, begin: Begin, *, waiting: bool = False) -> None:
        """Make the missing `parts` on all CPUs; work that is `waiting` for others takes none.

        Raise the error that the work raised if it is the user's (a MuseError).
        """
        missing = parts.missing()
        if not missing:
            return
        workers, cpus = (2 * self.cluster.cpus, FEW_CPUS) if waiting else (self.cluster.cpus, 1)
        ray, task = require_ray(), (begin, missing, min(workers, len(missing)), cpus, waiting)
        first = parts.count - len(missing)
        try:
            with self.progress.stage(name, parts.count, "parts", first=first) as tick:
                if not ray.util.client.ray.is_connected():
                    for done, _ in enumerate(_made(*task), first + 1):
                        tick(done)
                    return
                # Ray Data does not run at the other end of ray://, so a task on the cluster runs it.
                remote = ray.remote(num_cpus=0)(lambda: len(list(_made(*task)))).remote()
                while ray.wait([remote], timeout=1)[1]:
                    tick(parts.count - len(parts.missing()))
                ray.get(remote)
        except ray.exceptions.RayError as error:
            raise _explained(ray, error) or error from None

    def finish(self, **fields: Any) -> dict[str, Any]:
        """The fields, written to the manifest; intermediate results are removed."""
        found = {**fields, "machines": self.cluster.machines}
        self.parts.finish({"result": found})
        return found


def _made(begin: Begin, missing: list[int], workers: int, cpus: float, waiting: bool) -> Iterator[object]:
    """Yields an item for each part that is made."""

    class Worker:
        # Ray keeps the class, its work included, to replace an actor that dies.
        def __init__(self) -> None:
            self._make = begin()

        def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
            for number in batch["part"].tolist():
                self._make(number)
            return batch

    data = require_ray().data
    context = data.DataContext.get_current()  # progress is shown as everywhere in muse
    context.enable_progress_bars = context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # its errors are raised too
    rows = data.from_items([{"part": number} for number in missing], override_num_blocks=len(missing))
    work: Any = Worker
    compute = data.ActorPoolStrategy(min_size=1, max_size=workers)
    # Ray Data would replace it without end. Arguments of actors are deprecated, but there are no others yet.
    again = {"max_restarts": REPLACED, "max_task_retries": REPLACED}
    if waiting:  # which begins at once: tasks take the processes of former ones
        work, compute = lambda batch: Worker()(batch), data.TaskPoolStrategy(size=workers)
        again = {"max_retries": REPLACED}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        made = rows.map_batches(work, batch_size=1, compute=compute, num_cpus=cpus, **again)
    yield from made.iter_rows()


def _explained(ray: Any, error: BaseException | None) -> MuseError | None:
    """What a chain of Ray's errors tells the user: a MuseError in it, or that a worker died each time."""
    kinds = ray.exceptions
    deaths = kinds.RayActorError, kinds.WorkerCrashedError, kinds.NodeDiedError, kinds.OutOfMemoryError
    died = False
    while error is not None:
        if isinstance(error, MuseError):
            return error
        died = died or isinstance(error, deaths)
        error = getattr(error, "cause", None) or error.__cause__
    return None if not died else MuseError(
        "each worker of the Ray cluster must live until its part is made, got one that died each of "
        f"{REPLACED + 1} times, most often for lack of memory; give the machines more of it, or Ray fewer "
        "CPUs, and run the command again: the parts that are made are kept"
    )  # fmt: skip


def spaces_as_settings(*folders: Path) -> list[str]:
    """The settings that identify spaces: the checksums of their manifests."""
    return [checksum(folder / MANIFEST) for folder in folders]


def files_as_settings(path: Path | None) -> list[list[Any]]:
    """The settings that identify the state of a file, or of the files in a folder: names, sizes, times."""
    if path is None:
        return []
    try:
        return [[str(file), file.stat().st_size, file.stat().st_mtime_ns] for file in files_of(path)]
    except OSError as error:
        raise BadFile(cannot_open(path, error)) from error
