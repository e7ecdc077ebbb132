"""Ideas for starting between unlike vectors: each proposes pairs of frequent words without a dictionary.

Every idea takes normalised `Vectors` of both languages, cut to the same number of frequent words, and a
random generator, and returns pairs (p, 2) of row numbers, of which a share is right. Here are those that
match graphs, clusters and axes, and the list of all; the others are in unlike_transport.py. Each is the
central step of the paper cited, on muse's vectors, not a whole system reproduced.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from scipy.optimize import quadratic_assignment
from torch import Tensor
from torch.nn.functional import normalize

from benchmarks.align import unlike_transport as by_transport
from benchmarks.align.unlike_strings import identical_and_transliterated
from benchmarks.align.unlike_transport import DIMENSIONS, GRAPH_WORDS
from muse.learn.initialise.components import unit_components
from muse.learn.transport import sinkhorn
from muse.procrustes import rotation
from muse.search.retrieval import Retrieval, mutual_neighbours
from muse.vectors import Vectors

CLUSTERS = 20
CLUSTER_RUNS = 10

Start = Callable[[Vectors, Vectors, np.random.Generator], Tensor]


def graph_matching(x: Vectors, y: Vectors, rng: np.random.Generator) -> Tensor:
    """Fast approximate quadratic assignment (Vogelstein et al., 2015) on graphs of 10 neighbours."""
    graphs = [_neighbours(side.most_frequent(GRAPH_WORDS)) for side in (x, y)]
    return _assigned(graphs[0], graphs[1], rng, 1)


def _neighbours(side: Vectors) -> Tensor:
    similar = side.tensor() @ side.tensor().T
    similar.fill_diagonal_(-1)
    graph = torch.zeros_like(similar).scatter_(1, similar.topk(10, dim=1).indices, 1.0)
    return (graph + graph.T) / 2


def _assigned(a: Tensor, b: Tensor, rng: np.random.Generator, starts: int) -> Tensor:
    """The pairs (n, 2) of the best of several random starts."""
    found = []
    for start in range(starts):
        options = {"maximize": True, "rng": rng, "P0": "randomized" if start else "barycenter", "maxiter": 20}
        found.append(quadratic_assignment(a.numpy(), b.numpy(), method="faq", options=options))
    best = max(found, key=lambda one: one.fun)
    return torch.stack([torch.arange(len(a)), torch.from_numpy(best.col_ind)], dim=1)


def clusters(x: Vectors, y: Vectors, rng: np.random.Generator) -> Tensor:
    """Coarse to fine (mini-vec2vec: Dar, 2025): centroids matched by quadratic assignment.

    A word is described by its similarities to the centroids of all runs; Procrustes extends the pairs.
    """
    own, other = (unit_components(side, DIMENSIONS) for side in (x, y))
    described: tuple[list[Tensor], list[Tensor]] = [], []
    for _ in range(CLUSTER_RUNS):
        a, b = (_centroids(rows, rng) for rows in (own, other))
        order = _assigned(a @ a.T, b @ b.T, rng, 30)[:, 1]
        for found, rows, centres in zip(described, (own, other), (a, b[order]), strict=True):
            similar = rows @ centres.T
            found.append((similar - similar.mean(dim=0)) / similar.std(dim=0))
    x_described, y_described = (normalize(torch.cat(one, dim=1)) for one in described)
    pairs = mutual_neighbours(x_described, y_described, Retrieval())
    for _ in range(10):
        mapping = rotation((other[pairs[:, 1]].T @ own[pairs[:, 0]]).double())
        pairs = mutual_neighbours(own @ mapping.T, other, Retrieval())
    return pairs


def _centroids(rows: Tensor, rng: np.random.Generator) -> Tensor:
    """The unit centroids (CLUSTERS, d) of spherical k-means."""
    centres = rows[torch.from_numpy(rng.permutation(len(rows))[:CLUSTERS])]
    for _ in range(15):
        nearest = (rows @ centres.T).argmax(dim=1)
        centres = normalize(torch.zeros_like(centres).index_add_(0, nearest, rows) + 1e-3 * centres)
    return centres


def independent_components(x: Vectors, y: Vectors, rng: np.random.Generator) -> Tensor:
    """Axes of independent component analysis (Yamagiwa et al., 2023), matched by quantiles of values."""
    found = [_independent(side.tensor(), rng) for side in (x, y)]
    levels = torch.linspace(0, 1, 41)
    shapes = [torch.quantile(rows, levels, dim=0).T for rows in found]  # (k, 41)
    for turn in range(10):
        if not turn:
            plan = sinkhorn(torch.cdist(shapes[0], shapes[1]), 0.1, 100)
        similar = normalize(found[0] @ plan) @ normalize(found[1]).T  # (n, m)
        pairs = by_transport.maxima(similar)
        plan = sinkhorn(-(found[0][pairs[:, 0]].T @ found[1][pairs[:, 1]]) / len(pairs), 0.1, 100)
    return pairs


def _independent(rows: Tensor, rng: np.random.Generator) -> Tensor:
    """The independent components (n, k) of rows by FastICA (Hyvarinen, 1999), their skewness positive."""
    left = torch.linalg.svd(rows - rows.mean(dim=0), full_matrices=False).U
    white = left[:, :DIMENSIONS] * len(rows) ** 0.5
    axes = rotation(torch.from_numpy(rng.standard_normal((DIMENSIONS, DIMENSIONS)))).float()
    for _ in range(200):
        values = torch.tanh(white @ axes.T)
        slopes = (1 - values**2).mean(dim=0)
        axes = rotation((values.T @ white / len(white) - slopes[:, None] * axes).double())
    inside: Tensor = white @ axes.T
    positive: Tensor = inside * (inside**3).mean(dim=0).sign()
    return positive


def strings(x: Vectors, y: Vectors, rng: np.random.Generator) -> Tensor:
    """Identical strings, and words whose transliterations have the same skeleton: not unsupervised."""
    return torch.tensor(identical_and_transliterated(x.words, y.words))


IDEAS: dict[str, Start] = {
    "Gromov-Wasserstein": by_transport.plain,
    "iterative normalisation": by_transport.iterative_normalisation,
    "same spectrum": by_transport.same_spectrum,
    "leading components removed": by_transport.leading_removed,
    "whitening": by_transport.whitened,
    "partial transport": by_transport.partial,
    "KL-relaxed transport": by_transport.relaxed,
    "graph matching of neighbours": graph_matching,
    "GOAT": by_transport.goat,
    "clusters": clusters,
    "Wasserstein-Procrustes": by_transport.stochastic,
    "random restarts": by_transport.restarts,
    "features as prior": by_transport.features_as_prior,
    "features": by_transport.features,
    "frequency bands": by_transport.frequency_bands,
    "independent components": independent_components,
    "more words": by_transport.plain,
    "strings": strings,
}
STRINGS = "strings"
WORDS = {"more words": 4_000, STRINGS: 10_000}  # the most frequent ones of either side
OTHER_WORDS = 1_500
