"""Does a residual network map rows better than linear maps do? By held-out pairs, and by queries.

    python -m benchmarks.rows.residual ROWS --out FILE.csv [--pairs minilm:mean,...] [--known 200,1000,5000]
        [--seeds 0-0] [--rows 5000] [--networks drawn,trained]
    python -m benchmarks.rows.residual ROWS --out FILE.csv --table

The rows are those of store.py. A network is f(x) = M x + V a(U x + b): a linear map M that was fitted to the
same pairs beside a correction of two layers, as in Drift-Adapter (Vejendla, 2025). There are two ways to find
the rest:

drawn     U and b are drawn and stay, V is a ridge regression: that of muse, with 2,048 units max(., 0).
trained   256 units gelu(.) of which 30 % are dropped; U, b and V are trained by AdamW with weight decay 1 on
          batches of 256 pairs to the least |y - f(x)|^2, V from zeros; measured after 50, 200 and 800 steps.

Linear maps are those that muse tries: Procrustes, ridge regression, and corrections of Procrustes by ridge
regression, also of low rank. M is the one of them that keeps most neighbours of held-out pairs.

P@1, the reciprocal rank (CSLS) and the neighbours that are kept are those of 5-fold cross-validation on the
pairs, as muse does it to choose. Recall@10 is that of 1,000 queries by the map of all pairs, against native
search: it is for looking at the choice, not for choosing. The gain is over M, with the standard error of the
differences by query.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import gelu, normalize

from benchmarks.rows.store import NEIGHBOURS, Cell, cells_parser, load
from benchmarks.support.kept_rows import append, read_rows
from benchmarks.support.tables import commit, header, numbers, row, today
from muse.learn.supervise.cross_validation import Folds, HeldOutSearch, held_out, kept_neighbours
from muse.learn.supervise.linear import corrected, drawn_units, orthogonal, ridge, with_units
from muse.learn.supervise.methods import (
    CORRECTIONS,
    NETWORK_PENALTIES,
    PENALTIES,
    RANKED_PENALTY,
    RANKS,
    UNITS,
)
from muse.learn.supervise.training_pairs import Maps, TrainingPairs
from muse.normalise import DEFAULT_STEPS, normalise
from muse.space.store_projection import ToStore
from muse.vectors import Matrix

STEPS = (50, 200, 800)
TESTED_ROWS = 1_000  # pairs held out, or a few more
BATCH, WIDTH, RATE, DECAY, DROPPED = 256, 256, 1e-3, 1.0, 0.3
NO_CORRECTION = 1e9  # the penalty that leaves of a correction the scale alone
COLUMNS = (
    "source", "target", "known", "seed", "map", "kind", "tested", "p_at_1", "reciprocal_rank", "kept",
    "recall_at_10", "recall_at_10_error", "gain", "gain_error", "seconds", "commit", "date",
)  # fmt: skip


class Network(nn.Module):
    """M x + V gelu(U x + b) + c for rows (n, ds), and a linear map M (dt, ds)."""

    def __init__(self, start: Tensor, seed: int) -> None:
        super().__init__()
        drawn = torch.Generator().manual_seed(seed)
        d_target, d_source = start.shape
        self.start = start.float()
        self.inner, self.outer = nn.Linear(d_source, WIDTH), nn.Linear(WIDTH, d_target)
        self.drop = nn.Dropout(DROPPED)
        with torch.no_grad():
            self.inner.weight.copy_(torch.randn(WIDTH, d_source, generator=drawn))
            self.inner.bias.copy_(torch.randn(WIDTH, generator=drawn))
            self.outer.weight.zero_()
            self.outer.bias.zero_()

    def forward(self, rows: Tensor) -> Tensor:
        """The mapped rows (n, dt)."""
        found: Tensor = rows @ self.start.T + self.outer(self.drop(gelu(self.inner(rows))))
        return found


class Mapped(NamedTuple):
    """A map of source rows into a target that does not move, as cross-validation takes maps."""

    network: nn.Module

    def of_source(self, rows: Tensor) -> Tensor:
        """Source rows (n, ds) among the target's, (n, dt), of unit length."""
        with torch.inference_mode():
            return normalize(self.network(rows))

    def of_target(self, rows: Tensor) -> Tensor:
        """Target rows (m, dt), of unit length."""
        return normalize(rows)


Fitted = dict[str, "Maps | Mapped"]


