"""Improve: one refinement of a mapping, by pairs of words or by averages of rows, as its settings say."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from muse.alignment import Alignment
from muse.learn.averages import AveragesConfig, averages
from muse.learn.refine import RefineConfig, refine
from muse.run.runtime import Runtime
from muse.vectors import Vectors

Improvement = RefineConfig | AveragesConfig


def improve(
    source: Vectors,
    target: Vectors,
    initial: Alignment,
    *,
    config: Improvement,
    rng: np.random.Generator,
    runtime: Runtime,
) -> Iterator[Alignment]:
    """Yields the Alignment of each round of `refine` or `averages`, whichever the settings are of."""
    if isinstance(config, AveragesConfig):
        return averages(source, target, initial, config=config, rng=rng, runtime=runtime)
    return refine(source, target, initial, config=config, rng=rng, runtime=runtime)
