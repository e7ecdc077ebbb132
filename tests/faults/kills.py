"""Kills: a command is killed at a random moment and run again; an old result stays whole until then."""

import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.faults.forks import Fork
from tests.faults.jobs import ENDED, Job, finished, others, prepare, result, run

BEFORE = "ended before"  # it could be killed


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


def _until(one: Reference, folder: Path, moment: float) -> float | None:
    """Kill the loaded job at that moment; None, or the seconds after which it ended before."""
    with Path(os.devnull).open("w", encoding="utf-8") as nothing:
        fork = Fork(one.job.arguments(), folder, nothing.fileno())
        began = time.perf_counter()
        fork.let_go()
        ended = fork.ended(moment)
        seconds = time.perf_counter() - began
        fork.kill()
    return seconds if ended else None


def kill(one: Reference, folder: Path, drawn: random.Random, report: Report) -> Reference:
    """Kills the job once and checks what is left, before and after it is run again.

    Returns the job with the seconds it takes now, where it ended before it could be killed: how busy the
    machine is changes, and a kill that comes too late shows nothing.
    """
    job = one.job
    # In every other folder there is the result of an earlier run: it must not be lost.
    shutil.copytree(drawn.choice((one.inputs, one.earlier)), folder)
    old = result(folder, job.out)
    moment = drawn.uniform(0, one.seconds)
    ended = _until(one, folder, moment)
    report.counts["killed" if ended is None else BEFORE] += 1
    report.wrong += [f"{job.name}, {moment:.2f} s: {problem}" for problem in _problems(one, folder, old)]
    shutil.rmtree(folder)
    return one if ended is None else replace(one, seconds=min(one.seconds, ended))


def _problems(one: Reference, folder: Path, old: dict[str, Any] | None) -> Iterator[str]:
    """What is wrong with the result that a killed job left, and with that of running it again."""
    job = one.job
    left = result(folder, job.out)
    if left is not None:  # what goes into a folder that is there is written within it, till the next run
        left = {name: content for name, content in left.items() if ".partial" not in name}
    if left not in (old, one.result):
        yield "neither the old result nor the new one"
    if problem := finished(job, folder):
        yield problem
    elif result(folder, job.out) != one.result:
        yield "run again, another result"
    elif more := others(folder, job.out) - one.others:
        yield f"left behind: {', '.join(sorted(more))}"
