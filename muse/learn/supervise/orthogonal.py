"""Orthogonal: Procrustes on the pairs, the baseline; the target does not move."""

from __future__ import annotations

from muse.learn.supervise.evidence import Evidence, Maps
from muse.procrustes import procrustes


def orthogonal(evidence: Evidence) -> Maps:
    """The rotation of the source that maximises sum y . W x over the pairs, unweighted.

    For two dimensions W (dt, ds) is semi-orthogonal, and the larger language is projected onto the directions
    that correspond best; the shared space has the smaller dimension.
    """
    return Maps.of_mapping(procrustes(evidence.left, evidence.right))
