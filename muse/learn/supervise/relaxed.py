"""Relaxed: any linear map of the source, trained on the CSLS loss itself (RCSLS, Joulin et al., 2018)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import embedding_bag

from muse.learn.supervise.evidence import Evidence, Maps
from muse.learn.supervise.orthogonal import orthogonal
from muse.search.neighbours import nearest


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
    al., 2018, eq. 7). A step after which the loss is higher is taken back, and the rate halved. The target
    stays as it is.
    """
    start = orthogonal(evidence).into_target()
    descent = _Descent(evidence, config)
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


class _Descent:
    """The loss of a map W (dt, ds) and its gradient (dt, ds), for the pairs and the most frequent words."""

    def __init__(self, evidence: Evidence, config: RelaxedConfig) -> None:
        self.x, self.y = (rows[: config.words] for rows in evidence.vocabulary)
        self.left, self.right = evidence.left.to(self.x), evidence.right.to(self.y)  # (p, ds), (p, dt)
        self.k = config.k

    def __call__(self, mapping: Tensor) -> tuple[float, Tensor]:
        mapped, own = self.x @ mapping.T, self.left @ mapping.T
        of_x, r_x = _neighbourhood(own, self.y, self.y, self.k)
        of_y, r_y = _neighbourhood(self.right, mapped, self.x, self.k)
        loss = float((r_x + r_y - 2 * (own * self.right).sum(dim=1)).mean())
        return loss, ((of_x - 2 * self.right).T @ self.left + self.right.T @ of_y) / len(self.left)


def _neighbourhood(queries: Tensor, keys: Tensor, rows: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The mean (q, d) of the `rows` of each query's k nearest keys (m, d), and the mean score (q,)."""
    found = nearest(queries, keys, k)
    return embedding_bag(found.indices, rows, mode="mean"), found.scores.mean(dim=1)
