"""The lens as a sentence system: what it is trained on, at which sizes, and how it is made again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from muse.errors import Mismatch
from muse.files.parallel_text import read_pairs
from muse.networks.schedule import Schedule
from muse.sentences.bags import Reader
from muse.sentences.core import Core
from muse.sentences.lens.simple import LensConfig, SimpleLens
from muse.sentences.losses import Hinge
from muse.sentences.network import BothSides, SentenceNetwork
from muse.sentences.pairs import Batch, make_pairs
from muse.sentences.seeding import generator_for
from muse.sentences.system import Fitted, Job, Preset, System, open_core
from muse.sentences.trainer import TrainerConfig, train
from muse.sentences.two_sides import PairLearner
from muse.space import AlignedSpace

PRESETS = {
    "small": Preset(LensConfig(), TrainerConfig(epochs=20, batch=256, rate=0.3)),
    # One pass over the 100 million pairs, held-out pairs looked at every 10,000 steps.
    "paper": Preset(
        LensConfig(dimension=4_096, mean=False, warmup=4_000, dropout=0.1),
        TrainerConfig(epochs=20, batch=512, rate=1.0, steps=10_000),
    ),
}


class LensNetwork(SentenceNetwork):
    """A core, which is no part of what is saved, and the lens over it."""

    def __init__(self, core: Core, lens: SimpleLens) -> None:
        super().__init__()
        self.core, self.lens = core, lens

    @property
    def dimension(self) -> int:
        """The number of columns d' of the lens."""
        return self.lens.dimension

    def reader(self, language: str) -> Reader:
        """The core's."""
        return self.core.reader(language)

    def forward(self, batch: Batch, language: str) -> Tensor:
        """The rows (b, d') of sentences."""
        rows: Tensor = self.lens(*self.core.matrices(batch, language))
        return rows


def train_lens(job: Job) -> Fitted:
    """A lens by the ranker on parallel text: VSE++'s loss, with the batch's hardest negative."""
    request, config = job.request, job.config
    text = read_pairs(request.parallel)
    readers = [job.core.reader(language) for language in job.languages]
    rng, device = np.random.default_rng(request.seed), job.runtime.device
    pairs = make_pairs(text, readers, rng=rng, device=device, progress=job.runtime.progress)
    lens = SimpleLens(job.core.dimension, config, generator_for(request.seed, 0)).to(device)
    network = LensNetwork(job.core, lens)
    learner = PairLearner(BothSides(network, job.languages), Hinge(config.margin, "cosine", "hardest"), pairs)
    schedule = Schedule("noam", config.warmup, width=config.dimension)
    trainer = replace(job.trainer, schedule=schedule)
    epochs = train(learner, trainer, seed=request.seed, runtime=job.runtime)
    counts = {"pairs": len(pairs.training), "skipped": pairs.skipped, "truncated": pairs.truncated}
    return Fitted(
        label=f"lens[{'mean+' if config.mean else ''}simple:{config.dimension},{job.core.name}]",
        network=network.eval(),
        languages=job.languages,
        epochs=epochs,
        metric="P@1",
        held_out=len(pairs.held_out),
        counts=counts,
        settings={"network": asdict(config), "core": dict(job.core.settings)},
    )


def make_lens(settings: Mapping[str, Any], space: AlignedSpace) -> SentenceNetwork:
    """The network of a saved lens; Mismatch where its core has other weights now."""
    saved = settings["core"]
    core = open_core(space, Path(saved["folder"]) if saved else None)
    if core.settings.get("sha256") != saved.get("sha256"):
        raise Mismatch(
            f"{saved['folder']}: the lens was trained over weights with the checksum {saved['sha256'][:8]}, "
            f"got {core.settings['sha256'][:8]}; put back those it was trained over"
        )
    return LensNetwork(core, SimpleLens(core.dimension, LensConfig(**settings["network"])))


LENS = System("lens", PRESETS, ("parallel",), train_lens, make_lens, takes_core=True)
