"""Kills: a command is killed at a random moment and run again; an old result stays whole until then."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.faults.forks import Fork
from tests.faults.jobs import ENDED, ENVIRONMENT, Job, finished, others, prepare, result, run

START = 0.1  # of the kills that begin with a new Python: most of its time it loads modules
LOADING = 2.0  # seconds that takes


@dataclass
class Report:
    """How many faults there were of each kind, and what was found wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Reference:
    """A job in a folder of its own: the inputs, the right result, its files, and the seconds it takes.

    `earlier` has the inputs and the result of an earlier run with another seed.
    """

    job: Job
    inputs: Path
    earlier: Path
    result: dict[str, Any]
    others: set[str]
    seconds: float


def reference(job: Job, folder: Path) -> Reference:
    """The job run without a fault; RuntimeError if it fails by itself."""
    inputs, earlier, done = folder / "inputs", folder / "earlier", folder / "done"
    prepare(inputs)
    for copy in (earlier, done):
        shutil.copytree(inputs, copy)
    run(job, earlier, "--seed", "7")
    began = time.perf_counter()
    ended = run(job, done)
    seconds = time.perf_counter() - began
    found = result(done, job.out)
    if ended.returncode not in ENDED or found is None:
        raise RuntimeError(f"{job.name}: exit {ended.returncode}: {ended.stderr}")
    return Reference(job, inputs, earlier, found, others(done, job.out), seconds)


def _killed(one: Reference, folder: Path, drawn: random.Random) -> tuple[bool, float]:
    """Whether the job was killed before its end, and the moment; its modules are loaded already."""
    moment = drawn.uniform(0, 1.1 * one.seconds)
    with Path(os.devnull).open("w", encoding="utf-8") as nothing:
        fork = Fork(one.job.arguments(), folder, nothing.fileno())
        fork.let_go()
        ended = fork.ended(moment)
        fork.kill()
    return not ended, moment


def _killed_from_its_start(one: Reference, folder: Path, drawn: random.Random) -> tuple[bool, float]:
    process = subprocess.Popen(
        one.job.command(), cwd=folder, env={**os.environ, **ENVIRONMENT}, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    moment = drawn.uniform(0, 1.1 * one.seconds + LOADING)
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True, moment
    return False, moment


def kill(one: Reference, folder: Path, drawn: random.Random, report: Report) -> None:
    """Kills the job once and checks what is left, before and after it is run again."""
    job = one.job
    # In every other folder there is the result of an earlier run: it must not be lost.
    shutil.copytree(drawn.choice((one.inputs, one.earlier)), folder)
    old = result(folder, job.out)
    if drawn.random() < START and not job.loaded:
        killed, moment = _killed_from_its_start(one, folder, drawn)
        report.counts["killed from the start of Python on"] += killed
    else:
        killed, moment = _killed(one, folder, drawn)
        report.counts["killed once muse was loaded"] += killed
    report.counts["ended before"] += not killed
    where = f"{job.name}, killed after {moment:.2f} s"
    found = result(folder, job.out)
    if found not in (old, one.result):
        report.wrong.append(f"{where}: neither the old result nor the new one")
    if problem := finished(job, folder):
        report.wrong.append(f"{where}: {problem}")
    elif result(folder, job.out) != one.result:
        report.wrong.append(f"{where}: run again, another result")
    elif left := others(folder, job.out) - one.others:
        report.wrong.append(f"{where}: left behind: {', '.join(sorted(left))}")
    shutil.rmtree(folder)
