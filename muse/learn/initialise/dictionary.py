"""Dictionary: Procrustes on a given list of translations. Supervised: the baseline to compare with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from muse.alignment import Alignment
from muse.errors import Mismatch
from muse.learn.criterion import Criterion
from muse.lexicon import Lexicon
from muse.procrustes import procrustes
from muse.run.runtime import Runtime
from muse.vectors import Vectors


@dataclass(frozen=True)
class DictionaryConfig:
    """The pairs to learn from, and the name of the method."""

    lexicon: Lexicon
    method: str = "dictionary"


def dictionary(
    source: Vectors,
    target: Vectors,
    *,
    config: DictionaryConfig,
    criterion: Criterion,
    rng: np.random.Generator,
    runtime: Runtime,
) -> Iterator[Alignment]:
    """Yields one Alignment: Procrustes on the pairs with both words known; `rng` is not used.

    Raise Mismatch if there is no such pair.
    """
    pairs = torch.from_numpy(config.lexicon.indices(source.index, target.index))  # (p, 2)
    if len(pairs) == 0:
        raise Mismatch(
            f"at least one pair of the dictionary must be in both vocabularies, got 0 of "
            f"{len(config.lexicon.pairs)}; check the order of the languages and the letters' case (--lower)"
        )
    x, y = (side.tensor(runtime.device) for side in (source, target))
    mapping = procrustes(x[pairs[:, 0]], y[pairs[:, 1]]).cpu().numpy()
    yield Alignment(mapping, method=config.method, criterion=criterion(mapping))