def trained(evidence: TrainingPairs, start: Tensor, seed: int) -> Fitted:
    """Networks after each number of steps, by their names."""
    found = Fitted()
    x, y = evidence.left.float(), evidence.right.float()
    torch.manual_seed(seed)  # of the dropped units
    rng = np.random.default_rng(seed)
    network = Network(start, seed)
    optimiser = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    for step in range(1, STEPS[-1] + 1):
        batch = torch.from_numpy(rng.permutation(len(x))[:BATCH])
        loss = ((y[batch] - network(x[batch])) ** 2).sum(dim=1).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step in STEPS:
            frozen = Network(start, seed).eval()
            frozen.load_state_dict(network.state_dict())
            found[f"trained:{step}"] = Mapped(frozen)
    return found


def drawn(evidence: TrainingPairs, start: Tensor, seed: int) -> Fitted:
    """Networks as muse tries them, by their names."""
    units = drawn_units(start.shape[1], UNITS, np.random.default_rng(seed))
    maps = with_units(evidence, start, units, NETWORK_PENALTIES)
    return {f"drawn:{size:g}": one for size, one in zip(NETWORK_PENALTIES, maps, strict=True)}


NETWORKS = {"drawn": drawn, "trained": trained}


def linear_maps(evidence: TrainingPairs) -> dict[str, Maps]:
    """The linear maps by their names."""
    rotation = orthogonal(evidence).into_target().source
    return {
        "procrustes": corrected(evidence, rotation, NO_CORRECTION),
        **{f"ridge:{size:g}": ridge(evidence, size) for size in PENALTIES},
        **{f"procrustes+ridge:{size:g}": corrected(evidence, rotation, size) for size in CORRECTIONS},
        **{
            f"procrustes+ridge:{RANKED_PENALTY:g},rank:{rank}":
                corrected(evidence, rotation, RANKED_PENALTY, rank) for rank in RANKS
        },
    }  # fmt: skip


@dataclass(frozen=True, eq=False)
class Bench:
    """The pairs of a cell, queries (q, ds), unit rows (n, dt) of the store, and native neighbours (q, 10).

    `back` leads from the normalised rows of the store to those.
    """

    cell: Cell
    evidence: TrainingPairs
    queries: Tensor
    store: Tensor
    native: Tensor
    back: ToStore

    @classmethod
    def of(cls, cell: Cell, folder: Path) -> Bench:
        """The rows of a cell, normalised as muse does it."""
        data = load(cell, folder)
        rows, steps = normalise(np.concatenate([data.given.left, data.given.others]), DEFAULT_STEPS)
        store, back = normalise(data.given.store.copy(), DEFAULT_STEPS)
        pairs = torch.from_numpy(np.stack([np.arange(len(data.given.right)), data.given.right], axis=1))
        evidence = TrainingPairs(
            torch.from_numpy(rows), torch.from_numpy(store), pairs, torch.ones(len(pairs)),
            (len(rows), len(store)),
        )  # fmt: skip
        unit = normalize(torch.from_numpy(data.given.store))
        native = _nearest(normalize(torch.from_numpy(data.native)), unit)
        into = ToStore(np.eye(unit.shape[1], dtype=np.float32), _shifts(back.means))
        return cls(cell, evidence, torch.from_numpy(steps.apply(data.queries)), unit, native, into)

    def kept(self, maps: Maps | Mapped) -> NDArray[np.float64]:
        """The share in percent of its native neighbours that each mapped query finds, (q,)."""
        asked = torch.from_numpy(self.back(maps.of_source(self.queries).numpy()))
        found = _nearest(asked, self.store)
        kept = (found[:, :, None] == self.native[:, None, :]).sum(dim=(1, 2)).double() / NEIGHBOURS
        shares: NDArray[np.float64] = 100 * kept.numpy()
        return shares


def _nearest(queries: Tensor, store: Tensor) -> Tensor:
    """The ten nearest unit rows (q, 10) of a store by cosine."""
    found: Tensor = (queries @ store.T).topk(NEIGHBOURS).indices
    return found


def _shifts(means: Sequence[Matrix]) -> tuple[Matrix, ...]:
    lengths = [np.sqrt(1 - float(mean.astype(np.float64) @ mean)) for mean in means]
    return tuple((mean / length).astype(np.float32) for mean, length in zip(means, lengths, strict=True))


