"""Maps in closed form: orthogonal, ridge, corrected, canonical and whitened; and with hidden units.

orthogonal    Procrustes on the pairs, the baseline; the target does not move.
ridge         Ridge regression of the target on the source (Hoerl and Kennard, 1970): directions may be
              scaled, which a rotation cannot do, and the target does not move.
corrected     A map and the ridge regression of what it leaves, perhaps of low rank as in Drift-Adapter
              (Vejendla, 2025): few pairs then shrink towards a rotation, not towards zero.
canonical     Regularised canonical correlation analysis, with directions weighted by their correlation.
              Whitening divides by the spread of each direction, which few pairs cannot estimate: for 1,000
              pairs in 300 dimensions the smallest spreads are mostly chance. The covariances are therefore
              shrunk towards a sphere (Vinod, 1976, canonical ridge; Ledoit and Wolf, 2004), and unlike in
              Artetxe et al. (2018) the whitening is not undone: the shared space is that of the canonical
              directions (Faruqui and Dyer, 2014).
fit_whitened  Maps that whiten, rotate, weight directions by their correlation and undo the whitening: the
              last step of Artetxe et al. (2018), from their framework of 2018 (AAAI), section 3. The maps are
              no longer isometries and the target moves too.
with_units    A small residual network, M x + V max(U x + b, 0), as Drift-Adapter has one (Vejendla, 2025). M
              was learned before. U and b are drawn, so that V is a ridge regression (random features, Rahimi
              and Recht, 2008): no descent, and a penalty in place of early stopping.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from muse.learn.supervise.training_pairs import BLOCK_OF_UNITS, CrossMoments, HiddenUnits, Maps, TrainingPairs
from muse.procrustes import eigenpairs, gram, procrustes, rotation, svd

SMALL = 1e-30  # below every variance
LEAST_CORRELATION = 1e-8  # of the largest: squared, the precision of a double
LEAST_VARIANCE = 1e-12  # of hidden units, as a mean: rows that are all alike have none
POWER = 0.5  # of the singular values, on either side


def orthogonal(evidence: TrainingPairs) -> Maps:
    """The rotation of the source that maximises sum y . W x over the pairs, unweighted but by their lengths.

    For two dimensions W (dt, ds) is semi-orthogonal, and the larger language is projected onto the directions
    that correspond best; the shared space has the smaller dimension.
    """
    return Maps.of_mapping(procrustes(*evidence.fitted))


def ridge(evidence: TrainingPairs, penalty: float) -> Maps:
    """The map W (dt, ds) of least sum w |y - W x|^2 + p penalty t |W|^2 over the pairs, weighted.

    t is the mean variance of a dimension of the source: W^T = (Cx + penalty t I)^-1 Cxy. The rows have been
    centred, so that the map is affine in those of the files.
    """
    return _into_target(_penalised(evidence.moments, evidence.moments.covariance, penalty), evidence)


def corrected(evidence: TrainingPairs, start: Tensor, penalty: float, rank: int | None = None) -> Maps:
    """The map s V + D (dt, ds): a `start` V, its best scale s, and the ridge regression D of y - s V x.

    With a `rank`, of D only the directions of the target that it predicts most of (reduced-rank regression,
    Izenman, 1975).
    """
    moments, given = evidence.moments, start.double()
    covariance = moments.source / moments.weight  # (ds, ds)
    fitted = given @ covariance  # (dt, ds)
    scale = (given * moments.covariance.T).sum() / (given * fitted).sum().clamp_min(SMALL)
    change = _penalised(moments, moments.covariance - scale * fitted.T, penalty)
    if rank is not None and rank < len(change):
        _, axes = eigenpairs(change @ covariance @ change.T)  # of what D predicts, (dt, dt)
        change = axes[:, :rank] @ (axes[:, :rank].T @ change)
    return _into_target(scale * given + change, evidence)


def _penalised(moments: CrossMoments, covariance: Tensor, penalty: float) -> Tensor:
    """The ridge regression (dt, ds) on the source of what has this covariance (ds, dt) with it."""
    spread = moments.spreads[0]
    inverse = (
        spread.vectors / (spread.values.clamp_min(0) + penalty * spread.values.mean())
    ) @ spread.vectors.T
    return (inverse @ covariance).T


def drawn_units(d: int, count: int, rng: np.random.Generator) -> HiddenUnits:
    """Hidden units (h, d) that are normally distributed, whose last is always 1, and which add nothing."""
    inner, bias = rng.standard_normal((count, d)), rng.standard_normal(count)
    inner[-1], bias[-1] = 0, 1
    return HiddenUnits(torch.from_numpy(inner).float(), torch.from_numpy(bias).float(), torch.zeros(0, count))


def with_units(
    evidence: TrainingPairs, start: Tensor, units: HiddenUnits, penalties: Sequence[float]
) -> list[Maps]:
    """For each penalty the map s M (dt, ds), a `start` M at its best scale, with what the units add to it.

    V is the ridge regression of y - s M x on the units less their means, over the pairs, weighted; the unit
    that is always 1 takes what the means amount to.
    """
    moments, given = evidence.moments, start.double()
    fitted = (given @ moments.source * given).sum().clamp_min(SMALL)
    base = float((given * moments.both.T).sum() / fitted) * given
    drawn = HiddenUnits(*(one.to(evidence.x) for one in units))
    centre, gram, along = _moments_of_units(evidence, drawn, base)
    mean = max(float(gram.diagonal().mean()), LEAST_VARIANCE)
    found = []
    for penalty in penalties:
        ridged = gram + penalty * mean * torch.eye(len(gram)).to(gram)
        outer = torch.cholesky_solve(along, torch.linalg.cholesky(ridged)).T  # (dt, h)
        outer[:, -1] -= outer @ centre
        hidden_units = drawn._replace(outer=outer.to(evidence.x))
        found.append(replace(_into_target(base, evidence), hidden=hidden_units))
    return found


def _moments_of_units(
    evidence: TrainingPairs, units: HiddenUnits, base: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The means (h,) and covariance (h, h) of units, and theirs (h, dt) with what a map leaves, double.

    The units of many pairs would be large: these are summed block by block.
    """
    weights = (evidence.weights / evidence.weights.sum()).double()
    left, right = evidence.left, evidence.right
    h, dt = len(units.bias), len(base)
    ones, gram, along = (torch.zeros(h, k, dtype=torch.float64).to(left) for k in (1, h, dt))
    middle = weights @ (right - left @ base.T)  # (dt,)
    for begin in range(0, len(left), BLOCK_OF_UNITS):
        part = slice(begin, begin + BLOCK_OF_UNITS)
        hidden = units.units(left[part].to(evidence.x))  # (b, h)
        weighted = weights[part, None].to(hidden) * hidden
        ones += weighted.sum(dim=0).double()[:, None]
        gram += (hidden.T @ weighted).double()
        along += weighted.double().T @ (right[part] - left[part] @ base.T)
    return ones[:, 0], gram - ones @ ones.T, along - ones * middle


