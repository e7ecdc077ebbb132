"""Whitened: maps that whiten, rotate, weight directions by their correlation and undo the whitening."""

from __future__ import annotations

from muse.learn.reweight import reweighted_maps
from muse.learn.supervise.evidence import Evidence, Maps


def whitened(evidence: Evidence) -> Maps:
    """The maps of Artetxe et al. (2018, AAAI, section 3), steps 1 to 4, unweighted; see `reweighted_maps`."""
    return Maps(*reweighted_maps(evidence.left, evidence.right))
