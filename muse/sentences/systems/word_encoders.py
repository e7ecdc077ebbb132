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

from abc import ABC, abstractmethod
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
from muse.sentences.training.losses import Align, Loss, LossChoice
from muse.sentences.training.settings import Settings, setting
from muse.sentences.training.trainer import TrainerConfig
from muse.sentences.training.two_sides import PairLearner, TwoSides
from muse.space import Space


class WordRows(nn.Module, ABC):
    """The rows of the words of one language, each independent of its sentence, and their pooling."""

    @abstractmethod
    def forward(self, batch: Ragged) -> Tensor:
        """The rows (b, d') of sentences."""

    @abstractmethod
    def table(self) -> Tensor | None:
        """The rows (n, d') of the words; None if they are the space's own."""


class FixedWords(WordRows):
    """The mean of rows (n, d) of the space, as they are."""

    def __init__(self, rows: Tensor) -> None:
        super().__init__()
        self.register_buffer("rows", rows, persistent=False)

    def forward(self, batch: Ragged) -> Tensor:
        """The means (b, d), without gradients."""
        return pooled(batch, self.get_buffer("rows"), "mean")

    def table(self) -> None:
        """None: the words keep their rows of the space."""
        return


class TrainedWords(WordRows):
    """The mean or sum of rows that begin as rows (n, d) of the space.

    Their gradients are sparse: only the words of a batch are updated.
    """

    def __init__(self, rows: Tensor, pooling: str) -> None:
        super().__init__()
        self.rows = nn.EmbeddingBag.from_pretrained(
            rows.clone(), freeze=False, mode=pooling, sparse=True, include_last_offset=True
        )

    def forward(self, batch: Ragged) -> Tensor:
        """The pooled rows (b, d)."""
        found: Tensor = self.rows(batch.ids, batch.offsets)
        return found

    def table(self) -> Tensor:
        """The trained rows (n, d)."""
        return self.rows.weight.detach()


class ProjectedWords(FixedWords):
    """f(x) = tanh(x W + b) of rows (n, d) of the space; initially tanh alone."""

    def __init__(self, rows: Tensor) -> None:
        super().__init__(rows)
        d = rows.shape[1]
        self.map = nn.Linear(d, d, device=rows.device)
        with torch.no_grad():
            self.map.weight.copy_(torch.eye(d))
            self.map.bias.zero_()

    def project(self, rows: Tensor) -> Tensor:
        """The projected rows (..., d)."""
        return torch.tanh(self.map(rows))

    def mean(self, batch: Ragged) -> Tensor:
        """The means (b, d) of the words' own rows."""
        return pooled(batch, self.get_buffer("rows"), "mean")

    def forward(self, batch: Ragged) -> Tensor:
        """The means (b, d) of the projected words."""
        projected = self.project(self.get_buffer("rows")[batch.ids])  # (t, d)
        places = torch.arange(len(projected), device=projected.device)
        return pooled(Ragged(places, batch.offsets), projected, "mean")

    def table(self) -> Tensor:  # type: ignore[override]
        """The projected rows (n, d)."""
        return self.project(self.get_buffer("rows")).detach()


class WordTables(TwoSides):
    """The words of the pivot and of the other language, whose rows are averaged or added (`pooling`)."""

    def __init__(self, pivot: WordRows, other: WordRows, pooling: str = "mean") -> None:
        super().__init__()
        self.sides, self.pooling = nn.ModuleList((pivot, other)), pooling

    def pivot(self, batch: Ragged) -> Tensor:
        """The rows (b, d') of pivot sentences."""
        rows: Tensor = self.sides[0](batch)
        return rows

    def other(self, batch: Ragged) -> Tensor:
        """The rows (b, d') of sentences of the other language."""
        rows: Tensor = self.sides[1](batch)
        return rows

    def tables(self) -> list[Tensor | None]:
        """The rows of the words of both languages."""
        return [side.table() for side in self.sides if isinstance(side, WordRows)]


