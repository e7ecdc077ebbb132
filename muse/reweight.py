"""Re-weighting: whiten, rotate, stress the directions both languages share, and de-whiten.

The last step of Artetxe et al. (2018), from their framework of 2018 (AAAI), section 3. It gives
up the isometry and moves the target too, so it is an option, and kept only where it pays.
"""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.alignment import Alignment
from muse.procrustes import procrustes
from muse.retrieval import Retrieval, found_again, mutual_pairs, translations
from muse.runtime import Runtime
from muse.vectors import Vectors

log = logging.getLogger(__name__)

WORDS = 8_000
POWER = 0.5  # of the singular values, on either side
FLOOR = 1e-6  # of the largest eigenvalue: whitening a flat direction would blow up noise


def reweight(
    source: Vectors, target: Vectors, start: Alignment, *, rng: np.random.Generator, runtime: Runtime
) -> Alignment:
    """`start` re-weighted, if that finds held-out mutual pairs again more often; else `start`.

    Both are fitted to a random half of the pairs of `start` and compared on the other half.
    """
    x, y = (side.most_frequent(WORDS).tensor(runtime.device) for side in (source, target))
    mapping = torch.from_numpy(start.source_map).to(runtime.device)
    pairs = mutual_pairs(*translations(x @ mapping.T, y, Retrieval()))  # (p, 2)
    pairs = pairs[torch.from_numpy(rng.permutation(len(pairs))).to(pairs.device)]
    known, held_out = pairs.chunk(2)
    rotation = procrustes(x[known[:, 0]], y[known[:, 1]])
    plain = found_again(x @ rotation.T, y, held_out)
    left, right = reweighted_maps(x[known[:, 0]], y[known[:, 1]])
    weighted = found_again(normalize(x @ left.T), normalize(y @ right.T), held_out)
    log.info("re-weighting: %.4f of held-out pairs found again, the rotation %.4f", weighted, plain)
    if weighted <= plain:
        return start
    left, right = reweighted_maps(x[pairs[:, 0]], y[pairs[:, 1]])
    return replace(start, source_map=left.cpu().numpy(), target_map=right.cpu().numpy())


def reweighted_maps(source: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """The (d, d) maps of both sides from paired rows (p, d) and (p, d).

    With whitening Wx = (X^T X)^-1/2 and U S V^T = SVD(Wx X^T Y Wy): the source goes through
    Wx U S^r U^T Wx^-1 U, the target through Wy V S^r V^T Wy^-1 V (as right factors of rows).
    """
    x, y = source.double(), target.double()
    (white_x, colour_x), (white_y, colour_y) = _whitening(x), _whitening(y)
    u, s, vt = torch.linalg.svd(white_x @ (x.T @ y) @ white_y)
    weights = torch.diag(s**POWER)
    left = white_x @ u @ weights @ u.T @ colour_x @ u
    right = white_y @ vt.T @ weights @ vt @ colour_y @ vt.T
    return left.T.float(), right.T.float()


def _whitening(rows: Tensor) -> tuple[Tensor, Tensor]:
    """(X^T X)^-1/2 and its inverse, (d, d) each."""
    values, vectors = torch.linalg.eigh(rows.T @ rows)
    roots = values.clamp_min(float(values.max()) * FLOOR).sqrt()
    return vectors @ torch.diag(1 / roots) @ vectors.T, vectors @ torch.diag(roots) @ vectors.T
