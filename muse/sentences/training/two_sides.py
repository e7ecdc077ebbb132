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
from muse.sentences.training.trainer import HeldOutScore, Learner


class TwoSides(nn.Module, ABC):
    """A trainable encoder of the pivot and one other language into one space of d' dimensions."""

    __call__: Callable[..., Tensor]

    @abstractmethod
    def forward(self, batch: Ragged, side: int) -> Tensor:
        """The rows (b, d') of sentences of the pivot, side 0, or of the other language, side 1."""

    def both(self, pivot: Ragged, other: Ragged, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """The rows (b, d') of both sides of b pairs for the loss; random draws come from `generator`."""
        return self(pivot, 0), self(other, 1)


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

    def held_out(self) -> HeldOutScore:
        """The P@1 of the held-out pairs."""
        return held_out_precision(self.encoder, self._pairs)


@torch.no_grad()
def held_out_precision(encoder: TwoSides, pairs: Pairs) -> HeldOutScore:
    """P@1: of how many held-out sentences the nearest pivot sentence by cosine is the translation."""
    encoder.eval()  # without dropout
    x, y = (_unit_rows(encoder, pairs, side) for side in (0, 1))  # (h, d')
    found = nearest(y, x, 1).indices[:, 0]  # (h,)
    return HeldOutScore.of(int((found == torch.arange(len(found), device=found.device)).sum()), len(found))


def _unit_rows(encoder: TwoSides, pairs: Pairs, side: int) -> Tensor:
    sentences, rows = (pairs.pivot, pairs.other)[side], pairs.held_out
    order, parts = list[Tensor](), list[Tensor]()
    for batch in encoding_batches(sentences.lengths[rows]):
        order.append(batch.to(rows.device))
        parts.append(encoder(sentences.take(rows[order[-1]]), side))
    return functional.normalize(torch.cat(parts)[torch.cat(order).argsort()])
