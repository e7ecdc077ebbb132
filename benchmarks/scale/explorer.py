"""The explorer: first answer, map and memory on a large space, suggestions as one types, latency under load.

    python -m benchmarks.scale.explorer --words 200000          # a space of random vectors, made for it
    python -m benchmarks.scale.explorer --space embeddings/aligned/fr-en
    python -m benchmarks.scale.explorer --space embeddings/aligned/fr-en --layout 5   # seeds of the map

Everything stays on this machine: `muse serve` listens to 127.0.0.1, and the requests are bounded in number.
From keystroke to suggestion is measured in Chromium, where that and Playwright are installed.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.manifold import TSNE, trustworthiness

from benchmarks.support.options import command_line
from muse.normalise import normalise
from muse.report import word_map
from muse.report.word_map import PERPLEXITY, frequent_pairs
from muse.space import Provenance, SideToSave, load_space, save_space
from muse.vectors import Vectors
from muse.web.pictures import PAIRS

DIMENSION = 300
KEYSTROKES = 200
TREE_STEPS = 350  # of the layout by a tree
FIRST_SEED = 100  # of layouts: their settings were chosen with lower ones
# Types in the page: the time from each input to the list of its suggestions.
TYPE = """async (prefixes) => {
  const [field, list] = ["text", "suggestions"].map((id) => document.getElementById(id));
  const took = [];
  for (const prefix of prefixes) {
    const shown = new Promise((resolve) => {
      const seen = (_, observer) => { observer.disconnect(); resolve(); };
      new MutationObserver(seen).observe(list, { childList: true });
    });
    field.value = prefix;
    const start = performance.now();
    field.dispatchEvent(new Event("input"));
    await shown;
    took.push(performance.now() - start);
  }
  return took;
}"""


def make_space(folder: Path, words: int, seed: int) -> Path:
    """A space fr, en of `words` random words each, in clusters that both share, as `muse align` saves one."""
    sides, rng = {}, np.random.default_rng(seed)
    themes = rng.standard_normal((max(1, words // 100), DIMENSION), dtype=np.float32)
    meanings = themes[rng.integers(len(themes), size=words)]
    meanings += 0.7 * rng.standard_normal((words, DIMENSION), dtype=np.float32)
    for language in ("fr", "en"):
        rows = meanings + 0.5 * rng.standard_normal((words, DIMENSION), dtype=np.float32)
        rows, fitted = normalise(rows)
        names = [language + in_letters(row) for row in range(words)]
        sides[language] = SideToSave(Vectors(language, names, rows), fitted)
    save_space(folder, sides, pivot="en", provenance=Provenance("random"))
    return folder


def in_letters(row: int) -> str:
    """A number as four letters or more: what the map may show, which shows no words with digits."""
    letters = ""
    while row or len(letters) < 4:
        row, last = divmod(row, 26)
        letters = chr(ord("a") + last) + letters
    return letters


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


def first_letters(words: list[str]) -> list[str]:
    """What is in the box after each of KEYSTROKES keystrokes, never the same twice in a row."""
    typed = [word[:length] for word in words for length in range(1, len(word))]
    return [one for one, before in zip(typed, ["", *typed], strict=False) if one != before][:KEYSTROKES]


def keystrokes(home: str, prefixes: list[str]) -> list[float]:
    """The milliseconds from each keystroke in the page to its suggestions; none without a browser."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        return []
    with sync_playwright() as driver:
        page = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"]).new_page()
        page.goto(home)
        page.locator("#examples button").first.wait_for()
        took: list[Any] = page.evaluate(TYPE, prefixes)
        return [float(one) for one in took]


def map_drawn(home: str) -> None:
    """Returns when the map is there."""
    while True:
        with urllib.request.urlopen(f"{home}api/picture") as answer:
            if json.load(answer)["ready"]:
                return
        time.sleep(0.05)


def spread(milliseconds: list[float]) -> str:
    """The median and the 99th percentile."""
    ordered = sorted(milliseconds)
    return f"{statistics.median(ordered):.0f} ms, {ordered[int(0.99 * len(ordered))]:.0f} ms"


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
    options = command_line(__doc__, space=Path, words=200_000, requests=2_000, at_once=16, layout=0)
    if options.layout:
        measure_layout(options.space, options.layout)
        return
    with tempfile.TemporaryDirectory() as folder:
        space = options.space or make_space(Path(folder, "large"), options.words, 0)
        measure(space, options.requests, options.at_once)


