"""Re-weighting: whiten, rotate, weight directions by canonical correlation, de-whiten; kept if it helps.

The last step of Artetxe et al. (2018), from their framework of 2018 (AAAI), section 3. The maps are no
longer isometries and the target moves too, so it is optional, and kept only if it recovers significantly
more held-out translations.
"""

from __future__ import annotations

import logging
import math
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.alignment import Alignment
from muse.procrustes import both_mapped, procrustes
from muse.run.runtime import Runtime
from muse.search.retrieval import Retrieval, mutual_neighbours, recovered
from muse.vectors import Vectors

log = logging.getLogger(__name__)

WORDS = 12_000
POWER = 0.5  # of the singular values, on either side
FLOOR = 1e-6  # of the largest eigenvalue: whitening a flat direction would blow up noise
SIGNIFICANT = 2.0  # standard errors that the gain must exceed


def reweight(
    source: Vectors, target: Vectors, start: Alignment, *, rng: np.random.Generator, runtime: Runtime
) -> Alignment:
    """`start` re-weighted if that recovers significantly more held-out translations; else `start`.

    A translation is recovered if it is mutual and is found by a fit without the word's half of the
    vocabulary. Pairs that only one of the two alignments has found would favour that one, so each is
    tested on its own pairs.
    """
    x, y = (side.most_frequent(WORDS).tensor(runtime.device) for side in (source, target))
    mapping = torch.from_numpy(start.source_map).to(runtime.device)
    half = torch.from_numpy(rng.integers(2, size=len(x))).to(x.device)
    pairs = mutual_neighbours(*both_mapped(x, y, mapping), Retrieval())  # (p, 2)
    left, right = reweighted_maps(x[pairs[:, 0]], y[pairs[:, 1]])
    of_weights = mutual_neighbours(normalize(x @ left.T), normalize(y @ right.T), Retrieval())
    with runtime.progress.stage("re-weighting", 2) as tick:
        plain = _recovered(x, y, pairs, half, weighted=False)
        tick(1)
        weighted = _recovered(x, y, of_weights, half, weighted=True)
    gain = standard_errors(plain, weighted)
    log.info(
        "re-weighting recovers %d held-out translations, the rotation alone %d (%.1f standard errors)",
        int(weighted.sum()), int(plain.sum()), gain,
    )  # fmt: skip
    if gain <= SIGNIFICANT:
        return start
    return replace(start, source_map=left.cpu().numpy(), target_map=right.cpu().numpy())


def _recovered(x: Tensor, y: Tensor, pairs: Tensor, half: Tensor, *, weighted: bool) -> Tensor:
    """Whether the pair of each word of x (n, d) is recovered by a fit to the other half: (n,) bool."""
    found = torch.zeros(len(x), dtype=torch.bool, device=x.device)
    for part in (0, 1):
        own = half[pairs[:, 0]] == part
        known = x[pairs[~own, 0]], y[pairs[~own, 1]]
        if weighted:
            left, right = reweighted_maps(*known)
            mapped, keys = normalize(x @ left.T), normalize(y @ right.T)
        else:
            mapped, keys = both_mapped(x, y, procrustes(*known))
        found[pairs[own, 0]] = recovered(mapped, keys, pairs[own])
    return found


def standard_errors(before: Tensor, after: Tensor) -> float:
    """The gain in right cases from `before` to `after`, in standard errors (McNemar, 1947).

    `before` and `after` (p,) say for each case whether it is right. With b cases gained and c lost:
    (b - c) / sqrt(b + c), 0 if none changed.

    >>> standard_errors(torch.tensor([True, False]), torch.tensor([True, True]))
    1.0
    """
    gained, lost = int((after & ~before).sum()), int((before & ~after).sum())
    return (gained - lost) / math.sqrt(gained + lost) if gained + lost else 0.0


def reweighted_maps(source: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """The maps (k, d) and (k, e) of both sides from paired rows (p, d) and (p, e); k = min(d, e).

    With whitening Wx = (X^T X)^-1/2 and U S V^T = SVD(Wx X^T Y Wy): the source goes through
    Wx U S^r U^T Wx^-1 U, the target through Wy V S^r V^T Wy^-1 V (as right factors of rows).
    """
    x, y = source.double(), target.double()
    (white_x, colour_x), (white_y, colour_y) = _whitening(x), _whitening(y)
    u, s, vt = torch.linalg.svd(white_x @ (x.T @ y) @ white_y, full_matrices=False)
    weights = torch.diag(s**POWER)
    left = white_x @ u @ weights @ u.T @ colour_x @ u
    right = white_y @ vt.T @ weights @ vt @ colour_y @ vt.T
    return left.T.float(), right.T.float()


def _whitening(rows: Tensor) -> tuple[Tensor, Tensor]:
    """(X^T X)^-1/2 and its inverse, (d, d) each."""
    values, vectors = torch.linalg.eigh(rows.T @ rows)
    roots = values.clamp_min(float(values.max()) * FLOOR).sqrt()
    return vectors @ torch.diag(1 / roots) @ vectors.T, vectors @ torch.diag(roots) @ vectors.T
