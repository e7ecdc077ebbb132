"""The word encoders x-cbow, projection and cvm-add as systems: word vectors trained on parallel text.

* X-CBOW: the mean of word rows, fixed for the pivot, so that models trained on its sentences work for every
  language, and trained for the other (Conneau, 2019, section 4.2.4).
* Projection: f(x) = tanh(x W + b) for each language, learned on the means of sentences, applied to words
  (Rueckle et al., 2018, A.1), so that power means of the new rows can be taken. f(mean) is only close to the
  mean of f, by which held-out sentences are scored, as the encoder computes it.
* CVM-add: the sum of word rows, trained in both languages (Hermann and Blunsom, 2014). It starts from the
  aligned space (the paper: at random) and stops early (the paper: an L2 penalty).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from muse.errors import Contradiction
from muse.sentences.encoders.pooling import Power, check_powers
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import Vocabulary
from muse.sentences.encoders.words import TrainedEncoder
from muse.sentences.systems.system import Fitted, Job, Preset, System
from muse.sentences.training.corpora import PairLearner, RowNetwork
from muse.sentences.training.losses import Align, Loss, LossChoice
from muse.sentences.training.settings import Settings, setting
from muse.sentences.training.trainer import TrainerConfig

Languages = tuple[str, str]  # the pivot and the other


def word_rows(rows: Tensor, pooling: str, *, trained: bool) -> nn.EmbeddingBag:
    """The mean or sum of the rows (n, d) of a sentence's words, which begin as those of the space.

    The gradients of trained rows are sparse: only the words of a batch are updated.
    """
    return nn.EmbeddingBag.from_pretrained(
        rows.clone() if trained else rows, freeze=not trained, mode=pooling, sparse=trained,
        include_last_offset=True,
    )  # fmt: skip


class ProjectedWords(nn.Module):
    """f(x) = tanh(x W + b) of rows (n, d) of the space; initially tanh alone."""

    def __init__(self, rows: Tensor) -> None:
        super().__init__()
        self.register_buffer("rows", rows, persistent=False)
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

    def forward(self, ids: Tensor, offsets: Tensor) -> Tensor:
        """The means (b, d) of the projected words."""
        projected = self.project(self.get_buffer("rows")[ids])  # (t, d)
        places = torch.arange(len(projected), device=projected.device)
        return pooled(Ragged(places, offsets), projected, "mean")


class WordTables(RowNetwork):
    """The words of the pivot and of the other language, whose rows are averaged or added (`pooling`)."""

    def __init__(self, languages: Languages, words: Iterable[nn.Module], pooling: str = "mean") -> None:
        super().__init__()
        self.languages, self.sides, self.pooling = languages, nn.ModuleList(words), pooling

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The rows (b, d') of sentences."""
        rows: Tensor = self.sides[self.languages.index(language)](batch.ids, batch.offsets)
        return rows

    def tables(self) -> list[Tensor | None]:
        """The rows (n, d') of the words of both languages; None if they are the space's own."""
        weights = [side.weight for side in self.sides if isinstance(side, nn.EmbeddingBag)]
        return [weight.detach() if weight.requires_grad else None for weight in weights]


class ProjectedTables(WordTables):
    """Projected words of both languages, with dropout of dimensions in training."""

    def __init__(self, languages: Languages, pivot: Tensor, other: Tensor, dropout: float = 0.0) -> None:
        words = (ProjectedWords(pivot), ProjectedWords(other))
        super().__init__(languages, words)
        self._words, self._dropout = words, dropout

    def both(
        self, sides: tuple[Ragged, Ragged], languages: Languages, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """The projected means (b, d) of both sides, used by the loss."""
        ours, theirs = self._words
        x, y = ours.mean(sides[0]), theirs.mean(sides[1])
        # Dropout removes the same dimensions from the whole batch; otherwise they would identify the pairs.
        noise = torch.rand(x.shape[1], generator=generator, device=x.device)
        kept = (noise >= self._dropout) / (1 - self._dropout)  # (d,)
        return ours.project(x * kept), theirs.project(y * kept)

    def tables(self) -> list[Tensor | None]:
        """The projected rows (n, d) of the words of both languages."""
        return [words.project(words.get_buffer("rows")).detach() for words in self._words]


def x_cbow(languages: Languages, pivot: Tensor, other: Tensor) -> WordTables:
    """Rows of the aligned space, fixed for the pivot (n, d) and trained for the other language (m, d)."""
    words = word_rows(pivot, "mean", trained=False), word_rows(other, "mean", trained=True)
    return WordTables(languages, words)


def cvm_add(languages: Languages, pivot: Tensor, other: Tensor) -> WordTables:
    """Rows that begin as those of the aligned space, pivot (n, d) and other (m, d), trained and added."""
    words = (word_rows(rows, "sum", trained=True) for rows in (pivot, other))
    return WordTables(languages, words, "sum")


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
    parallel = job.parallel(lambda language: Vocabulary(language, space.vectors(language).index))
    # Copies, because the memory-mapped folder may be replaced while its rows are in use.
    rows = [torch.tensor(space.vectors(one).matrix, device=job.runtime.device) for one in job.languages]
    tables = make(job.languages, *rows, **({"dropout": dropout} if name == PROJECTION.name else {}))
    learner = PairLearner(tables, loss, parallel, job.runtime.processes)
    epochs = job.train(learner)
    counts = {name: parallel.counts[name] for name in ("pairs", "skipped")}
    own = zip(job.languages, tables.tables(), strict=True)
    encoder = TrainedEncoder(
        label=f"{name}[{loss}{f',dropout:{dropout:g}' if dropout else ''}]",
        space=space,
        trained_for=job.languages[::-1],
        tables={language: table.cpu().numpy() for language, table in own if table is not None},
        pooling=tables.pooling,
        powers=check_powers(config.powers),
        settings={
            "encoder": name,
            "loss": str(loss),
            "dropout": dropout,
            "trainer": job.trainer,
            "seed": job.request.seed,
            "parallel": [{"path": path, "sha256": digest} for path, digest in job.recipe["inputs"]],
        },
    )
    return Fitted(encoder, epochs, learner.metric, learner.eval().held_out(), counts)


def _system(
    name: str, make: Callable[..., WordTables], default: LossChoice, trainer: TrainerConfig
) -> System:
    presets = {"small": Preset(WordEncoderConfig(default), trainer)}
    return System(name, presets, ("parallel",), partial(train_words, make))


# Rates, batches and losses were chosen on held-out pairs of fr-en training text. The projection's paper uses
# the loss hinge.
_TRAINER = TrainerConfig(batch=512, rate=3e-3)
X_CBOW = _system("x-cbow", x_cbow, LossChoice("align"), _TRAINER)
PROJECTION = _system(
    "projection", ProjectedTables, LossChoice("softmax"), replace(_TRAINER, batch=256, rate=1e-3)
)
# The margin is larger than usual because sums of rows are longer than means.
CVM_ADD = _system("cvm-add", cvm_add, LossChoice("squared", margin=10.0), _TRAINER)
