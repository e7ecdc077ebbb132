"""Two sides: the interface of trainable encoders of sentence pairs, and the learner that fits one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from muse.run.processes import ALONE, Processes
from muse.search.exact import nearest
from muse.sentences.encoders.ragged import Ragged, encoding_batches
from muse.sentences.training.losses import Loss, draw_negatives
from muse.sentences.training.pairs import Pairs
from muse.sentences.training.trainer import Learner


class TwoSides(nn.Module, ABC):
    """A trainable encoder of the pivot and one other language into one space of d' dimensions."""

    @abstractmethod
    def pivot(self, batch: Ragged) -> Tensor:
        """The rows (b, d') of sentences of the pivot."""

    @abstractmethod
    def other(self, batch: Ragged) -> Tensor:
        """The rows (b, d') of sentences of the other language."""

    def both(self, pivot: Ragged, other: Ragged, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """The rows (b, d') of both sides of b pairs for the loss; random draws come from `generator`."""
        return self.pivot(pivot), self.other(other)


class PairLearner(Learner):
    """Fits an encoder with a loss between the rows of sentences and of their translations.

    Negatives come from the whole batch, even if several `processes` share it.
    """

    fewest = 2

    def __init__(self, encoder: TwoSides, loss: Loss, pairs: Pairs, processes: Processes = ALONE) -> None:
        super().__init__()
        self.encoder = encoder
        self._loss = loss
        self._pairs = pairs
        self._processes = processes
        self.examples = len(pairs.training)

    @property
    def held_out(self) -> int:
        """The number of held-out pairs."""
        return len(self._pairs.held_out)

    def drawn(self, count: int, generator: torch.Generator) -> Tensor:
        """The indices (count,) of random training pairs."""
        return torch.randint(self.examples, (count,), generator=generator, device=generator.device)

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The loss () of the training pairs with these indices (b,)."""
        generator = self._processes.alike(generator)  # negatives and dropout are those of the whole batch
        chosen, pairs, gather = self._pairs.training[rows], self._pairs, self._processes.gather
        keys = gather(*(side[chosen] for side in pairs.keys))  # (of all processes,)
        negatives = draw_negatives(keys[0], keys[1], generator)
        own = self.encoder.both(pairs.pivot.take(chosen), pairs.other.take(chosen), generator)  # (b, d')
        x, y = gather(*own)  # (of all processes, d')
        loss = self._loss(x, y, negatives)
        if len(x) == len(rows):
            return loss
        # This is the loss of the whole batch, but its gradients reach only this share and will be averaged
        # over the processes: scale the gradient, not the value.
        return loss + (len(x) / len(rows) - 1) * (loss - loss.detach())

    def score(self) -> float:
        """The P@1 of the held-out pairs."""
        return held_out_precision(self.encoder, self._pairs)

    def hits(self) -> int:
        """The number of held-out pairs found at rank 1."""
        return held_out_hits(self.encoder, self._pairs)


def held_out_precision(encoder: TwoSides, pairs: Pairs) -> float:
    """The P@1 of the held-out pairs, in percent."""
    return 100 * held_out_hits(encoder, pairs) / len(pairs.held_out)


@torch.no_grad()
def held_out_hits(encoder: TwoSides, pairs: Pairs) -> int:
    """The number of held-out sentences whose nearest pivot sentence by cosine is their translation."""
    encoder.eval()  # without dropout
    x = _unit_rows(encoder.pivot, pairs.pivot, pairs.held_out)  # (h, d')
    y = _unit_rows(encoder.other, pairs.other, pairs.held_out)  # (h, d')
    found = nearest(y, x, 1).indices[:, 0]  # (h,)
    return int((found == torch.arange(len(found), device=found.device)).sum())


def _unit_rows(encode: Callable[[Ragged], Tensor], sentences: Ragged, rows: Tensor) -> Tensor:
    order, parts = list[Tensor](), list[Tensor]()
    for batch in encoding_batches(sentences.lengths[rows]):
        order.append(batch.to(rows.device))
        parts.append(encode(sentences.take(rows[order[-1]])))
    return functional.normalize(torch.cat(parts)[torch.cat(order).argsort()])
