"""Features: a mapping from features of single words, sharpened by expectation maximisation.

The features (see word_features.py) alone give every pair of words a likelihood ratio. The plan T (n, m)
that they imply is blurred, but the mapping fitted to it, the rotation closest to Y^T T^T X, averages over
thousands of words and is better than the plan; with it the plan is made anew from likelihood ratios and
cosines together, and so on, the cosines weighing more and more. (Entropic transport by turns with
Procrustes: Zhang et al., 2017; Grave et al., 2019. There it starts from Gromov-Wasserstein or adversarial
training, here from features, which also stay in the cost.) It solved word2vec against GloVe vectors, from
Spanish and from Italian, where Gromov-Wasserstein failed; not Russian, nor web text against novels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from muse.alignment import Alignment
from muse.learn.criterion import Criterion
from muse.learn.initialise.components import unit_components
from muse.learn.initialise.stabilise import StabiliseConfig, stabilised
from muse.learn.initialise.word_features import log_likelihood_ratio, word_features
from muse.learn.sinkhorn import sinkhorn
from muse.procrustes import rotation
from muse.run.runtime import Runtime
from muse.vectors import Vectors


@dataclass(frozen=True)
class FeaturesConfig:
    """The settings of expectation maximisation and of the rounds after it."""

    words: int = 1_500  # the most frequent words of either side
    dimensions: int = 50  # leading principal components
    # (weight of the cosines in standard deviations, steps): from a blurred plan to a sharp one
    schedule: tuple[tuple[float, int], ...] = (
        (0.5, 4), (1.0, 4), (1.5, 4), (2.0, 4), (3.0, 4), (4.0, 6), (6.0, 6),
    )  # fmt: skip
    sinkhorn_rounds: int = 10
    stabilise: StabiliseConfig = StabiliseConfig()


def features(
    source: Vectors,
    target: Vectors,
    *,
    config: FeaturesConfig,
    criterion: Criterion,
    rng: np.random.Generator,
    runtime: Runtime,
) -> Iterator[Alignment]:
    """Yields one Alignment: fitted to the mutual maxima of the last plan, and stabilised.

    `source` and `target` are normalised. The solution is deterministic; `rng` is not used.
    """
    x, y = (side.most_frequent(config.words) for side in (source, target))
    ratio = log_likelihood_ratio(word_features(x), word_features(y)).to(runtime.device)  # (n, m)
    own, other = (unit_components(side, config.dimensions).to(runtime.device) for side in (x, y))
    plan = sharpened(own, other, ratio, config, runtime)
    mapping = stabilised(source, target, plan, config.stabilise, runtime).cpu().numpy()
    yield Alignment(mapping, method="features", criterion=criterion(mapping))


def sharpened(x: Tensor, y: Tensor, ratio: Tensor, config: FeaturesConfig, runtime: Runtime) -> Tensor:
    """The plan (n, m) between unit rows x (n, k) and y (m, k), from the log likelihood ratios (n, m)."""
    plan = sinkhorn(-ratio, 1.0, config.sinkhorn_rounds)
    total = sum(steps for _, steps in config.schedule)
    with runtime.progress.stage("features", total) as tick:
        for done, weight in enumerate(w for w, steps in config.schedule for _ in range(steps)):
            mapping = rotation((y.T @ (plan.T @ x)).double())  # (k, k)
            cosines = x @ mapping.T @ y.T  # (n, m)
            plan = sinkhorn(-ratio - weight * cosines / cosines.std(), 1.0, config.sinkhorn_rounds)
            tick(done + 1, weight=weight, objective=float((cosines * plan).sum()))
    return plan
