"""The word encoders x-cbow, projection and cvm-add as systems: word vectors trained on parallel text.

Each pools one row for each word of a sentence. They differ in the trained module and in the loss, and end in
a TrainedEncoder.

* X-CBOW: the mean of word rows, fixed for the pivot and trained for the other language (Conneau, 2019,
  section 4.2.4). The mean of a sentence's words should match the mean of its English translation. The pivot
  stays fixed, so that models trained on its sentences work for every language.
* Projection: f(x) = tanh(x W + b) for each language, learned on the means of sentences, applied to words
  (Rueckle et al., 2018, A.1). The mean of a sentence is in the space of its words, so the learned f gives a
  new row to every word, and power means of these rows can be taken. Because of tanh, f(mean) is only close to
  the mean of f; held-out sentences are scored by the mean of f, which is what the encoder computes.
* CVM-add: the sum of word rows, trained in both languages (Hermann and Blunsom, 2014). It starts from the
  aligned space (the paper: at random) and stops early (the paper: an L2 penalty).
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from muse.errors import Contradiction
from muse.sentences.encoders.pooling import Power, check_powers
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import Vocabulary
from muse.sentences.encoders.words import TrainedEncoder
from muse.sentences.systems.network_encoder import SentenceNetwork
from muse.sentences.systems.system import Fitted, Job, Preset, System
from muse.sentences.training.checks import check_fractions
from muse.sentences.training.losses import Align, Loss, LossChoice
from muse.sentences.training.trainer import TrainerConfig, train
from muse.sentences.training.two_sides import PairLearner, TwoSides
from muse.space import Space


class WordTables(TwoSides):
    """A trainable encoder that gives each word one row, independent of its sentence, and pools the rows."""

    pooling: str  # mean or sum

    @abstractmethod
    def pivot_table(self) -> Tensor | None:
        """The rows (n, d') of the pivot's words; None if the space's own are used."""

    @abstractmethod
    def other_table(self) -> Tensor:
        """The rows (m, d') of the other language's words."""


class XCbow(WordTables):
    """Averages the rows of the aligned space, fixed for the pivot (n, d) and trained for the other (m, d)."""

    pooling = "mean"

    def __init__(self, pivot: Tensor, other: Tensor) -> None:
        super().__init__()
        self.register_buffer("_pivot", pivot, persistent=False)
        self._other = trainable(other, self.pooling)

    def pivot(self, batch: Ragged) -> Tensor:
        """The mean rows (b, d) of pivot sentences, without gradients."""
        return pooled(batch, self.get_buffer("_pivot"), self.pooling)

    def other(self, batch: Ragged) -> Tensor:
        """The mean rows (b, d) of sentences of the other language."""
        rows: Tensor = self._other(batch.ids, batch.offsets)
        return rows

    def pivot_table(self) -> Tensor | None:
        """None: the pivot keeps its rows of the space."""
        return None

    def other_table(self) -> Tensor:
        """The trained rows (m, d)."""
        return self._other.weight.detach()


class Projection(WordTables):
    """Projects the rows of the aligned space, pivot (n, d) and other (m, d); initially tanh alone."""

    pooling = "mean"

    def __init__(self, pivot: Tensor, other: Tensor, dropout: float = 0.0) -> None:
        super().__init__()
        self._dropout = dropout  # 0.5 in the paper; without power means it cost 8 points of held-out P@1
        self.register_buffer("_pivot_words", pivot, persistent=False)
        self.register_buffer("_other_words", other, persistent=False)
        self._pivot_map = _identity(pivot)
        self._other_map = _identity(other)

    def pivot(self, batch: Ragged) -> Tensor:
        """The means (b, d) of the projected words of pivot sentences."""
        return self._applied(batch, self.get_buffer("_pivot_words"), self._pivot_map)

    def other(self, batch: Ragged) -> Tensor:
        """The means (b, d) of the projected words of sentences of the other language."""
        return self._applied(batch, self.get_buffer("_other_words"), self._other_map)

    def both(self, pivot: Ragged, other: Ragged, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """The projected means (b, d) of both sides, used by the loss."""
        x = pooled(pivot, self.get_buffer("_pivot_words"), self.pooling)
        y = pooled(other, self.get_buffer("_other_words"), self.pooling)
        # Dropout removes the same dimensions from the whole batch; otherwise they would identify the pairs.
        noise = torch.rand(x.shape[1], generator=generator, device=x.device)
        kept = (noise >= self._dropout) / (1 - self._dropout)  # (d,)
        return torch.tanh(self._pivot_map(x * kept)), torch.tanh(self._other_map(y * kept))

    def _applied(self, batch: Ragged, words: Tensor, project: nn.Linear) -> Tensor:
        projected = torch.tanh(project(words[batch.ids]))  # (t, d)
        places = torch.arange(len(projected), device=words.device)
        return pooled(Ragged(places, batch.offsets), projected, self.pooling)

    def pivot_table(self) -> Tensor | None:
        """The projected rows (n, d)."""
        return torch.tanh(self._pivot_map(self.get_buffer("_pivot_words"))).detach()

    def other_table(self) -> Tensor:
        """The projected rows (m, d)."""
        return torch.tanh(self._other_map(self.get_buffer("_other_words"))).detach()


def _identity(words: Tensor) -> nn.Linear:
    """A linear map (d, d) initialised to the identity."""
    d = words.shape[1]
    project = nn.Linear(d, d, device=words.device)
    with torch.no_grad():
        project.weight.copy_(torch.eye(d))
        project.bias.zero_()
    return project


class CvmAdd(WordTables):
    """Sums rows that are initialised from the aligned space, pivot (n, d) and other (m, d)."""

    pooling = "sum"

    def __init__(self, pivot: Tensor, other: Tensor) -> None:
        super().__init__()
        self._pivot = trainable(pivot, self.pooling)
        self._other = trainable(other, self.pooling)

    def pivot(self, batch: Ragged) -> Tensor:
        """The summed rows (b, d) of pivot sentences."""
        rows: Tensor = self._pivot(batch.ids, batch.offsets)
        return rows

    def other(self, batch: Ragged) -> Tensor:
        """The summed rows (b, d) of sentences of the other language."""
        rows: Tensor = self._other(batch.ids, batch.offsets)
        return rows

    def pivot_table(self) -> Tensor | None:
        """The trained rows (n, d)."""
        return self._pivot.weight.detach()

    def other_table(self) -> Tensor:
        """The trained rows (m, d)."""
        return self._other.weight.detach()


def trainable(rows: Tensor, pooling: str) -> nn.EmbeddingBag:
    """A trainable copy of `rows` (n, d) with sparse gradients, updated only for the words of a batch."""
    return nn.EmbeddingBag.from_pretrained(
        rows.clone(), freeze=False, mode=pooling, sparse=True, include_last_offset=True
    )


def pooled(batch: Ragged, table: Tensor, pooling: str) -> Tensor:
    """The mean or sum (b, d) of the rows of each sentence's words in a table (n, d)."""
    return functional.embedding_bag(batch.ids, table, batch.offsets, mode=pooling, include_last_offset=True)


@dataclass(frozen=True)
class WordEncoderConfig:
    """The `default` loss of an encoder, the `chosen` one, and the power means of the trained words.

    `dropout` is the share of dimensions that the projection leaves out in a step.
    """

    default: LossChoice
    chosen: LossChoice = LossChoice()
    powers: tuple[Power, ...] = (1.0,)
    dropout: float = 0.0

    def __post_init__(self) -> None:
        self.loss()
        check_powers(self.powers)
        check_fractions(self, "dropout")

    def ineffective_settings(self) -> dict[str, str]:
        """None: an option without effect is an error in `train_words`."""
        return {}

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
    """The settings of the module; only the projection has one, its dropout."""
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


def _no_network(settings: Mapping[str, Any], _: Space) -> SentenceNetwork:
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
