"""Injection: one system call of a command fails, as on a full, broken or read-only disk, by strace."""

import os
import random
import re
import shutil
import subprocess
import time
from pathlib import Path

from tests.faults import forks
from tests.faults.jobs import ENDED, Job, finished, result
from tests.faults.kills import Reference, Report

CALLS = (
    "write",
    "pwrite64",
    "openat",
    "rename",
    "renameat2",
    "fsync",
    "mkdir",
    "ftruncate",
    "copy_file_range",
)
# A disk that is full, broken, read-only or rationed; limits of a file's size and of memory.
ERRORS = ("ENOSPC", "EIO", "EROFS", "EDQUOT", "EFBIG", "ENOMEM")
_TRACED = re.compile(r"^TracerPid:\s+[1-9]", re.MULTILINE)
_CALL = re.compile(r"^(?P<pid>\d+) +(?P<call>\w+)\((?P<rest>.*)$")


def calls_of(one: Reference, folder: Path) -> list[tuple[str, int]]:
    """The system calls of the job that touch what it writes: the name, and which of that name it is.

    strace counts a name's calls in each thread by itself; those of the first thread are taken.
    """
    shutil.copytree(one.inputs, folder)
    log = folder.with_suffix(".log")
    _traced(one.job, folder, ["-o", str(log), "-y"])
    found: list[tuple[str, int]] = []
    counts = dict.fromkeys(CALLS, 0)
    first = ""
    for line in log.read_text(errors="replace").splitlines():
        if not (match := _CALL.match(line)):
            continue
        first = first or match["pid"]
        call = match["call"]
        if match["pid"] != first or call not in counts:
            continue
        counts[call] += 1
        if _writes(call, match["rest"], folder):
            found.append((call, counts[call]))
    shutil.rmtree(folder)
    log.unlink()
    return found


def inject(
    one: Reference, calls: list[tuple[str, int]], folder: Path, drawn: random.Random, report: Report
) -> None:
    """Lets one call fail and checks what is left, before and after the job is run again."""
    call, number = drawn.choice(calls)
    error = drawn.choice(ERRORS)
    shutil.copytree(one.inputs, folder)
    ended = _traced(one.job, folder, ["-e", f"inject={call}:error={error}:when={number}", "-o", os.devnull])
    report.counts[f"{call} {error}"] += 1
    where = f"{one.job.name}, {call} {number} {error}"
    found = result(folder, one.job.out)
    if "Traceback" in ended.stderr:
        report.wrong.append(f"{where}: {ended.stderr.strip().splitlines()[-1]}")
    if found not in (None, one.result) or (found is None) == (ended.returncode in ENDED):
        report.wrong.append(
            f"{where}: exit {ended.returncode} and {'nothing' if found is None else 'another result'}"
        )
    if problem := finished(one.job, folder):
        report.wrong.append(f"{where}: {problem}")
    elif result(folder, one.job.out) != one.result:
        report.wrong.append(f"{where}: run again, another result")
    shutil.rmtree(folder)


def _traced(job: Job, folder: Path, options: list[str]) -> subprocess.CompletedProcess[str]:
    """The job with its system calls traced: strace begins once muse is loaded, and ends with the job."""
    tracers: list[subprocess.Popen[bytes]] = []

    def trace(pid: int) -> None:
        command = ["strace", "-f", "-qq", "-e", f"trace={','.join(CALLS)}", "-e", "signal=none", *options]
        tracers.append(subprocess.Popen([*command, "-p", str(pid)], stderr=subprocess.DEVNULL))
        while not _TRACED.search(Path(f"/proc/{pid}/status").read_text(encoding="utf-8")):
            if tracers[0].poll() is not None:
                raise RuntimeError(
                    f"strace ended with {tracers[0].returncode}: may it trace other processes?"
                )
            time.sleep(0.005)

    ended = forks.run(job.arguments(), folder, before=trace)
    tracers[0].wait(60)
    return ended


def _writes(call: str, rest: str, folder: Path) -> bool:
    """Whether a call, with its arguments as strace prints them, changes something in the folder."""
    if call == "openat":
        inside = f"<{folder}" in rest.partition(",")[0] or f'"{folder}' in rest
        return inside and "O_CREAT" in rest
    return str(folder) in rest or (call in ("rename", "mkdir") and not re.search(r'"/', rest))
