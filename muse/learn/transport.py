"""Transport: refinement for rows that have no counterparts on the other side.

Two models that encode different texts share no row, but the regions of the spaces correspond. Each round
draws rows of both sides, finds how the mapped ones are transported onto the others at least cost, and fits
Procrustes to each row and the mean of the rows it is transported to, in both directions
(Wasserstein-Procrustes: Zhang et al., 2017; Grave et al., 2019; there with exact plans, here by Sinkhorn's
algorithm). A plan in which every row has the same weight leaves no room for hubs.

Rows are partly whitened first: two models agree on what directions texts vary in, but less on how much, and a
few directions that are wide in one of them would decide everything. (Whitening before a mapping: Artetxe et
al., 2018 (AAAI). There it is undone afterwards; here the last plan is transferred to the rows as they were,
and the mapping is fitted to them.) The first rounds may also weight directions by canonical correlation. Both
reach the right mapping from farther away.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.alignment import Alignment
from muse.learn.pair import LanguagePair
from muse.procrustes import both_mapped, correlation_weighted, eigenpairs, gram, rotation

LEAST_VARIANCE = 1e-4  # of the widest direction: below, noise would be amplified
LARGER_DRAW_FACTOR = 2  # times the rows of a round, for what no later round makes up for
MAX_LARGER_DRAW = 5_000
LAST_DRAWS = 4  # for the mapping that is kept


def sinkhorn(cost: Tensor, epsilon: float, rounds: int) -> Tensor:
    """The plan (n, m) of least cost . T - epsilon H(T) with uniform marginals (Cuturi, 2013).

    The first round is in the log domain, which avoids overflow in any row or column; the others are
    matrix-vector products. The marginal over rows is exact, the one over columns in the limit.
    """
    n, m = cost.shape
    log_kernel = cost / -epsilon
    log_kernel = log_kernel - torch.logsumexp(log_kernel, dim=1, keepdim=True)
    kernel = (log_kernel - torch.logsumexp(log_kernel, dim=0, keepdim=True)).exp_()
    tiny = torch.finfo(kernel.dtype).tiny
    rows = kernel.new_ones(n)
    columns = kernel.new_ones(m)
    for _ in range(rounds):
        columns = (1 / m) / (rows @ kernel).clamp_min(tiny)
        rows = (1 / n) / (kernel @ columns).clamp_min(tiny)
    return rows[:, None] * kernel * columns


def whiten(rows: Tensor, power: float, dimensions: int | None = None) -> Tensor:
    """The rows (n, d) along their k widest principal axes, (n, k), of unit length; k = d if not given.

    The standard deviation s of each axis becomes s^(1 - power): 0 changes nothing, 1 whitens.
    """
    variances, axes = eigenpairs(gram(rows))
    variances, axes = variances[:dimensions], axes[:, :dimensions]
    scales = (variances / variances[0].clamp_min(1e-12)).clamp_min(LEAST_VARIANCE) ** (-power / 2)
    return normalize(rows @ (axes * scales).to(rows))


@dataclass(frozen=True)
class TransportConfig:
    """The rounds, the rows drawn for each on a side, at most `share` of them, and how the plan is found.

    A mapping confirms its own mistakes on rows it was fitted to, so draws are independent.
    """

    rounds: int = 20
    rows: int = 2_000
    share: float = 0.5
    epsilon: float = 0.03  # of the entropy, in cosines: with less, fewer rows share in a mean
    sinkhorn_rounds: int = 15
    whitening: float = 0.5
    dimensions: int | None = None  # of the whitened rows; all of them
    averaged: int = 0  # of the rounds, the last, which draw more rows: each draw leads astray in its own way
    weighted: bool = False  # directions by canonical correlation, which helps mappings that are far off

    def whiten(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Rows x (n, d) and y (m, e), whitened, each in at most its own dimensions."""
        return whiten(x, self.whitening, self.dimensions), whiten(y, self.whitening, self.dimensions)

    def with_larger_draws(self, share: float = 1.0) -> "TransportConfig":
        """The settings for what no later round makes up for."""
        return replace(self, rows=min(LARGER_DRAW_FACTOR * self.rows, MAX_LARGER_DRAW), share=share)


def refine_by_transport(
    pair: LanguagePair, initial: Alignment, config: TransportConfig, rng: np.random.Generator
) -> Iterator[Alignment]:
    """Yields one Alignment after all rounds: learned on whitened rows, then transferred to the rows."""
    plain = pair.rows()
    white = config.whiten(*plain)
    before = transfer_mapping(torch.from_numpy(initial.source_map).to(plain[0]), plain, white, config, rng)
    with pair.runtime.progress.stage("transport", config.rounds, "rounds") as tick:
        for done, mapping in enumerate(rounds_of_transport(*white, before, config, rng), start=1):
            tick(done, moved=float((mapping - before).square().mean().sqrt()))
            before = mapping
    found = transfer_mapping(before, white, plain, config, rng, draws=LAST_DRAWS)
    yield Alignment(found.cpu().numpy(), method=initial.method)


