"""The explorer: its first answer and its memory on a large space, its latency and errors under load.

    python benchmarks/explorer.py --words 200000          # a space of random vectors, made for it
    python benchmarks/explorer.py --space embeddings/aligned/fr-en

Everything stays on this machine: `muse serve` listens to 127.0.0.1, and the requests are bounded in number.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from muse.normalise import normalise
from muse.space import Provenance, SideToSave, load_space, save_space
from muse.vectors import Vectors

DIMENSION = 300


def make_space(folder: Path, words: int, seed: int) -> Path:
    """A space fr, en of `words` random words each, as `muse align` saves one."""
    sides = {}
    for number, language in enumerate(("fr", "en")):
        rng = np.random.default_rng([seed, number])
        rows, fitted = normalise(rng.normal(size=(words, DIMENSION)).astype(np.float32))
        names = [f"{language}{row}" for row in range(words)]
        sides[language] = SideToSave(Vectors(language, names, rows), fitted)
    save_space(folder, sides, pivot="en", provenance=Provenance("random"))
    return folder


def ask(address: str) -> tuple[float, int]:
    """The seconds and the status of one request."""
    began = time.perf_counter()
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:
            answer.read()
            return time.perf_counter() - began, answer.status
    except urllib.error.HTTPError as error:
        return time.perf_counter() - began, error.code
    except OSError:
        return time.perf_counter() - began, 0


def memory_mb(pid: int) -> dict[str, float]:
    """Peak and present resident memory of a process, and the part of it that is its own, in MB."""
    kinds = {"VmHWM": "peak", "VmRSS": "resident", "RssAnon": "its own"}
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    fields = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith(tuple(kinds))}
    return {kinds[key]: int(value) * 1024 / 1e6 for key, value in fields.items()}


def cpu_seconds(pid: int) -> float:
    """The processor time that a process has used: where others keep the cores busy, the truer measure."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Serves, asks and prints a block of Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--space", type=Path)
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--requests", type=int, default=2_000)
    parser.add_argument("--at-once", type=int, default=16)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        space = options.space or make_space(Path(folder, "large"), options.words, 0)
        measure(space, options.requests, options.at_once)


def measure(space: Path, requests: int, at_once: int) -> None:
    """The first answer, then `requests` of them, `at_once` at a time, over the most frequent words."""
    loaded = load_space(space, check=False)
    source, target = loaded.direction()
    words = [word for word in loaded.vectors(source).words[:500] if word.strip()]
    began = time.perf_counter()
    command = [sys.executable, "-m", "muse", "serve", str(space), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            home = json.loads(next(iter(server.stdout or ())))["url"]
            listed = [f"{home}api/translate?{urllib.parse.urlencode({'word': word})}" for word in words]
            _, status = ask(listed[0])
            first = time.perf_counter() - began
            used, busy = memory_mb(server.pid), cpu_seconds(server.pid)
            start = time.perf_counter()
            with ThreadPoolExecutor(at_once) as pool:
                found = list(pool.map(ask, (listed[i % len(listed)] for i in range(requests))))
            took, more = time.perf_counter() - start, cpu_seconds(server.pid) - busy
        finally:
            server.terminate()
    seconds = sorted(1_000 * one for one, _ in found)
    middle, late = statistics.median(seconds), seconds[int(0.99 * len(seconds))]
    errors = sum(status != 200 for _, status in found)
    print(f"| {len(loaded.vectors(source)):,} and {len(loaded.vectors(target)):,} words | |")
    print("| --- | --- |")
    print(f"| first answer (status {status}) after start | {first:.2f} s, {busy:.2f} s of processor |")
    print("| memory then, MB | " + ", ".join(f"{name} {value:.0f}" for name, value in used.items()) + " |")
    print(f"| {requests} requests, {at_once} at a time | {requests / took:.0f} a second, {errors} errors |")
    print(f"| p50, p99 | {middle:.0f} ms, {late:.0f} ms |")
    print(f"| processor time of a request | {1_000 * more / requests:.1f} ms |")


if __name__ == "__main__":
    main()