class ProjectedTables(WordTables):
    """Projected words of both languages, with dropout of dimensions in training."""

    def __init__(self, pivot: Tensor, other: Tensor, dropout: float = 0.0) -> None:
        super().__init__(ProjectedWords(pivot), ProjectedWords(other))
        self._dropout = dropout

    def both(self, pivot: Ragged, other: Ragged, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """The projected means (b, d) of both sides, used by the loss."""
        ours, theirs = (side for side in self.sides if isinstance(side, ProjectedWords))
        x, y = ours.mean(pivot), theirs.mean(other)
        # Dropout removes the same dimensions from the whole batch; otherwise they would identify the pairs.
        noise = torch.rand(x.shape[1], generator=generator, device=x.device)
        kept = (noise >= self._dropout) / (1 - self._dropout)  # (d,)
        return ours.project(x * kept), theirs.project(y * kept)


def x_cbow(pivot: Tensor, other: Tensor) -> WordTables:
    """Rows of the aligned space, fixed for the pivot (n, d) and trained for the other language (m, d)."""
    return WordTables(FixedWords(pivot), TrainedWords(other, "mean"))


def cvm_add(pivot: Tensor, other: Tensor) -> WordTables:
    """Rows that begin as those of the aligned space, pivot (n, d) and other (m, d), trained and added."""
    return WordTables(TrainedWords(pivot, "sum"), TrainedWords(other, "sum"), "sum")


def pooled(batch: Ragged, table: Tensor, pooling: str) -> Tensor:
    """The mean or sum (b, d) of the rows of each sentence's words in a table (n, d)."""
    return functional.embedding_bag(batch.ids, table, batch.offsets, mode=pooling, include_last_offset=True)


@dataclass(frozen=True)
class WordEncoderConfig(Settings):
    """The `default` loss of an encoder, the `chosen` one, and the power means of the trained words."""

    default: LossChoice
    chosen: LossChoice = LossChoice()
    powers: tuple[Power, ...] = (1.0,)
    dropout: float = setting(0.0, "projection: share of dimensions left out in a step", least=0, below=1)

    def check(self) -> None:
        """Raise BadSetting for a loss or powers that cannot work."""
        self.loss()
        check_powers(self.powers)

    def loss(self) -> Loss:
        """The loss to train with."""
        return self.chosen.after(self.default).loss()


def train_words(make: Callable[..., WordTables], job: Job) -> Fitted:
    """An encoder of word vectors trained on pairs, by the module that `make` builds from both tables."""
    name, config, space = job.recipe["system"], job.config, job.request.space
    loss, dropout = config.loss(), config.dropout
    if isinstance(loss, Align) and name == CVM_ADD.name:
        raise Contradiction("--loss align has no minimum where both languages are trained; leave it out")
    if dropout and name != PROJECTION.name:
        raise Contradiction(f"--dropout is for projection, not for {name}; leave it out")
    pairs = job.pairs(lambda language: Vocabulary(language, space.vectors(language).index))
    # Copies, because the memory-mapped folder may be replaced while its rows are in use.
    rows = [torch.tensor(space.vectors(one).matrix, device=job.runtime.device) for one in job.languages]
    tables = make(*rows, **({"dropout": dropout} if name == PROJECTION.name else {}))
    learner = PairLearner(tables, loss, pairs, job.runtime.processes)
    epochs = job.train(learner)
    counts = {"pairs": len(pairs.training), "skipped": pairs.skipped}
    return Fitted.by(learner, epochs, _encoder(job, tables, loss), counts)


def _encoder(job: Job, tables: WordTables, loss: Loss) -> TrainedEncoder:
    (pivot, language), system, dropout = job.languages, job.recipe["system"], job.config.dropout
    rows = zip((pivot, language), tables.tables(), strict=True)
    return TrainedEncoder(
        label=f"{system}[{loss}{f',dropout:{dropout:g}' if dropout else ''}]",
        space=job.request.space,
        trained_for=(language, pivot),
        tables={name: table.cpu().numpy() for name, table in rows if table is not None},
        pooling=tables.pooling,
        powers=check_powers(job.config.powers),
        settings={
            "encoder": system,
            "loss": str(loss),
            "dropout": dropout,
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
X_CBOW = _system("x-cbow", x_cbow, LossChoice("align"), _TRAINER)
PROJECTION = _system(
    "projection", ProjectedTables, LossChoice("softmax"), replace(_TRAINER, batch=256, rate=1e-3)
)
# The margin is larger than usual because sums of rows are longer than means.
CVM_ADD = _system("cvm-add", cvm_add, LossChoice("squared", margin=10.0), _TRAINER)
