"""Encoders whose rows of words or of pieces are trained on parallel text: x-cbow, projection, cvm-add, sp.

* X-CBOW: the mean of word rows, fixed for the pivot, so that models trained on its sentences work for every
  language, and trained for the other (Conneau, 2019, section 4.2.4).
* Projection: f(x) = tanh(x W + b) for each language, learned on the means of sentences, applied to words
  (Rueckle et al., 2018, A.1), so that power means of the new rows can be taken. f(mean) is only close to the
  mean of f, by which held-out sentences are scored, as the encoder computes it.
* CVM-add: the sum of word rows, trained in both languages (Hermann and Blunsom, 2014). It starts from the
  aligned space (the paper: at random) and stops early (the paper: an L2 penalty).
* SP: the mean of the rows of word pieces, which all languages share, trained by a margin on hard negatives
  (Wieting et al., 2019). A word that the space lacks is read by its pieces; the order of words is not read.
  A BiLSTM over the pieces, their other encoder, reads it too (Wieting and Gimpel, 2017).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from muse.errors import Contradiction
from muse.run.seeds import TrainingStream, generator_for, torch_seeded
from muse.sentences.encoders.pooling import Power, check_powers
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import Limited, Reader, Vocabulary
from muse.sentences.encoders.words import TrainedEncoder
from muse.sentences.files.sentence_text import read_pairs
from muse.sentences.systems.network_encoder import SentenceNetwork
from muse.sentences.systems.networks.sentence_rows import Recurrent
from muse.sentences.systems.networks.transformer import random_rows
from muse.sentences.systems.pieces import INITIAL, SPECIALS, Pieces, aligned_rows, space_of_words
from muse.sentences.systems.system import Fitted, Job, Preset, System
from muse.sentences.training.losses import Align, Hinge, Loss, LossChoice
from muse.sentences.training.pair_learner import PairLearner, RowNetwork
from muse.sentences.training.settings import Settings, Unused, setting
from muse.sentences.training.trainer import TrainerConfig
from muse.space import Space

Languages = tuple[str, str]  # the pivot and the other


class WordTables(RowNetwork):
    """X-CBOW: the mean of words' rows, fixed for the pivot and trained for the other language.

    They begin as those of the space. Gradients are sparse: only the words of a batch are updated.
    """

    pooling, trained = "mean", (False, True)  # of the pivot, of the other

    def __init__(self, languages: Languages, *rows: Tensor) -> None:
        super().__init__()
        self.languages = languages
        self.sides = nn.ModuleList(
            nn.EmbeddingBag.from_pretrained(
                one.clone() if trained else one, freeze=not trained, mode=self.pooling, sparse=trained,
                include_last_offset=True,
            )
            for one, trained in zip(rows, self.trained, strict=True)
        )  # fmt: skip

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The rows (b, d) of sentences."""
        rows: Tensor = self.sides[self.languages.index(language)](batch.ids, batch.offsets)
        return rows

    def tables(self) -> list[Tensor | None]:
        """The rows (n, d) of the words of both languages; None if they are the space's own."""
        weights = (side.get_parameter("weight") for side in self.sides)
        return [weight.detach() if weight.requires_grad else None for weight in weights]


class AddedTables(WordTables):
    """CVM-add: the sum of words' rows, trained in both languages."""

    pooling, trained = "sum", (True, True)


