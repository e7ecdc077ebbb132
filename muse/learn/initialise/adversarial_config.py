"""The settings of adversarial training: ours, for a laptop, and those of the paper."""

from __future__ import annotations

import math
from dataclasses import dataclass

from muse.errors import BadSetting


@dataclass(frozen=True)
class AdversarialConfig:
    """The settings of adversarial training; r is the number of restarts not yet dropped."""

    restarts: int = 8  # random initial mappings, trained in parallel
    survivors: int = 2  # restarts that are trained to the end
    prune_from: int = 2  # from this epoch on, each epoch drops the weaker half of the restarts
    epochs: int = 8  # at most; it ends sooner when the criterion has stalled
    patience: int = 3  # epochs without a better criterion after which a restart has stalled
    steps: int = 1000  # mapping steps an epoch
    batch: int = 32  # words of each language a step
    most_frequent: int = 5000  # words to sample from; rare words have poor vectors and mislead
    dimensions: int = 50  # leading principal components; all of the space, as it is, if `whole`
    whole: bool = False  # the whole space, from the identity, instead of components and random rotations
    hidden: int = 500  # units of a hidden layer of the discriminator (paper: 2048)
    layers: int = 1  # hidden layers of the discriminator (paper: 2)
    dropout: float = 0.1  # share of the discriminator's input set to zero
    smoothing: float = 0.2  # the labels are 1 - smoothing and smoothing
    discriminator_steps: int = 5  # for each mapping step
    discriminator_rate: float = 0.3  # learning rate (paper: 0.1)
    mapping_rate: float = 1.0  # learning rate (paper: 0.1)
    rotational: bool = True  # keep only the part of the mapping's gradient that rotates
    clip: float = 0.5  # largest Frobenius norm of the gradient of the mapping
    decay: float = 0.95  # of both rates, each epoch
    beta: float = 0.5  # strength of the orthogonality update (paper: 0.01)
    halve_on_drop: bool = False  # halve the rates if the criterion drops; False: if it is no best one
    criterion_words: int | None = None  # most frequent words of the criterion; None: the usual ones
    method: str = "adversarial"  # the name in signatures

    def __post_init__(self) -> None:
        if not 1 <= self.survivors <= self.restarts:
            raise BadSetting(f"survivors must lie in 1..restarts ({self.restarts}), got {self.survivors}")
        for name in ("epochs", "steps", "batch", "dimensions", "hidden", "layers", "discriminator_steps"):
            if getattr(self, name) < 1:
                raise BadSetting(f"{name} must be at least 1, got {getattr(self, name)}")


# As published, and where the paper is silent as in the released tool. The paper sums the discriminator's loss
# over both languages: with the mean, its rate of 0.1 is 0.2.
PAPER = AdversarialConfig(
    restarts=1, survivors=1, epochs=5, patience=5, steps=31_250, most_frequent=50_000, whole=True,
    hidden=2_048, layers=2, discriminator_rate=0.2, mapping_rate=0.1, rotational=False, clip=math.inf,
    beta=0.01, halve_on_drop=True, criterion_words=10_000, method="adversarial:paper",
)  # fmt: skip
