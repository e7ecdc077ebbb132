"""Pair: two languages to align, and the unsupervised criterion of a mapping between them.

The criterion is the mean cosine of the CSLS translations of the most frequent words.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.procrustes import both_mapped
from muse.run.runtime import History, Runtime
from muse.search.retrieval import Retrieval, best_targets
from muse.vectors import Matrix, Vectors

MOST_FREQUENT = 10_000
Criterion = Callable[[Matrix], float]


@dataclass(frozen=True, eq=False)
class LanguagePair:
    """Normalised vectors of a source and a target language, and where the work on them is done."""

    source: Vectors
    target: Vectors
    runtime: Runtime = field(default_factory=Runtime)

    @property
    def sides(self) -> tuple[Vectors, Vectors]:
        """Both languages."""
        return self.source, self.target

    def recorded(self, history: History) -> "LanguagePair":
        """The same languages, whose stages are recorded too."""
        progress = self.runtime.progress.with_callback(history.record)
        return replace(self, runtime=replace(self.runtime, progress=progress))

    @property
    def ranked(self) -> bool:
        """Whether the rows of both are of words, most frequent first."""
        return self.source.frequency_ordered and self.target.frequency_ordered

    def rows(self, most: int | None = None) -> tuple[Tensor, Tensor]:
        """The rows (n, d) and (m, e), of unit length, of the most frequent words, or of all."""
        x, y = (side.most_frequent(most).tensor(self.runtime.device) for side in self.sides)
        return x, y

    def fitted_rows(self, most: int | None = None) -> tuple[Tensor, Tensor]:
        """The same rows, of the lengths that mappings are fitted to."""
        x, y = (side.most_frequent(most).fitted_tensor(self.runtime.device) for side in self.sides)
        return x, y

    def criterion(self, most: int = MOST_FREQUENT) -> Criterion:
        """A function from a mapping W (e, d) to the criterion over the most frequent words of both sides."""
        x, y = self.rows(most)

        def evaluate(mapping: Matrix) -> float:
            mapped, keys = both_mapped(x, y, torch.from_numpy(mapping).to(x.device))
            # During training W need not be orthogonal, so the rows are normalised again.
            return mean_cosine(normalize(mapped), keys)

        return evaluate


def mean_cosine(source: Tensor, target: Tensor) -> float:
    """The mean cosine of every mapped source word (n, d) to its CSLS translation among the targets (m, d).

    It ranks mappings of one pair of languages. Its value alone proves nothing: it can be high for a
    wrong mapping, and its level differs from pair to pair (Conneau et al., 2018, section 3.5).
    """
    found = best_targets(source, target, Retrieval())  # (n,)
    return float((source * target[found]).sum(dim=1).mean())
