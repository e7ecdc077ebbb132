"""TokenTable: a row for every token, which makes vectors of ids and, tied or alone, scores of states."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class TokenTable(nn.Module):
    """The rows (v, d) of v tokens as vectors of h dimensions, projected where d is not h.

    `frozen` rows never move, the projection does: so does an aligned space stay what it is. They are no
    parameter and are not saved: who makes the table again has them.
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
        # Near-orthogonal columns of about unit length: what was near stays near.
        drawn = None if d == hidden else torch.empty(d, hidden).normal_(0, d**-0.5, generator=generator)
        self._projection = None if drawn is None else nn.Parameter(drawn)

    def forward(self, ids: Tensor) -> Tensor:
        """The vectors (..., h) of ids (...)."""
        rows = nn.functional.embedding(ids, self._rows)
        return rows if self._projection is None else rows @ self._projection

    def scores(self, states: Tensor, among: slice = slice(None)) -> Tensor:
        """How well each token fits each state (..., h): the inner products (..., v) with its vector.

        `among` a part of the tokens alone.
        """
        if self._projection is not None:
            states = states @ self._projection.T  # (..., d): cheaper than to project the whole table
        return states @ self._rows[among].T


def random_rows(tokens: int, hidden: int, generator: torch.Generator | None) -> Tensor:
    """Rows (v, h) drawn as all weights are."""
    return torch.empty(tokens, hidden).normal_(0, initial_deviation(hidden), generator=generator)


def initial_deviation(hidden: int) -> float:
    """The standard deviation of weights at the start, sqrt(2 / 5 h) (Nguyen and Salazar, 2019).

    At BERT's sizes this is its 0.02; it serves narrow networks too.
    """
    return math.sqrt(2 / (5 * hidden))
