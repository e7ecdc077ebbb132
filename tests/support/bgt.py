"""What the tests of BGT share: small sizes, random rows, and a pair of sentences as ids."""

from collections.abc import Callable

import torch
from torch import nn

from muse.sentences.encoders.ragged import Ragged
from muse.sentences.systems.bgt.bgt_system import BgtLearner
from muse.sentences.systems.bgt.inputs import BgtConfig, Tokens
from muse.sentences.systems.bgt.latent_network import BgtNetwork, Gaussian
from muse.sentences.training.pairs import Pairs
from muse.sentences.training.trainer import TrainerConfig

LANGUAGES = ("en", "fra")
SMALL = BgtConfig(semantic=6, language=3, vocabulary=20, annealing=10, counted=4)
LAYERS = BgtConfig(
    semantic=8, language=8, vocabulary=7, encoder_layers=1, decoder_layers=1,
    hidden=8, heads=2, feed_forward=8,
)  # fmt: skip
PAIR = Ragged.of([[5, 9, 24], [7]]), Ragged.of([[6, 8], [10, 11, 12]])


def drawn(seed: int = 0) -> torch.Generator:
    """A source of random numbers."""
    return torch.Generator().manual_seed(seed)


def given_ids(count: int = 25, dimension: int | None = 5) -> Tokens:
    """Tokens of ids that are given, with random rows or, without a dimension, none."""
    if dimension is None:
        return Tokens({}, {})
    rows = {name: torch.randn(count, dimension, generator=drawn(len(name))) for name in LANGUAGES}
    return Tokens({}, {}, rows)


def made(config: BgtConfig = SMALL) -> BgtNetwork:
    """A network of random weights."""
    return BgtNetwork(config, LANGUAGES, given_ids(dimension=None if config.encoder_layers else 5), drawn())


def learner_of(network: BgtNetwork, epochs: int = 0) -> BgtLearner:
    """A learner of two pairs, both of which are held out too, for so many epochs of one step."""
    rows = torch.arange(2)
    text, trainer = Pairs(*PAIR, (rows, rows), rows, rows, 0), TrainerConfig(epochs=epochs, batch=2)
    return BgtLearner(network, LANGUAGES, text, trainer)


def posteriors(network: BgtNetwork) -> tuple[list[Gaussian], list[Gaussian]]:
    """The semantic posteriors of both sides of PAIR, and those of their languages, if there are any."""
    sides = [*zip(PAIR, LANGUAGES, strict=True)]
    own = [network.language_posterior(*side) for side in sides] if network.config.own else []
    return [network.semantic_posterior(*side) for side in sides], own


def parameter_count(build: Callable[[torch.Generator], nn.Module]) -> int:
    """The number of parameters of the module that `build` makes, without allocating any."""
    with torch.device("meta"):
        return sum(p.numel() for p in build(torch.Generator()).parameters())