class ProjectedTables(RowNetwork):
    """f(x) = tanh(x W + b) of the rows of a language's words in the space; initially tanh alone.

    In training a share of the dimensions is left out: `dropout`.
    """

    pooling = "mean"

    def __init__(self, languages: Languages, *rows: Tensor, dropout: float = 0.0) -> None:
        super().__init__()
        self.languages, self._rows, self._dropout = languages, rows, dropout
        d = rows[0].shape[1]
        self.maps = nn.ModuleList(nn.Linear(d, d, device=one.device) for one in rows)
        with torch.no_grad():
            for one in self.maps:
                one.get_parameter("weight").copy_(torch.eye(d))
                one.get_parameter("bias").zero_()

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The means (b, d) of the projected words."""
        place = self.languages.index(language)
        projected = torch.tanh(self.maps[place](self._rows[place][batch.ids]))  # (t, d)
        places = torch.arange(len(projected), device=projected.device)
        return pooled(Ragged(places, batch.offsets), projected, "mean")

    def both(
        self, sides: tuple[Ragged, Ragged], languages: Languages, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """The projected means (b, d) of both sides, used by the loss."""
        x, y = (pooled(side, rows, "mean") for side, rows in zip(sides, self._rows, strict=True))
        # Dropout removes the same dimensions from the whole batch; otherwise they would identify the pairs.
        noise = torch.rand(x.shape[1], generator=generator, device=x.device)
        kept = (noise >= self._dropout) / (1 - self._dropout)  # (d,)
        return torch.tanh(self.maps[0](x * kept)), torch.tanh(self.maps[1](y * kept))

    def tables(self) -> list[Tensor | None]:
        """The projected rows (n, d) of the words of both languages."""
        return [torch.tanh(of(rows)).detach() for of, rows in zip(self.maps, self._rows, strict=True)]


Tables = WordTables | ProjectedTables


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


def train_words(make: Callable[..., Tables], job: Job) -> Fitted:
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


def _system(name: str, make: Callable[..., Tables], default: LossChoice, trainer: TrainerConfig) -> System:
    presets = {"small": Preset(WordEncoderConfig(default), trainer)}
    return System(name, presets, ("parallel",), partial(train_words, make))


# Rates, batches and losses were chosen on held-out pairs of fr-en training text. The projection's paper uses
# the loss hinge.
_TRAINER = TrainerConfig(batch=512, rate=3e-3)
X_CBOW = _system("x-cbow", WordTables, LossChoice("align"), _TRAINER)
PROJECTION = _system(
    "projection", ProjectedTables, LossChoice("softmax"), replace(_TRAINER, batch=256, rate=1e-3)
)
# The margin is larger than usual because sums of rows are longer than means.
CVM_ADD = _system("cvm-add", AddedTables, LossChoice("squared", margin=10.0), _TRAINER)


@dataclass(frozen=True)
class SpConfig(Settings):
    """The pieces, the network over them and its loss.

    Rows that come from the space have no more dimensions than it.
    """

    pieces: int = setting(8_000, "word pieces, which all languages share", above=len(SPECIALS))
    dimension: int = setting(300, "columns of a sentence vector", least=1)
    network: str = setting(
        "mean", "mean of the pieces, or bilstm: of its states over them", choices=("mean", "bilstm")
    )
    units: int = setting(256, "units of a direction of the bilstm", least=1)
    initial: str = setting("aligned", "where rows begin: aligned (the space) or random", choices=INITIAL)
    margin: float = setting(0.4, "how much closer a translation must be than the hardest negative", above=0)
    longest: int = setting(100, "pieces that are read of a sentence", least=1)
    punctuation: bool = setting(True, "whether it is read")

    def unused(self) -> tuple[Unused | None, ...]:
        """The units of a BiLSTM, without one."""
        return (Unused("units", "network") if self.network == "mean" else None,)


class SpNetwork(SentenceNetwork):
    """The rows (v, d) of pieces, and the layers over them, if any, whose states are averaged.

    `punctuation` (v,) is True for pieces that are not read; None if all are.
    """

    punctuation: Tensor | None

    def __init__(self, config: SpConfig, languages: Sequence[str], pieces: Pieces, rows: Tensor) -> None:
        super().__init__()
        self._config, self._languages, self._pieces = config, languages, pieces
        self.rows = nn.Parameter(rows)
        unread = None if config.punctuation else pieces.punctuation
        self.register_buffer("punctuation", unread, persistent=False)  # (v,)
        self.layers, self.dimension = None, config.dimension
        if config.network == "bilstm":
            self.layers = Recurrent("bilstm", config.dimension, config.units, "mean")
            self.dimension = self.layers.dimension

    def reader(self, language: str) -> Reader:
        """The reader of pieces, the same for all languages."""
        return Limited(self._pieces, self._config.longest)

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The means (b, d')."""
        if self.punctuation is not None:
            batch = batch.keep_some(~self.punctuation[batch.ids])
        if self.layers is None:
            return pooled(batch, self.rows, "mean")
        ids, mask = batch.padded()
        found: Tensor = self.layers(functional.embedding(ids, self.rows), mask)
        return found

    def word_space(self, space: Space) -> Space:
        """The words of a space with unit-length rows, each the mean of its pieces."""
        return space_of_words(self._pieces, self._languages, space, lambda ids: self.rows[ids])


SP_PRESETS = {
    # Chosen on held-out pairs of fr-en training text: the batch and the rate.
    "small": Preset(SpConfig(), TrainerConfig(epochs=40, batch=1_024, rate=3e-3, patience=3)),
    # The sizes and margin of BGT's paper, which draws its negatives from 40 to 100 batches.
    "paper": Preset(
        SpConfig(pieces=20_000, dimension=1_024, units=512, initial="random"),
        TrainerConfig(epochs=20, batch=5_120, rate=1e-3, patience=20),
    ),
}


def train_sp(job: Job) -> Fitted:
    """An SP trained on parallel text of the pivot with one language or several."""
    request, config, pivot = job.request, job.config, job.languages[0]
    read = {name: read_pairs(files, request.space, name) for name, files in request.parallel_files.items()}
    texts = {pivot: list(chain.from_iterable(text.pivot for text in read.values()))}
    texts |= {name: list(text.other) for name, text in read.items()}
    pieces = Pieces.learned(texts, config.pieces, generator_for(request.seed, *TrainingStream.FIRST))
    if config.initial == "random":
        rows = random_rows(len(pieces), config.dimension, generator_for(request.seed, *TrainingStream.SECOND))
    else:  # with the dimensions of the space at most: others would stay 0
        config = replace(config, dimension=min(config.dimension, request.space.vectors(pivot).dimension))
        rows = aligned_rows(pieces, (*texts,), request.space, config.dimension, request.seed)
    with torch_seeded(request.seed, *TrainingStream.FIRST):
        network = SpNetwork(config, (*texts,), pieces, rows).to(job.runtime.device)
    parallel = job.parallel(network.reader)
    loss = Hinge(config.margin, "cosine", "hardest")  # both ways
    learner = PairLearner(network, loss, parallel, job.runtime.processes)
    epochs = job.train(learner)
    label = (
        f"sp[{network.dimension},{config.initial}{'' if config.network == 'mean' else ',bilstm'}"
        f"{'' if config.punctuation else ',punctuation:no'}]"
    )
    settings = {"network": asdict(config), "languages": [*texts], "pieces": pieces.to_json()}
    counts = {"pieces": len(pieces)} | parallel.counts
    return job.fitted(learner, epochs, network, label, settings, counts)


def make_sp(settings: Mapping[str, Any], _: Space) -> SentenceNetwork:
    """The network of a saved SP, before its parameters are restored."""
    config, pieces = SpConfig(**settings["network"]), Pieces.from_json(settings["pieces"])
    rows = torch.zeros(len(pieces), config.dimension)
    return SpNetwork(config, settings["languages"], pieces, rows)


SP = System("sp", SP_PRESETS, ("parallel",), train_sp, make_sp, several=True)
