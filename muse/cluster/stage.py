"""Stage: the parts that are still missing, made by actors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from muse.cluster.connection import require_ray
from muse.errors import MuseError
from muse.files.parts import PartFolder
from muse.progress import Progress

Make = Callable[[int], None]


class Work(Protocol):
    """What an actor does: `begin` loads what it needs, on its machine, and returns what makes one part."""

    def begin(self) -> Make:
        """A function that makes the part of a number."""


def _worker(job: Work) -> type:
    """The class of an actor that does a job: Ray keeps the class, job included, for those that replace it."""

    class Worker:
        def __init__(self) -> None:
            self._make = job.begin()

        def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
            for number in batch["part"].tolist():
                self._make(number)
            return batch

    return Worker


def make_parts(
    name: str, parts: PartFolder, job: Work, workers: int, *, cpus: float = 1, progress: Progress
) -> None:
    """Make what is missing of `parts` with so many workers at most, each of so many `cpus`.

    Raise what a job raised if that is an error of the user.
    """
    missing = parts.missing()
    if not missing:
        return
    ray, pool = require_ray(), (min(workers, len(missing)), cpus)
    try:
        with progress.stage(name, parts.count, "parts", first=parts.count - len(missing)) as tick:
            if not ray.util.client.ray.is_connected():
                for done, _ in enumerate(_made(job, missing, *pool), parts.count - len(missing) + 1):
                    tick(done)
                return
            # Ray Data does not run at the other end of ray://, so a task on the cluster runs it.
            task = ray.remote(num_cpus=0)(_make_all).remote(job, missing, *pool)
            while ray.wait([task], timeout=1)[1]:
                tick(parts.count - len(parts.missing()))
            ray.get(task)
    except ray.exceptions.RayError as error:
        raise _of_user(error) or error from None


def _made(job: Work, missing: list[int], workers: int, cpus: float) -> Iterator[object]:
    """Yields something for each part that is made."""
    data = require_ray().data
    _silence(data)
    rows = data.from_items([{"part": number} for number in missing], override_num_blocks=len(missing))
    actors = data.ActorPoolStrategy(min_size=1, max_size=workers)
    yield from rows.map_batches(_worker(job), batch_size=1, compute=actors, num_cpus=cpus).iter_rows()


def _make_all(job: Work, missing: list[int], workers: int, cpus: float) -> None:
    for _ in _made(job, missing, workers, cpus):
        pass


def _of_user(error: BaseException | None) -> MuseError | None:
    """The error of the user in a chain of Ray's."""
    while error is not None and not isinstance(error, MuseError):
        error = getattr(error, "cause", None) or error.__cause__
    return error


def _silence(data: Any) -> None:
    # Progress is shown as everywhere in muse.
    context = data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
