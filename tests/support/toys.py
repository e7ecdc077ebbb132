"""Toy languages with a known answer: a cloud of words, and the same cloud rotated, in other words."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from muse.alignment import Alignment
from muse.learn.bilingual import normalise_in_place
from muse.learn.initialise.adversarial import AdversarialConfig, adversarial
from muse.learn.initialise.clusters import ClustersConfig, Round, clusters
from muse.learn.pair import Criterion, LanguagePair
from muse.learn.supervise.training_pairs import TrainingPairs
from muse.learn.transport import TransportConfig
from muse.vectors import Matrix, Vectors
from tests.support.spaces import rotation

SPECTRUM = 0.9  # the decay of a cloud's variances: words have directions that matter more
DIMENSION = 20
COUNT = 600  # words of a toy language
SHORT = TransportConfig(rounds=10, rows=400, dimensions=16, weighted=True)
FEW = ClustersConfig(runs=8, tries=40, rounds=(Round(32, SHORT), Round(8, replace(SHORT, rounds=20))))
few_clusters = partial(clusters, config=FEW)  # the initialisation of rows in fewer runs


def cloud(seed: int, count: int, dimension: int = DIMENSION) -> Matrix:
    """Skewed rows off the origin, as word vectors are: no symmetry is left to take one for another."""
    rng = np.random.default_rng(seed)
    rows = rng.gamma(0.7, size=(count, dimension)) * SPECTRUM ** np.arange(dimension)
    return rows.astype(np.float32)


def raw_pair(
    count: int = 600, dimension: int = DIMENSION, noise: float = 0.03, seed: int = 0
) -> tuple[Vectors, Vectors, Matrix]:
    """Raw fr and en, word for word translations of each other, and the rotation R with en = fr R^T."""
    rows, turn = cloud(seed, count, dimension), rotation(seed, dimension)
    error = np.random.default_rng(seed + 1).normal(0, noise, rows.shape)
    other = (rows @ turn.T + error).astype(np.float32)
    names = [[f"{language}{row}" for row in range(count)] for language in ("fr", "en")]
    return Vectors("fr", names[0], rows), Vectors("en", names[1], other), turn


def pair(
    count: int = 600, dimension: int = DIMENSION, noise: float = 0.03, seed: int = 0
) -> tuple[Vectors, Vectors, Matrix]:
    """The same, normalised."""
    source, target, turn = raw_pair(count, dimension, noise, seed)
    steps = ("unit", "centre", "unit")
    return normalise_in_place(source, steps)[0], normalise_in_place(target, steps)[0], turn


def strangers(count: int = 600, dimension: int = DIMENSION, seed: int = 0) -> tuple[Vectors, Vectors]:
    """Normalised fr and en that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    sides = []
    for language in ("fr", "en"):
        rows = rng.normal(size=(count, dimension)).astype(np.float32)
        raw = Vectors(language, [f"{language}{row}" for row in range(count)], rows)
        sides.append(normalise_in_place(raw, ("unit", "centre", "unit"))[0])
    return sides[0], sides[1]


def raw_mixture(
    count: int = 1_500, dimension: int = 24, clusters: int = 40, seed: int = 0, turned: int | None = None
) -> tuple[Vectors, Vectors, Matrix]:
    """Raw rows of a and b, and the rotation between them: one mixture of clusters, and no row in common.

    Clusters differ in size and width; all directions have one ratio of signal to noise. With
    `turned`, b has that many dimensions, in which it lies rotated.
    """
    rng = np.random.default_rng(seed)
    scale = SPECTRUM ** np.arange(dimension)
    centres = rng.gamma(0.5, size=(clusters, dimension)) * scale
    shares = rng.dirichlet(np.full(clusters, 0.7))
    widths = rng.uniform(0.1, 0.3, clusters)
    turn = rotation(seed, turned or dimension)[:, :dimension]  # (e, d)
    sides = []
    for language, basis in (("a", np.eye(dimension)), ("b", turn)):
        of = rng.choice(clusters, count, p=shares)
        rows = centres[of] + widths[of, None] * rng.normal(size=(count, dimension)) * scale
        noisy = rows @ basis.T + rng.normal(0, 0.02, (count, len(basis)))
        ids = [f"{language}{row}" for row in range(count)]
        sides.append(Vectors(language, ids, noisy.astype(np.float32), frequency_ordered=False))
    return sides[0], sides[1], turn


def mixture(
    count: int = 1_500, dimension: int = 24, clusters: int = 40, seed: int = 0, turned: int | None = None
) -> tuple[Vectors, Vectors, Matrix]:
    """The same, normalised."""
    source, target, turn = raw_mixture(count, dimension, clusters, seed, turned)
    steps = ("unit", "centre", "unit")
    return normalise_in_place(source, steps)[0], normalise_in_place(target, steps)[0], turn


def shuffled(vectors: Vectors, seed: int = 0) -> tuple[Vectors, NDArray[np.int64]]:
    """The rows in another order under the same words, and that order."""
    order = np.random.default_rng(seed).permutation(len(vectors))
    lengths = None if vectors.lengths is None else vectors.lengths[order]
    return replace(vectors, matrix=vectors.matrix[order], lengths=lengths), order


def write_vec(path: Path, vectors: Vectors, header: bool = True) -> Path:
    """The vectors as fastText text."""
    lines = [f"{len(vectors)} {vectors.dimension}"] if header else []
    for word, row in zip(vectors.words, vectors.matrix, strict=True):
        lines.append(f"{word} " + " ".join(f"{value:.5f}" for value in row))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def evidence(pairs: int = 300, dimension: int = 20, noise: float = 0.1, wrong: float = 0.0) -> TrainingPairs:
    """A toy language and its noisy rotation; `pairs` words at random, a share of them paired wrongly."""
    source, target, _ = pair(COUNT, dimension, noise)
    rng = np.random.default_rng(3)
    rows = torch.from_numpy(np.sort(rng.permutation(COUNT)[:pairs]))
    known = torch.stack([rows, rows], dim=1)
    count = int(wrong * pairs)
    known[:count, 1] = known[:count, 1].roll(1)
    return TrainingPairs(source.tensor(), target.tensor(), known, torch.ones(pairs), (COUNT, COUNT))


def small_game(pair: LanguagePair, score: Criterion, rng: np.random.Generator) -> Iterator[Alignment]:
    """Adversarial training of a second, which keeps what it has learned as the long one does."""
    config = AdversarialConfig(restarts=2, survivors=1, epochs=8, patience=8, steps=20, hidden=50)
    yield from adversarial(pair, score, rng, config=config)
