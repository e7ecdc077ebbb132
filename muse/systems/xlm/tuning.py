"""Fine-tuning of a saved cross-lingual language model on inference, as a sentence system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from muse.encoders.saving import check_space, encoder_files
from muse.errors import BadSetting
from muse.files.nli import LABELS
from muse.space import AlignedSpace
from muse.systems.network_encoder import opened, saved_by
from muse.systems.networks.transformer import draw_
from muse.systems.nli.inferences import read_inferences
from muse.systems.nli.pair_classes import PairClassifier, PairClassLearner, PairNetwork, WithClassifier
from muse.systems.system import Fitted, Job, Preset, System
from muse.systems.xlm.inference import XlmInference
from muse.systems.xlm.network import XlmNetwork
from muse.systems.xlm.system import XLM, make_xlm
from muse.training.checks import check_choices, check_least
from muse.training.seeding import generator_for
from muse.training.trainer import TrainerConfig, train

READS = ("together", "apart")


@dataclass(frozen=True)
class TuningConfig:
    """The folder of the `pretrained` model, how it `reads` a pair, and the steps until the highest rate.

    It reads both sentences together, as in the paper, or each apart, and then compares their rows by a
    classifier with a `hidden` layer, as InferSent does.
    """

    pretrained: str = ""
    reads: str = "together"
    hidden: int = 512
    warmup: int = 50

    def __post_init__(self) -> None:
        check_least(self, 1, "warmup", "hidden")
        check_choices(self, reads=READS)


PRESETS = {
    # With a patience of 3, a seed in three ended in its first epoch, 7 points below where it gets.
    "small": Preset(TuningConfig(), TrainerConfig(epochs=15, batch=16, rate=3e-4, patience=6, clip=5.0)),
    # An epoch is 20,000 pairs; when to stop is not in the paper.
    "paper": Preset(TuningConfig(warmup=1_000), TrainerConfig(epochs=250, batch=8, rate=5e-6, steps=2_500)),
}


def tune_xlm(job: Job) -> Fitted:
    """A saved model fine-tuned on inferences in one language; it classifies those of all its languages."""
    request, config = job.request, job.config
    xlm = _opened(job)
    network = tuned(xlm, config, generator_for(request.seed, 0)).to(job.runtime.device)
    pairs = read_inferences(job, network)
    learner = PairClassLearner(network, pairs)
    trainer = job.trainer.with_warmup(config.warmup)
    epochs = train(learner, trainer, seed=request.seed, runtime=job.runtime)
    return Fitted(
        encoder=job.encoder(
            f"xlm[{xlm.config.objective},nli{'' if config.reads == READS[0] else ',' + config.reads}]",
            network,
            xlm.languages,
            {
                "network": asdict(xlm.config),
                "pieces": xlm.pieces.to_json(),
                "reads": config.reads,
                "hidden": config.hidden,
            },
        ),
        epochs=epochs,
        metric="accuracy",
        held_out=len(pairs.dev),
        hits=learner.eval().hits(),
        counts=pairs.counts,
    )


def _opened(job: Job) -> XlmNetwork:
    """The pretrained model, which must know the language to train."""
    folder, language = job.config.pretrained, job.request.language
    if not folder:
        raise BadSetting(
            "xlm --nli fine-tunes a trained model: give --set pretrained=FOLDER with one that muse train "
            "--encoder xlm made for this space, without --nli"
        )
    xlm = open_xlm(Path(folder), job.request.space)
    if language not in xlm.languages:
        raise BadSetting(
            f"{folder}: --lang must be a language of this model, one of {', '.join(xlm.languages)}; "
            f"got {language}"
        )
    return xlm


def open_xlm(folder: Path, space: AlignedSpace) -> XlmNetwork:
    """The model saved in a folder, for the space that it was trained with."""
    saved = saved_by(XLM.name, folder, f"expected a model trained with {XLM.name}")
    check_space(folder, saved.spaces, space)
    return opened(folder, saved, f"a model of {XLM.name}", lambda: make_xlm(saved.settings, space))


def tuned(xlm: XlmNetwork, config: TuningConfig, generator: torch.Generator) -> PairNetwork:
    """The model with an untrained classifier; the output bias, which it does not read, is not trained."""
    xlm.model.bias.requires_grad_(False)
    if config.reads == "together":
        return XlmInference(xlm, generator)
    classifier = PairClassifier(xlm.dimension, config.hidden, len(LABELS), xlm.config.dropout)
    draw_(classifier, generator)
    return WithClassifier(xlm, classifier)


def make_tuned(settings: Mapping[str, Any], space: AlignedSpace) -> PairNetwork:
    """The network of a saved fine-tuned model, with rows of nothing yet."""
    config = TuningConfig(reads=settings["reads"], hidden=settings["hidden"])
    return tuned(make_xlm(settings, space), config, torch.Generator())


def _read(config: TuningConfig) -> tuple[Path, ...]:
    """The files of the pretrained model; a run can be resumed only if they are unchanged."""
    return encoder_files(Path(config.pretrained)) if config.pretrained else ()


XLM_NLI = System("xlm --nli", PRESETS, ("nli",), tune_xlm, make_tuned, reads=_read)
