"""Transported: the given pairs as evidence in Gromov-Wasserstein transport, which then finds others.

Given pairs (a, b) enter as mass that the plan T already has: its cost -Cx T Cy becomes -Cx (T + G) Cy, where
G has a share of the mass at the pairs. Words that are similar to a in one language and to b in the other
then attract each other from the first step, when T alone is flat. (Fused Gromov-Wasserstein: Vayer et al.,
2019; compare `muse.learn.initialise.gromov`, which begins with frequency ranks alone.)
"""

from __future__ import annotations

from dataclasses import dataclass

from muse.learn.initialise.gromov import GromovConfig, SimilarityRoot, prior_on_ranks, transport
from muse.learn.supervise.evidence import Evidence
from muse.run.runtime import Runtime
from muse.search.retrieval import mutual_pairs


@dataclass(frozen=True)
class TransportedConfig:
    """The mass of the given pairs in that of the plan, the weight of an induced pair, the transport."""

    mass: float = 0.2
    induced: float = 0.3
    gromov: GromovConfig = GromovConfig()


def transported(evidence: Evidence, config: TransportedConfig) -> Evidence:
    """The given pairs, and the mutual maxima of the plan between the most frequent words that are in none."""
    x, y = (rows[: config.gromov.words] for rows in evidence.vocabulary)
    dimensions = min(config.gromov.dimensions, x.shape[1], y.shape[1])
    roots = SimilarityRoot.of(x, dimensions), SimilarityRoot.of(y, dimensions)
    own, other = roots[0](evidence.x[evidence.pairs[:, 0]]), roots[1](evidence.y[evidence.pairs[:, 1]])
    weights = config.mass * evidence.weights / evidence.weights.sum()
    given = own.T @ (weights[:, None] * other)  # (k, k)
    prior = prior_on_ranks(len(x), len(y)).to(x)
    plan = transport(roots[0](x), roots[1](y), prior, config.gromov, Runtime(device=x.device.type), given)
    found = mutual_pairs(plan.argmax(dim=1), plan.argmax(dim=0))
    return evidence.plus(found[evidence.unknown(found)], config.induced)
