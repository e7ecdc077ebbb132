"""What a module must give, from its definition: whole matrices, numpy and scipy, in double precision."""

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Rows = NDArray[np.float64]


def unit(rows: Rows) -> Rows:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def csls(x: Rows, y: Rows, k: int = 10) -> Rows:
    """The scores (n, m) by CSLS."""
    cosines = x @ y.T
    of_x, of_y = (np.sort(table, axis=1)[:, -k:].mean(axis=1) for table in (cosines, cosines.T))
    return np.asarray(2 * cosines - of_x[:, None] - of_y)


def csls_pairs(x: Rows, y: Rows, k: int = 10) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows of x and y that are each other's best by CSLS, from all scores."""
    scores = csls(x, y, k)
    forward, backward = scores.argmax(axis=1), scores.argmax(axis=0)
    mutual = np.flatnonzero(backward[forward] == np.arange(len(x)))
    return mutual, forward[mutual]


def polar(product: Rows) -> Rows:
    """The rotation that is closest to a product."""
    return np.asarray(scipy.linalg.polar(product)[0])


def weighted(product: Rows, x: Rows, y: Rows) -> tuple[Rows, Rows]:
    """W and T: directions of the pairs, by the root of the correlation of all words along them."""
    u, s, vt = scipy.linalg.svd(product)
    rho = s / (np.linalg.norm(x @ vt.T, axis=0) * np.linalg.norm(y @ u, axis=0))
    return u @ vt, (u * np.sqrt(rho / rho.max())) @ u.T
