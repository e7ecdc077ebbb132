"""The explorer under attack: its health at every moment, how excess is refused, and its memory.

    # of the sample vectors, which are aligned first
    python -m benchmarks.robustness.explorer_attack
    python -m benchmarks.robustness.explorer_attack --space embeddings/aligned/fr-en --out FILE.csv

Another process on this machine makes three attacks: requests that a browser marks as those of another site's
page, long sentences, and very many connections with a request each. All the while, /healthz is asked over a
connection that stays open, as a monitor has one, and over new ones. The attacks are made three times: memory
that is not given back grows each time, that of threads and caches only at first.

Exits 1 if a check of health fails or takes longer than `--limit`, if another site is answered, if a status of
500 or above is not 503, or if the third round needs more memory than the second. During the last attack
health is refused as everything is beyond uvicorn's limit: it is printed and not judged.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import itertools
import json
import multiprocessing
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from muse.space import load_space

OTHER_SITE, SENTENCES, REQUESTS = "requests of another site", "long sentences", "requests at once"
COUNTS = {OTHER_SITE: 60, SENTENCES: 60, REQUESTS: 2_000}
PATIENCE = 120.0  # seconds for an answer
PAUSE = 0.02  # seconds between two checks of health
LONGEST = 2_000  # characters of a sentence
ROUNDS, GROWTH_MB = 3, 25.0  # the last may need so much more than the one before
HEAD = "GET {} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
FIELDS = (
    "round", "attack", "connections", "answered_200", "refused_503", "refused_403", "closed_unanswered",
    "other_statuses", "health_checks", "health_kept_worst_ms", "health_new_worst_ms", "peak_mb",
)  # fmt: skip
Statuses = Counter[int]  # 0: closed without an answer
Row = tuple[object, ...]


async def ended(port: int, sent: str, seconds: float) -> int:
    """The status with which the server ends a connection that sent this; 0 for none, -1 if it does not."""
    writer = None
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent.encode())
        answer = await asyncio.wait_for(reader.read(), seconds)
        return int(answer.split(b" ", 2)[1]) if answer else 0
    except TimeoutError:
        return -1
    except OSError:
        return 0
    finally:
        if writer is not None:
            writer.close()


async def answers(port: int, sent: list[str], seconds: float) -> Statuses:
    """The answers by status to what is sent over a connection each, all at once."""
    return Counter(await asyncio.gather(*(ended(port, one, seconds) for one in sent)))


def attack(port: int, sent: list[str], seconds: float) -> Statuses:
    """The same, for a process of its own."""
    return asyncio.run(answers(port, sent, seconds))


def sentence(words: Iterator[str]) -> str:
    """A sentence of LONGEST characters, nearly."""
    text = next(words)
    while len(text) + 1 + len(word := next(words)) <= LONGEST:
        text += f" {word}"
    return text


def messages(words: Iterator[str]) -> dict[str, list[str]]:
    """What each attack sends over its connections: none asks the same as another, so that no cache helps."""

    def request(path: str, **parameters: str) -> str:
        return HEAD.format(f"{path}?{urllib.parse.urlencode(parameters)}") + "Connection: close\r\n\r\n"

    foreign = "Sec-Fetch-Site: cross-site\r\nConnection: close"

    return {
        OTHER_SITE: [
            request("/api/sentence", text=sentence(words)).replace("Connection: close", foreign)
            for _ in range(COUNTS[OTHER_SITE])
        ],
        SENTENCES: [request("/api/sentence", text=sentence(words)) for _ in range(COUNTS[SENTENCES])],
        REQUESTS: [request("/api/translate", word=next(words)) for _ in range(COUNTS[REQUESTS])],
    }


@dataclass
class Watch:
    """Checks of health, made by a thread while an attack lasts: milliseconds and status of each."""

    port: int
    kept: list[tuple[float, int]] = field(default_factory=list)
    new: list[tuple[float, int]] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Watch:
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def figures(self) -> tuple[int, int, int]:
        """The number of checks, and the milliseconds of the slowest: kept connection, new ones."""
        slowest = [round(max(took for took, _ in checks)) for checks in (self.kept, self.new)]
        return len(self.kept) + len(self.new), slowest[0], slowest[1]

    def _watch(self) -> None:
        kept = self._connection()
        while not self._over.wait(PAUSE):
            self.kept.append(check(kept))
            new = self._connection()
            self.new.append(check(new))
            new.close()
        kept.close()

    def _connection(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)


def check(connection: HTTPConnection) -> tuple[float, int]:
    """The milliseconds and the status of a check of health; the status is 0 if there was no answer."""
    began, status = time.perf_counter(), 0
    try:
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        answer.read()
        status = answer.status
    except (OSError, HTTPException):
        connection.close()  # it is opened again by the next request
    return 1_000 * (time.perf_counter() - began), status


def peak_mb(pid: int) -> float:
    """The peak of the resident memory of a process so far, in MB (Linux)."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) * 1024 / 1e6


