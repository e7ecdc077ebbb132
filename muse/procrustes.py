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
    product = target.double().T @ source.double()  # (d, d)
    if product.is_cuda:
        left, _, right = torch.linalg.svd(product)
        return (left @ right).float()
    # gesdd of a (300, 300) matrix in scipy takes half of torch's time on a CPU.
    left_, _, right_ = scipy.linalg.svd(product.numpy(), check_finite=False)
    mapping: Tensor = torch.from_numpy(left_ @ right_).float()
    return mapping
