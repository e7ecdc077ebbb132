"""Whether the inverted softmax or CSLS is better after Procrustes, and at which temperature.

    python -m benchmarks.words.softmax --out FILE.csv [--pairs en-fr,fr-en] [--betas 10,30,100]
        [--shared ../shared]
    python -m benchmarks.words.softmax --out FILE.csv --table

Procrustes on the training dictionary, then P@1 of the test list by nearest neighbours, by CSLS, and by the
inverted softmax at each inverse temperature (30 is muse's), with the difference to CSLS on the same words and
its interval. Pairs that the file has are not made again.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.support.kept_rows import Row, append, read_rows
from benchmarks.support.pairs import SHARED, Pair, find_pair
from benchmarks.support.tables import commit, header, heading, row, today
from benchmarks.words.word_translation import PAIRS
from muse.files import read_lexicon, read_vectors
from muse.normalise import DEFAULT_STEPS, normalise
from muse.procrustes import procrustes

NEIGHBOURS, SAMPLES, BLOCK = 10, 1_000, 500
COLUMNS = (
    *("pair", "retrieval", "beta", "p_at_1", "minus_csls", "ci95_low", "ci95_high", "queries", "commit"),
    "date",
)


@dataclass(frozen=True, eq=False)
class Task:
    """Rows of unit length of both languages, the source's mapped, and the gold targets of each query."""

    source: Tensor
    target: Tensor
    gold: Mapping[int, frozenset[int]]

    @classmethod
    def of(cls, pair: Pair) -> Task:
        """The languages of a pair, mapped by Procrustes on its training dictionary."""
        files = (pair.source, pair.source_file), (pair.target, pair.target_file)
        sides = [read_vectors(path, language=language) for language, path in files]
        rows = [torch.from_numpy(normalise(side.matrix, DEFAULT_STEPS)[0]) for side in sides]
        with tempfile.TemporaryDirectory() as name:
            lists = [read_lexicon(path) for path in (pair.training_in(Path(name)), pair.gold_in(Path(name)))
                     if path]  # fmt: skip
        known = [
            [
                (sides[0].index[word], sides[1].index[other])
                for word, other in one.pairs
                if word in sides[0].index and other in sides[1].index
            ]
            for one in lists
        ]
        left, right = torch.tensor(known[0]).T
        gold: dict[int, set[int]] = {}
        for word, other in known[1]:
            gold.setdefault(word, set()).add(other)
        mapped = rows[0] @ procrustes(rows[0][left], rows[1][right]).T
        return cls(mapped, rows[1], {word: frozenset(found) for word, found in gold.items()})

    def biases(self, betas: list[float]) -> dict[tuple[str, float], Tensor]:
        """What each retrieval subtracts from the cosine to each target (m,)."""
        found: dict[tuple[str, float], list[Tensor]] = {}
        for block in torch.split(self.target, BLOCK):
            cosines = block @ self.source.T  # (b, n)
            found.setdefault(("nn", 0), []).append(torch.zeros(len(block)))
            nearest = torch.topk(cosines, NEIGHBOURS, dim=1, sorted=False).values
            found.setdefault(("csls", 0), []).append(nearest.mean(1) / 2)
            for beta in betas:
                soft = torch.exp_(beta * (cosines - 1)).sum(1).log() / beta + 1
                found.setdefault(("isf", beta), []).append(soft)
        return {key: torch.cat(parts) for key, parts in found.items()}

    def right(self, bias: Tensor) -> NDArray[np.bool_]:
        """Whether each query (q,) is translated correctly."""
        best = (self.source[list(self.gold)] @ self.target.T - bias).argmax(1).tolist()
        return np.array([one in found for one, found in zip(best, self.gold.values(), strict=True)])


def measured(pair: Pair, betas: list[float]) -> Iterator[Row]:
    """Yields the row of each retrieval."""
    task = Task.of(pair)
    right = {key: task.right(bias) for key, bias in task.biases(betas).items()}
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(task.gold), size=(SAMPLES, len(task.gold)))
    for (retrieval, beta), found in right.items():
        more = found.astype(float) - right["csls", 0]
        low, high = np.percentile(more[drawn].mean(1), [2.5, 97.5])
        yield {
            "pair": pair.name, "retrieval": retrieval, "beta": f"{beta:g}" if beta else "",
            "p_at_1": 100 * float(found.mean()), "minus_csls": 100 * float(more.mean()),
            "ci95_low": 100 * float(low), "ci95_high": 100 * float(high), "queries": len(found),
            "commit": commit(), "date": today(),
        }  # fmt: skip


def show(rows: list[dict[str, str]]) -> None:
    """Prints P@1 of each pair by each retrieval, with the difference to CSLS and its interval."""
    ways = list(dict.fromkeys((one["retrieval"], one["beta"]) for one in rows))
    cells = {(one["pair"], one["retrieval"], one["beta"]): one for one in rows}
    header(["pair", *(f"{name} {beta}".strip() for name, beta in ways)])
    for pair in dict.fromkeys(one["pair"] for one in rows):
        found = [cells[pair, *way] for way in ways]
        row([pair, *(f"{one['p_at_1']} ({one['minus_csls']} [{one['ci95_low']}, {one['ci95_high']}])"
                     for one in found)])  # fmt: skip


def main() -> None:
    """Makes the rows that are missing, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.csv")
    parser.add_argument("--pairs", default=PAIRS)
    parser.add_argument("--betas", default="10,30,100", help="inverse temperatures of the inverted softmax")
    parser.add_argument("--table", action="store_true", help="print the table of the rows there are")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    heading("The inverted softmax beside CSLS")
    done = {one["pair"] for one in read_rows(asked.out)}
    betas = [float(one) for one in asked.betas.split(",")]
    for name in [] if asked.table else asked.pairs.split(","):
        if name not in done:
            append(asked.out, measured(find_pair(name, asked.shared), betas), COLUMNS, decimals=2)
    show(read_rows(asked.out))


if __name__ == "__main__":
    main()
