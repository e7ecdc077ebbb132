"""Workers: processes that examine inputs, and notice of those that an input crashes or hangs."""

import logging
import multiprocessing
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.contract import READ, SCRATCH, Defect, examine
from tests.fuzz.mutators import Files
from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS

HANG = 120.0  # seconds without an end, long for a busy machine: the contract counts those of the processor
ROOM = 4 << 30  # bytes of address space that a worker has beyond what it begins with
_FORK = multiprocessing.get_context("fork")  # so that torch is loaded and the good inputs are made once


class Task(NamedTuple):
    """The inputs of a target from `first` up to `end`."""

    target: str
    first: int
    end: int


class Done(NamedTuple):
    """What became of the inputs of a task: how many were read and refused, and the defects by input."""

    task: Task
    end: int
    read: int
    refused: int
    defects: dict[int, Defect]
    seconds: float


def examined(target: Target, files: Files, folder: Path) -> str | Defect:
    """What the contract says of one input, in a folder of its own that is removed."""
    place = folder / "input"
    place.mkdir()
    try:
        return examine(target, files, place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


@cache
def _outcomes(name: str, process: int) -> set[str]:
    return set()


def warm(target: Target, folder: Path) -> set[str]:
    """What the contract says of good inputs, read once in a process; a defect ends it.

    The pages of the libraries that a reader is first to use are no memory of the input that it reads then.
    """
    if not (outcomes := _outcomes(target.name, os.getpid())):
        examined(target, next(target.good), folder)
        for files in target.good:
            if isinstance(found := examined(target, files, folder), Defect):
                raise SystemExit(f"{target.name}: a good input shows a defect: {found.kind}")
            outcomes.add(found)
    return outcomes


class Worker:
    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._shared = _FORK.Array("q", 3, lock=False)  # the input it is at, how many were read, refused
        self._start()

    def _start(self) -> None:
        self.pipe, theirs = _FORK.Pipe()
        self._process = _FORK.Process(target=self._work, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def _work(self, pipe: Connection) -> None:
        logging.disable()
        size = int(Path("/proc/self/statm").read_bytes().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + ROOM, size + ROOM))
        with tempfile.TemporaryDirectory(prefix="muse-fuzz-", dir=SCRATCH) as folder:
            while (task := pipe.recv()) is not None:
                target = TARGETS[task.target]
                warm(target, Path(folder))
                for number in range(task.first, task.end):
                    self._shared[0] = number
                    found = examined(target, target.numbered(self._seed, number), Path(folder))
                    if isinstance(found, Defect):
                        pipe.send((number, found))
                    else:
                        self._shared[1 if found == READ else 2] += 1
                self._shared[0] += 1
                pipe.send(None)

    def begin(self, task: Task) -> None:
        """Give it a task; what becomes of it is told by `look`."""
        self._task, self._defects, self._began = task, dict[int, Defect](), time.monotonic()
        self._shared[:] = [task.first, 0, 0]
        self._seen = task.first, self._began
        self.pipe.send(task)

    def look(self) -> Done | None:
        """The task once it is done, which an input that crashes or hangs ends as well; None before."""
        try:
            while self.pipe.poll():
                if (found := self.pipe.recv()) is None:
                    return self._done()
                self._defects[found[0]] = found[1]
        except (EOFError, OSError):
            self._process.join()
            return self._broken(Defect(f"crash ({self._process.exitcode})"))
        if self._shared[0] != self._seen[0]:
            self._seen = self._shared[0], time.monotonic()
        if time.monotonic() > self._seen[1] + HANG:
            return self._broken(Defect(f"no end within {HANG:g} s"))
        return None

    def _broken(self, defect: Defect) -> Done:
        self._defects[self._shared[0]] = defect
        self.end()
        self._shared[0] += 1
        done = self._done()
        self._start()
        return done

    def _done(self) -> Done:
        end, read, refused = self._shared
        return Done(self._task, end, read, refused, self._defects, time.monotonic() - self._began)

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self.pipe.close()


@contextmanager
def working(count: int, seed: int) -> Iterator[list[Worker]]:
    workers = [Worker(seed) for _ in range(count)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.end()
