"""Features of single words that resemble those of their translations, in any language and from any program.

The vectors of two programs or corpora differ in more than a rotation, but a word and its translation still
tend to be alike in frequency, in length (short words are frequent ones, and a long word has a long
translation: Zipf's law of abbreviation), in the length of their vectors, in the density of the
neighbourhood, and in all of this averaged over their neighbours. None is worth much: together they rank the
translation among the best percent of 1,500 words for 3 to 29 % of words (on eight pairs of languages), the
rank alone for 0 to 3 %.

For two features with correlation r between translations, both standard normal, the log likelihood ratio
of "a translation" against "any two words" is -((x^2 + y^2) r^2 - 2 r x y) / (2 (1 - r^2)), up to a constant.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from muse.learn.initialise.components import components, principal_axes
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
    found["skewness"] = _skewness(similar)
    found["mean"] = similar.mean(axis=1)
    found["breadth"] = (inside[:, :BROAD] ** 2).sum(dim=1).double().numpy()
    return {name: _normal_scores(feature) for name, feature in found.items() if _varies(feature)}


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


def _varies(feature: Feature) -> bool:
    """Whether a feature tells words apart; lengths do not if all vectors of the file had unit length."""
    return float(feature.std()) > 1e-3


def _skewness(rows: NDArray[np.float64]) -> Feature:
    """The third standardised moment of each row (n, m): (n,)."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    moments: Feature = (centred**3).mean(axis=1) / (centred**2).mean(axis=1) ** 1.5
    return moments


def _normal_scores(feature: Feature) -> Feature:
    """The standard normal quantiles of the ranks (n,), ties sharing the mean of theirs."""
    _, place, counts = np.unique(feature, return_inverse=True, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / len(feature)  # of the ranks of each value, in (0, 1)
    scores: Feature = torch.special.ndtri(torch.from_numpy(middle)).numpy()[place]
    return scores
