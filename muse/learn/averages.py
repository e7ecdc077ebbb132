"""Averages: refinement for rows of which none has a counterpart on the other side.

Two models that encode different texts share no row, but the rows around a mapped row say where its
counterpart would be: the mean of its nearest neighbours on the other side. Each round draws rows and fits
Procrustes to them and these means, in both directions (Dar, 2025). A mapping confirms its own mistakes on
rows it was fitted to, so a draw is at most half of a side, and each is independent: complementary halves
deviate from the whole in opposite directions, which can turn a mapping round. Neighbours are looked up in a
space whose directions are weighted by their canonical correlation with the means
(procrustes.correlation_weighted), which reaches the right mapping from farther away.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.alignment import Alignment
from muse.procrustes import correlation_weighted, gram
from muse.run.runtime import Runtime
from muse.search.neighbours import nearest
from muse.vectors import Vectors

RIDGE = 0.3  # without one, mappings of some pairs of models collapsed; with 1 they come on more slowly


@dataclass(frozen=True)
class AveragesConfig:
    """The neighbours of each round, and the rows drawn for it on each side, at most `share` of them."""

    neighbours: tuple[int, ...] = (50,) * 20
    queries: int = 2_000
    keys: int = 5_000
    share: float = 0.5


def averages(
    source: Vectors,
    target: Vectors,
    initial: Alignment,
    *,
    config: AveragesConfig,
    rng: np.random.Generator,
    runtime: Runtime,
) -> Iterator[Alignment]:
    """Yields one Alignment a round: Procrustes on drawn rows and the means of their neighbours, both ways."""
    x, y = (side.tensor(runtime.device) for side in (source, target))
    mapping = torch.from_numpy(initial.source_map).to(x)
    total = len(config.neighbours)
    with runtime.progress.stage("neighbourhoods", total, "rounds") as tick:
        for done, mapping in enumerate(rounds_of_averages(x, y, mapping, config, rng), start=1):  # noqa: B020
            tick(done, neighbours=config.neighbours[done - 1])
            yield Alignment(mapping.cpu().numpy(), method=initial.method)


def rounds_of_averages(
    x: Tensor, y: Tensor, mapping: Tensor, config: AveragesConfig, rng: np.random.Generator
) -> Iterator[Tensor]:
    """Yields the mapping W (e, d) of each round between rows x (n, d) and y (m, e) of unit length."""
    grams = _ridged(gram(x)), _ridged(gram(y))
    weighting = torch.eye(y.shape[1], dtype=y.dtype, device=y.device)
    for k in config.neighbours:
        own, other = _drawn(x, config, rng), _drawn(y, config, rng)  # (r, d), (s, e)
        mapped, keys = normalize(own @ mapping.T @ weighting), normalize(other @ weighting)  # (r, e), (s, e)
        of_own, of_other = own[: config.queries], other[: config.queries]  # (q, d), (q, e)
        left = torch.cat([of_own, _means(keys[: config.queries], mapped, own, k)])  # (p, d)
        right = torch.cat([_means(mapped[: config.queries], keys, other, k), of_other])  # (p, e)
        fit = correlation_weighted(right.T @ left, *grams)
        mapping, weighting = fit.rotation, fit.weighting
        yield mapping


def _ridged(gram: Tensor) -> Tensor:
    """X^T X (d, d) plus RIDGE of its mean spread: what has little spread in a direction agrees by chance."""
    ridge = RIDGE * gram.diagonal().mean()
    return gram + torch.eye(len(gram), dtype=gram.dtype, device=gram.device) * ridge


def _drawn(rows: Tensor, config: AveragesConfig, rng: np.random.Generator) -> Tensor:
    """Some of the rows (n, d), drawn without replacement, in random order."""
    count = max(1, min(config.keys, int(config.share * len(rows))))
    chosen = rng.permutation(len(rows))[:count]
    return rows[torch.from_numpy(chosen).to(rows.device)]


def _means(queries: Tensor, keys: Tensor, rows: Tensor, k: int) -> Tensor:
    """The mean (q, d) of the `rows` (s, d) of the k keys (s, e) nearest to each query (q, e), unit length.

    What the means have in common is subtracted: it is of hubs, which are near to every query.
    """
    found = nearest(queries, keys, k).indices  # (q, k)
    # One neighbour at a time: all at once would take q k d numbers.
    total = torch.zeros(len(queries), rows.shape[1], dtype=rows.dtype, device=rows.device)
    for place in range(found.shape[1]):
        total += rows[found[:, place]]
    return normalize(total - total.mean(dim=0))
