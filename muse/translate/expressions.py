"""Expressions: several tokens with a meaning of their own (aujourd'hui), and units of measurement.

A vocabulary may have an expression as one entry, as aujourd'hui, parce_que or s'il-vous-plaît. Otherwise its
vector is the mean of its words', each weighted by the square root of its rank, so that the rare word counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.vectors import Vectors

# By language, as tokens. Each was tried on held-out training text and lowers no BLEU there; hyphenated words
# in general are better translated word by word.
_EXPRESSIONS = {
    "fr": (
        "aujourd' hui", "d' accord", "parce que", "petit déjeuner", "presqu' île", "quelqu' un",
        "quelqu' une", "s' il te plaît", "s' il vous plaît",
    ),
}  # fmt: skip
_BY_FIRST = {
    language: {first: [w for w in map(str.split, written) if w[0] == first] for first in
               {text.split()[0] for text in written}}
    for language, written in _EXPRESSIONS.items()
}  # fmt: skip

# What follows a number and is written alike in every language.
UNITS = frozenset(
    "nm mm cm dm m km ha mg g kg t ml cl dl l ms s min h Hz kHz MHz GHz W kW MW GW kWh V kV mA Ah J kJ kcal "
    "cal N Pa hPa bar dB b B kb kB Mb MB Gb GB TB ko Mo Go To px dpi ft yd mi mph kph lb lbs oz C F K".split()
)
"""Symbols of units, which are copied."""


def grouped(tokens: Sequence[str], vectors: Vectors) -> Iterator[tuple[str, str | None]]:
    """The tokens in order, those of a known expression as one, each with its entry if it is an expression.

    >>> import numpy as np
    >>> french = Vectors("fr", ["un", "quelqu"], np.zeros((2, 1), np.float32))
    >>> list(grouped(["Quelqu'", "un", "vient"], french))
    [("Quelqu'un", 'quelqu un'), ('vient', None)]
    """
    candidates = _BY_FIRST.get(vectors.language, {})
    place = 0
    while place < len(tokens):
        for words in candidates.get(tokens[place].lower(), ()):
            part = tokens[place : place + len(words)]
            entry = expression_entry(words, vectors) if [token.lower() for token in part] == words else None
            if entry is not None:
                yield _written(part), entry
                place += len(words)
                break
        else:
            yield tokens[place], None
            place += 1


def expression_entry(tokens: Sequence[str], vectors: Vectors) -> str | None:
    """The entry of an expression: as a vocabulary has it, or its words, with spaces; None if unknown."""
    written = _written(tokens)
    for form in (written, written.replace(" ", "_"), written.replace(" ", "-")):
        if form in vectors.index:
            return form
    words = [
        next((form for form in (token, token.strip("'")) if form in vectors.index), "") for token in tokens
    ]
    return " ".join(words) if all(words) else None


def _written(tokens: Sequence[str]) -> str:
    return " ".join(tokens).replace("' ", "'")


def expression_row(entry: str, vectors: Vectors, rows: Tensor) -> Tensor | None:
    """The row (d,) of several words with spaces, from the `rows` (n, d) of all; None if one is unknown."""
    places = [vectors.index.get(word) for word in entry.split(" ")]
    known = [place for place in places if place is not None]
    if len(known) < max(2, len(places)):
        return None
    weights = torch.tensor(known, dtype=rows.dtype, device=rows.device).add(1).sqrt()  # (w,)
    return normalize(weights @ rows[known], dim=0)
