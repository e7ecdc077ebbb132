"""The settings of a lens: its form, its sizes, and how it is trained."""

from __future__ import annotations

from dataclasses import dataclass

from muse.errors import BadSetting
from muse.training.checks import beside, check_choices, check_fractions, check_least
from muse.training.losses import Hinge

KINDS = ("simple", "gated")


@dataclass(frozen=True)
class LensConfig:
    """The settings of a lens with `dimension` outputs D.

    A gated lens has `layers` convolutions over `kernel` words, of size `gate`. `mean` prepends the mean of
    the core's rows: with a static core this is better before training and no better after it. `margin` is
    that of the ranking loss, `hidden` the layer size of the NLI classifier, `dropout` applies to the core's
    rows, and `warmup` is the number of steps until the highest rate.
    """

    kind: str = "simple"
    dimension: int = 512
    mean: bool = False
    gate: int = 128
    layers: int = 1
    kernel: int = 3
    margin: float = 0.2
    hidden: int = 512
    dropout: float = 0.0
    warmup: int = 100

    def __post_init__(self) -> None:
        check_choices(self, kind=KINDS)
        check_least(self, 1, "dimension", "gate", "layers", "kernel", "hidden", "warmup")
        if self.kernel % 2 == 0:
            raise BadSetting(f"kernel must be odd, with equally many words on both sides; got {self.kernel}")
        check_fractions(self, "dropout")
        self.ranking()

    def idle(self) -> dict[str, str]:
        """The settings that have no effect beside the others, each with the reason."""
        of_gated = ("gate", "layers", "kernel")
        return dict.fromkeys(of_gated, beside(self, "kind")) if self.kind == "simple" else {}

    def ranking(self) -> Hinge:
        """The ranking loss of VSE++, on cosines with the batch's hardest negative (Faghri et al., 2018)."""
        return Hinge(self.margin, "cosine", "hardest")

    def __str__(self) -> str:
        return f"{'mean+' if self.mean else ''}{self.kind}:{self.dimension}"
