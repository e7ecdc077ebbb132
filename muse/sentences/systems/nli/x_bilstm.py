"""X-BiLSTM: trains an encoder of another language to match the rows of a frozen English encoder.

Conneau (2019), section 4.2.4: both encoders have the same form, the word vectors of the language are trained
too, starting from the aligned space, and L_align pulls translations together. Models trained on English rows,
such as an NLI classifier, then work in the other language without labels in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from muse.errors import BadSetting, Mismatch
from muse.run.seeds import TrainingStream, torch_seeded
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.saving import check_space
from muse.sentences.systems.backbone import Backbone, SpaceBackbone
from muse.sentences.systems.network_encoder import opened, saved_by
from muse.sentences.systems.nli.infersent import INFERSENT, InferSent, InferSentConfig, sentence_layers
from muse.sentences.systems.nli.pair_classes import PairClassifier, RowPairNetwork
from muse.sentences.systems.system import Fitted, Job, Preset, System
from muse.sentences.training.losses import Align
from muse.sentences.training.settings import Settings, setting
from muse.sentences.training.trainer import TrainerConfig
from muse.space import Space


@dataclass(frozen=True)
class XBiLSTMConfig(Settings):
    """The settings; weights copied from the English encoder suit an aligned space, the paper draws them."""

    english: str = setting("", "folder of the InferSent to match", folder_unless=("",))
    units: int = setting(128, "units of a direction, as that has")
    weight: float = setting(0.25, "lambda: how much random pairs are pushed apart", least=0, most=0.5)
    copied: bool = setting(True, "begins with the English weights; false: at random")
    words: bool = setting(True, "trains the word vectors of the language too")


class LanguageBiLSTM(nn.Module):
    """The words (m, K) of one language, and a BiLSTM with the sizes of the English one."""

    def __init__(self, english: InferSent, words: Tensor) -> None:
        super().__init__()
        self.words = nn.Embedding(words.shape[0], words.shape[1], sparse=True, _weight=words)
        self.encoder = sentence_layers(words.shape[1], english.config)

    def forward(self, batch: Ragged) -> Tensor:
        """The rows (b, d') of sentences."""
        mask = batch.padded().mask  # (b, T)
        words = self.words.weight.new_zeros(*mask.shape, self.words.embedding_dim)  # (b, T, K)
        # Padding must not use a word of the table, which training would then change.
        words = words.index_put(mask.nonzero(as_tuple=True), self.words(batch.ids))
        found: Tensor = self.encoder(words, mask)
        return found


class XBiLSTM(RowPairNetwork):
    """The English network, frozen, and a network for each other language, over its words (m, K)."""

    def __init__(self, english: InferSent, words: Mapping[str, Tensor]) -> None:
        super().__init__()
        self.english = english.requires_grad_(False)
        self.others = nn.ModuleDict(
            {_module(language): LanguageBiLSTM(english, rows) for language, rows in words.items()}
        )
        self.dimension, self.classes, self.reader = english.dimension, english.classes, english.reader

    def copy_english(self) -> None:
        """Gives every language the weights of the English BiLSTM."""
        for name in self.others:
            other = self.others.get_submodule(f"{name}.encoder")
            other.load_state_dict(self.english.encoder.state_dict())

    def keep_words(self) -> None:
        """Leaves the word vectors of every language as they are in training."""
        for name in self.others:
            self.others.get_submodule(f"{name}.words").requires_grad_(False)

    @property
    def classifier(self) -> PairClassifier:
        """The classifier of the English network."""
        return self.english.classifier

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The rows (b, d') of sentences."""
        rows: Tensor
        if (name := _module(language)) in self.others:
            rows = self.others[name](batch)
        else:
            rows = self.english(batch, language)
        return rows


def _module(language: str) -> str:
    """The name of the module of a language: ModuleDict takes no dots, and no names of its own attributes."""
    name = language.replace(".", "%2E")
    return f"{name}%" if hasattr(nn.ModuleDict, name) else name


PRESETS = {
    "small": Preset(XBiLSTMConfig(), TrainerConfig(epochs=8, batch=128, rate=1e-3, steps=250)),
    "paper": Preset(XBiLSTMConfig(units=512, copied=False), TrainerConfig(epochs=20, batch=64, rate=1e-3)),
}


def train_x_bilstm(job: Job) -> Fitted:
    """Encoders of the languages, trained by L_align on parallel text to match the encoder of the pivot."""
    request, config, device = job.request, job.config, job.runtime.device
    english = _opened(job)
    parallel = job.parallel()
    words = {name: torch.tensor(request.space.vectors(name).matrix) for name in parallel.pairs}
    # The first stream would repeat the initial weights of an InferSent with the same seed.
    with torch_seeded(request.seed, *TrainingStream.SECOND):
        network = XBiLSTM(english, words).to(device)
    if config.copied:
        network.copy_english()
    if not config.words:
        network.keep_words()
    loss = Align(config.weight)
    learner = parallel.learner(network, loss, job.runtime.processes)
    epochs = job.train(learner)
    label = f"x-bilstm[{english.config.form}:{network.dimension},{loss}]"
    settings = {"network": asdict(english.config), "learned": list(parallel.pairs)}
    encoder = job.encoder(label, network, (job.languages[0], *parallel.pairs), settings)
    return Fitted.by(learner, epochs, encoder, parallel.counts)


def _opened(job: Job) -> InferSent:
    config, space = job.config, job.request.space
    if not config.english:
        raise BadSetting(
            "x-bilstm needs an English encoder: give --set english=FOLDER with one that muse train --encoder "
            f"{INFERSENT.name} made for this space"
        )
    english = open_english(Path(config.english), job.backbone, space)
    if english.config.units != config.units:
        raise Mismatch(
            f"{config.english}: this preset needs an encoder of {config.units} units, got "
            f"{english.config.units}; train a matching one, or give --set units={english.config.units}"
        )
    return english


def open_english(folder: Path, backbone: Backbone, space: Space) -> InferSent:
    """The InferSent network saved in a folder, for the words of a space."""
    needed = f"x-bilstm needs an encoder trained with {INFERSENT.name}"
    saved = saved_by(INFERSENT.name, folder, needed)
    if saved.settings.get("backbone"):
        raise BadSetting(f"{folder}: x-bilstm needs an encoder without --backbone, got {saved.name}")
    check_space(folder, saved.spaces, space)

    def made() -> InferSent:
        return InferSent(backbone, InferSentConfig(**saved.settings["network"]))

    return opened(folder, saved, "an InferSent network", made)


def make_x_bilstm(settings: Mapping[str, Any], space: Space) -> XBiLSTM:
    """The network of a saved encoder."""
    english = InferSent(SpaceBackbone(space), InferSentConfig(**settings["network"]))
    shapes = {name: space.vectors(name).matrix.shape for name in settings["learned"]}
    return XBiLSTM(english, {name: torch.empty(shape) for name, shape in shapes.items()})


X_BILSTM = System("x-bilstm", PRESETS, ("parallel",), train_x_bilstm, make_x_bilstm, several=True)
