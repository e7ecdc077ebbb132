"""The word encoders x-cbow, projection and cvm-add as systems: word vectors trained on parallel text.

They differ in the trained module and in the loss; each results in a TrainedEncoder.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from muse.encoders.pooling import Power, check_powers
from muse.encoders.reading import Vocabulary
from muse.encoders.trained import TrainedEncoder
from muse.errors import Contradiction
from muse.space import AlignedSpace
from muse.systems.network_encoder import SentenceNetwork
from muse.systems.system import Fitted, Job, Preset, System
from muse.systems.words.cvm_add import CvmAdd
from muse.systems.words.projection import Projection
from muse.systems.words.word_tables import WordTables
from muse.systems.words.x_cbow import XCbow
from muse.training.checks import check_fractions
from muse.training.loss_choice import LossChoice
from muse.training.losses import Align, Loss
from muse.training.trainer import TrainerConfig, train
from muse.training.two_sides import PairLearner


@dataclass(frozen=True)
class WordEncoderConfig:
    """The `default` loss of an encoder, the `chosen` one, and the power means of the trained words.

    `dropout` is the share of dimensions that the projection does without in a step.
    """

    default: LossChoice
    chosen: LossChoice = LossChoice()
    powers: tuple[Power, ...] = (1.0,)
    dropout: float = 0.0

    def __post_init__(self) -> None:
        self.loss()
        check_powers(self.powers)
        check_fractions(self, "dropout")

    def loss(self) -> Loss:
        """The loss to train with."""
        return self.chosen.after(self.default).loss()


def train_words(make: Callable[..., WordTables], job: Job) -> Fitted:
    """An encoder of word vectors trained on pairs, by the module that `make` builds from both tables."""
    began = time.perf_counter()
    space, runtime, loss = job.request.space, job.runtime, job.config.loss()
    if isinstance(loss, Align) and job.recipe["system"] == CVM_ADD.name:
        raise Contradiction("--loss align has no minimum where both languages are trained; leave it out")
    pairs = job.pairs(lambda language: Vocabulary(language, space.vectors(language).index))
    loaded = time.perf_counter()
    tables = make(*_rows(job), **_own_settings(job))
    learner = PairLearner(tables, loss, pairs, runtime.processes)
    epochs = train(learner, job.trainer, seed=job.request.seed, runtime=runtime)
    return Fitted(
        encoder=_encoder(job, tables, loss),
        epochs=epochs,
        metric="P@1",
        held_out=len(pairs.held_out),
        hits=learner.eval().hits(),
        counts={"pairs": len(pairs.training), "skipped": pairs.skipped},
        loading=loaded - began,
    )


def _rows(job: Job) -> list[Tensor]:
    """The rows (n, d) of the pivot and those (m, d) of the other language."""
    vectors, device = job.request.space.vectors, job.runtime.device
    # A copy, because the memory-mapped folder may be replaced while its rows are in use.
    return [torch.tensor(vectors(language).matrix, device=device) for language in job.languages]


def _own_settings(job: Job) -> dict[str, float]:
    """The settings of the module, of which only the projection has one."""
    name, dropout = job.recipe["system"], job.config.dropout
    if name == PROJECTION.name:
        return {"dropout": dropout}
    if dropout:
        raise Contradiction(f"--dropout is for projection, not for {name}; leave it out")
    return {}


def _encoder(job: Job, tables: WordTables, loss: Loss) -> TrainedEncoder:
    pivot, language = job.languages
    system, rows = job.recipe["system"], {pivot: tables.pivot_table(), language: tables.other_table()}
    return TrainedEncoder(
        label=f"{system}[{loss}{f',dropout:{job.config.dropout:g}' if job.config.dropout else ''}]",
        space=job.request.space,
        trained_for=(language, pivot),
        tables={name: table.cpu().numpy() for name, table in rows.items() if table is not None},
        pooling=tables.pooling,
        powers=check_powers(job.config.powers),
        settings={
            "encoder": system,
            "loss": str(loss),
            "dropout": job.config.dropout,
            "trainer": job.trainer,
            "seed": job.request.seed,
            "parallel": [{"path": path, "sha256": digest} for path, digest in job.recipe["inputs"]],
        },
    )


def _no_network(settings: Mapping[str, Any], _: AlignedSpace) -> SentenceNetwork:
    raise KeyError(f"{settings['system']} is saved as rows of words, not as a network")


def _system(
    name: str, make: Callable[..., WordTables], default: LossChoice, trainer: TrainerConfig
) -> System:
    presets = {"small": Preset(WordEncoderConfig(default), trainer)}
    return System(name, presets, ("parallel",), partial(train_words, make), _no_network)


# Rates, batches and losses were chosen on held-out pairs of fr-en training text. The projection's paper uses
# the loss hinge.
_TRAINER = TrainerConfig(batch=512, rate=3e-3)
X_CBOW = _system("x-cbow", XCbow, LossChoice("align"), _TRAINER)
PROJECTION = _system("projection", Projection, LossChoice("softmax"), replace(_TRAINER, batch=256, rate=1e-3))
# The margin is larger than usual because sums of rows are longer than means.
CVM_ADD = _system("cvm-add", CvmAdd, LossChoice("squared", margin=10.0), _TRAINER)
