"""Forks: muse in a child of this process, which has its modules loaded, and so begins at once."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import pkgutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import muse
from muse.__main__ import main

_LOADED = "cli commands files run learn space text translate export encoders training systems mining induce"
_FORK = multiprocessing.get_context("fork")


def load() -> None:
    """Load the modules that commands load when they are called."""
    for name in _LOADED.split():
        module = importlib.import_module(f"{muse.__name__}.{name}")
        for inner in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{module.__name__}."):
            importlib.import_module(inner.name)


class Fork:
    """`muse` with these arguments in a folder; its errors go into a file."""

    def __init__(self, arguments: Sequence[str], folder: Path, errors: int) -> None:
        self._process = _FORK.Process(target=_muse, args=(arguments, folder, errors))
        self._process.start()

    def ended(self, seconds: float) -> bool:
        """Whether it ends within so many seconds."""
        self._process.join(seconds)
        return self._process.exitcode is not None

    def kill(self) -> int:
        """Kill it, if it still runs, with all its children; its exit code."""
        pid = self._process.pid
        if pid is not None and self._process.is_alive():
            try:
                os.killpg(pid, signal.SIGKILL)
            except ProcessLookupError:  # it is not yet the leader of its group
                self._process.kill()
        self._process.join()
        return self._process.exitcode or 0


def run(arguments: Sequence[str], folder: Path, seconds: float = 600) -> subprocess.CompletedProcess[str]:
    """`muse` with these arguments, run to its end; its output is not kept."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        fork = Fork(arguments, folder, errors.fileno())
        fork.ended(seconds)
        code = fork.kill()
        errors.seek(0)
        return subprocess.CompletedProcess(list(arguments), code, "", errors.read())


def _muse(arguments: Sequence[str], folder: Path, errors: int) -> None:
    os.setsid()
    os.chdir(folder)
    os.dup2(errors, 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    # As python -m muse has it: what is written down of the command is the same.
    sys.argv = [str(Path(muse.__file__).with_name("__main__.py")), *arguments]
    main()
