"""Kills, full disks, replaced spaces: scripts/faults --help."""

import argparse
import csv
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from tests.faults import forks
from tests.faults.concurrency import together
from tests.faults.injection import calls_of, inject
from tests.faults.jobs import JOBS
from tests.faults.kills import BEFORE, Reference, Report, kill, reference


def killed(references: Sequence[Reference], count: int, folder: Path, drawn: random.Random) -> Report:
    """So many kills that strike, of each command in turn."""
    report, current = Report(), list(references)
    while (struck := report.counts.total() - report.counts[BEFORE]) < count:
        number = struck % len(current)
        _progress("kills", struck, count, report)
        current[number] = kill(current[number], folder / "kill", drawn, report)
    return report


def failing(references: Sequence[Reference], count: int, folder: Path, drawn: random.Random) -> Report:
    """So many system calls that fail, of each command in turn."""
    report = Report()
    known = {one.job.name: calls_of(one, folder / "calls") for one in references[:count]}
    for number in range(count):
        one = references[number % len(references)]
        inject(one, known[one.job.name], folder / "fault", drawn, report)
        _progress("faults", number + 1, count, report)
    return report


def _progress(what: str, done: int, count: int, report: Report) -> None:
    last = f"; the last: {report.wrong[-1]}" if report.wrong else ""
    click.echo(f"{what}: {done} of {count}, {len(report.wrong)} wrong{last}", err=True)


def _write(out: Path, reports: Mapping[str, Report]) -> None:
    """A row for each event of each experiment; what is wrong is counted for the experiment as a whole."""
    with out.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(("experiment", "event", "count", "wrong"))
        for name, report in reports.items():
            table.writerows((name, event, count, "") for event, count in sorted(report.counts.items()))
            table.writerow((name, "all", "", len(report.wrong)))


def main() -> int:
    """Runs everything and prints the counts; 1 if something is wrong."""
    parser = argparse.ArgumentParser(prog="scripts/faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=24, help="that strike before the command's end")
    parser.add_argument("--faults", type=int, default=24, help="needs strace")
    parser.add_argument("--loads", type=int, default=500)
    parser.add_argument("--replacements", type=int, default=20)
    parser.add_argument("--jobs", default="", help="names of commands, separated by commas; all of them")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--out", type=Path, metavar="FILE.csv", help="write the counts there")
    asked = parser.parse_args()
    if asked.faults and shutil.which("strace") is None:
        parser.error("--faults needs strace; install it, or give --faults 0")
    chosen = [job for job in JOBS if not asked.jobs or job.name in asked.jobs.split(",")]
    forks.load()
    drawn, reports = random.Random(asked.seed), {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        references = []
        if asked.kills or asked.faults:
            references = [reference(job, folder / f"{n}") for n, job in enumerate(chosen)]
        if asked.kills:
            reports["kills"] = killed(references, asked.kills, folder, drawn)
        if asked.faults:
            reports["faults"] = failing(references, asked.faults, folder, drawn)
        if asked.loads:
            reports["loads"] = together(folder, asked.loads, asked.replacements)
    if asked.out:
        _write(asked.out, reports)
    if asked.json:
        found = {name: {"counts": dict(one.counts), "wrong": one.wrong} for name, one in reports.items()}
        click.echo(json.dumps(found))
    else:
        for name, report in reports.items():
            counts = ", ".join(f"{count} {what}" for what, count in sorted(report.counts.items()))
            click.echo("\n  ".join([f"{name}: {counts}; {len(report.wrong)} wrong", *report.wrong]))
    return int(any(report.wrong for report in reports.values()))


if __name__ == "__main__":
    sys.exit(main())