def _into_target(mapping: Tensor, evidence: TrainingPairs) -> Maps:
    """The maps of a source that goes into a target which does not move."""
    return Maps(mapping.to(evidence.x), torch.eye(len(mapping)).to(evidence.y))


@dataclass(frozen=True)
class CanonicalConfig:
    """How far the covariances are shrunk (0 to 1), and the power of the correlations on either side."""

    shrinkage: float = 0.5
    power: float = 0.5

    def __str__(self) -> str:
        """The part of a method's name that says the settings."""
        return f"{self.shrinkage:g},{self.power:g}"


def canonical(evidence: TrainingPairs, config: CanonicalConfig) -> Maps:
    """The maps A = S^r U^T Cx^-1/2 (k, ds) and B = S^r V^T Cy^-1/2 (k, dt), k the smaller dimension.

    U S V^T = SVD(Cx^-1/2 Cxy Cy^-1/2), Cxy = X^T Y / p over the pairs, Cx = (1 - s) X^T X / p + s I t,
    t the mean of its diagonal; all weighted.
    """
    maps = of_moments(evidence.moments, config)
    return Maps(maps.source.to(evidence.x), maps.target.to(evidence.y))


def of_moments(moments: CrossMoments, config: CanonicalConfig) -> Maps:
    """The canonical maps from the moments of the pairs, double."""
    if config.shrinkage > 0:
        try:
            return _of_roots(moments, config)
        except RuntimeError:  # rows that are all zero have no root
            pass
    white_x, white_y = (spread.power(-0.5, config.shrinkage) for spread in moments.spreads)
    u, s, vt = svd(white_x @ moments.covariance @ white_y)
    scale = s.clamp_min(0)[:, None] ** config.power
    return Maps(scale * (u.T @ white_x), scale * (vt @ white_y))


