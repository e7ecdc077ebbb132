"""Sources: training text as masked batches of streams in one language, or of translation pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from muse.systems.networks.masked_prediction import Masking
from muse.systems.xlm.masked_batches import Hiding, MaskedBatch, MaskedSide, following, masked, side_by_side
from muse.systems.xlm.streams import Streams
from muse.training.batching import passes, token_batches
from muse.training.pairs import Pairs

HELD_OUT_PAIRS = 400  # pairs scored after every epoch
_AT_ONCE = 64  # held-out streams or pairs

Batches = Iterator[Tensor]


class TextSource(Protocol):
    """The interface of sources."""

    @property
    def name(self) -> str:
        """The language or languages of the source."""

    @property
    def examples(self) -> int:
        """The number n of training examples."""

    def batches(self, size: int, generator: torch.Generator) -> Batches:
        """Endless batches of the indices (b,) of examples in random order, all equally often."""

    def masked_batch(self, rows: Tensor, generator: torch.Generator) -> MaskedBatch:
        """The training examples with these numbers (b,), masked."""

    def held_out(self, generator: torch.Generator) -> Iterator[MaskedBatch]:
        """The held-out examples, masked, batch by batch."""


@dataclass(frozen=True, eq=False)
class MaskingDistribution:
    """How pieces are hidden, and the `weights` (v,) by which they are drawn."""

    masking: Masking
    weights: Tensor

    def hiding(self, generator: torch.Generator) -> Hiding:
        """The same, with the generator that draws."""
        return Hiding(self.masking, self.weights, generator)


@dataclass(frozen=True, eq=False)
class StreamSource(TextSource):
    """Streams of the language with this number, for MLM or, without a distribution, CLM."""

    language: str
    number: int
    streams: Streams
    distribution: MaskingDistribution | None

    @property
    def name(self) -> str:
        """The language."""
        return self.language

    @property
    def examples(self) -> int:
        """The number of streams that train."""
        return len(self.streams.training)

    def batches(self, size: int, generator: torch.Generator) -> Batches:
        """Endless batches of `size` streams; the last one of a pass may be smaller."""
        return passes(self.examples, size, generator)

    def masked_batch(self, rows: Tensor, generator: torch.Generator) -> MaskedBatch:
        """The training examples with these numbers (b,), masked."""
        return self._masked_batch(self.streams.training[rows], generator)

    def held_out(self, generator: torch.Generator) -> Iterator[MaskedBatch]:
        """The held-out streams, masked, batch by batch."""
        return (self._masked_batch(rows, generator) for rows in torch.split(self.streams.held_out, _AT_ONCE))

    def _masked_batch(self, rows: Tensor, generator: torch.Generator) -> MaskedBatch:
        text = self.streams.ragged.take(rows).padded()
        if self.distribution is None:
            return side_by_side(following(text, self.number))
        return side_by_side(masked(text, self.number, self.distribution.hiding(generator)))


@dataclass(frozen=True, eq=False)
class PairSource(TextSource):
    """Sentences and their translations in two languages, in batches of `tokens` pieces: TLM."""

    languages: tuple[str, str]
    numbers: tuple[int, int]
    pairs: Pairs
    tokens: int
    distribution: MaskingDistribution

    @property
    def name(self) -> str:
        """Both languages, such as en-fr."""
        return "-".join(self.languages)

    @property
    def examples(self) -> int:
        """The number of pairs that train."""
        return len(self.pairs.training)

    def batches(self, size: int, generator: torch.Generator) -> Batches:
        """Endless batches of pairs of similar lengths, limited by `tokens` instead of `size`."""
        both = self.pairs.pivot, self.pairs.other
        lengths = [side.lengths[self.pairs.training] for side in both]
        longer = torch.maximum(*lengths).cpu()  # (n,)
        while True:
            yield from token_batches(2 * longer, self.tokens, generator)

    def masked_batch(self, rows: Tensor, generator: torch.Generator) -> MaskedBatch:
        """The training examples with these numbers (b,), masked."""
        return side_by_side(*self.sides(self.pairs.training[rows], generator))

    def held_out(self, generator: torch.Generator) -> Iterator[MaskedBatch]:
        """The first held-out pairs, masked, batch by batch."""
        parts = torch.split(self.pairs.held_out[:HELD_OUT_PAIRS], _AT_ONCE)
        return (side_by_side(*self.sides(rows, generator)) for rows in parts)

    def sides(self, rows: Tensor, generator: torch.Generator) -> list[MaskedSide]:
        """Both sides of the pairs with these indices (b,) in the text, masked independently."""
        hiding = self.distribution.hiding(generator)
        sides = zip((self.pairs.pivot, self.pairs.other), self.numbers, strict=True)
        return [masked(side.take(rows).padded(), number, hiding) for side, number in sides]
