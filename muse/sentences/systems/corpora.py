"""Corpora of several languages: how often each language is sampled, and parallel text as a learner.

Sampling: q_i = p_i^a / sum_j p_j^a, where p_i is the share of language i in the text. Lample and Conneau
(2019) take a = 0.5 for the text that word pieces are learned from, 0.7 for batches. With a below 1, small
languages are sampled more often than they occur.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import torch
from torch import Tensor, nn

from muse.errors import BadSetting
from muse.run.processes import Processes
from muse.sentences.encoders.ragged import passes
from muse.sentences.systems.backbone import Backbone
from muse.sentences.systems.network_encoder import BothSides, SentenceNetwork
from muse.sentences.training.losses import Loss
from muse.sentences.training.pairs import Pairs
from muse.sentences.training.trainer import HeldOutScore, Learner
from muse.sentences.training.two_sides import PairLearner
from muse.space import Space

log = logging.getLogger(__name__)

SENTENCES_GUESSED_FROM = 2_000  # sentences whose language is guessed
PIECES_EXPONENT, BATCH_EXPONENT = 0.5, 0.7


def language_shares(sizes: Mapping[str, int], exponent: float) -> dict[str, float]:
    """The share q_i of each language, given the sizes n_i of their texts.

    >>> language_shares({"en": 900, "ne": 100}, 0.5)
    {'en': 0.75, 'ne': 0.25}
    """
    if not sizes or min(sizes.values()) < 1:
        empty = [language for language, size in sizes.items() if size < 1]
        raise BadSetting(f"every language must have text, got none for {', '.join(empty) or 'any'}")
    total = sum(sizes.values())
    powers = {language: (size / total) ** exponent for language, size in sizes.items()}
    return {language: power / sum(powers.values()) for language, power in powers.items()}


def draw_languages(shares: Mapping[str, float], count: int, generator: torch.Generator) -> list[str]:
    """The languages of `count` batches, drawn with these shares as probabilities."""
    names = list(shares)
    weights = torch.tensor(list(shares.values()), dtype=torch.float64, device=generator.device)
    if not count:
        return []
    drawn = torch.multinomial(weights, count, replacement=True, generator=generator)  # (count,)
    return [names[place] for place in drawn.tolist()]


def balanced_text(
    texts: Mapping[str, Sequence[str]], exponent: float, generator: torch.Generator
) -> Iterator[str]:
    """The sentences of all texts, resampled to the same total with a share q_i of language i.

    Each text is repeated as often as its share allows, and a random part of it fills the rest.
    """
    shares = language_shares({language: len(text) for language, text in texts.items()}, exponent)
    total = sum(map(len, texts.values()))
    for language, text in texts.items():
        passes, rest = divmod(round(shares[language] * total), len(text))
        for _ in range(passes):
            yield from text
        for place in torch.randperm(len(text), generator=generator)[:rest].tolist():
            yield text[place]


class Consecutive:
    """The examples of several sources, by name, numbered one after the other."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.names, self._begins = list(sizes), [0, *accumulate(sizes.values())]

    def __len__(self) -> int:
        return self._begins[-1]

    def numbered(self, name: str, rows: Tensor) -> Tensor:
        """The numbers (b,) of a source's examples among those of all."""
        return self._begins[self.names.index(name)] + rows

    def source(self, rows: Tensor) -> tuple[str, Tensor]:
        """The source that examples (b,) are all from, and their numbers in it."""
        place = bisect_right(self._begins, int(rows[0])) - 1
        return self.names[place], rows - self._begins[place]


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

    def learner(
        self, network: SentenceNetwork, loss: Loss, processes: Processes
    ) -> PairLearner | PairsInTurn:
        """The learner that fits a network of all languages."""
        learners = {
            language: PairLearner(BothSides(network, (self.pivot, language)), loss, pairs, processes)
            for language, pairs in self.pairs.items()
        }
        return PairsInTurn(learners, processes) if len(learners) > 1 else next(iter(learners.values()))


class PairsInTurn(Learner):
    """Learners of several languages: every batch is of one, drawn by its share of the pairs.

    Its examples are the learners' examples, one after the other.
    """

    fewest = 2

    def __init__(self, learners: Mapping[str, PairLearner], processes: Processes) -> None:
        super().__init__()
        self._processes, self._by_language = processes, dict(learners)
        self._learners = nn.ModuleList(learners.values())  # so that their parameters are its own
        sizes = {name: learner.examples for name, learner in learners.items()}
        self._numbers, self._shares = Consecutive(sizes), language_shares(sizes, BATCH_EXPONENT)
        self.examples = len(self._numbers)

    def batches(self, order: Tensor, size: int, generator: torch.Generator) -> Sequence[Tensor]:
        """Batches of one language each, which is drawn, until the order (n,) is used up."""
        names = draw_languages(self._shares, max(1, len(order) // size), generator)
        endless = {
            name: passes(learner.examples, size, generator) for name, learner in self._by_language.items()
        }
        return [self._numbers.numbered(name, next(endless[name])) for name in names]

    def drawn(self, count: int, generator: torch.Generator) -> Tensor:
        """The indices (count,) of random pairs of one language."""
        same = self._processes.alike(generator)  # what is gathered is of one language
        (name,) = draw_languages(self._shares, 1, same)
        return self._numbers.numbered(name, self._by_language[name].drawn(count, generator))

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The loss () of the pairs of one language with these indices (b,)."""
        name, own = self._numbers.source(rows)
        return self._by_language[name].loss(own, generator)

    def held_out(self) -> HeldOutScore:
        """The P@1 of the held-out pairs of all languages, each among the pairs of its language."""
        found = [learner.held_out() for learner in self._by_language.values()]
        return HeldOutScore.of(sum(one.hits or 0 for one in found), sum(one.cases for one in found))


def warn_of_another_language(
    text: Sequence[str], language: str, path: Path, backbone: Backbone, space: Space
) -> None:
    """Logs a warning if more tokens of a text are words of another language than of `language`."""
    known = {}
    for other in space.languages:
        reading = backbone.reader(other).read(text[:SENTENCES_GUESSED_FROM])
        known[other] = reading.known / max(1, reading.tokens)
    best = max(known, key=lambda other: known[other])
    if known[best] > known[language]:
        log.warning(
            "%s: %.0f %% of the tokens are words of %s, %.0f %% of %s: is the text in %s?",
            path, 100 * known[best], best, 100 * known[language], language, language,
        )  # fmt: skip
