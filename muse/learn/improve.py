"""Improve: one refinement of a mapping, by pairs of words or by transport of rows, as its settings say."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from muse.alignment import Alignment
from muse.learn.refine import RefineConfig, refine
from muse.learn.transport import TransportConfig, transport
from muse.run.runtime import Runtime
from muse.vectors import Vectors

Improvement = RefineConfig | TransportConfig


def improve(
    source: Vectors,
    target: Vectors,
    initial: Alignment,
    *,
    config: Improvement,
    rng: np.random.Generator,
    runtime: Runtime,
) -> Iterator[Alignment]:
    """Yields the Alignments of `refine` or `transport`, whichever the settings are of; the last counts."""
    if isinstance(config, TransportConfig):
        return transport(source, target, initial, config=config, rng=rng, runtime=runtime)
    return refine(source, target, initial, config=config, rng=rng, runtime=runtime)
