"""SP: a sentence as the mean of its word pieces, trained by a margin on hard negatives.

Wieting et al. (2019). All languages share the pieces and their rows, which are trained, so a word that the
space lacks is read by its pieces; the order of words is not read. Their other encoder, a BiLSTM over the
pieces, reads it too (Wieting and Gimpel, 2017).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from muse.files.sentence_text import read_pairs
from muse.run.seeds import TrainingStream, generator_for, torch_seeded
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import Limited, Reader
from muse.sentences.systems.network_encoder import SentenceNetwork
from muse.sentences.systems.networks.sentence_rows import Recurrent
from muse.sentences.systems.networks.transformer import random_rows
from muse.sentences.systems.pieces import INITIAL, Pieces, aligned_rows, check_piece_count, space_of_words
from muse.sentences.systems.system import Fitted, Job, Preset, System, TrainingRequest
from muse.sentences.systems.word_encoders import pooled
from muse.sentences.training.checks import beside, check_choices, check_least
from muse.sentences.training.losses import Hinge, Loss
from muse.sentences.training.trainer import TrainerConfig, train
from muse.space import Space

NETWORKS = ("mean", "bilstm")


@dataclass(frozen=True)
class SpConfig:
    """The number of `pieces`, the `dimension` of their rows, and how these are trained.

    `network`: the row of a sentence is the mean of those of its pieces, or of the states of a bilstm over
    them, with `units` a direction. `initial`: the rows come from the space (aligned), and then have no more
    dimensions than it, or are random. `margin`: how much closer a translation must be than
    the hardest negative of the batch, by cosine. Sentences are cut to `longest` pieces, and read with their
    `punctuation` or without.
    """

    pieces: int = 8_000
    dimension: int = 300
    network: str = "mean"
    units: int = 256
    initial: str = "aligned"
    margin: float = 0.4
    longest: int = 100
    punctuation: bool = True

    def __post_init__(self) -> None:
        check_choices(self, initial=INITIAL, network=NETWORKS)
        check_least(self, 1, "dimension", "units", "longest")
        check_piece_count(self.pieces)
        self.loss()

    def ineffective_settings(self) -> dict[str, str]:
        """The settings that have no effect given the others, each with the reason."""
        return {"units": beside(self, "network")} if self.network == "mean" else {}

    def loss(self) -> Loss:
        """The ranking loss, both ways."""
        return Hinge(self.margin, "cosine", "hardest")


class SpNetwork(SentenceNetwork):
    """The rows (v, d) of pieces, and the layers over them, if any, whose states are averaged.

    `punctuation` (v,) is True for pieces that are not read; None if all are.
    """

    punctuation: Tensor | None

    def __init__(self, config: SpConfig, languages: Sequence[str], pieces: Pieces, rows: Tensor) -> None:
        super().__init__()
        self._config, self._languages, self._pieces = config, languages, pieces
        self.rows = nn.Parameter(rows)
        unread = None if config.punctuation else pieces.punctuation
        self.register_buffer("punctuation", unread, persistent=False)  # (v,)
        self.layers = None
        if config.network == "bilstm":
            self.layers = Recurrent("bilstm", config.dimension, config.units, "mean")

    @property
    def dimension(self) -> int:
        """The number of columns d'."""
        return self._config.dimension if self.layers is None else 2 * self._config.units

    def reader(self, language: str) -> Reader:
        """The reader of pieces, the same for all languages."""
        return Limited(self._pieces, self._config.longest)

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The means (b, d')."""
        if self.punctuation is not None:
            batch = batch.keep_some(~self.punctuation[batch.ids])
        found: Tensor
        if self.layers is None:
            found = pooled(batch, self.rows, "mean")
        else:
            ids, mask = batch.padded()
            found = self.layers(nn.functional.embedding(ids, self.rows), mask)
        return found

    def word_space(self, space: Space) -> Space:
        """The words of a space with unit-length rows, each the mean of its pieces."""
        return space_of_words(self._pieces, self._languages, space, lambda ids: self.rows[ids])


PRESETS = {
    # Chosen on held-out pairs of fr-en training text: the batch and the rate.
    "small": Preset(SpConfig(), TrainerConfig(epochs=40, batch=1_024, rate=3e-3, patience=3)),
    # The sizes and margin of BGT's paper, which draws its negatives from 40 to 100 batches.
    "paper": Preset(
        SpConfig(pieces=20_000, dimension=1_024, units=512, initial="random"),
        TrainerConfig(epochs=20, batch=5_120, rate=1e-3, patience=20),
    ),
}


def train_sp(job: Job) -> Fitted:
    """An SP trained on parallel text of the pivot with one language or several."""
    request, config = job.request, _within_space(job.config, job.request.space)
    languages = (job.languages[0], *request.parallel_files)
    pieces = Pieces.learned(_texts(job), config.pieces, generator_for(request.seed, *TrainingStream.FIRST))
    with torch_seeded(request.seed, *TrainingStream.FIRST):
        rows = _rows(config, pieces, languages, request)
        network = SpNetwork(config, languages, pieces, rows).to(job.runtime.device)
    parallel = job.parallel(network.reader)
    learner = parallel.learner(network, config.loss(), job.runtime.processes)
    epochs = train(learner, job.trainer, seed=request.seed, runtime=job.runtime)
    return Fitted(
        encoder=job.encoder(
            _label(config, network.dimension),
            network,
            languages,
            {"network": asdict(config), "pieces": pieces.to_json()},
        ),
        epochs=epochs,
        metric="P@1",
        held_out=parallel.held_out,
        hits=learner.eval().hits(),
        counts={"pieces": len(pieces)} | parallel.counts,
    )


def _label(config: SpConfig, dimension: int) -> str:
    network = "" if config.network == "mean" else f",{config.network}"
    return f"sp[{dimension},{config.initial}{network}{'' if config.punctuation else ',punctuation:no'}]"


def make_sp(settings: Mapping[str, Any], _: Space) -> SentenceNetwork:
    """The network of a saved SP, before its parameters are restored."""
    config, pieces = SpConfig(**settings["network"]), Pieces.from_json(settings["pieces"])
    rows = torch.zeros(len(pieces), config.dimension)
    return SpNetwork(config, settings["languages"], pieces, rows)


def _within_space(config: SpConfig, space: Space) -> SpConfig:
    """The settings with at most the dimensions of the space if it initialises the rows: others stay 0."""
    if config.initial == "random":
        return config
    return replace(config, dimension=min(config.dimension, space.vectors(space.pivot).dimension))


def _rows(config: SpConfig, pieces: Pieces, languages: Sequence[str], request: TrainingRequest) -> Tensor:
    if config.initial == "random":
        return random_rows(len(pieces), config.dimension, generator_for(request.seed, *TrainingStream.SECOND))
    return aligned_rows(pieces, languages, request.space, config.dimension, request.seed)


def _texts(job: Job) -> dict[str, list[str]]:
    """The sentences of each language; the pivot's come from all parallel text."""
    read = {name: read_pairs(files) for name, files in job.request.parallel_files.items()}
    pivots = list(chain.from_iterable(text.pivot for text in read.values()))
    return {job.languages[0]: pivots} | {name: list(text.other) for name, text in read.items()}


SP = System(
    "sp", PRESETS, ("parallel",), train_sp, make_sp, several=True,
)  # fmt: skip
