"""Procrustes: the rotation that best maps paired rows onto each other, and correlation weighting.

Between spaces of different dimension W (e, d) is semi-orthogonal: the rows of the larger side are projected
onto a subspace, chosen by the pairs, of the smaller side's dimension k = min(d, e), and rotated there.
"""

from typing import NamedTuple

import numpy as np
import scipy
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.errors import NotConverged

FLOOR = 1e-6  # of the largest spread: a direction without spread has no correlation


def procrustes(source: Tensor, target: Tensor) -> Tensor:
    """The orthogonal W (e, d) that maximises sum y_i . W x_i over paired rows (p, d) and (p, e).

    W = U V^T with U S V^T = SVD(Y^T X) (Schoenemann, 1966; Conneau et al., 2018, eq. 2). If d = e, it also
    minimises sum |W x_i - y_i|^2; if not, W is semi-orthogonal and the decomposition is the thin one.
    The product and the decomposition are in double precision: W is orthogonal to 1e-6 in float32.
    """
    return rotation(target.double().T @ source.double())


def rotation(product: Tensor) -> Tensor:
    """The (semi-)orthogonal W (e, d), float32, closest to Y^T X (e, d): its polar factor U V^T."""
    left, _, right = svd(product)
    return (left @ right).float()


def both_mapped(source: Tensor, target: Tensor, mapping: Tensor) -> tuple[Tensor, Tensor]:
    """Source rows (n, d) and target rows (m, e) in k = min(d, e) dimensions by an orthogonal W (e, d).

    x W^T and y; if the source has fewer dimensions, x and y W instead, which compares them in the subspace
    that W maps the source to. Projected rows are normalised to unit length again.
    """
    e, d = mapping.shape
    if e == d:
        return source @ mapping.T, target
    return (normalize(source @ mapping.T), target) if e < d else (source, normalize(target @ mapping))


class CorrelationWeighted(NamedTuple):
    """A rotation W (e, d) and a symmetric T (e, e) that weights directions by their canonical correlation.

    Source rows become x W^T T, target rows y T; with T = I this is Procrustes.
    """

    rotation: Tensor
    weighting: Tensor


def correlation_weighted(product: Tensor, source_gram: Tensor, target_gram: Tensor) -> CorrelationWeighted:
    """The Procrustes rotation, and the weighting of its directions by canonical correlation.

    `product` is Y^T X (e, d) over pairs, the others X^T X (d, d) and Y^T Y (e, e) over words.
    With U S V^T = SVD(Y^T X), direction i is v_i in the source and u_i in the target, and the two
    correlate by rho_i = s_i / sqrt(v_i^T X^T X v_i . u_i^T Y^T Y u_i), up to a common factor.
    T = U diag(rho^1/2) U^T, so that a cosine weights each direction by its correlation. (Re-weighting
    by singular values after whitening: Artetxe et al., 2018 (AAAI). Correlations need no whitening,
    which amplifies directions that cannot be estimated from few pairs in 300 dimensions.)
    """
    left, values, right = svd(product)
    spread_x = (right * (right @ source_gram)).sum(dim=1)  # (k,)
    spread_y = (left * (target_gram @ left)).sum(dim=0)  # (k,)
    scale = (spread_x * spread_y).clamp_min(0).sqrt()  # of rows without variance, rounding may leave less
    correlations = values / scale.clamp_min(float(scale.max()) * FLOOR)  # (k,)
    weights = (correlations / correlations.max()).sqrt()
    return CorrelationWeighted((left @ right).float(), ((left * weights) @ left.T).float())


def gram(rows: Tensor) -> Tensor:
    """X^T X (d, d) of rows (n, d)."""
    return rows.T @ rows


def cross_fitted(
    source: Tensor, target: Tensor, pairs: Tensor, folds: Tensor, grams: tuple[Tensor, Tensor] | None = None
) -> Tensor:
    """The source rows, (n, e), each mapped by a fit that left out the pairs of its own fold.

    `source` is (n, d), `target` (m, e), `pairs` (p, 2) row numbers, `folds` (n,) the fold of each source
    row. With `grams` (see `correlation_weighted`) rows are rotated and weighted, without them only rotated.

    A mapping fitted to a wrong pair recovers that pair, and so confirms its own mistakes; a row mapped
    by a fit to other pairs can be corrected. (Cross-fitting as in the estimation of nuisance
    parameters, Chernozhukov et al., 2018.) The fits are in the precision of the rows.
    """
    left, right = source[pairs[:, 0]], target[pairs[:, 1]]  # (p, d), (p, e)
    product = right.T @ left  # (e, d)
    of_pair = folds[pairs[:, 0]]  # (p,)
    mapped = source.new_empty(len(source), target.shape[1])
    for fold in range(int(folds.max()) + 1):
        own = of_pair == fold
        rows = folds == fold
        others = product - right[own].T @ left[own]
        if grams is None:
            mapped[rows] = source[rows] @ rotation(others).T
        else:
            fit = correlation_weighted(others, *grams)
            mapped[rows] = normalize(source[rows] @ (fit.weighting @ fit.rotation).T)
    return mapped


def eigenpairs(product: Tensor) -> tuple[Tensor, Tensor]:
    """The eigenvalues (d,) and eigenvectors (d, d) of a symmetric matrix such as X^T X, the largest first.

    In double precision: in single precision LAPACK may not converge where many columns of X are zero.
    Raise NotConverged if the matrix has none, as one with NaN.
    """
    try:
        values, axes = torch.linalg.eigh(product.double())
    except RuntimeError as error:
        raise NotConverged(f"a matrix must have eigenvalues, got none ({error})") from error
    if not values.isfinite().all():  # of a small matrix with NaN, LAPACK says nothing
        raise NotConverged("a matrix must have eigenvalues, got NaN")
    return values.flip(0), axes.flip(1)


def svd(product: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """U (e, k), S (k,) and V^T (k, d) of an (e, d) matrix, k the smaller of e and d.

    Raise NotConverged if the matrix has none, as one with NaN.
    """
    try:
        left, values, right = torch.linalg.svd(product, full_matrices=False)
        return left, values, right
    except RuntimeError:  # divide and conquer may stall on many equal singular values
        matrix = product.cpu().numpy()
    # Nothing else here calls numpy's BLAS: after each call its idle threads keep a core busy for a while.
    try:
        parts = scipy.linalg.svd(matrix, full_matrices=False, lapack_driver="gesvd")
    except (np.linalg.LinAlgError, ValueError) as error:
        raise NotConverged(f"a matrix must have singular values, got none ({error})") from error
    left, values, right = (torch.from_numpy(part).to(product) for part in parts)
    return left, values, right
