"""Tables: what every benchmark prints, and how one runs muse and measures it."""

import json
import os
import platform
import resource
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from benchmarks.support.kept_rows import append, shown

ROOT = Path(__file__).resolve().parents[2]
OK_CODES = (0, 3)  # 3: aligned, and judged failed


class Run(NamedTuple):
    """One run of muse in a process of its own: its JSON, its stderr, the seconds from start to exit.

    `processor_seconds` are those of all cores together.
    """

    fields: dict[str, Any]
    stderr: str
    seconds: float
    command: str
    processor_seconds: float


def muse(*arguments: str | Path, lines: Iterable[str] = ()) -> Run:
    """Runs `muse ARGUMENTS --json` as a user would, on lines if any are given.

    RuntimeError with its message where it breaks down.
    """
    words = [str(argument) for argument in arguments]
    command = f"muse {shlex.join(words)}"
    began, spent = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "muse", *words, "--json"], capture_output=True, text=True, check=False,
        input="".join(f"{line}\n" for line in lines),
    )  # fmt: skip
    seconds, used = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = used.ru_utime + used.ru_stime - spent.ru_utime - spent.ru_stime
    if done.returncode not in OK_CODES:
        last = (done.stderr.strip().splitlines() or ["nothing on stderr"])[-1]
        raise RuntimeError(f"exit {done.returncode} from {command}: {last}")
    return Run(json.loads(done.stdout), done.stderr, seconds, command, processor)


def heading(title: str) -> None:
    """Prints the title, the command that is running, and on what: date, machine, versions, commit."""
    print(f"### {title}\n\n    python {shlex.join(sys.argv)}\n")
    load = f"load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    versions = [f"{name} {_version(name)}" for name in ("torch", "numpy", "faiss-cpu")]
    machine = f"{_processor()}, {_cores()} cores, {load}"
    python = f"Python {platform.python_version()}"
    print(f"{today()}; {machine}; {python}, {', '.join(versions)}; commit {commit()}\n")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # as of faiss-cpu where faiss-gpu stands in its place
        return "not installed"


def header(columns: Sequence[str]) -> None:
    """Prints the first two lines of a markdown table."""
    row(columns)
    row(["---"] * len(columns))


def row(cells: Sequence[object]) -> None:
    """Prints one line of a markdown table, at once, so that a long benchmark shows how far it is."""
    print("| " + " | ".join(_text(cell) for cell in cells) + " |", flush=True)


def _text(cell: object) -> str:
    return f"{cell:.1f}" if isinstance(cell, float) else str(cell).replace("|", "\\|")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def today() -> str:
    """The date, in the time zone of all tables."""
    return datetime.now(UTC).strftime("%Y-%m-%d")


def commit() -> str:
    """The commit that runs, with -dirty where files differ from it."""
    git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    return subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def append_rows(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Append rows to a CSV, each as soon as it is there, and print it; floats to four decimals."""
    for row in rows:
        append(path, [row], columns, decimals=4)
        print(*(f"{key} {shown(row.get(key, ''), 4)}" for key in columns), flush=True)


def over_seeds(values: Sequence[float]) -> str:
    """The mean, with minimum and maximum of several.

    >>> over_seeds([61.9, 60.8, 60.9])
    '61.2 (60.8-61.9)'
    """
    if not values:
        return ""
    spread = f" ({min(values):.1f}-{max(values):.1f})" if len(values) > 1 else ""
    return f"{fmean(values):.1f}{spread}"


def numbers(text: str) -> list[int]:
    """The numbers that "0-3,7" names.

    >>> numbers("0-3,7")
    [0, 1, 2, 3, 7]
    """
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return found
