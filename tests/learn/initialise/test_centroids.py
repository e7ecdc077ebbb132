"""Centroids: those of k-means on the sphere, of unit length, the same for the same seed."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn.functional import normalize

from muse.learn.initialise.clusters import centroids
from tests.support.toys import mixture

ROWS = mixture(400)[0].tensor()


def test_they_are_the_means_of_the_rows_nearest_to_them() -> None:
    found = centroids(ROWS, 12, seed=0)
    assert found.shape == (12, ROWS.shape[1])
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.norm(dim=1), torch.ones(12))
    nearest = (ROWS @ found.T).argmax(dim=1)
    means = normalize(torch.stack([ROWS[nearest == number].sum(dim=0) for number in range(12)]))
    assert float((means * found).sum(dim=1).min()) > 0.98  # k-means stops before it stands still


def test_separate_clusters_are_found() -> None:
    rng = np.random.default_rng(0)
    axes = torch.eye(6)[torch.from_numpy(rng.permutation(np.repeat(np.arange(6), 30)))]
    rows = normalize(axes + 0.05 * torch.from_numpy(rng.normal(size=(180, 6))).float())
    best = max(
        (centroids(rows, 6, seed=seed) for seed in range(8)),
        key=lambda found: float((rows @ found.T).amax(dim=1).sum()),
    )
    assert float((best.amax(dim=1)).min()) > 0.99
    assert sorted(best.argmax(dim=1).tolist()) == list(range(6))


def test_the_same_seed_gives_the_same_centroids_and_another_others() -> None:
    one, again, other = (centroids(ROWS, 12, seed=seed) for seed in (3, 3, 4))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


def test_no_more_centroids_than_rows() -> None:
    assert centroids(ROWS[:5], 12, seed=0).shape == (5, ROWS.shape[1])
