"""Parallel text of the pivot with one or several languages, and the learner that takes them in turn."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor, nn

from muse.run.processes import Processes
from muse.systems.network_encoder import BothSides, SentenceNetwork
from muse.systems.sampling import BATCH_EXPONENT, draw_languages, language_shares
from muse.training.batching import passes
from muse.training.learner import Learner
from muse.training.losses import Loss
from muse.training.pairs import Pairs
from muse.training.seeding import generator_of
from muse.training.two_sides import PairLearner


@dataclass(frozen=True, eq=False)
class ParallelCorpus:
    """The pairs of the pivot with each language."""

    pivot: str
    pairs: Mapping[str, Pairs]

    @property
    def counts(self) -> dict[str, int]:
        """The counts to report, over all languages."""
        counts = [pairs.counts for pairs in self.pairs.values()]
        return {name: sum(count[name] for count in counts) for name in counts[0]}

    @property
    def held_out(self) -> int:
        """The number of held-out pairs."""
        return sum(len(pairs.held_out) for pairs in self.pairs.values())

    def learner(
        self, network: SentenceNetwork, loss: Loss, processes: Processes, sized_by: str = "--batch"
    ) -> PairLearner | PairsInTurn:
        """The learner that fits a network of all languages, in batches whose size `sized_by` gives."""
        learners = {}
        for language, pairs in self.pairs.items():
            encoder = BothSides(network, (self.pivot, language))
            learners[language] = PairLearner(encoder, loss, pairs, processes, sized_by)
        if len(learners) == 1:
            return next(iter(learners.values()))
        return PairsInTurn(learners, processes, sized_by)


class PairsInTurn(Learner):
    """Learners of several languages: every batch is of one, drawn by its share of the pairs.

    Its examples are those of the learners, one after the other.
    """

    uses_all = False  # a batch uses the parameters of its language

    def __init__(
        self, learners: Mapping[str, PairLearner], processes: Processes, sized_by: str = "--batch"
    ) -> None:
        super().__init__(sized_by)
        self._processes = processes
        self._learners = nn.ModuleList(learners.values())  # so that their parameters are its own
        self._all = list(learners.values())
        self._names = list(learners)
        self._begins = [0, *accumulate(learner.examples for learner in self._all)]
        self._shares = language_shares(
            {name: learner.examples for name, learner in learners.items()}, BATCH_EXPONENT
        )

    @property
    def examples(self) -> int:
        """The number of training pairs of all languages."""
        return self._begins[-1]

    def batches(self, order: Tensor, size: int) -> Sequence[Tensor]:
        """As many batches as the order (n,) fills, each of one language, in the order of its examples."""
        generator = generator_of(order)
        names = draw_languages(self._shares, max(1, len(order) // size), generator)
        endless = {
            name: passes(learner.examples, size, generator)
            for name, learner in zip(self._names, self._all, strict=True)
        }
        return [self._begins[self._names.index(name)] + next(endless[name]) for name in names]

    def drawn(self, count: int, generator: torch.Generator) -> Tensor:
        """The indices (count,) of random pairs of one language."""
        same = self._processes.alike(generator)  # what is gathered is of one language
        place = self._names.index(draw_languages(self._shares, 1, same)[0])
        return self._begins[place] + self._all[place].drawn(count, generator)

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The loss () of the pairs of one language with these indices (b,)."""
        place = bisect_right(self._begins, int(rows[0])) - 1
        return self._all[place].loss(rows - self._begins[place], generator)

    def check_batch(self, size: int) -> None:
        """Raise BadSetting for batches of one pair, which has no negative."""
        self._all[0].check_batch(size)

    def fewest(self, processes: int) -> int:
        """At least two pairs, which are negatives of each other, and one for each process."""
        return self._all[0].fewest(processes)

    def score(self) -> float:
        """The P@1 of the held-out pairs of all languages."""
        return 100 * self.hits() / sum(learner.held_out for learner in self._all)

    def hits(self) -> int:
        """The number of held-out pairs found at rank 1 among those of their language."""
        return sum(learner.hits() for learner in self._all)
