"""Corpora of several languages: how often each language is sampled, and the learner of their translations.

Sampling: q_i = p_i^a / sum_j p_j^a, where p_i is the share of language i in the text. Lample and Conneau
(2019) take a = 0.5 for the text that word pieces are learned from, 0.7 for batches. With a below 1, small
languages are sampled more often than they occur.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor, nn
from torch.nn import functional

from muse.errors import BadSetting
from muse.run.processes import ALONE, Processes
from muse.search.exact import nearest
from muse.sentences.encoders.ragged import Ragged, encoding_batches, passes
from muse.sentences.training.losses import Loss, draw_negatives
from muse.sentences.training.pairs import Pairs
from muse.sentences.training.trainer import HeldOutScore, Learner

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
        self.sizes, self.names = dict(sizes), list(sizes)
        self._begins = [0, *accumulate(sizes.values())]

    def __len__(self) -> int:
        return self._begins[-1]

    def numbered(self, name: str, rows: Tensor) -> Tensor:
        """The numbers (b,) of a source's examples among those of all."""
        return self._begins[self.names.index(name)] + rows

    def places(self, rows: Tensor) -> Tensor:
        """The place among `names` of the source of each example (n,)."""
        return torch.bucketize(rows, torch.tensor(self._begins[1:]), right=True)

    def batches(self, names: Iterable[str], endless: Mapping[str, Iterator[Tensor]]) -> list[Tensor]:
        """The next batch of each of the named sources in turn, by their numbers among all examples."""
        return [self.numbered(name, next(endless[name])) for name in names]

    def source(self, rows: Tensor) -> tuple[str, Tensor]:
        """The source that examples (b,) are all from, and their numbers in it."""
        place = bisect_right(self._begins, int(rows[0])) - 1
        return self.names[place], rows - self._begins[place]


class RowNetwork(nn.Module, ABC):
    """A network that gives sentences rows of d' dimensions, in one space for all of its languages."""

    __call__: Callable[..., Tensor]

    @abstractmethod
    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The rows (b, d') of sentences in a language, each with at least one word."""

    def both(
        self, sides: tuple[Ragged, Ragged], languages: tuple[str, str], generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """The rows (b, d') of both sides of b pairs for the loss; random draws come from `generator`."""
        return self(sides[0], languages[0]), self(sides[1], languages[1])


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


class PairLearner(Learner):
    """Fits a network with a loss between the rows of sentences and of their translations.

    Its examples are the pairs of one language after the other. A batch is of one language, drawn by its share
    of the pairs. Negatives come from the whole batch, even if several `processes` share it.
    """

    fewest = 2

    def __init__(
        self, network: RowNetwork, loss: Loss, corpus: ParallelCorpus, processes: Processes = ALONE
    ) -> None:
        super().__init__()
        self.network, self._loss, self.corpus, self._processes = network, loss, corpus, processes
        self._numbers = Consecutive({name: len(pairs.training) for name, pairs in corpus.pairs.items()})
        self._shares = language_shares(self._numbers.sizes, BATCH_EXPONENT)
        self.examples = len(self._numbers)

    def batches(self, order: Tensor, size: int, generator: torch.Generator) -> Sequence[Tensor]:
        """The order (n,) in batches or, of several languages, batches of one each until it is used up."""
        if len(self._shares) == 1:
            return super().batches(order, size, generator)
        names = draw_languages(self._shares, max(1, len(order) // size), generator)
        endless = {name: passes(count, size, generator) for name, count in self._numbers.sizes.items()}
        return self._numbers.batches(names, endless)

    def drawn(self, count: int, generator: torch.Generator) -> Tensor:
        """The indices (count,) of random training pairs of one language."""
        (name,) = self._shares if len(self._shares) == 1 else draw_languages(
            self._shares, 1, self._processes.alike(generator)  # what is gathered is of one language
        )  # fmt: skip
        most, device = self._numbers.sizes[name], generator.device
        return self._numbers.numbered(name, torch.randint(most, (count,), generator=generator, device=device))

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The loss () of the training pairs of one language with these indices (b,)."""
        generator = self._processes.alike(generator)  # negatives and dropout are those of the whole batch
        language, places = self._numbers.source(rows)
        pairs, gather = self.corpus.pairs[language], self._processes.gather
        chosen = pairs.training[places]
        keys = gather(*(side[chosen] for side in pairs.keys))  # (of all processes,)
        negatives = draw_negatives(keys[0], keys[1], generator)
        sides, languages = (pairs.pivot.take(chosen), pairs.other.take(chosen)), (self.corpus.pivot, language)
        x, y = gather(*self.network.both(sides, languages, generator))  # (of all processes, d')
        loss = self._loss(x, y, negatives)
        if len(x) == len(rows):
            return loss
        # This is the loss of the whole batch, but its gradients reach only this share and will be averaged
        # over the processes: scale the gradient, not the value.
        return loss + (len(x) / len(rows) - 1) * (loss - loss.detach())

    def held_out(self) -> HeldOutScore:
        """The P@1 of the held-out pairs of all languages, each among the pairs of its language."""
        return held_out_precision(self.network, self.corpus)


@torch.no_grad()
def held_out_precision(network: RowNetwork, corpus: ParallelCorpus) -> HeldOutScore:
    """P@1: of how many held-out sentences the nearest pivot sentence by cosine is the translation."""
    network.eval()  # without dropout
    hits = cases = 0
    for language, pairs in corpus.pairs.items():
        x = _unit_rows(network, pairs.pivot, pairs.held_out, corpus.pivot)  # (h, d')
        y = _unit_rows(network, pairs.other, pairs.held_out, language)
        found = nearest(y, x, 1).indices[:, 0]  # (h,)
        hits += int((found == torch.arange(len(found), device=found.device)).sum())
        cases += len(found)
    return HeldOutScore.of(hits, cases)


def _unit_rows(network: RowNetwork, sentences: Ragged, rows: Tensor, language: str) -> Tensor:
    batches = [batch.to(rows.device) for batch in encoding_batches(sentences.lengths[rows])]
    parts = [network(sentences.take(rows[batch]), language) for batch in batches]
    return functional.normalize(torch.cat(parts)[torch.cat(batches).argsort()])
