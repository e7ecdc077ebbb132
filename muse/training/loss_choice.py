"""The choice of a loss by its name and settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from muse.errors import BadSetting, Contradiction
from muse.training.losses import Align, Hinge, Loss, Softmax


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
        """The loss; BadSetting for an unknown name, or for a setting that the loss does not take."""
        if self.name not in LOSSES:
            raise BadSetting(f"--loss must be one of {', '.join(LOSSES)}; got {self.name!r}")
        make, settings = LOSSES[self.name]
        given = {"margin": self.margin, "weight": self.weight, "scale": self.scale}
        found = {key: value for key, value in given.items() if value is not None}
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