def by_a_tree(rows: NDArray[Any], seed: int) -> NDArray[Any]:
    """Places (p, 2) of unit rows (p, d) by scikit-learn's t-SNE, with its tree: what muse used before."""
    method = TSNE(
        perplexity=PERPLEXITY, metric="cosine", init="pca", random_state=seed, max_iter=TREE_STEPS, angle=0.7
    )
    return np.asarray(method.fit_transform(rows), np.float64)


def measure_layout(folder: Path, seeds: int) -> None:
    """Prints the time of each layout of the map, and how true it is, for each seed."""
    space = load_space(folder, check=False)
    source, target = space.direction()
    pairs = frequent_pairs(space, source, target)[:PAIRS]
    chosen = torch.from_numpy(pairs)
    sides = space.tensor(source)[chosen[:, 0]], space.tensor(target)[chosen[:, 1]]
    means = torch.nn.functional.normalize(sides[0] + sides[1])
    original = word_map.on_a_plane
    by_a_tree(means[:100].numpy(), 0)  # what is loaded for the first is no part of it
    print("layout,seed,processor_s,trustworthiness,near_its_translation")
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        for name, layout in (("muse", original), ("tree", by_a_tree)):
            began = time.process_time()
            layout(means.numpy(), seed)
            took = time.process_time() - began
            word_map.on_a_plane = layout
            places = word_map.draw_picture(space, source, target, pairs, seed).places
            true = trustworthiness(torch.cat(sides).numpy(), places, n_neighbors=12, metric="cosine")
            print(f"{name},{seed},{took:.2f},{true:.4f},{100 * beside_translation(places):.1f}", flush=True)


def beside_translation(places: NDArray[Any]) -> float:
    """The share of words at places (2p, 2) that have at most four others nearer than their translation."""
    p = len(places) // 2
    apart = np.linalg.norm(places[:p, None] - places[None, p:], axis=2)  # (p, p)
    own = apart.diagonal()
    nearer = np.concatenate([(apart < own[:, None]).sum(axis=1), (apart < own).sum(axis=0)])
    return float((nearer <= 4).mean())


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
            announced, before = time.perf_counter(), cpu_seconds(server.pid)
            listed = [f"{home}api/translate?{urllib.parse.urlencode({'word': word})}" for word in words]
            _, status = ask(listed[0])
            first, first_busy = time.perf_counter() - began, cpu_seconds(server.pid)
            used = memory_mb(server.pid)
            map_drawn(home)
            drawn, drawn_busy = time.perf_counter() - announced, cpu_seconds(server.pid) - before
            prefixes = first_letters(words)
            asked = [f"{home}api/suggest?{urllib.parse.urlencode({'prefix': one})}" for one in prefixes]
            suggested = [1_000 * ask(one)[0] for one in asked]
            typed, busy = keystrokes(home, prefixes), cpu_seconds(server.pid)
            start = time.perf_counter()
            with ThreadPoolExecutor(at_once) as pool:
                found = list(pool.map(ask, (listed[i % len(listed)] for i in range(requests))))
            took, more = time.perf_counter() - start, cpu_seconds(server.pid) - busy
        finally:
            server.terminate()
    errors = sum(status != 200 for _, status in found)
    print(f"| {len(loaded.vectors(source)):,} and {len(loaded.vectors(target)):,} words | |")
    print("| --- | --- |")
    print(f"| first answer (status {status}) after start | {first:.2f} s, {first_busy:.2f} s of processor |")
    print(f"| map after the address was printed | {drawn:.2f} s, {drawn_busy:.2f} s of processor |")
    print("| memory then, MB | " + ", ".join(f"{name} {value:.0f}" for name, value in used.items()) + " |")
    print(f"| {len(suggested)} suggestions, p50, p99 | {spread(suggested)} |")
    if typed:
        print(f"| from keystroke to suggestions in Chromium, p50, p99 | {spread(typed)} |")
    print(f"| {requests} requests, {at_once} at a time | {requests / took:.0f} a second, {errors} errors |")
    print(f"| p50, p99 | {spread([1_000 * one for one, _ in found])} |")
    print(f"| processor time of a request | {1_000 * more / requests:.1f} ms |")


if __name__ == "__main__":
    main()
