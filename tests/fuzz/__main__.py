"""Damaged files for every reader, for as long or as many as asked for: scripts/fuzz --help."""

from __future__ import annotations

import argparse
import csv
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import click

from tests.fuzz.contract import SCRATCH, Defect
from tests.fuzz.corpus import keep
from tests.fuzz.targets import TARGETS
from tests.fuzz.workers import Done, Task, Worker, await_any, examined, working

PROCESSES = 2
TURN = 10.0  # seconds that a target has in its turn
LEAST = (
    5_000  # inputs that each target has, before those of which more can be tried in the same time have more
)
FIELDS = ("target", "inputs", "read", "refused", "defects", "seconds", "inputs_per_second")


@dataclass
class Count:
    """What became of the inputs of a target; `begun` is the number of the first that no one has taken."""

    begun: int = 0
    inputs: int = 0
    read: int = 0
    refused: int = 0
    seconds: float = 0.0
    defects: dict[str, int] = field(default_factory=dict)  # how many of each kind

    def add(self, done: Done) -> None:
        """Add what became of a task."""
        self.inputs += done.end - done.task.first
        self.read += done.read
        self.refused += done.refused
        self.seconds += done.seconds

    def row(self, target: str) -> dict[str, object]:
        """The counts by FIELDS."""
        rate = round(self.inputs / self.seconds, 1) if self.seconds else 0.0
        defects = sum(self.defects.values())
        values = (target, self.inputs, self.read, self.refused, defects, round(self.seconds, 1), rate)
        return dict(zip(FIELDS, values, strict=True))


class Campaign:
    """The counts of every target, and the tasks that are left."""

    def __init__(
        self, targets: Sequence[str], *, inputs: int, seconds: float, seed: int, processes: int = PROCESSES
    ) -> None:
        self._processes = processes
        self.counts = {name: Count() for name in targets}
        self._inputs, self._until, self._seed = inputs, time.monotonic() + seconds, seed
        self._left: dict[str, list[Task]] = {}  # what tasks left over when their time was up

    def tasks(self) -> Iterator[Task]:
        """Each target in turn, until there were as many inputs as asked for or the time is up."""
        size = max(1, min(1_000, self._inputs // (self._processes * len(self.counts))))
        while time.monotonic() < self._until:
            for name, count in sorted(self.counts.items(), key=lambda item: _turn(item[1])):
                if self._left.get(name):
                    yield self._left[name].pop()
                    break
                size = min(size, self._inputs - sum(count.begun for count in self.counts.values()))
                if size > 0:
                    first, count.begun = count.begun, count.begun + size
                    yield Task(name, first, count.begun, TURN)
                    break
            else:
                return

    def take(self, done: Done) -> None:
        """Count a task, keep its defects, and note what it has left over."""
        task, count = done.task, self.counts[done.task.target]
        count.add(done)
        if done.end < task.end:
            self._left.setdefault(task.target, []).append(task._replace(first=done.end))
        for number, defect in done.defects.items():
            self._found(task.target, number, defect)
        click.echo(f"{task.target}: {count.inputs} inputs, {sum(count.defects.values())} defects", err=True)

    def _found(self, target: str, number: int, defect: Defect) -> None:
        known = self.counts[target].defects
        if defect.kind not in known:
            place = keep(target, defect.kind, number, TARGETS[target].numbered(self._seed, number))
            click.echo(f"{target} {number}: {defect.kind}\n{defect.story}kept in {place}", err=True)
        known[defect.kind] = known.get(defect.kind, 0) + 1


def _turn(count: Count) -> tuple[bool, float, int]:
    # Those with few inputs come first; then those that have had the least time.
    return count.inputs >= LEAST, count.seconds, count.begun


def run(campaign: Campaign, workers: list[Worker]) -> None:
    """Give the workers tasks until there are none, and wait for all of them."""
    idle, busy = list(workers), list[Worker]()
    tasks = campaign.tasks()
    while True:
        while idle and (task := next(tasks, None)) is not None:
            busy.append(idle.pop())
            busy[-1].begin(task)
        if not busy:
            return
        await_any(busy)
        for worker in list(busy):
            if (done := worker.look()) is not None:
                campaign.take(done)
                busy.remove(worker)
                idle.append(worker)
                tasks = campaign.tasks()  # it may have left some over


def _read_good(targets: Sequence[str]) -> None:
    """Make and read the good inputs: what is loaded once is loaded before the workers begin."""
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        for name in targets:
            for files in TARGETS[name].good:
                if isinstance(found := examined(TARGETS[name], files, Path(folder)), Defect):
                    raise SystemExit(f"{name}: a good input shows a defect: {found.kind}")


def main() -> int:
    """Runs the campaign, until it is interrupted, and prints the counts; 1 if there is a defect."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, help="how long; with --inputs, at most")
    parser.add_argument("--inputs", type=int, help="of all targets together  [default: 10000, or no limit]")
    parser.add_argument("--targets", default="", help=f"separated by commas, of {', '.join(TARGETS)}; all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=PROCESSES, help=f"at once  [default: {PROCESSES}]")
    parser.add_argument("--out", type=Path, metavar="FILE.csv", help="write the counts there")
    asked = parser.parse_args()
    chosen = asked.targets.split(",") if asked.targets else list(TARGETS)
    if unknown := [name for name in chosen if name not in TARGETS]:
        parser.error(f"--targets must be of {', '.join(TARGETS)}; got {', '.join(unknown)}")
    inputs = asked.inputs or (10_000 if asked.minutes is None else sys.maxsize)
    _read_good(chosen)
    seconds = float("inf") if asked.minutes is None else 60 * asked.minutes
    campaign = Campaign(chosen, inputs=inputs, seconds=seconds, seed=asked.seed, processes=asked.processes)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with working(asked.processes, asked.seed) as workers, suppress(KeyboardInterrupt):
        run(campaign, workers)
    rows = [count.row(name) for name, count in campaign.counts.items()]
    for row in rows:
        click.echo(
            ", ".join(f"{value} {name}" if name != "target" else f"{value}:" for name, value in row.items())
        )
    if asked.out:
        with asked.out.open("w", newline="", encoding="utf-8") as stream:
            table = csv.DictWriter(stream, FIELDS)
            table.writeheader()
            table.writerows(rows)
    click.echo(f"{sum(count.inputs for count in campaign.counts.values())} inputs of {len(rows)} targets")
    return int(any(count.defects for count in campaign.counts.values()))


if __name__ == "__main__":
    sys.exit(main())
