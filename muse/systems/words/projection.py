"""Projection: f(x) = tanh(x W + b) for each language, learned on the means of sentences, applied to words.

Rueckle et al. (2018), A.1. The mean of a sentence is in the space of its words, so the learned f gives a new
row to every word, of which power means can be taken. Because of tanh, f(mean) is only close to the mean of f;
held-out sentences are scored by the mean of f, which is what the encoder computes.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from muse.encoders.ragged import Ragged
from muse.systems.words.word_tables import WordTables, pooled


class Projection(WordTables):
    """Projects the rows of the aligned space, pivot (n, d) and other (m, d); initially tanh alone."""

    pooling = "mean"

    def __init__(self, pivot: Tensor, other: Tensor, dropout: float = 0.0) -> None:
        super().__init__()
        self._dropout = dropout  # 0.5 in the paper; without power means it cost 8 points of held-out P@1
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
        """The projected means (b, d) of both sides, used by the loss."""
        x = pooled(pivot, self.get_buffer("_pivot_words"), self.pooling)
        y = pooled(other, self.get_buffer("_other_words"), self.pooling)
        # Dropout removes the same dimensions from the whole batch; otherwise they would identify the pairs.
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
    """A linear map (d, d) initialised to the identity."""
    d = words.shape[1]
    project = nn.Linear(d, d, device=words.device)
    with torch.no_grad():
        project.weight.copy_(torch.eye(d))
        project.bias.zero_()
    return project