def _of_roots(moments: CrossMoments, config: CanonicalConfig) -> Maps:
    """The same maps without the eigenvalues of the covariances, which take most of the time.

    A shrunk covariance C is far from singular, and S^r U^T L^-1 does not depend on which root L L^T = C is
    taken: Cholesky's costs a tenth. Self-learning makes a new fit for each fold and round.
    """
    x, y = (
        torch.linalg.cholesky(
            (1 - config.shrinkage) * one
            + config.shrinkage * (one.diagonal().mean() * torch.eye(len(one)).to(one))
        )
        for one in (moments.source / moments.weight, moments.target / moments.weight)
    )
    # Lx^-1 Cxy Ly^-T, (ds, dt)
    product = torch.linalg.solve_triangular(x, moments.covariance, upper=False)
    product = torch.linalg.solve_triangular(y, product.T, upper=False).T
    left, s, right = _singular(product)
    maps = (
        torch.linalg.solve_triangular(root.T, side * s**config.power, upper=True).T
        for root, side in ((x, left), (y, right))
    )
    return Maps(*maps)


def _singular(product: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """U (m, k), S (k,) and V (n, k) of M (m, n), k the smaller, from the eigenvectors of its smaller Gram.

    Singular values below LEAST_CORRELATION of the largest are rounding, and so are their columns of U or V.
    """
    if len(product) < product.shape[1]:
        right, s, left = _singular(product.T)
        return left, s, right
    values, right = eigenpairs(gram(product))
    s = values.clamp_min(0).sqrt()
    return product @ right / s.clamp_min(float(s[0]) * LEAST_CORRELATION + SMALL), s, right


def in_basis_of(maps: Maps, other: Maps) -> Maps:
    """`maps` rotated so that their target map is as close as possible to the target map of `other`.

    The directions of two fits have other signs and mix where correlations are alike: cosines between the
    two need a common basis.
    """
    basis = rotation(other.target.float() @ maps.target.float().T).to(maps.target)  # (k, k)
    return Maps(basis @ maps.source, basis @ maps.target)


def fit_whitened(evidence: TrainingPairs) -> Maps:
    """The maps of Artetxe et al. (2018, AAAI, section 3), steps 1 to 4, unweighted; see `reweighted_maps`."""
    return Maps(*reweighted_maps(evidence.left, evidence.right))


def reweighted_maps(source: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """The maps (k, d) and (k, e) of both sides from paired rows (p, d) and (p, e); k = min(d, e).

    With whitening Wx = (X^T X)^-1/2 and U S V^T = SVD(Wx X^T Y Wy): the source goes through
    Wx U S^r U^T Wx^-1 U, the target through Wy V S^r V^T Wy^-1 V (as right factors of rows).
    """
    moments = CrossMoments.of(source.double(), target.double(), torch.ones(len(source)).to(source))
    white_x, white_y = (spread.power(-0.5) for spread in moments.spreads)
    colour_x, colour_y = (spread.power(0.5) for spread in moments.spreads)
    u, s, vt = svd(white_x @ moments.covariance @ white_y)
    weights = torch.diag(s**POWER)
    left = white_x @ u @ weights @ u.T @ colour_x @ u
    right = white_y @ vt.T @ weights @ vt @ colour_y @ vt.T
    return left.T.float(), right.T.float()
