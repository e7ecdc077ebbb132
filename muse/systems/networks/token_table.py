"""TokenTable: a row for every token, used as embeddings of ids and as output scores of states."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class TokenTable(nn.Module):
    """The rows (v, d) of v tokens as vectors of h dimensions, projected if d is not h.

    `frozen` rows are not trained, only the projection is, so that an aligned space stays unchanged. They are
    not parameters and are not saved: they must be given again when the table is rebuilt.
    """

    def __init__(
        self, rows: Tensor, hidden: int, *, frozen: bool = False, generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        d = rows.shape[1]
        if frozen:
            self.register_buffer("_rows", rows, persistent=False)
        else:
            self._rows = nn.Parameter(rows.clone())
        # Nearly orthogonal columns of about unit length keep similar rows similar.
        drawn = None if d == hidden else torch.empty(d, hidden).normal_(0, d**-0.5, generator=generator)
        self._projection = None if drawn is None else nn.Parameter(drawn)

    def forward(self, ids: Tensor) -> Tensor:
        """The vectors (..., h) of ids (...)."""
        rows = nn.functional.embedding(ids, self._rows)
        return rows if self._projection is None else rows @ self._projection

    def scores(self, states: Tensor, among: slice = slice(None)) -> Tensor:
        """The score of each token for each state (..., h): the inner products (..., v) with its vector.

        `among` restricts this to a slice of the tokens.
        """
        if self._projection is not None:
            states = states @ self._projection.T  # (..., d): cheaper than to project the whole table
        return states @ self._rows[among].T


def random_rows(tokens: int, hidden: int, generator: torch.Generator | None) -> Tensor:
    """Random rows (v, h) with the standard deviation of all weights."""
    return torch.empty(tokens, hidden).normal_(0, initial_deviation(hidden), generator=generator)


def initial_deviation(hidden: int) -> float:
    """The standard deviation of weights at the start, sqrt(2 / 5 h) (Nguyen and Salazar, 2019).

    At BERT's sizes this is close to its 0.02; it also works for narrow networks.
    """
    return math.sqrt(2 / (5 * hidden))
