"""Features: a mapping from features of single words, sharpened by expectation maximisation.

The vectors of two programs or corpora differ in more than a rotation, but a word and its translation still
tend to be alike in frequency, in length (short words are frequent ones, and a long word has a long
translation: Zipf's law of abbreviation), in the length of their vectors, in the density of the
neighbourhood, and in all of this averaged over their neighbours. Each feature says little: together they
rank the translation among the best percent of 1,500 words for 3 to 29 % of words (on eight pairs of
languages), the rank alone for 0 to 3 %. For two features with correlation r between translations, both
standard normal, the log likelihood ratio of "a translation" against "any two words" is
-((x^2 + y^2) r^2 - 2 r x y) / (2 (1 - r^2)), up to a constant.

The plan T (n, m) that these ratios imply is blurred, but the mapping fitted to it, the rotation closest to
Y^T T^T X, averages over thousands of words and is better than the plan; with it the plan is made anew from
likelihood ratios and cosines together, and so on, with more and more weight on the cosines. (Entropic
transport by turns with Procrustes: Zhang et al., 2017; Grave et al., 2019. There it is initialised by
Gromov-Wasserstein or adversarial training, here by features, which also stay in the cost.) It solved word2vec
against GloVe vectors, from Spanish and from Italian, where Gromov-Wasserstein failed; not Russian, nor web
text against novels.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from muse.alignment import Alignment
from muse.learn.initialise.components import components, principal_axes, stabilised, unit_components
from muse.learn.pair import Criterion, LanguagePair
from muse.learn.transport import sinkhorn
from muse.procrustes import rotation
from muse.run.runtime import Runtime
from muse.vectors import Vectors

Feature = NDArray[np.float64]
# Between translations: set by hand, in view of rank correlations on eleven pairs of languages and corpora.
CORRELATIONS: Mapping[str, float] = {
    "rank": 0.5,
    "letters": 0.5,
    "length": 0.35,
    "neighbours' rank": 0.4,
    "neighbours' letters": 0.45,
    "neighbours' length": 0.35,
    "density": 0.35,
    "skewness": 0.4,
    "mean": 0.35,
    "breadth": 0.35,
}
DIMENSIONS = 50  # leading principal components, in which similarities are measured
BROAD = 5  # components whose share of a vector is its breadth
NEIGHBOURS = 10
RANK_OFFSET = 50  # the order among the 50 most frequent words is uninformative


def word_features(side: Vectors) -> dict[str, Feature]:
    """The features of each word, (n,) each, as normal scores, without those that are the same for all.

    `length` is that of the vector before normalisation, `density` the mean similarity to the nearest
    words, `skewness` and `mean` are those of the similarities to all words, `breadth` is the share of
    the vector in the leading components.
    """
    inside = components(side.matrix, principal_axes(side, DIMENSIONS))  # (n, k)
    rows = normalize(inside).numpy()
    similar = (rows @ rows.T).astype(np.float64)  # (n, n)
    np.fill_diagonal(similar, 0)
    near = np.argpartition(similar, -NEIGHBOURS, axis=1)[:, -NEIGHBOURS:]  # (n, 10)
    found: dict[str, Feature] = {
        "rank": log_ranks(len(side)).numpy(),
        "letters": np.array([len(word) for word in side.words], dtype=np.float64),
    }
    if side.lengths is not None and side.lengths.min() > 0:
        found["length"] = np.log(side.lengths.astype(np.float64))
    found |= {f"neighbours' {name}": feature[near].mean(axis=1) for name, feature in found.items()}
    found["density"] = np.take_along_axis(similar, near, axis=1).mean(axis=1)
    mean = similar.mean(axis=1)
    centred = similar - mean[:, None]
    found["skewness"] = (centred**3).mean(axis=1) / (centred**2).mean(axis=1) ** 1.5
    found["mean"] = mean
    found["breadth"] = (inside[:, :BROAD] ** 2).sum(dim=1).double().numpy()
    # Lengths do not vary if all vectors of the file had unit length.
    return {name: _normal_scores(feature) for name, feature in found.items() if float(feature.std()) > 1e-3}


def log_ranks(count: int) -> Tensor:
    """The logarithm of each word's frequency rank, (n,), double, almost level among the first words."""
    return torch.log(torch.arange(count).double() + 1.0 + RANK_OFFSET)


def log_likelihood_ratio(source: Mapping[str, Feature], target: Mapping[str, Feature]) -> Tensor:
    """How much likelier two words are translations than any two, by the features both sides have, (n, m)."""
    shared = [name for name in source if name in target]
    n, m = (len(side["rank"]) for side in (source, target))
    total = torch.zeros(n, m)
    for name in shared:
        r = CORRELATIONS[name]
        x, y = (torch.from_numpy(side[name]).float() for side in (source, target))
        squares = x[:, None] ** 2 + y[None, :] ** 2
        total -= (r**2 * squares - 2 * r * torch.outer(x, y)) / (2 * (1 - r**2))
    return total


def _normal_scores(feature: Feature) -> Feature:
    """The standard normal quantiles of the ranks (n,), ties sharing the mean of theirs."""
    _, place, counts = np.unique(feature, return_inverse=True, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / len(feature)  # of the ranks of each value, in (0, 1)
    return np.asarray(torch.special.ndtri(torch.from_numpy(middle)).numpy()[place])


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


def features(
    pair: LanguagePair, score: Criterion, rng: np.random.Generator, *, config: FeaturesConfig
) -> Iterator[Alignment]:
    """Yields one Alignment: fitted to the mutual maxima of the last plan, and stabilised.

    The solution is deterministic; `rng` is not used.
    """
    found = [word_features(side.most_frequent(config.words)) for side in pair.sides]
    ratio = log_likelihood_ratio(*found).to(pair.runtime.device)  # (n, m)
    x, y = unit_components(pair, config.words, config.dimensions)
    plan = sharpened(x, y, ratio, config, pair.runtime)
    mapping = stabilised(pair, plan).cpu().numpy()
    yield Alignment(mapping, method="features", criterion=score(mapping))


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
