"""Damaged files for every reader, for as long or as many as asked for: scripts/fuzz --help."""

import argparse
import csv
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path

import click

from tests.fuzz.contract import READ, REFUSED, SCRATCH
from tests.fuzz.corpus import keep
from tests.fuzz.targets import TARGETS
from tests.fuzz.workers import Task, Worker, warm

TURN = 4_000  # inputs of a target, before others have their turn; a new process reads the good ones first
FIELDS = ("target", "inputs", "read", "refused", "defects", "seconds", "inputs_per_second")


@dataclass
class Count:
    """What became of the inputs of a target, and how many defects there are of each kind."""

    inputs: int = 0
    read: int = 0
    refused: int = 0
    seconds: float = 0.0
    defects: Counter[str] = field(default_factory=Counter)

    def add(self, done: Worker, seed: int) -> None:
        """Add what became of a task, and keep the first input that shows a defect."""
        target = done.target
        self.inputs += done.outcomes.total() + len(done.defects)
        self.read += done.outcomes[READ]
        self.refused += done.outcomes[REFUSED]
        self.seconds += done.seconds
        for number, defect in done.defects.items():
            if defect.kind not in self.defects:
                place = keep(target, defect.kind, number, TARGETS[target].numbered(seed, number))
                click.echo(f"{target} {number}: {defect.kind}\n{defect.story}kept in {place}", err=True)
            self.defects[defect.kind] += 1
        click.echo(f"{target}: {self.inputs} inputs, {self.defects.total()} defects", err=True)

    def row(self, target: str) -> dict[str, object]:
        rate = round(self.inputs / self.seconds, 1) if self.seconds else 0.0
        defects, seconds = self.defects.total(), round(self.seconds, 1)
        values = (target, self.inputs, self.read, self.refused, defects, seconds, rate)
        return dict(zip(FIELDS, values, strict=True))


def tasks(targets: Sequence[str], inputs: int, seconds: float) -> Iterator[Task]:
    """Each target in turn, until each has had its share of the inputs or the time is up."""
    until, first, share = time.monotonic() + seconds, 0, max(1, inputs // len(targets))
    while first < share:
        end = min(first + TURN, share)
        for name in targets:
            if time.monotonic() > until:
                return
            yield Task(name, first, end)
        first = end


def run(waiting: Iterator[Task], processes: int, counts: dict[str, Count], seed: int) -> None:
    """Let so many workers do the tasks at once, until there are none."""
    busy = list[Worker]()
    try:
        while True:
            while len(busy) < processes and (task := next(waiting, None)) is not None:
                busy.append(Worker(task, seed))
            if not busy:
                return
            wait([worker.pipe for worker in busy], 1.0)
            for worker in [one for one in busy if one.ended()]:
                counts[worker.target].add(worker, seed)
                worker.end()
                busy.remove(worker)
    finally:
        for worker in busy:
            worker.end()


def main() -> int:
    """Runs the campaign, until it is interrupted, and prints the counts; 1 if there is a defect."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, help="how long; with --inputs, at most")
    parser.add_argument("--inputs", type=int, help="of all targets together  [default: 10000, or no limit]")
    parser.add_argument("--targets", default="", help=f"separated by commas, of {', '.join(TARGETS)}; all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2, help="at once  [default: 2]")
    parser.add_argument("--out", type=Path, metavar="FILE.csv", help="write the counts there")
    asked = parser.parse_args()
    chosen = asked.targets.split(",") if asked.targets else list(TARGETS)
    if unknown := [name for name in chosen if name not in TARGETS]:
        parser.error(f"--targets must be of {', '.join(TARGETS)}; got {', '.join(unknown)}")
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        for name in chosen:  # what is made and loaded once is so before the workers begin
            warm(TARGETS[name], Path(folder))
    seconds = float("inf") if asked.minutes is None else 60 * asked.minutes
    inputs = asked.inputs or (10_000 if asked.minutes is None else sys.maxsize)
    counts = {name: Count() for name in chosen}
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        run(tasks(chosen, inputs, seconds), asked.processes, counts, asked.seed)
    rows = [count.row(name) for name, count in counts.items()]
    for row in rows:
        click.echo(f"{row['target']}: " + ", ".join(f"{row[name]} {name}" for name in FIELDS[1:]))
    if asked.out:
        with asked.out.open("w", newline="", encoding="utf-8") as stream:
            table = csv.DictWriter(stream, FIELDS)
            table.writeheader()
            table.writerows(rows)
    click.echo(f"{sum(count.inputs for count in counts.values())} inputs of {len(rows)} targets")
    return int(any(count.defects for count in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
