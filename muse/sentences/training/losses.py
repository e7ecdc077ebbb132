"""Losses on pairs of sentences: rows x (b, d) and rows y (b, d) of their translations in, one number out.

They are interchangeable: each takes the rows of a batch and its negatives.

* Align      |x - y| - w (|x_c - y| + |x - y_c|), L_align (Conneau, 2019, 4.2.4)
* Hinge      [m + D(x, y) - D(x, y_c)]_+, one way or both, with a random or the hardest negative: the
             ranking losses of Conneau (2019), Rueckle et al. (2018, A.1), Hermann and Blunsom (2014)
* Softmax    additive-margin softmax over the batch, both ways (Yang et al., 2019)

LossChoice makes one of them by its name in LOSSES and its settings; a PairLearner fits a network with it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from muse.errors import BadSetting, Contradiction
from muse.run.processes import ALONE, Processes
from muse.search.exact import nearest
from muse.sentences.encoders.ragged import Ragged, encoding_batches, passes
from muse.sentences.training.pairs import (
    BATCH_EXPONENT,
    Consecutive,
    ParallelCorpus,
    draw_languages,
    language_shares,
)
from muse.sentences.training.settings import Settings, setting
from muse.sentences.training.trainer import HeldOutScore, Learner


class Negatives(NamedTuple):
    """The negatives of a batch of b pairs: sentences that do not translate each other.

    `drawn` (b,) has, for each pair, the index of another pair drawn at random. `duplicates` (b, b) says
    whether two pairs share a sentence (every pair does with itself) and so cannot be negatives of each other.
    """

    drawn: Tensor
    duplicates: Tensor

    @property
    def usable(self) -> Tensor:
        """Whether the pair drawn for each pair (b,) is a valid negative."""
        return ~self.duplicates.gather(1, self.drawn[:, None])[:, 0]


def draw_negatives(pivot_keys: Tensor, other_keys: Tensor, generator: torch.Generator) -> Negatives:
    """The negatives of a batch; equal sentences have equal keys (b,).

    The pairs of a batch are already in random order, so one random shift draws a random pair for each.
    """
    b, device = len(pivot_keys), pivot_keys.device
    shift = torch.randint(1, b, (1,), generator=generator, device=device) if b > 1 else 0
    duplicates = (pivot_keys[:, None] == pivot_keys) | (other_keys[:, None] == other_keys)
    return Negatives((torch.arange(b, device=device) + shift) % b, duplicates)


@dataclass(frozen=True)
class Align:
    """L_align = |x - y| - weight (|x_c - y| + |x - y_c|), with random x_c, y_c: translations must coincide.

    A weight above 1/2 is refused, because the loss would fall without bound as the rows grow. So it does with
    any weight if the rows of both are free: only the encoder of y is to be trained (Conneau, 2019, 4.2.4).
    """

    weight: float = 0.25

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 0.5:
            raise BadSetting(
                f"lambda must be between 0 and 0.5, got {self.weight:g}; above 0.5 the loss has no minimum"
            )

    def __str__(self) -> str:
        return f"align:{self.weight:g}"

    def __call__(self, x: Tensor, y: Tensor, negatives: Negatives) -> Tensor:
        """The mean (); pairs without a usable negative contribute no negative term."""
        far = _euclid(x[negatives.drawn], y) + _euclid(x, y[negatives.drawn])  # (b,)
        return (_euclid(x, y) - self.weight * far * negatives.usable).mean()


@dataclass(frozen=True)
class Hinge(Settings):
    """[margin + D(x, y) - D(x, y_c)]_+: a translation must be closer than a negative, by a margin.

    `distance` is cosine (1 - cos), euclid or squared. `negative` is random, or hardest: the nearest negative
    in the batch (Faghri et al., 2018). `both` adds the same term with x_c.
    """

    margin: float = setting(0.5, "without one, all rows would become equal", above=0)
    distance: str = "cosine"
    negative: str = "random"
    both: bool = True

    def __str__(self) -> str:
        return f"{self.distance}-{self.negative}:{self.margin:g}"

    def __call__(self, x: Tensor, y: Tensor, negatives: Negatives) -> Tensor:
        """The mean (); a pair without a negative in the batch contributes 0."""
        near = DISTANCES[self.distance](x, y)
        total = self._one_way(x, y, near, negatives)
        if self.both:
            total = total + self._one_way(y, x, near, negatives)
        return total.mean()

    def _one_way(self, x: Tensor, y: Tensor, near: Tensor, negatives: Negatives) -> Tensor:
        if self.negative == "random":
            chosen, usable = negatives.drawn, negatives.usable
        else:
            chosen, usable = _hardest(x, y, negatives.duplicates, self.distance)
        far = DISTANCES[self.distance](x, y[chosen])
        return (self.margin + near - far).clamp(min=0) * usable  # (b,)


@dataclass(frozen=True)
class Softmax(Settings):
    """- log e^s(cos(x, y) - m) / (e^s(cos(x, y) - m) + sum_c e^s cos(x, y_c)), over the batch, both ways.

    Without a scale s the softmax over cosines would be almost uniform.
    """

    margin: float = setting(0.3, "how much closer translations must be", least=0)
    scale: float = setting(20.0, "factor of the cosines", above=0)

    def __str__(self) -> str:
        return f"softmax:{self.margin:g}:{self.scale:g}"

    def __call__(self, x: Tensor, y: Tensor, negatives: Negatives) -> Tensor:
        """The sum () of the means of both directions."""
        itself = torch.eye(len(x), dtype=torch.bool, device=x.device)
        scores = functional.normalize(x) @ functional.normalize(y).T - self.margin * itself  # (b, b)
        scores = (self.scale * scores).masked_fill(negatives.duplicates & ~itself, -torch.inf)
        right = torch.arange(len(x), device=x.device)
        return functional.cross_entropy(scores, right) + functional.cross_entropy(scores.T, right)


def _euclid(x: Tensor, y: Tensor) -> Tensor:
    distances: Tensor = torch.linalg.vector_norm(x - y, dim=1)  # (b,)
    return distances


DISTANCES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "cosine": lambda x, y: 1 - functional.cosine_similarity(x, y, dim=1),  # (b,)
    "euclid": _euclid,
    "squared": lambda x, y: (x - y).square().sum(dim=1),  # (b,)
}


Loss = Align | Hinge | Softmax  # each calls itself in signatures by str()


def _hardest(x: Tensor, y: Tensor, duplicates: Tensor, distance: str) -> tuple[Tensor, Tensor]:
    """The index of the nearest negative y of every x (b,), and whether there is any negative (b,)."""
    with torch.no_grad():
        if distance == "cosine":
            far = -functional.normalize(x) @ functional.normalize(y).T  # (b, b)
        else:
            far = torch.cdist(x, y)  # squaring would not change the order
        return far.masked_fill(duplicates, torch.inf).argmin(dim=1), ~duplicates.all(dim=1)


@dataclass(frozen=True)
class LossChoice:
    """The name and settings of a loss; None stands for the default of the encoder or the loss."""

    name: str | None = None
    margin: float | None = None
    weight: float | None = None  # lambda
    scale: float | None = None

    def after(self, default: LossChoice) -> LossChoice:
        """The choice completed by `default`: its name and, for the same loss, its margin."""
        if self.name not in (None, default.name):
            return self
        margin = default.margin if self.margin is None else self.margin
        return replace(self, name=default.name, margin=margin)

    def loss(self) -> Loss:
        """The loss; Contradiction for a setting that it does not take."""
        make, settings = LOSSES[str(self.name)]
        found = {key: value for key, value in vars(self).items() if key != "name" and value is not None}
        for key in found:
            if key not in settings:
                option = "lambda" if key == "weight" else key
                raise Contradiction(f"--loss {self.name} does not take --{option}; leave it out")
        return make(**found)


LOSSES: dict[str, tuple[Callable[..., Loss], tuple[str, ...]]] = {
    "align": (Align, ("weight",)),
    "rank": (lambda margin=0.2: Hinge(margin, "euclid"), ("margin",)),
    "hinge": (lambda margin=0.5: Hinge(margin, "cosine", both=False), ("margin",)),
    "hardest": (lambda margin=0.2: Hinge(margin, "cosine", "hardest"), ("margin",)),
    "squared": (lambda margin=1.0: Hinge(margin, "squared"), ("margin",)),
    "softmax": (Softmax, ("margin", "scale")),
}


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
