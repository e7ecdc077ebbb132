"""Similarity distributions: words are matched by the sorted list of their similarities to all others.

For the most frequent words of each side, M = sqrt(X X^T), every row sorted and normalised;
rows are matched across languages by CSLS (Artetxe et al., 2018, section 3.2).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from muse.alignment import Alignment
from muse.learn.pair import Criterion, LanguagePair
from muse.normalise import normalise
from muse.procrustes import procrustes, svd
from muse.search.retrieval import Retrieval, translations
from muse.vectors import Matrix


@dataclass(frozen=True)
class SimilarityConfig:
    """The number of most frequent words that are compared."""

    words: int = 4_000


def similarity(
    pair: LanguagePair, score: Criterion, rng: np.random.Generator, *, config: SimilarityConfig
) -> Iterator[Alignment]:
    """Yields one Alignment: Procrustes on the words matched by their similarity distributions.

    The match is deterministic; `rng` is not used.
    """
    words = min(config.words, *map(len, pair.sides))  # the sorted rows must be equally long
    x, y = pair.rows(words)
    forward, backward = translations(_signatures(x), _signatures(y), Retrieval())
    rows = torch.arange(words, device=forward.device)
    left, right = torch.cat([rows, backward]), torch.cat([forward, rows])
    mapping: Matrix = procrustes(x[left], y[right]).cpu().numpy()
    yield Alignment(mapping, method="similarity", criterion=score(mapping))


def _signatures(rows: Tensor) -> Tensor:
    """The sorted, normalised rows (k, k) of the square root of the similarity matrix."""
    left, values, _ = svd(rows)  # sqrt(X X^T) = U S U^T
    ordered = ((left * values) @ left.T).sort(dim=1).values
    return torch.from_numpy(normalise(ordered.cpu().numpy())[0]).to(rows.device)
