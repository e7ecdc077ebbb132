"""Orthogonal: Procrustes on the pairs, the baseline; the target does not move."""

from __future__ import annotations

import torch

from muse.learn.supervise.evidence import Evidence, Maps
from muse.procrustes import procrustes


def orthogonal(evidence: Evidence) -> Maps:
    """The rotation of the source that minimises sum |W x - y|^2 over the pairs, unweighted.

    For two dimensions W (k, ds) is semi-orthogonal, and the larger language is projected onto the k
    directions that correspond best: with U S V^T = SVD(Y^T X), the maps are V^T and U^T (k, d).
    """
    left, right = evidence.left, evidence.right
    if left.shape[1] == right.shape[1]:
        d = right.shape[1]
        return Maps(procrustes(left, right), torch.eye(d).to(evidence.x))
    u, _, vt = torch.linalg.svd(right.T @ left, full_matrices=False)
    return Maps(vt.to(evidence.x), u.T.to(evidence.x))
