"""What the tests of BGT share: small sizes, random rows, and a pair of sentences as ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import Reader
from muse.sentences.systems.bgt.inputs import BgtConfig, Tokens

LANGUAGES = ("en", "fra")
SMALL = BgtConfig(semantic=6, language=3, vocabulary=20, annealing=10, counted=4)
LAYERS = BgtConfig(
    semantic=8,
    language=8,
    vocabulary=7,
    encoder_layers=1,
    decoder_layers=1,
    hidden=8,
    heads=2,
    feed_forward=8,
)
PAIR = Ragged.of([[5, 9, 24], [7]]), Ragged.of([[6, 8], [10, 11, 12]])


def drawn(seed: int = 0) -> torch.Generator:
    """A source of random numbers."""
    return torch.Generator().manual_seed(seed)


class Random(Tokens):
    """Tokens of ids that are given, with random rows or, without a dimension, none."""

    def __init__(self, count: int = 25, dimension: int | None = 5) -> None:
        self._size = count, dimension

    @property
    def settings(self) -> Mapping[str, Any]:
        """Nothing."""
        return {}

    def reader(self, language: str) -> Reader:
        """None: the ids are given."""
        raise NotImplementedError

    def rows(self, language: str) -> Tensor | None:
        """Rows of the language."""
        count, dimension = self._size
        return None if dimension is None else torch.randn(count, dimension, generator=drawn(len(language)))

    @property
    def first_rows(self) -> None:
        """None: there are no pieces."""
        return
