"""Expressions in a vocabulary: as one entry, such as aujourd'hui or parce_que, or as the mean of their words.

In the mean each word weighs the square root of its rank: the rare one counts most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.text.expressions import grouped, joined
from muse.vectors import Vectors


def with_entries(tokens: Sequence[str], vectors: Vectors) -> Iterator[tuple[str, str | None]]:
    """The tokens in order, those of an expression that `vectors` know as one, each expression with its entry.

    >>> import numpy as np
    >>> french = Vectors("fr", ["un", "quelqu"], np.zeros((2, 1), np.float32))
    >>> list(with_entries(["Quelqu'", "un", "vient"], french))
    [("Quelqu'un", 'quelqu un'), ('vient', None)]
    """
    for group in grouped(tokens, vectors.language):
        entry = expression_entry(group, vectors) if len(group) > 1 else None
        if entry is not None:
            yield joined(group), entry
        else:
            yield from ((token, None) for token in group)


def expression_entry(tokens: Sequence[str], vectors: Vectors) -> str | None:
    """The entry of an expression: as a vocabulary has it, or its words, with spaces; None if unknown."""
    lowered = [token.lower() for token in tokens]
    for form in (joined(lowered), joined(lowered, "_"), joined(lowered, "-")):
        if form in vectors.index:
            return form
    forms = [[form for form in (token, token.strip("'")) if form in vectors.index] for token in lowered]
    return " ".join(known[0] for known in forms) if all(forms) else None


def expression_row(entry: str, vectors: Vectors, rows: Tensor) -> Tensor | None:
    """The row (d,) of several words with spaces, from the `rows` (n, d) of all; None if one is unknown."""
    places = [vectors.index.get(word) for word in entry.split(" ")]
    known = [place for place in places if place is not None]
    if len(known) < max(2, len(places)):
        return None
    weights = torch.tensor(known, dtype=rows.dtype, device=rows.device).add(1).sqrt()  # (w,)
    return normalize(weights @ rows[known], dim=0)
