"""Serving: the explorer is killed while it answers; what it keeps is whole, and it answers the same again."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from threading import Thread

from tests.faults.jobs import ENVIRONMENT
from tests.faults.kills import Report
from tests.support.command import tree
from tests.support.spaces import saved

QUESTIONS = (
    "api/translate?word=fr20&src=fr&tgt=en",
    "api/translate?word=en7&src=en&tgt=fr",
    "api/neighbours?word=fr3&src=fr&tgt=en",
)
_SPACE = "space"


def serve_and_kill(count: int, folder: Path, drawn: random.Random) -> Report:
    """So many kills of a server, each at a random moment between its start and its last answer."""
    report, inputs = Report(), folder / "serve"
    saved(inputs / _SPACE, plain=True)
    done = folder / "served"
    shutil.copytree(inputs, done)
    began = time.perf_counter()
    right = _answers(done)
    seconds = time.perf_counter() - began
    for _ in range(count):
        kept = folder / "serve-killed"
        shutil.copytree(inputs, kept)
        moment = drawn.uniform(0, 1.1 * seconds)
        _kill(kept, moment)
        report.counts["killed"] += 1
        for problem in _problems(kept, tree(inputs), tree(done), right):
            report.wrong.append(f"serve, killed after {moment:.2f} s: {problem}")
        shutil.rmtree(kept)
    return report


def _problems(
    folder: Path, before: dict[str, bytes | None], after: dict[str, bytes | None], right: list[bytes]
) -> Iterator[str]:
    """What is wrong with the folder of a killed server, and with one that is started there again."""
    for name, content in tree(folder).items():
        if content not in (before.get(name, b""), after.get(name, b"")):
            yield f"{name} is neither the old file nor the new one"
    if _answers(folder) != right:
        yield "started again, it answers something else"
    if tree(folder) != after:
        yield f"started again, other files: {sorted(tree(folder).keys() ^ after.keys())}"


def _kill(folder: Path, moment: float) -> None:
    """Asks a server as long as it lives, which is so many seconds."""
    with running(folder) as process:
        asking = Thread(target=_ask_in_vain, args=(process,), daemon=True)
        asking.start()
        time.sleep(moment)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        asking.join()


def _ask_in_vain(process: subprocess.Popen[str]) -> None:
    try:
        _ask(process)
    except (OSError, HTTPException, ValueError):  # it was killed before it could answer
        pass


def _answers(folder: Path) -> list[bytes]:
    """What a server answers to the questions; it is stopped in peace."""
    with running(folder) as process:
        found = _ask(process)
        process.send_signal(signal.SIGINT)
        process.wait(60)
    return found


def _ask(process: subprocess.Popen[str]) -> list[bytes]:
    assert process.stdout is not None
    where = json.loads(process.stdout.readline())["url"]
    found = []
    for question in QUESTIONS:
        # Probabilities are estimated meanwhile, and null until they are.
        while b'"probability":null' in (content := _get(where + question)):
            time.sleep(0.05)
        found.append(content)
    return found


def _get(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=60) as answer:
        content: bytes = answer.read()
    return content


@contextmanager
def running(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A server of the space in a folder, which is killed at the end of the block."""
    command = [sys.executable, "-m", "muse", "serve", _SPACE, "--port", "0", "--json", "-q"]
    with subprocess.Popen(
        command, cwd=folder, env={**os.environ, **ENVIRONMENT}, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()
