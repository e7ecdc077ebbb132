"""The learner of pairs: a network fitted with a loss between rows of sentences and of their translations."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from muse.run.processes import ALONE, Processes
from muse.search.exact import nearest
from muse.sentences.encoders.ragged import Ragged, encoding_batches, passes
from muse.sentences.training.losses import Loss, draw_negatives
from muse.sentences.training.pairs import (
    BATCH_EXPONENT,
    Consecutive,
    ParallelCorpus,
    draw_languages,
    language_shares,
)
from muse.sentences.training.trainer import HeldOutScore, Learner


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
