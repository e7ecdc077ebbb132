"""Projection: f(x) = tanh(x W + b) for each language, learned on the means of sentences, applied to words.

Rueckle et al. (2018), A.1. A mean of words lives in the space of words, so what was learned on means makes a
new row for every word, and power means can be taken afterwards. With tanh, f(mean) is only near the mean of
f: held-out sentences are scored by the latter, as the encoder will make them.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from muse.encoders.ragged import Ragged
from muse.training.word_tables import WordTables, pooled


class Projection(WordTables):
    """Starts as tanh of the aligned space's rows, pivot (n, d) and other (m, d)."""

    pooling = "mean"

    def __init__(self, pivot: Tensor, other: Tensor, dropout: float = 0.0) -> None:
        super().__init__()
        self._dropout = dropout  # 0.5 in the paper; here it cost 8 points of held-out P@1
        self.register_buffer("_pivot_words", pivot, persistent=False)
        self.register_buffer("_other_words", other, persistent=False)
        self._pivot_map = _identity(pivot)
        self._other_map = _identity(other)

    def pivot(self, batch: Ragged) -> Tensor:
        """The means (b, d) of the projected words of pivot sentences."""
        return self._applied(batch, self.get_buffer("_pivot_words"), self._pivot_map)

    def other(self, batch: Ragged) -> Tensor:
        """The means (b, d) of the projected words of sentences of the other language."""
        return self._applied(batch, self.get_buffer("_other_words"), self._other_map)

    def both(self, pivot: Ragged, other: Ragged, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """The projected means (b, d) of both sides, from which it learns."""
        x = pooled(pivot, self.get_buffer("_pivot_words"), self.pooling)
        y = pooled(other, self.get_buffer("_other_words"), self.pooling)
        # The same dimensions of the whole batch: else what a row lacks would tell pairs apart.
        noise = torch.rand(x.shape[1], generator=generator, device=x.device)
        kept = (noise >= self._dropout) / (1 - self._dropout)  # (d,)
        return torch.tanh(self._pivot_map(x * kept)), torch.tanh(self._other_map(y * kept))

    def _applied(self, batch: Ragged, words: Tensor, project: nn.Linear) -> Tensor:
        projected = torch.tanh(project(words[batch.ids]))  # (t, d)
        places = torch.arange(len(projected), device=words.device)
        return pooled(Ragged(places, batch.offsets), projected, self.pooling)

    def pivot_table(self) -> Tensor | None:
        """The projected rows (n, d)."""
        return torch.tanh(self._pivot_map(self.get_buffer("_pivot_words"))).detach()

    def other_table(self) -> Tensor:
        """The projected rows (m, d)."""
        return torch.tanh(self._other_map(self.get_buffer("_other_words"))).detach()


def _identity(words: Tensor) -> nn.Linear:
    """A map (d, d) that changes nothing yet."""
    d = words.shape[1]
    project = nn.Linear(d, d, device=words.device)
    with torch.no_grad():
        project.weight.copy_(torch.eye(d))
        project.bias.zero_()
    return project
