"""What the tests of BGT share: small sizes, random rows, and a pair of sentences as ids."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from muse.sentences.encoders.ragged import Ragged
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


def given_ids(count: int = 25, dimension: int | None = 5) -> Tokens:
    """Tokens of ids that are given, with random rows or, without a dimension, none."""
    if dimension is None:
        return Tokens({}, {})
    rows = {name: torch.randn(count, dimension, generator=drawn(len(name))) for name in LANGUAGES}
    return Tokens({}, {}, rows)


def parameter_count(build: Callable[[torch.Generator], nn.Module]) -> int:
    """The number of parameters of the module that `build` makes, without allocating any."""
    with torch.device("meta"):
        return sum(p.numel() for p in build(torch.Generator()).parameters())
