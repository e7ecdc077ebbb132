"""Descent: two methods that train maps by gradient descent.

relaxed      Any linear map of the source, trained on the CSLS loss itself (RCSLS, Joulin et al., 2018).
contrastive  Both maps, trained to distinguish each translation from its hardest negatives: stage C1 of Li et
             al. (2022, section 3.1), with three changes. Cosines are scaled (without a scale the loss over
             200 negatives is nearly flat), the negatives are all frequent words rather than a mined list, and
             the maps begin from canonical ones and take few small steps, since they overfit within tens of
             them.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from muse.learn.supervise.linear import orthogonal
from muse.learn.supervise.training_pairs import Maps, TrainingPairs
from muse.search.exact import nearest


@dataclass(frozen=True)
class RelaxedConfig:
    """Steps and rate of the descent, the neighbours k, and the most frequent words to find them among."""

    steps: int = 8
    rate: float = 10.0
    k: int = 10
    words: int = 10_000


def relaxed(evidence: TrainingPairs, config: RelaxedConfig) -> Maps:
    """The map W (dt, ds) that descends from Procrustes on the mean of -2 W x . y + r(W x) + r(y).

    r(W x) is the mean cosine to the k nearest targets, r(y) to the k nearest mapped sources (Joulin et
    al., 2018, eq. 7). A step after which the loss is higher is taken back, and the rate halved. The target
    stays as it is.
    """
    start = orthogonal(evidence).into_target()
    descent = _descent(evidence, config)
    best, rate = start.source, config.rate
    lowest, gradient = descent(best)
    for _ in range(config.steps):
        mapping = best - rate * gradient
        loss, following = descent(mapping)
        if loss < lowest:  # not so for NaN either
            best, lowest, gradient = mapping, loss, following
        else:
            rate /= 2
    return Maps(best, start.target)


def _descent(evidence: TrainingPairs, config: RelaxedConfig) -> Callable[[Tensor], tuple[float, Tensor]]:
    """The loss of a map W (dt, ds) and its gradient (dt, ds), for the pairs and the most frequent words.

    A word has the same neighbours in all of its pairs, so that it is looked up once, and counted.
    """
    x, y = (rows[: config.words] for rows in evidence.vocabulary)
    own, other = (torch.unique(evidence.pairs[:, side], return_counts=True) for side in (0, 1))
    left, right = evidence.x[own[0]], evidence.y[other[0]]  # (u, ds), (v, dt)
    left_counts, right_counts = own[1].to(x), other[1].to(y)
    cross = (evidence.right.T @ evidence.left).to(x)  # (dt, ds)

    def loss_and_gradient(mapping: Tensor) -> tuple[float, Tensor]:
        of_x, r_x = _neighbourhood(left @ mapping.T, y, y, config.k)
        of_y, r_y = _neighbourhood(right, x @ mapping.T, x, config.k)
        # The sum over all pairs of W x . y is that over all entries of W and of sum y x^T.
        together = (left_counts * r_x).sum() + (right_counts * r_y).sum()
        loss = float(together - 2 * (mapping * cross).sum()) / len(evidence)
        of_left = of_x.T @ (left_counts[:, None] * left)
        of_right = (right_counts[:, None] * right).T @ of_y
        return loss, (of_left + of_right - 2 * cross) / len(evidence)

    return loss_and_gradient


def _neighbourhood(queries: Tensor, keys: Tensor, rows: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The mean (q, d) of the `rows` of each query's k nearest keys (m, d), and the mean score (q,)."""
    found = nearest(queries, keys, k)
    return embedding_bag(found.indices, rows, mode="mean"), found.scores.mean(dim=1)


@dataclass(frozen=True)
class ContrastiveConfig:
    """Steps, pairs a step, the rate relative to the size of the entries, the scale of cosines, the words."""

    steps: int = 10
    batch: int = 1_024
    rate: float = 0.03
    scale: float = 20.0
    words: int = 6_000


def contrastive(
    evidence: TrainingPairs, start: Maps, config: ContrastiveConfig, rng: np.random.Generator
) -> Maps:
    """The maps after descent on the cross-entropy of each pair against negatives of both sides.

    For a pair (x, y): -log e^s(x,y) / (e^s(x,y) + sum_y' e^s(x,y') + sum_x' e^s(x',y)), s the scaled
    cosine, y' and x' the frequent words that are no known translation (Li et al., 2022, eq. 4).
    """
    sides = [_keys(evidence, side, config.words) for side in (0, 1)]
    (x, a), (y, b) = sides  # (n, ds), (p,): the place of each pair's word among the keys
    # Scaled so that mapped rows have length 1 on average.
    lengths = (
        torch.linalg.vector_norm(rows @ own.T, dim=1).mean()
        for rows, own in zip((x, y), start.sides, strict=True)
    )
    maps = [(own / length).requires_grad_() for own, length in zip(start.sides, lengths, strict=True)]
    rates = [{"params": [one], "lr": config.rate * float(one.detach().std())} for one in maps]
    optimiser = torch.optim.Adam(rates, betas=(0.9, 0.99))
    for _ in range(config.steps):
        batch = torch.from_numpy(rng.permutation(len(a))[: config.batch]).to(a.device)
        mapped = Maps(maps[0], maps[1])
        loss = _loss(mapped.of_source(x), mapped.of_target(y), (a, b), batch, config.scale)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return Maps(maps[0].detach(), maps[1].detach())


def _loss(u: Tensor, v: Tensor, pairs: tuple[Tensor, Tensor], batch: Tensor, scale: float) -> Tensor:
    """The mean cross-entropy of a batch (c,) of the pairs (p,) of rows of u (n, k) and v (m, k)."""
    a, b = pairs
    left, right = scale * u[a[batch]], v[b[batch]]
    positive = (left * right).sum(dim=1)  # (c,)
    target_negatives = (left @ v.T).masked_fill_(_known(a, b, batch, len(v)), -torch.inf)  # (c, m)
    source_negatives = (scale * right @ u.T).masked_fill_(_known(b, a, batch, len(u)), -torch.inf)  # (c, n)
    negatives = torch.logaddexp(
        *(torch.logsumexp(one, dim=1) for one in (target_negatives, source_negatives))
    )
    return (torch.logaddexp(positive, negatives) - positive).mean()


def _known(own: Tensor, other: Tensor, batch: Tensor, count: int) -> Tensor:
    """Whether each of `count` words of the other side translates each word of a batch, (c, count)."""
    found = torch.zeros(len(batch), count, dtype=torch.bool, device=own.device)
    # Word by word: to compare each of the batch with every pair takes far more than the pairs that match.
    ordered, pairs = own.sort()
    begin = torch.searchsorted(ordered, own[batch])  # (c,)
    counts = torch.searchsorted(ordered, own[batch], right=True) - begin  # (c,)
    place = torch.arange(len(batch), device=own.device).repeat_interleave(counts)
    nth = torch.arange(len(place), device=own.device) - (counts.cumsum(0) - counts)[place]
    found[place, other[pairs[begin[place] + nth]]] = True
    return found


def _keys(evidence: TrainingPairs, side: int, words: int) -> tuple[Tensor, Tensor]:
    """The rows of the most frequent words and those of the pairs, and each pair's place among them."""
    rows, own = (evidence.x, evidence.y)[side], evidence.pairs[:, side]
    frequent = torch.arange(min(words, evidence.words[side]), device=own.device)
    kept = torch.unique(torch.cat([frequent, own]))
    return rows[kept], torch.searchsorted(kept, own.contiguous())