def worst(checks: list[tuple[float, int]]) -> str:
    """The slowest check, and the statuses of those that failed."""
    failed = Counter(status for _, status in checks if status != 200)
    text = f"{max(took for took, _ in checks):.0f} ms of {len(checks)}"
    return text + (f", failed: {dict(failed)}" if failed else "")


def counted(found: Statuses) -> tuple[int, ...]:
    """The numbers of connections with status 200, 503 and 403, without an answer, and of all others."""
    known = [found[status] for status in (200, 503, 403, 0)]
    return (*known, found.total() - sum(known))


def faults(name: str, found: Statuses, watch: Watch, limit: float) -> list[str]:
    """What was wrong during an attack."""
    judged = [] if name == REQUESTS else watch.kept + watch.new
    wrong = []
    if name == OTHER_SITE and set(found) != {403}:
        wrong.append(f"{name}: {dict(found)}")
    if any(took > limit for took, _ in judged):
        wrong.append(f"{name}: health took more than {limit:.0f} ms")
    if any(status != 200 for _, status in judged):
        wrong.append(f"{name}: health failed")
    if any(status >= 500 and status != 503 for status in found):
        wrong.append(f"{name}: a status of 500 or above other than 503")
    if found[-1]:
        wrong.append(f"{name}: {found[-1]} connections were not closed")
    return wrong


def main() -> None:
    """Serves, attacks and prints a block of Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--space", type=Path, help="default: made of the sample vectors")
    parser.add_argument("--limit", type=float, default=100.0, help="milliseconds of a check of health")
    parser.add_argument("--out", type=Path, metavar="FILE.csv", help="write the rows there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        space = options.space or Path(folder, "fr-en")
        if options.space is None:
            align = ["align", "--src", "fr", "--tgt", "en", "--max-vocab", "5000", "--quiet", "--out", space]
            subprocess.run([sys.executable, "-m", "muse", *map(str, align)], check=True)
        rows, wrong = measure(space, options.limit)
    if options.out:
        with options.out.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([FIELDS, *rows])
    for line in wrong:
        print(f"FAULT {line}")
    sys.exit(bool(wrong))


def measure(space: Path, limit: float) -> tuple[list[Row], list[str]]:
    """The rows by FIELDS and all faults of some rounds of attacks on a server of the space."""
    loaded = load_space(space, check=False)
    known = loaded.vectors(loaded.direction()[0]).words
    words = itertools.cycle([word for word in known if word.isalpha()])
    command = [sys.executable, "-m", "muse", "serve", str(space), "--port", "0", "--json"]
    with (
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as attacker,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,
    ):
        try:
            home = json.loads(next(iter(server.stdout or ())))["url"]
            return attacked(server.pid, urllib.parse.urlsplit(home).port or 0, words, attacker, limit)
        finally:
            server.terminate()


def attacked(
    pid: int, port: int, words: Iterator[str], attacker: ProcessPoolExecutor, limit: float
) -> tuple[list[Row], list[str]]:
    """The rows by FIELDS and all faults of some rounds of attacks on a server, each of which is printed."""
    attacker.submit(int).result()  # its start should not be measured
    warm = HEAD.format("/api/sentence?text=" + next(words)) + "Connection: close\r\n\r\n"
    attack(port, [warm], PATIENCE)
    print("| attack | answers by status | health, kept connection | health, new ones | peak memory |")
    print("| --- | --- | --- | --- | --- |")
    rows: list[Row] = []
    wrong, peaks = [], []
    for number in range(1, ROUNDS + 1):
        for name, sent in messages(words).items():
            with Watch(port) as watch:
                found = attacker.submit(attack, port, sent, PATIENCE).result()
            statuses = ", ".join(f"{status}: {count:,}" for status, count in sorted(found.items()))
            peak = peak_mb(pid)
            print(
                f"| {len(sent):,} {name} | {statuses} | {worst(watch.kept)} | {worst(watch.new)} "
                f"| {peak:.0f} MB |",
                flush=True,
            )
            wrong += faults(name, found, watch, limit)
            rows.append((number, name, len(sent), *counted(found), *watch.figures(), round(peak)))
        peaks.append(peak)
    if (grown := peaks[-1] - peaks[-2]) > GROWTH_MB:
        wrong.append(f"the last round needed {grown:.0f} MB more than the one before")
    return rows, wrong


if __name__ == "__main__":
    main()
