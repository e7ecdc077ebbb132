"""Kinds: the encoders that are trained on parallel text, and the losses to train them with, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from muse.errors import BadSetting
from muse.training.cvm_add import CvmAdd
from muse.training.losses import Align, Hinge, Loss, Softmax
from muse.training.projection import Projection
from muse.training.trainer import TrainerConfig
from muse.training.word_tables import WordTables
from muse.training.x_cbow import XCbow


@dataclass(frozen=True)
class Kind:
    """A kind of encoder: what makes its module of the rows of both languages, and how it is trained."""

    make: Callable[..., WordTables]
    loss: str
    config: TrainerConfig
    margin: float | None = None  # where the loss' own default is for rows of another length


@dataclass(frozen=True)
class LossChoice:
    """A loss by name, with its settings; None is the default of the encoder or of the loss."""

    name: str | None = None
    margin: float | None = None
    weight: float | None = None  # lambda
    scale: float | None = None

    def loss(self, kind: Kind) -> Loss:
        """The loss; BadSetting for a setting that it has not."""
        name = self.name or kind.loss
        if name not in LOSSES:
            raise BadSetting(f"--loss must be one of {', '.join(LOSSES)}; got {name!r}")
        make, settings = LOSSES[name]
        margin = kind.margin if self.margin is None and name == kind.loss else self.margin
        given = {"margin": margin, "weight": self.weight, "scale": self.scale}
        found = {key: value for key, value in given.items() if value is not None}
        for key in found:
            if key not in settings:
                option = "lambda" if key == "weight" else key
                raise BadSetting(f"--{option} goes with other losses than {name}; leave it out")
        return make(**found)


LOSSES: dict[str, tuple[Callable[..., Loss], tuple[str, ...]]] = {
    "align": (Align, ("weight",)),
    "rank": (lambda margin=0.2: Hinge(margin, "euclid"), ("margin",)),
    "hinge": (lambda margin=0.5: Hinge(margin, "cosine", both=False), ("margin",)),
    "hardest": (lambda margin=0.2: Hinge(margin, "cosine", "hardest"), ("margin",)),
    "squared": (lambda margin=1.0: Hinge(margin, "squared"), ("margin",)),
    "softmax": (Softmax, ("margin", "scale")),
}

# Rates, batches and losses were chosen on held-out pairs of fr-en training text. A.1's own loss is hinge.
KINDS = {
    "x-cbow": Kind(XCbow, "align", TrainerConfig(batch=512, rate=3e-3)),
    "projection": Kind(Projection, "softmax", TrainerConfig(batch=256, rate=1e-3)),
    "cvm-add": Kind(CvmAdd, "squared", TrainerConfig(batch=512, rate=3e-3), margin=10.0),
}