@dataclass(frozen=True, eq=False)
class Trial:
    """The folds of a cell, and what is measured by them."""

    bench: Bench
    folds: Folds
    search: HeldOutSearch

    @classmethod
    def of(cls, bench: Bench) -> Trial:
        """Folds drawn by the seed of the cell."""
        rng = np.random.default_rng([bench.cell.seed, 1])
        return cls(bench, Folds.of(bench.evidence, rng), HeldOutSearch.of(bench.evidence, rng))

    @property
    def fitted(self) -> list[TrainingPairs]:
        """What to fit to in each fold that is tested."""
        return [own for own, _ in self.folds.trials[: self.folds.enough(TESTED_ROWS)]]

    def figures(self, name: str, fits: Sequence[Any]) -> dict[str, Any]:
        """What the maps fitted without each fold find of it."""
        ranks = held_out(fits, self.folds, self.search)
        kept = kept_neighbours(fits, self.folds, self.search)
        cell, kind = self.bench.cell, name.split(":")[0]
        return {
            "source": cell.source, "target": cell.target, "known": cell.known, "seed": cell.seed, "map": name,
            "kind": kind if kind in NETWORKS else "linear", "tested": len(ranks.words),
            "p_at_1": f"{ranks.p_at_1:.2f}", "reciprocal_rank": f"{ranks.reciprocal.mean():.4f}",
            "kept": f"{100 * np.mean([*kept.values()]):.2f}", "commit": commit(), "date": today(),
        }  # fmt: skip


def measured(cell: Cell, asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The rows of a cell: linear maps, then networks that begin with one of them."""
    bench = Bench.of(cell, asked.folder)
    trial = Trial.of(bench)
    evidences = [*trial.fitted, bench.evidence]
    linear = [linear_maps(one) for one in evidences]
    rows = [trial.figures(name, [one[name] for one in linear[:-1]]) for name in linear[-1]]
    base = max(rows, key=lambda one: float(one["kept"]))["map"]
    reference = bench.kept(linear[-1][base])
    yield from (_with_queries(one, bench.kept(linear[-1][one["map"]]), reference, 0.0) for one in rows)
    for name in asked.networks.split(","):
        began = time.process_time()
        fits = [
            NETWORKS[name](one, maps[base].source, cell.seed)
            for one, maps in zip(evidences, linear, strict=True)
        ]
        seconds = (time.process_time() - began) / len(fits)
        for setting, last in fits[-1].items():
            found = trial.figures(setting, [one[setting] for one in fits[:-1]])
            yield _with_queries(found, bench.kept(last), reference, seconds)


def _with_queries(
    figures: dict[str, Any], kept: NDArray[np.float64], reference: NDArray[np.float64], seconds: float
) -> dict[str, Any]:
    """The row of a map with what it finds for the queries, beside what a linear map finds."""
    gained, root = kept - reference, len(kept) ** 0.5
    return {
        **figures, "recall_at_10": f"{kept.mean():.2f}", "recall_at_10_error": f"{kept.std() / root:.2f}",
        "gain": f"{gained.mean():.2f}", "gain_error": f"{gained.std() / root:.2f}",
        "seconds": f"{seconds:.1f}",
    }  # fmt: skip


def show(rows: Sequence[Mapping[str, str]]) -> None:
    """A line for each cell: of each kind of map, the one that keeps most neighbours of held-out pairs."""
    networks = [kind for kind in NETWORKS if any(one["kind"] == kind for one in rows)]
    header(["source, target", "pairs", "linear map", *networks, *(f"gain of {kind}" for kind in networks)])
    keys = dict.fromkeys((one["source"], one["target"], int(one["known"]), one["seed"]) for one in rows)
    for key in sorted(keys):
        own = [one for one in rows if (one["source"], one["target"], int(one["known"]), one["seed"]) == key]
        best = [_most([one for one in own if one["kind"] == kind]) for kind in ("linear", *networks)]
        figures = [
            "-" if one is None else f"{one['p_at_1']}, {one['kept']}, {one['recall_at_10']}" for one in best
        ]
        gains = [
            "-" if one is None else f"{float(one['gain']):+.1f} ± {float(one['gain_error']):.1f}"
            for one in best[1:]
        ]
        row([f"{key[0]}, {key[1]}", key[2], *figures, *gains])


def _most(rows: Sequence[Mapping[str, str]]) -> Mapping[str, str] | None:
    return max(rows, key=lambda one: float(one["kept"]), default=None)


def main() -> None:
    """Measures the cells that are missing, or prints the table."""
    parser = cells_parser("200,1000,5000", "0-0")
    parser.add_argument("--networks", default="drawn,trained")
    asked = parser.parse_args()
    if asked.table:
        show(read_rows(asked.out))
        return
    done = {(one["source"], one["target"], one["known"], one["seed"]) for one in read_rows(asked.out)}
    for seed, known, pair in itertools.product(
        numbers(asked.seeds), numbers(asked.known), asked.pairs.split(",")
    ):
        source, target = pair.split(":")
        if (source, target, str(known), str(seed)) not in done:
            cell = Cell(source, target, "plain", asked.rows, known, "network", seed)
            append(asked.out, list(measured(cell, asked)), COLUMNS)
            print(*cell, flush=True)


if __name__ == "__main__":
    main()
