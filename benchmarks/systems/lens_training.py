"""Lenses for benchmarks: trained over a core that is opened once for all of them, and untrained ones."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from muse.errors import MuseError
from muse.progress import Progress
from muse.run.runtime import Runtime
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import Reader
from muse.sentences.systems.backbone import Backbone, Matrices, SpaceBackbone
from muse.sentences.systems.lens import LENS, LensConfig, LensNetwork
from muse.sentences.systems.network_encoder import NetworkEncoder, SentenceNetwork
from muse.sentences.systems.pretrained_backbones import open_backbone
from muse.sentences.systems.system import Job, TrainingRequest
from muse.space import Space

WORDS = "words"  # the core that is the space itself


def lens(
    space: Space,
    given: dict[str, Any],
    language: str,
    epochs: int,
    seed: int = 0,
    core: Backbone | None = None,
) -> NetworkEncoder:
    """A trained lens, or with 0 epochs an untrained one, over the words of the space or over a core.

    It is that of muse train --encoder lens, to the last bit over words.
    """
    with tempfile.TemporaryDirectory() as folder:
        request = TrainingRequest(
            space, language, Path(folder) / "out", trainer={"epochs": epochs}, seed=seed, **given
        )
        preset = request.chosen_preset(LENS)
        runtime = Runtime("cpu", Progress(quiet=not sys.stderr.isatty()))
        recipe = {"system": LENS.name}
        job = Job(request, preset.config, preset.trainer, runtime, core or SpaceBackbone(space), recipe)
        encoder = LENS.train(job).encoder
    if not isinstance(encoder, NetworkEncoder):
        raise TypeError("a lens is a network")
    return encoder


def mean(space: Space, core: Backbone) -> NetworkEncoder:
    """The mean of a core's rows, without a lens."""
    return NetworkEncoder("mean", space, space.languages, CoreMean(core))


class CoreMean(SentenceNetwork):
    """mean_t E_t: the first columns of an untrained lens that has the mean beside it."""

    def __init__(self, core: Backbone) -> None:
        super().__init__()
        self.inside = LensNetwork(core, LensConfig(dimension=1, mean=True))
        self._width = core.dimension

    @property
    def dimension(self) -> int:
        """The number of columns K of the core."""
        return self._width

    def reader(self, language: str) -> Reader:
        """The reader of the core."""
        return self.inside.reader(language)

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The rows (b, K) of sentences."""
        rows: Tensor = self.inside(batch, language)
        return rows[:, : self._width]


def opened(space: Space, name: str, folder: Path | None) -> Backbone:
    """The words of the space, or the core in a folder, which computes every sentence once."""
    core = open_backbone(space, folder)
    return core if name == WORDS else Remembered(core)


def reads(core: Backbone, language: str) -> bool:
    """Whether a core reads a language. That of Hugging Face reads any, as a tokenizer reads any text."""
    try:
        core.reader(language)
    except MuseError:
        return False
    return True


class Remembered(Backbone):
    """A core that computes the matrix of a sentence once, however many lenses and epochs read it.

    The matrices are kept, 4 bytes a number: 0.3 GB of 20,000 sentences of MiniLM. A core computes a sentence
    beside others with other padding here, which changes the last digits.
    """

    def __init__(self, core: Backbone) -> None:
        self._core = core
        self._known: dict[tuple[str, tuple[int, ...]], Tensor] = {}

    @property
    def name(self) -> str:
        """The name of the core."""
        return self._core.name

    @property
    def dimension(self) -> int:
        """The number of columns K of the core."""
        return self._core.dimension

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of the core."""
        return self._core.settings

    def reader(self, language: str) -> Reader:
        """The reader of the core."""
        return self._core.reader(language)

    def matrices(self, batch: Ragged, language: str) -> Matrices:
        """The matrices of sentences, those that are new computed together."""
        parts = torch.tensor_split(batch.ids, batch.offsets[1:-1])
        keys = [(language, tuple(part.tolist())) for part in parts]
        new = [place for place, key in enumerate(keys) if key not in self._known]
        if new:
            found = self._core.matrices(batch.take(torch.tensor(new)), language)
            for place, rows in zip(new, found.rows, strict=True):
                self._known[keys[place]] = rows[: len(keys[place][1])].clone()
        return Matrices(
            pad_sequence([self._known[key] for key in keys], batch_first=True), batch.padded().mask
        )
