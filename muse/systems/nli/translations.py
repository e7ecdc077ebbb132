"""Translation detection: pairs of a sentence and either its translation or a sentence of similar length.

Rücklé et al. (2018, section 5.1) train InferSent on it: it needs translations and no labels. Random negatives
could be recognised by their length alone, so negatives here are about as long as the translation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from muse.encoders.ragged import Ragged
from muse.systems.nli.pair_classes import LabelledPairs
from muse.training.pairs import Pairs
from muse.training.seeding import generator_for

WINDOW = 100  # sentences on either side, in the order of length, that a negative is drawn from
_ROWS = 256  # held-out examples classified at once
NO, YES = 0, 1  # the classes


@dataclass(frozen=True, eq=False)
class TranslationExamples:
    """Every pair of parallel text twice: unchanged, and with a negative drawn anew in each epoch."""

    pairs: Pairs
    languages: tuple[str, str]
    seed: int

    def __len__(self) -> int:
        return 2 * len(self.pairs.training)

    def training(self, rows: Tensor, generator: torch.Generator) -> LabelledPairs:
        """The examples with these indices (b,); the first p are true pairs, the next p have negatives."""
        return self._examples(self._training, rows, generator)

    def held_out(self) -> Iterator[LabelledPairs]:
        """The held-out pairs, true and with negatives, which are the same at every call."""
        rows = torch.arange(2 * len(self.pairs.held_out), device=self.pairs.held_out.device)
        generator = generator_for(self.seed, 0, 1, device=str(rows.device))
        return (self._examples(self._held_out, part, generator) for part in torch.split(rows, _ROWS))

    @cached_property
    def _training(self) -> SameLength:
        return SameLength.of(self.pairs.other, self.pairs.training, generator_for(self.seed, 0, 2))

    @cached_property
    def _held_out(self) -> SameLength:
        return SameLength.of(self.pairs.other, self.pairs.held_out, generator_for(self.seed, 0, 3))

    def _examples(self, part: SameLength, rows: Tensor, generator: torch.Generator) -> LabelledPairs:
        right = rows % len(part)
        drawn = part.draw(right, generator)
        places, chosen = part.rows[right], part.rows[torch.where(rows < len(part), right, drawn)]  # (b,)
        # A drawn sentence may happen to be a translation, if either side of the two pairs is equal.
        pivot, other = self.pairs.keys
        labels = (pivot[places] == pivot[chosen]) | (other[places] == other[chosen])  # (b,)
        return LabelledPairs(
            self.pairs.pivot.take(places), self.pairs.other.take(chosen), torch.where(labels, YES, NO)
        )


@dataclass(frozen=True, eq=False)
class SameLength:
    """The indices `rows` (p,) of sentences sorted by length, from which similar ones are drawn."""

    rows: Tensor

    @classmethod
    def of(cls, sentences: Ragged, rows: Tensor, generator: torch.Generator) -> SameLength:
        """The sentences with the numbers `rows` (p,), those of one length in random order."""
        drawn = rows[torch.randperm(len(rows), generator=generator).to(rows.device)]
        return cls(drawn[sentences.lengths[drawn].argsort(stable=True)])

    def __len__(self) -> int:
        return len(self.rows)

    def draw(self, places: Tensor, generator: torch.Generator) -> Tensor:
        """For each of these places (b,) in the order, a different place within the window."""
        reach = max(1, min(WINDOW, len(self) // 2))
        shift = torch.randint(1, reach + 1, places.shape, generator=generator, device=places.device)
        sign = 2 * torch.randint(0, 2, places.shape, generator=generator, device=places.device) - 1
        found = places + sign * shift
        return torch.where((found < 0) | (found >= len(self)), places - sign * shift, found)
