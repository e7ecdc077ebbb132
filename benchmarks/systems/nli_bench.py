"""A space of benchmarks/systems/nli.py, what is asked of it, and the encoders that are trained over it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from benchmarks.sentences.sentence_training import sample
from benchmarks.support.sentence_sets import PIVOT, SpaceOf
from benchmarks.support.sick import official
from muse.evaluation.score import bootstrap_interval
from muse.progress import Progress
from muse.run.runtime import Runtime
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.loading import load_encoder
from muse.sentences.systems.network_encoder import NetworkEncoder
from muse.sentences.systems.registry import train_system
from muse.sentences.systems.system import TrainingRequest


class Bench(SpaceOf):
    """A space, and the encoders that are trained over it."""

    @property
    def data(self) -> Path:
        """The folder of all data."""
        return Path(self.asked.shared) / "data"

    def parallel(self, part: str) -> Path:
        """The part of Tatoeba: test, or the requested number of pairs of train, drawn at random."""
        path = self.data / "parallel" / f"tatoeba.en-{self.other}.{part}.tsv.gz"
        return sample(path, self.asked.pairs, self.asked.work) if part == "train" else path

    def x_cbow(self) -> list[SentenceEncoder]:
        """X-CBOW of this space, where one was given."""
        return [load_encoder(path, self.space) for name, path in self.asked.x_cbow if name == self.name]

    def infersent(self, seed: int, **more: Any) -> NetworkEncoder:
        """InferSent of SICK's train part; over English words, so that it is one for every language."""
        return self._trained("infersent", seed, PIVOT, {}, nli=official(self.data), **more)

    def detector(self, seed: int, **more: Any) -> NetworkEncoder:
        """InferSent of translation detection."""
        text = (self.parallel("train"),)
        return self._trained("detection", seed, self.other, {"objective": "td"}, parallel=text, **more)

    def x_bilstm(self, seed: int, **more: Any) -> NetworkEncoder:
        """X-BiLSTM that copies the InferSent of the same seed."""
        self.infersent(seed)
        english = {"english": str(self._folder("infersent", seed, False))}
        text = (self.parallel("train"),)
        return self._trained("x-bilstm", seed, self.other, english, parallel=text, **more)

    def _folder(self, name: str, seed: int, untrained: bool) -> Path:
        return Path(self.asked.work) / f"{self.name}.{name}.{seed}{'.untrained' if untrained else ''}"

    def _trained(
        self,
        name: str,
        seed: int,
        language: str,
        settings: dict[str, str],
        untrained: bool = False,
        **text: Any,
    ) -> NetworkEncoder:
        folder = self._folder(name, seed, untrained)
        if not folder.exists():
            chosen = {key.partition(".")[2]: value for key, value in self.asked.set if key.startswith(name)}
            epochs = {"epochs": int(chosen.pop("epochs"))} if "epochs" in chosen else {}
            request = TrainingRequest(
                self.space, language, folder, self.asked.preset, settings={**settings, **chosen}, seed=seed,
                trainer={"epochs": 0} if untrained else epochs, **text,
            )  # fmt: skip
            system = "infersent" if name == "detection" else name
            train_system(system, request, Runtime(progress=Progress(quiet=True)))
        found = load_encoder(folder, self.space)
        return cast(NetworkEncoder, found)

    def shown(self, hits: NDArray[np.bool_]) -> str:
        """The accuracy with its interval."""
        low, high = bootstrap_interval(hits, np.random.default_rng(0))
        return f"{100 * hits.mean():.1f} [{low:.1f}, {high:.1f}]"
