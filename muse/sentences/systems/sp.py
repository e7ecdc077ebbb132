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

from muse.run.seeds import TrainingStream, generator_for, torch_seeded
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import Limited, Reader
from muse.sentences.files.sentence_text import read_pairs
from muse.sentences.systems.network_encoder import SentenceNetwork
from muse.sentences.systems.networks.sentence_rows import Recurrent
from muse.sentences.systems.networks.transformer import random_rows
from muse.sentences.systems.pieces import INITIAL, SPECIALS, Pieces, aligned_rows, space_of_words
from muse.sentences.systems.system import Fitted, Job, Preset, System
from muse.sentences.systems.word_encoders import pooled
from muse.sentences.training.corpora import PairLearner
from muse.sentences.training.losses import Hinge
from muse.sentences.training.settings import Settings, Unused, setting
from muse.sentences.training.trainer import TrainerConfig
from muse.space import Space


@dataclass(frozen=True)
class SpConfig(Settings):
    """The pieces, the network over them and its loss.

    Rows that come from the space have no more dimensions than it.
    """

    pieces: int = setting(8_000, "word pieces, which all languages share", above=len(SPECIALS))
    dimension: int = setting(300, "columns of a sentence vector", least=1)
    network: str = setting(
        "mean", "mean of the pieces, or bilstm: of its states over them", choices=("mean", "bilstm")
    )
    units: int = setting(256, "units of a direction of the bilstm", least=1)
    initial: str = setting("aligned", "where rows begin: aligned (the space) or random", choices=INITIAL)
    margin: float = setting(0.4, "how much closer a translation must be than the hardest negative", above=0)
    longest: int = setting(100, "pieces that are read of a sentence", least=1)
    punctuation: bool = setting(True, "whether it is read")

    def unused(self) -> tuple[Unused | None, ...]:
        """The units of a BiLSTM, without one."""
        return (Unused("units", "network") if self.network == "mean" else None,)


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
        self.layers, self.dimension = None, config.dimension
        if config.network == "bilstm":
            self.layers = Recurrent("bilstm", config.dimension, config.units, "mean")
            self.dimension = self.layers.dimension

    def reader(self, language: str) -> Reader:
        """The reader of pieces, the same for all languages."""
        return Limited(self._pieces, self._config.longest)

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The means (b, d')."""
        if self.punctuation is not None:
            batch = batch.keep_some(~self.punctuation[batch.ids])
        if self.layers is None:
            return pooled(batch, self.rows, "mean")
        ids, mask = batch.padded()
        found: Tensor = self.layers(nn.functional.embedding(ids, self.rows), mask)
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
    request, config, pivot = job.request, job.config, job.languages[0]
    read = {name: read_pairs(files) for name, files in request.parallel_files.items()}
    texts = {pivot: list(chain.from_iterable(text.pivot for text in read.values()))}
    texts |= {name: list(text.other) for name, text in read.items()}
    pieces = Pieces.learned(texts, config.pieces, generator_for(request.seed, *TrainingStream.FIRST))
    if config.initial == "random":
        rows = random_rows(len(pieces), config.dimension, generator_for(request.seed, *TrainingStream.SECOND))
    else:  # with the dimensions of the space at most: others would stay 0
        config = replace(config, dimension=min(config.dimension, request.space.vectors(pivot).dimension))
        rows = aligned_rows(pieces, (*texts,), request.space, config.dimension, request.seed)
    with torch_seeded(request.seed, *TrainingStream.FIRST):
        network = SpNetwork(config, (*texts,), pieces, rows).to(job.runtime.device)
    parallel = job.parallel(network.reader)
    loss = Hinge(config.margin, "cosine", "hardest")  # both ways
    learner = PairLearner(network, loss, parallel, job.runtime.processes)
    epochs = job.train(learner)
    label = (
        f"sp[{network.dimension},{config.initial}{'' if config.network == 'mean' else ',bilstm'}"
        f"{'' if config.punctuation else ',punctuation:no'}]"
    )
    settings = {"network": asdict(config), "languages": [*texts], "pieces": pieces.to_json()}
    counts = {"pieces": len(pieces)} | parallel.counts
    return job.fitted(learner, epochs, network, label, settings, counts)


def make_sp(settings: Mapping[str, Any], _: Space) -> SentenceNetwork:
    """The network of a saved SP, before its parameters are restored."""
    config, pieces = SpConfig(**settings["network"]), Pieces.from_json(settings["pieces"])
    rows = torch.zeros(len(pieces), config.dimension)
    return SpNetwork(config, settings["languages"], pieces, rows)


SP = System("sp", PRESETS, ("parallel",), train_sp, make_sp, several=True)
