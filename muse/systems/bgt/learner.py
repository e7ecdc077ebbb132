"""The learner: the evidence lower bound of pairs, with the divergence annealed, and the translation loss."""

from __future__ import annotations

import torch
from torch import Tensor

from muse.systems.bgt.network import BgtNetwork
from muse.systems.network_encoder import BothSides
from muse.training.learner import Learner
from muse.training.pairs import Pairs
from muse.training.two_sides import held_out_hits, held_out_precision


class BgtLearner(Learner):
    """Minimises the negative evidence lower bound of pairs (x_1, x_2), plus w times the translation loss.

        - log p(x_1 | z_sem, z_1) - log p(x_2 | z_sem, z_2) + c sum_z KL(q(z) || N(0, I)) + w translated

    Over the first steps c rises linearly from 0 to the weight of the prior. The semantic posterior is
    inferred from the first and the second sentences in alternate steps.
    """

    def __init__(self, network: BgtNetwork, languages: tuple[str, str], pairs: Pairs) -> None:
        super().__init__()
        self.network = network
        self._languages, self._pairs, self._step = languages, pairs, 0

    @property
    def examples(self) -> int:
        """The number of training pairs."""
        return len(self._pairs.training)

    def begin(self, step: int) -> None:
        """Stores the step, which determines the weight of the divergence and the semantic side."""
        self._step = step

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The loss (), in nats a pair, of the training pairs with these numbers (b,)."""
        chosen, config = self._pairs.training[rows], self.network.config
        pair = self._pairs.pivot.take(chosen), self._pairs.other.take(chosen)
        reconstruction, divergence, translated = self.network.terms(pair, self._step % 2, generator)
        weight = config.prior * min(1.0, self._step / config.annealing)
        return (reconstruction + weight * divergence + config.translation * translated).mean()

    def score(self) -> float:
        """The P@1 of the held-out pairs by the semantic means."""
        return held_out_precision(BothSides(self.network, self._languages), self._pairs)

    def hits(self) -> int:
        """The number of held-out pairs found at rank 1."""
        return held_out_hits(BothSides(self.network, self._languages), self._pairs)
