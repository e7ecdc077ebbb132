"""Losses on pairs of sentences: rows x (b, d) and rows y (b, d) of their translations in, one number out.

They are interchangeable: each takes the rows of a batch and its negatives.

* Align      |x - y| - w (|x_c - y| + |x - y_c|), L_align (Conneau, 2019, 4.2.4)
* Hinge      [m + D(x, y) - D(x, y_c)]_+, one way or both, with a random or the hardest negative: the
             ranking losses of Conneau (2019), Rueckle et al. (2018, A.1), Hermann and Blunsom (2014)
* Softmax    additive-margin softmax over the batch, both ways (Yang et al., 2019)

LossChoice makes one of them by its name in LOSSES and its settings.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from muse.errors import BadSetting, Contradiction
from muse.sentences.training.settings import Settings, setting


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

    def after(self, default: "LossChoice") -> "LossChoice":
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