def mapping_by_transport(
    x: Tensor, y: Tensor, mapping: Tensor, config: TransportConfig, rng: np.random.Generator
) -> Tensor:
    """The mapping (e, d) between rows x (n, d) and y (m, e) that is reached from `mapping`."""
    white = config.whiten(x, y)
    mapping = transfer_mapping(mapping, (x, y), white, config, rng)
    *_, found = rounds_of_transport(*white, mapping, config, rng)
    return transfer_mapping(found, white, (x, y), config, rng)


def rounds_of_transport(
    x: Tensor, y: Tensor, mapping: Tensor, config: TransportConfig, rng: np.random.Generator
) -> Iterator[Tensor]:
    """Yields the mapping W (e, d) after each round between rows x (n, d) and y (m, e) of unit length.

    In the averaged rounds it is the rotation closest to the mean of their mappings so far.
    """
    grams, weighting, total = (gram(x), gram(y)), None, torch.zeros_like(mapping)
    larger = config.with_larger_draws(config.share)
    for left in range(config.rounds, 0, -1):
        averaging = left <= config.averaged
        drawing = larger if averaging else config
        own, other = (rows[_drawn(rows, drawing, rng)] for rows in (x, y))
        if weighting is None:
            mapped, keys = both_mapped(own, other, mapping)
        else:
            mapped, keys = normalize(own @ mapping.T @ weighting), normalize(other @ weighting)
        product = _product(_plan(mapped, keys, config), own, other)
        if config.weighted:
            mapping, weighting = correlation_weighted(product, *grams)
        else:
            mapping = rotation(product)
        if averaging:
            total += mapping
        yield rotation(total) if averaging else mapping


def transfer_mapping(
    mapping: Tensor,
    old: tuple[Tensor, Tensor],
    new: tuple[Tensor, Tensor],
    config: TransportConfig,
    rng: np.random.Generator,
    *,
    draws: int = 1,
) -> Tensor:
    """The mapping (e', d') between the same rows in other coordinates, by plans of the old mapping (e, d).

    `old` are rows (n, d) and (m, e), `new` the same rows, (n, d') and (m, e'); `draws` plans are found, each
    for other rows. The new coordinates may be whitened or of other dimensions: only the means of transported
    rows depend on the old ones.
    """
    product = mapping.new_zeros(new[1].shape[1], new[0].shape[1])
    for _ in range(draws):
        chosen = [_drawn(rows, config.with_larger_draws(), rng) for rows in old]
        (own, other), (own_new, other_new) = (
            [rows[one] for rows, one in zip(sides, chosen, strict=True)] for sides in (old, new)
        )
        product += _product(_plan(*both_mapped(own, other, mapping), config), own_new, other_new)
    return rotation(product)


def transport_value(
    x: Tensor, y: Tensor, mapping: Tensor, config: TransportConfig, rng: np.random.Generator
) -> float:
    """How well rows x (n, d), mapped, lie on rows y (m, e): -min <cost, T> + epsilon (H(T) - log n).

    The largest value of <cosines, T> over transport plans T, with the entropy that they were regularised by:
    of two mappings of the same rows, the right one has the higher value.
    """
    own, other = (rows[_drawn(rows, config.with_larger_draws(), rng)] for rows in (x, y))
    mapped, keys = both_mapped(own, other, mapping)
    plan = _plan(mapped, keys, config)
    entropy = -torch.special.xlogy(plan, plan * len(plan)).sum()
    return float((plan * (mapped @ keys.T)).sum() + config.epsilon * entropy)


def _drawn(rows: Tensor, config: TransportConfig, rng: np.random.Generator) -> Tensor:
    """The numbers of some of the rows (n, d), drawn without replacement, in random order."""
    chosen = rng.permutation(len(rows))[: max(1, min(config.rows, int(config.share * len(rows))))]
    return torch.from_numpy(chosen).to(rows.device)


def _plan(mapped: Tensor, keys: Tensor, config: TransportConfig) -> Tensor:
    """The plan (n, m) between rows (n, e) and (m, e)."""
    return sinkhorn(-(mapped @ keys.T), config.epsilon, config.sinkhorn_rounds)


def _product(plan: Tensor, own: Tensor, other: Tensor) -> Tensor:
    """Y^T X (e, d) over rows (n, d) and (m, e), each paired with the mean of what a plan (n, m) takes it to.

    What the means have in common is subtracted: it says nothing about a single row.
    """
    of_own, of_other = (
        normalize(means - means.mean(dim=0)) for means in (plan @ other, plan.T @ own)
    )  # (n, e), (m, d)
    return of_own.T @ own + other.T @ of_other
