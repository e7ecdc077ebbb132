"""Clusters: the centroids of rows by spherical k-means, of faiss."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import normalize

ITERATIONS = 20


def centroids(rows: Tensor, k: int, *, seed: int) -> Tensor:
    """The centroids (min(k, n), d) of rows (n, d) of unit length, also of unit length, on their device.

    Spherical k-means (Dhillon and Modha, 2001), by inner product, on the CPU.
    """
    import faiss

    found = faiss.Kmeans(
        rows.shape[1], min(k, len(rows)), niter=ITERATIONS, seed=seed, spherical=True,
        min_points_per_centroid=1, max_points_per_centroid=len(rows),
    )  # fmt: skip
    found.train(rows.cpu().numpy())
    return normalize(torch.from_numpy(found.centroids)).to(rows)
