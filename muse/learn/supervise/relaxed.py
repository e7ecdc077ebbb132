"""Relaxed: any linear map of the source, trained on the CSLS loss itself (RCSLS, Joulin et al., 2018)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from muse.learn.supervise.evidence import Evidence, Maps
from muse.learn.supervise.orthogonal import orthogonal

BLOCK = 2_048


@dataclass(frozen=True)
class RelaxedConfig:
    """Steps and rate of the descent, the neighbours k, and the most frequent words to find them among."""

    steps: int = 8
    rate: float = 10.0
    k: int = 10
    words: int = 10_000


def relaxed(evidence: Evidence, config: RelaxedConfig) -> Maps:
    """The map W (dt, ds) that descends from Procrustes on the mean of -2 W x . y + r(W x) + r(y).

    r(W x) is the mean cosine to the k nearest targets, r(y) to the k nearest mapped sources (Joulin et
    al., 2018, eq. 7); the rate is halved where the loss rises. The target stays as it is.
    """
    start = orthogonal(evidence).into_target()
    x, y = (rows[: config.words] for rows in evidence.vocabulary)
    left, right = evidence.left.to(x), evidence.right.to(y)  # (p, ds), (p, dt)
    mapping, before, rate, best = start.source, float("inf"), config.rate, start.source
    for _ in range(config.steps):
        mapped = x @ mapping.T
        own = left @ mapping.T
        of_x, r_x = _neighbourhood(own, y, y, config.k)
        of_y, r_y = _neighbourhood(right, mapped, x, config.k)
        loss = float((r_x + r_y - 2 * (own * right).sum(dim=1)).mean())
        if loss < before:
            best = mapping
        rate, before = (rate / 2 if loss > before else rate), min(loss, before)
        gradient = (of_x - 2 * right).T @ left + right.T @ of_y
        mapping = mapping - rate / len(evidence) * gradient
    return Maps(mapping if torch.isfinite(mapping).all() else best, start.target)


def _neighbourhood(queries: Tensor, keys: Tensor, rows: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The mean (q, d) of the `rows` of each query's k nearest keys (m, d), and the mean score (q,)."""
    means, scores = [], []
    for block in torch.split(queries, BLOCK):
        top = (block @ keys.T).topk(min(k, len(keys)), dim=1)
        means.append(rows[top.indices].mean(dim=1))
        scores.append(top.values.mean(dim=1))
    return torch.cat(means), torch.cat(scores)
