"""The learner: the evidence lower bound of pairs, with the divergence annealed, and the translation loss."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from muse.systems.bgt.network import BgtNetwork
from muse.systems.network_encoder import BothSides
from muse.training.batching import encoding_batches, token_batches
from muse.training.learner import Learner
from muse.training.pairs import Pairs
from muse.training.seeding import generator_for, generator_of
from muse.training.trainer import TrainerConfig
from muse.training.two_sides import held_out_hits, held_out_precision


class BgtLearner(Learner):
    """Minimises the negative evidence lower bound of pairs (x_1, x_2), plus w times the translation loss.

        - log p(x_1 | z_sem, z_1) - log p(x_2 | z_sem, z_2) + c sum_z KL(q(z) || N(0, I)) + w translated

    Where translations are from samples, the translation loss has the divergence of these, times c.
    Over the first steps c rises linearly from 0 to the weight of the prior. The semantic posterior is
    inferred from the first and the second sentences in alternate steps or, with `sides` by pairs, from a side
    drawn for each pair. The bound counts as much as `reconstruction` says, without which it is left out.

    Held-out pairs are scored by the P@1 of their semantic means. Where only the pivot is read nothing is
    learned of the other language, and P@1, which may be that of chance, says little of what is: the score is
    then minus the loss, with the weight of the divergence that the training of `trainer` ends with. (Less the
    weight of each epoch, the score would fall as that rises.)
    """

    def __init__(
        self, network: BgtNetwork, languages: tuple[str, str], pairs: Pairs, trainer: TrainerConfig
    ) -> None:
        super().__init__()
        self.network = network
        self._languages, self._pairs, self._step = languages, pairs, 0
        self._last = self._steps(trainer)

    @property
    def examples(self) -> int:
        """The number of training pairs."""
        return len(self._pairs.training)

    @property
    def metric(self) -> str:
        """The name of the held-out score."""
        return "P@1" if self.network.config.read_from == "both" else "-loss"

    def _steps(self, trainer: TrainerConfig) -> int:
        """The last step of a training, which determines the weight of the divergence in the score."""
        order = torch.arange(trainer.examples_in_epoch(self.examples))
        return trainer.epochs * len(self.batches(order, trainer.batch))

    def begin(self, step: int) -> None:
        """Stores the step, which determines the weight of the divergence and the semantic side."""
        self._step = step

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The loss (), in nats a pair, of the training pairs with these numbers (b,)."""
        chosen, config = self._pairs.training[rows], self.network.config
        side: int | Tensor = self._step % 2 if config.read_from == "both" else 0
        if config.sides == "pairs" and config.read_from == "both" and config.reconstruction:
            device = chosen.device
            side = torch.randint(2, (len(rows),), generator=generator, device=generator.device).to(device)
        return self._nats(chosen, side, self._step, generator).mean()

    def _nats(self, chosen: Tensor, side: int | Tensor, step: int, generator: torch.Generator) -> Tensor:
        """The loss (b,) of chosen pairs, with the weight of the divergence at a step."""
        config = self.network.config
        pair = self._pairs.pivot.take(chosen), self._pairs.other.take(chosen)
        terms = self.network.terms(pair, side, generator)
        weight = config.prior * min(1.0, step / config.annealing)
        bound = terms.reconstruction + weight * terms.divergence
        translated = terms.translated + weight * terms.translation_divergence
        return config.reconstruction * bound + config.translation * translated

    def batches(self, order: Tensor, size: int) -> Sequence[Tensor]:
        """Batches of `size` pairs or, with `tokens`, of pairs of similar length within that limit."""
        limit = self.network.config.tokens
        if not limit:
            return torch.split(order, size)
        chosen = self._pairs.training[order.to(self._pairs.training.device)]
        lengths = [side.lengths[chosen] for side in (self._pairs.pivot, self._pairs.other)]
        framed = torch.maximum(*lengths).cpu() + 2  # (n,)
        generator = generator_of(order)
        return [order[places] for places in token_batches(framed, limit, generator)]

    def score(self) -> float:
        """The P@1 of the held-out pairs by the semantic means; minus their loss if only the pivot is read."""
        if self.network.config.read_from == "both":
            return held_out_precision(BothSides(self.network, self._languages), self._pairs)
        return -self._held_out_loss()

    def hits(self) -> int | None:
        """The number of held-out pairs found at rank 1; None if only the pivot is read."""
        if self.network.config.read_from == "both":
            return held_out_hits(BothSides(self.network, self._languages), self._pairs)
        return None

    @torch.no_grad()
    def _held_out_loss(self) -> float:
        """The mean loss of the held-out pairs, in nats, at the last step; its draws are always the same."""
        held_out, pairs, total = self._pairs.held_out, self._pairs, 0.0
        generator = generator_for(0, device=str(held_out.device))
        lengths = torch.maximum(pairs.pivot.lengths, pairs.other.lengths)[held_out]
        for batch in encoding_batches(lengths):
            chosen = held_out[batch.to(held_out.device)]
            total += float(self._nats(chosen, 0, self._last, generator).sum())
        return total / len(held_out)
