"""Whether the backends find the same on 30,000 real words a side, and what each costs.

    python -m benchmarks.scale.backends --out FILE.csv [--pair fr-en] [--words 30000] [--turns 2]
        [--shared ../shared]

Both languages are mapped by Procrustes. Each search is made by torch, faiss and auto in turn, on one thread:
the 10 nearest targets of every source, and the translations of every word in both directions by CSLS. `same`
is the share of answers that are those of torch in its first turn, `gap` the largest difference in score
between two that are not. Seconds are of the processor, so that other programs count little, the least of all
turns; `products` are multiples of what the cosines of all words to all words take, once.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.scale.neighbours import product
from benchmarks.support.kept_rows import append
from benchmarks.support.pairs import SHARED, find_pair
from benchmarks.support.tables import commit, header, heading, row, today
from benchmarks.words.softmax import Task
from muse.run.memory import keep_freed_memory
from muse.search.exact import nearest, set_threads
from muse.search.retrieval import Retrieval, mean_similarity, translations

BACKENDS = ("torch", "faiss", "auto")
K = 10
COLUMNS = (
    *("pair", "words", "search", "backend", "processor_seconds", "products", "same", "gap", "answers"),
    *("commit", "date"),
)
Search = Callable[[Tensor, Tensor, str], Tensor]


def ten_nearest(x: Tensor, y: Tensor, backend: str) -> Tensor:
    """The nearest targets (n, k) of every source, as sets: in the order of their numbers."""
    return nearest(x, y, K, backend=backend).indices.sort(dim=1).values


def both_ways(x: Tensor, y: Tensor, backend: str) -> Tensor:
    """The translation (n + m, 1) of every word of both languages by CSLS."""
    there, back = translations(x, y, Retrieval(backend=backend))
    return torch.cat([there, back])[:, None]


SEARCHES: dict[str, Search] = {"10 nearest": ten_nearest, "both ways by CSLS": both_ways}


def scores(x: Tensor, y: Tensor, rows: Tensor, found: Tensor) -> Tensor:
    """The scores (c, k) of the answers `found` (c, k) to the words at `rows` (c,), of y after those of x.

    With more than one answer they are cosines, else CSLS up to what all targets share.
    """
    one_way = found.shape[1] > 1
    bias = [torch.zeros(len(y)) if one_way else mean_similarity(y, x) / 2]
    bias += [torch.zeros(len(x)) if one_way else mean_similarity(x, y) / 2]
    made = []
    for place, answers in zip(rows.tolist(), found, strict=True):
        back = place >= len(x)
        word, others = (y[place - len(x)], x) if back else (x[place], y)
        made.append((others[answers] @ word - bias[back][answers]).sort().values)
    return torch.stack(made)


def compared(x: Tensor, y: Tensor, expected: Tensor, found: Tensor) -> tuple[float, float]:
    """The share of equal answers in percent, and the largest difference in score of the others."""
    same = expected == found
    rows = (~same).any(dim=1).nonzero()[:, 0]
    if not len(rows):
        return 100.0, 0.0
    one, other = (scores(x, y, rows, answers[rows]) for answers in (expected, found))
    return 100 * float(same.double().mean()), float((one - other).abs().max())


def measured(x: Tensor, y: Tensor, turns: int) -> list[dict[str, object]]:
    """A row for each search by each backend."""
    began = time.process_time()
    product(x, y)
    one = time.process_time() - began
    rows = []
    for name, search in SEARCHES.items():
        seconds, found = dict.fromkeys(BACKENDS, float("inf")), dict[str, Tensor]()
        for _ in range(turns):
            for backend in BACKENDS:
                began = time.process_time()
                answer = search(x, y, backend)
                seconds[backend] = min(seconds[backend], time.process_time() - began)
                found.setdefault(backend, answer)
        for backend in BACKENDS:
            same, gap = compared(x, y, found["torch"], found[backend])
            took = seconds[backend]
            rows.append({
                "search": name, "backend": backend, "processor_seconds": took, "products": took / one,
                "same": same, "gap": f"{gap:.1e}", "answers": found[backend].numel(),
            })  # fmt: skip
    return rows


def main() -> None:
    """Measures, appends the rows and prints them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.csv")
    parser.add_argument("--pair", default="fr-en")
    parser.add_argument("--words", type=int, default=30_000, help="most frequent ones of each language")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    set_threads(1)
    keep_freed_memory()  # as in `muse align`
    heading("The backends of exact searches")
    task = Task.of(find_pair(asked.pair, asked.shared))
    x, y = task.source[: asked.words].contiguous(), task.target[: asked.words].contiguous()
    about = {"pair": asked.pair, "words": len(x), "commit": commit(), "date": today()}
    rows = [{**about, **found} for found in measured(x, y, asked.turns)]
    append(asked.out, rows, COLUMNS, decimals=3)
    header(COLUMNS[:-2])
    for found in rows:
        row([found[name] for name in COLUMNS[:-2]])


if __name__ == "__main__":
    main()
