"""The lens as a sentence system: its presets, training and restoring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from muse.errors import Contradiction
from muse.files.nli import LABELS
from muse.run.streams import TrainingStream, torch_seeded
from muse.sentences.systems.lens.lens import LensConfig, LensNetwork
from muse.sentences.systems.network_encoder import BothSides, SentenceNetwork
from muse.sentences.systems.nli.pair_classes import (
    PairClassifier,
    PairClassLearner,
    PairNetwork,
    WithClassifier,
    read_inferences,
)
from muse.sentences.systems.pretrained_cores import restored_core
from muse.sentences.systems.system import Fitted, Job, Preset, System
from muse.sentences.training.learner import Learner
from muse.sentences.training.optimising import Schedule
from muse.sentences.training.trainer import TrainerConfig, train
from muse.sentences.training.two_sides import PairLearner
from muse.space import AlignedSpace

PRESETS = {
    # Chosen on held-out pairs of fr-en training text: the form, without the mean, and the rate.
    "small": Preset(LensConfig(), TrainerConfig(epochs=10, batch=256, rate=1.0, patience=2)),
    # One pass over the paper's 100 million pairs, with a held-out score every 10,000 steps.
    "paper": Preset(
        LensConfig("gated", dimension=4_096, gate=512, dropout=0.1, warmup=4_000),
        TrainerConfig(epochs=20, batch=512, rate=1.0, patience=20, steps=10_000),
    ),
}


def train_lens(job: Job) -> Fitted:
    """A lens trained by ranking translations, given parallel text, or by classifying inferences."""
    request, config = job.request, job.config
    if bool(request.parallel) == (request.nli is not None):
        got = "both" if request.parallel else "neither"
        raise Contradiction(
            f"a lens is trained on translations or on inferences: give --parallel or --nli, got {got}"
        )
    with torch_seeded(request.seed, *TrainingStream.FIRST):
        lens = LensNetwork(job.core, config)
        network = (with_classifier(lens, config) if request.nli else lens).to(job.runtime.device)
    objective = _inferences(job, network) if isinstance(network, PairNetwork) else _translations(job, network)
    schedule = Schedule("noam", config.warmup, width=config.dimension)
    trainer = replace(job.trainer, schedule=schedule)
    epochs = train(objective.learner, trainer, seed=request.seed, runtime=job.runtime)
    return Fitted(
        encoder=job.encoder(
            f"lens[{config},{job.core.name}]",
            network,
            request.space.languages,
            {
                "network": asdict(config),
                "core": dict(job.core.settings),
                "classifies": isinstance(network, PairNetwork),
            },
        ),
        epochs=epochs,
        metric=objective.metric,
        held_out=objective.held_out,
        hits=objective.learner.eval().hits(),
        counts=objective.counts,
    )


@dataclass(frozen=True, eq=False)
class _Objective:
    """The learner that trains a lens, its metric, and the counts of its text."""

    learner: Learner
    metric: str
    held_out: int
    counts: Mapping[str, int]


def _translations(job: Job, network: SentenceNetwork) -> _Objective:
    """Ranking: a translation must be closer than the hardest negative of the batch."""
    pairs = job.pairs()
    learner = PairLearner(
        BothSides(network, job.languages), job.config.ranking(), pairs, job.runtime.processes
    )
    return _Objective(learner, "P@1", len(pairs.held_out), pairs.counts)


def _inferences(job: Job, network: PairNetwork) -> _Objective:
    """Classification of inferences."""
    pairs = read_inferences(job, job.core)
    learner = PairClassLearner(network, pairs)
    return _Objective(learner, "accuracy", len(pairs.dev), pairs.counts)


def with_classifier(lens: LensNetwork, config: LensConfig) -> WithClassifier:
    """The lens and a classifier of inferences."""
    return WithClassifier(lens, PairClassifier(lens.dimension, config.hidden, len(LABELS), 0.0))


def make_lens(settings: Mapping[str, Any], space: AlignedSpace) -> SentenceNetwork:
    """The network of a saved lens; Mismatch if the weights of its core have changed."""
    config = LensConfig(**settings["network"])
    lens = LensNetwork(restored_core(settings["core"], space), config)
    return with_classifier(lens, config) if settings["classifies"] else lens


LENS = System(
    "lens", PRESETS, (), train_lens, make_lens,
    uses=("parallel", "nli"), takes_core=True,
    of_texts={"parallel": ("margin",), "nli": ("hidden",)},
)  # fmt: skip
