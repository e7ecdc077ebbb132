"""Procrustes: the rotation that best carries paired rows onto each other."""

from __future__ import annotations

import scipy.linalg
import torch
from torch import Tensor


def procrustes(source: Tensor, target: Tensor) -> Tensor:
    """The orthogonal W (d, d) that minimises sum |W x_i - y_i|^2 over paired rows (p, d) and (p, d).

    W = U V^T with U S V^T = SVD(Y^T X) (Schoenemann, 1966; Conneau et al., 2018, eq. 2).
    The product and the decomposition are in double precision: W is orthogonal to 1e-6 in float32.
    """
    return rotation(target.double().T @ source.double())


def rotation(product: Tensor) -> Tensor:
    """The orthogonal W (d, d), float32, closest to Y^T X (d, d), double: its polar factor U V^T."""
    if product.is_cuda:
        left, _, right = torch.linalg.svd(product)
        on_gpu: Tensor = (left @ right).float()
        return on_gpu
    # gesdd of a (300, 300) matrix in scipy takes half of torch's time on a CPU.
    left_, _, right_ = scipy.linalg.svd(product.numpy(), check_finite=False)
    return torch.as_tensor(left_ @ right_, dtype=torch.float32)


def cross_fitted(source: Tensor, target: Tensor, pairs: Tensor, folds: Tensor) -> Tensor:
    """The source rows (n, d), each mapped by the rotation fitted without the pairs of its own fold.

    `target` is (m, d), `pairs` (p, 2) row numbers, `folds` (n,) the fold of each source row.
    A mapping fitted to a wrong pair finds that pair again, and so confirms its own mistakes; a row
    mapped by what only others have taught can be corrected. (Cross-fitting as in the estimation of
    nuisance parameters, Chernozhukov et al., 2018.)
    """
    left, right = source[pairs[:, 0]].double(), target[pairs[:, 1]].double()  # (p, d)
    product = right.T @ left  # (d, d)
    of_pair = folds[pairs[:, 0]]  # (p,)
    mapped = torch.empty_like(source)
    for fold in range(int(folds.max()) + 1):
        own = of_pair == fold
        rows = folds == fold
        mapped[rows] = source[rows] @ rotation(product - right[own].T @ left[own]).T
    return mapped
