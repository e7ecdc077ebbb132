"""Workers: processes that examine inputs, and notice of those that an input crashes or hangs."""

import logging
import multiprocessing
import os
import resource
import shutil
import tempfile
import time
from collections import Counter
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.contract import SCRATCH, Defect, examine
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


def _work(pipe: Connection, task: Task, seed: int, folder: Path) -> None:
    logging.disable()
    size = int(Path("/proc/self/statm").read_bytes().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + ROOM, size + ROOM))
    target = TARGETS[task.target]
    warm(target, folder)
    for number in range(task.first, task.end):
        pipe.send(examined(target, target.numbered(seed, number), folder))


class Worker:
    """A process that does a task: how many inputs were read and refused so far, and the defects by input.

    An input that crashes or hangs it ends the task.
    """

    def __init__(self, task: Task, seed: int) -> None:
        self.target, self.outcomes, self.defects = task.target, Counter[str](), dict[int, Defect]()
        self._left = iter(range(task.first, task.end))
        self._number = next(self._left, None)
        self._began = self._seen = time.monotonic()
        self._scratch = tempfile.TemporaryDirectory(prefix="muse-fuzz-", dir=SCRATCH)
        self.pipe, theirs = _FORK.Pipe(duplex=False)
        arguments = theirs, task, seed, Path(self._scratch.name)
        self._process = _FORK.Process(target=_work, args=arguments, daemon=True)
        self._process.start()
        theirs.close()

    @property
    def seconds(self) -> float:
        """How long it has worked."""
        return self._seen - self._began

    def ended(self) -> bool:
        """Whether the task is done, after what it has found by now is counted."""
        while self._number is not None and self.pipe.poll():
            try:
                found = self.pipe.recv()
            except (EOFError, OSError):
                self._process.join()
                self._left, found = iter(()), Defect(f"crash ({self._process.exitcode})")
            self._note(found)
        if self._number is not None and time.monotonic() > self._seen + HANG:
            self._left = iter(())
            self._note(Defect(f"no end within {HANG:g} s"))
        return self._number is None

    def _note(self, found: str | Defect) -> None:
        if isinstance(found, Defect):
            self.defects[int(self._number or 0)] = found
        else:
            self.outcomes[found] += 1
        self._number, self._seen = next(self._left, None), time.monotonic()

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self.pipe.close()
        self._scratch.cleanup()
