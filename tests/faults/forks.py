"""Forks: muse in a child of this process, which has its modules loaded, and so begins at once."""

import importlib
import multiprocessing
import os
import pkgutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import muse
from muse.__main__ import main
from muse.learn import auto
from tests.support.toys import small_game

_LOADED = "cli commands files run learn space ranking text translate export sentences"
_BY_OTHERS = ("torch._dynamo",)  # an optimiser loads it, which takes a second
PATIENCE = 600  # seconds until it is taken to hang
_FORK = multiprocessing.get_context("fork")


def load() -> None:
    """Load the modules that commands load when they are called; adversarial training becomes a short one."""
    auto.KNOWN["adversarial"] = small_game
    for name in _BY_OTHERS:
        importlib.import_module(name)
    for name in _LOADED.split():
        module = importlib.import_module(f"{muse.__name__}.{name}")
        for inner in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{module.__name__}."):
            importlib.import_module(inner.name)


class Fork:
    """`muse` with these arguments in a folder, once it is let go; its errors go into a file."""

    def __init__(self, arguments: Sequence[str], folder: Path, errors: int) -> None:
        self._held, self._hold = os.pipe()
        self._process = _FORK.Process(target=self._muse, args=(arguments, folder, errors))
        self._process.start()
        os.close(self._held)

    @property
    def pid(self) -> int:
        """The id of its process."""
        return self._process.pid or 0

    def let_go(self) -> None:
        os.close(self._hold)

    def ended(self, seconds: float) -> bool:
        """Whether it ends within so many seconds."""
        self._process.join(seconds)
        return self._process.exitcode is not None

    def kill(self) -> int:
        """Kill it, if it still runs, with all its children; its exit code."""
        if self._process.is_alive():
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except ProcessLookupError:  # it is not yet the leader of its group
                self._process.kill()
        self._process.join()
        return self._process.exitcode or 0

    def _muse(self, arguments: Sequence[str], folder: Path, errors: int) -> None:
        os.close(self._hold)
        os.setsid()
        os.chdir(folder)
        os.dup2(errors, 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        # As python -m muse has it: what is written down of the command is the same.
        sys.argv = [str(Path(muse.__file__).with_name("__main__.py")), *arguments]
        os.read(self._held, 1)  # returns when it is let go
        os.close(self._held)
        main()


def run(
    arguments: Sequence[str], folder: Path, *, before: Callable[[int], object] = lambda pid: None
) -> subprocess.CompletedProcess[str]:
    """`muse` with these arguments, run to its end; its output is not kept.

    `before` is called with the id of the process that will run it, before it does.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        fork = Fork(arguments, folder, errors.fileno())
        before(fork.pid)
        fork.let_go()
        fork.ended(PATIENCE)
        code = fork.kill()
        errors.seek(0)
        return subprocess.CompletedProcess(list(arguments), code, "", errors.read())
