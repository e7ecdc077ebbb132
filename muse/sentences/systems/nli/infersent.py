"""InferSent, a network over a frozen backbone trained with a classifier of pairs, and encoders that match it.

The pairs are those of NLI (Conneau, 2019, section 3.2), or of translation detection, which needs no labels: a
sentence and its translation, or one about as long (Rücklé et al., 2018, section 5.1). X-BiLSTM trains an
encoder of another language, of the same form and with its words, to match the rows of a frozen English
InferSent (Conneau, 2019, section 4.2.4): what is learned from English rows then works in that language.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from muse.errors import BadSetting, Contradiction, Mismatch
from muse.run.seeds import TrainingStream, generator_for, torch_seeded
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.files.nli import LABELS
from muse.sentences.systems.backbone import Backbone, SpaceBackbone, restored_backbone
from muse.sentences.systems.network_encoder import open_network
from muse.sentences.systems.networks import sentence_rows
from muse.sentences.systems.nli import pair_classes
from muse.sentences.systems.system import Fitted, Job, Preset, System
from muse.sentences.training.losses import Align
from muse.sentences.training.pair_learner import PairLearner
from muse.sentences.training.pairs import Pairs
from muse.sentences.training.settings import Settings, Unused, setting
from muse.sentences.training.trainer import TrainerConfig
from muse.space import Space

WINDOW = 100  # sentences on either side, in the order of length, that a negative is drawn from
NO, YES = 0, 1  # the classes of translation detection
CONVOLUTION = "convolution"
CLASSES = {"nli": len(LABELS), "td": 2}  # the number of classes of an objective


@dataclass(frozen=True)
class InferSentConfig(Settings):
    """The network, its objective, and the classifier of pairs of its rows."""

    network: str = setting(
        "bilstm", "bilstm, lstm, bigru, gru or convolution", choices=(*sentence_rows.RECURRENT, CONVOLUTION)
    )
    units: int = setting(128, "units of a direction", least=1)
    pooling: str = setting(
        "max", "max, mean, last or attention, over the states", choices=sentence_rows.POOLINGS
    )
    objective: str = setting("nli", "nli, or td: does a sentence translate another?", choices=(*CLASSES,))
    hidden: int = setting(512, "hidden layer of the classifier", least=1)
    dropout: float = setting(0.0, "of the classifier", least=0, below=1)

    def unused(self) -> tuple[Unused | None, ...]:
        """The pooling, beside a network that has its own."""
        return (Unused("pooling", "network") if self.network == CONVOLUTION else None,)

    @property
    def form(self) -> str:
        """The network and the pooling in short; for the default network only the pooling."""
        if self.network == CONVOLUTION:
            return CONVOLUTION
        return self.pooling if self.network == "bilstm" else f"{self.network}-{self.pooling}"


class InferSent(pair_classes.RowPairNetwork):
    """A backbone, which is not saved, the BiLSTM over it, and the classifier."""

    def __init__(self, backbone: Backbone, config: InferSentConfig) -> None:
        super().__init__()
        self.backbone, self.config, self.reader = backbone, config, backbone.reader
        self.encoder = sentence_layers(backbone.dimension, config)
        self.dimension, self.classes = self.encoder.dimension, CLASSES[config.objective]
        self.head = pair_classes.PairClassifier(self.dimension, config.hidden, self.classes, config.dropout)

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The rows (b, d') of sentences."""
        rows: Tensor = self.encoder(*self.backbone.matrices(batch, language))
        return rows


def sentence_layers(
    width: int, config: InferSentConfig
) -> sentence_rows.Recurrent | sentence_rows.HierarchicalConvolution:
    """Untrained layers that make the row of a sentence of words (b, T, width)."""
    if config.network == CONVOLUTION:
        return sentence_rows.HierarchicalConvolution(width, config.units)
    return sentence_rows.Recurrent(config.network, width, config.units, config.pooling)


class TranslationExamples:
    """Every pair of parallel text twice: unchanged, and with a negative drawn again in each epoch."""

    def __init__(self, pairs: Pairs, languages: tuple[str, str], seed: int) -> None:
        self.pairs, self.languages, self.counts, self._seed = pairs, languages, pairs.counts, seed
        self._training = by_length(pairs, pairs.training, generator_for(seed, *TrainingStream.SAME_LENGTH))
        drawn = generator_for(seed, *TrainingStream.HELD_OUT_SAME_LENGTH)
        self._held_out = by_length(pairs, pairs.held_out, drawn)

    def __len__(self) -> int:
        return 2 * len(self._training)

    def training(self, rows: Tensor, generator: torch.Generator) -> pair_classes.LabelledPairs:
        """The examples with these indices (b,); the first p are true pairs, the next p have negatives."""
        return self._examples(self._training, rows, generator)

    def held_out(self) -> Iterator[pair_classes.LabelledPairs]:
        """The held-out pairs, true and with negatives, which are the same at every call."""
        rows = torch.arange(2 * len(self._held_out), device=self._held_out.device)
        drawn = generator_for(self._seed, *TrainingStream.HELD_OUT_NEGATIVES, device=str(rows.device))
        return (
            self._examples(self._held_out, part, drawn)
            for part in torch.split(rows, pair_classes.PAIRS_IN_BATCH)
        )

    def _examples(self, part: Tensor, rows: Tensor, generator: torch.Generator) -> pair_classes.LabelledPairs:
        """The examples (b,) of a `part` (p,) in order: the first p are true, the next p have negatives."""
        right = rows % len(part)
        drawn = within_window(right, len(part), generator)
        places, chosen = part[right], part[torch.where(rows < len(part), right, drawn)]  # (b,)
        # A drawn sentence may happen to be a translation, if either side of the two pairs is equal.
        pivot, other = self.pairs.keys
        labels = (pivot[places] == pivot[chosen]) | (other[places] == other[chosen])  # (b,)
        return pair_classes.LabelledPairs(
            self.pairs.pivot.take(places), self.pairs.other.take(chosen), torch.where(labels, YES, NO)
        )


def by_length(pairs: Pairs, rows: Tensor, generator: torch.Generator) -> Tensor:
    """The pairs `rows` (p,) in the order of their translations' lengths, those of one length at random."""
    drawn = rows[torch.randperm(len(rows), generator=generator).to(rows.device)]
    return drawn[pairs.other.lengths[drawn].argsort(stable=True)]


def within_window(places: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """For each of these places (b,) in an order of `count`, a different place within the window."""
    reach = max(1, min(WINDOW, count // 2))
    shift = torch.randint(1, reach + 1, places.shape, generator=generator, device=places.device)
    sign = 2 * torch.randint(0, 2, places.shape, generator=generator, device=places.device) - 1
    found = places + sign * shift
    return torch.where((found < 0) | (found >= count), places - sign * shift, found)


PRESETS = {
    "small": Preset(InferSentConfig(), TrainerConfig(epochs=20, batch=64, rate=1e-3, steps=400)),
    # The rate starts at 0.1, is multiplied by 0.99 after every epoch and divided by 5 after one without
    # improvement; training ends when it falls below 1e-5.
    "paper": Preset(
        InferSentConfig(units=2_048),
        TrainerConfig(
            epochs=20, batch=64, rate=0.1, patience=20, optimiser="sgd", decay=0.99, shrink=0.2, lowest=1e-5
        ),
    ),
}


def train_infersent(job: Job) -> Fitted:
    """An encoder trained with a classifier of the objective's pairs."""
    request, config = job.request, job.config
    needed, other = ("nli", "parallel") if config.objective == "nli" else ("parallel", "nli")
    if getattr(request, other):
        raise Contradiction(
            f"infersent with objective={config.objective} does not use --{other}; leave it out, "
            f"or --set objective={'td' if config.objective == 'nli' else 'nli'}"
        )
    if not getattr(request, needed):
        raise Contradiction(
            f"infersent with objective={config.objective} needs --{needed} to train on, got none; add it"
        )
    pairs: pair_classes.Inferences | TranslationExamples
    if config.objective == "nli":
        pairs = pair_classes.read_inferences(job, job.backbone.reader)
    else:
        pairs = TranslationExamples(job.parallel().pairs[request.language], job.languages, request.seed)
    with torch_seeded(request.seed, *TrainingStream.FIRST):
        network = InferSent(job.backbone, config).to(job.runtime.device)
    learner = pair_classes.PairClassLearner(network, pairs)
    epochs = job.train(learner)
    label = f"infersent[{config.objective},{config.form}:{network.dimension},{job.backbone.name}]"
    settings = {"network": asdict(config), "backbone": dict(job.backbone.settings)}
    return job.fitted(learner, epochs, network, label, settings, pairs.counts)


def make_infersent(settings: Mapping[str, Any], space: Space) -> InferSent:
    """The network of a saved encoder; Mismatch if the weights of its backbone have changed."""
    return InferSent(restored_backbone(settings["backbone"], space), InferSentConfig(**settings["network"]))


INFERSENT = System(
    "infersent", PRESETS, (), train_infersent, make_infersent, uses=("nli", "parallel"), takes_backbone=True
)


@dataclass(frozen=True)
class XBiLSTMConfig(Settings):
    """The settings; weights copied from the English encoder suit an aligned space, the paper draws them."""

    english: str = setting("", "folder of the InferSent to match", folder_unless=("",))
    units: int = setting(128, "units of a direction, as that has")
    weight: float = setting(0.25, "lambda: how much random pairs are pushed apart", least=0, most=0.5)
    copied: bool = setting(True, "begins with the English weights; false: at random")
    words: bool = setting(True, "trains the word vectors of the language too")


class LanguageBiLSTM(nn.Module):
    """The words (m, K) of one language, and a BiLSTM with the sizes of the English one."""

    def __init__(self, english: InferSent, words: Tensor) -> None:
        super().__init__()
        self.words = nn.Embedding(words.shape[0], words.shape[1], sparse=True, _weight=words)
        self.encoder = sentence_layers(words.shape[1], english.config)

    def forward(self, batch: Ragged) -> Tensor:
        """The rows (b, d') of sentences."""
        mask = batch.padded().mask  # (b, T)
        words = self.words.weight.new_zeros(*mask.shape, self.words.embedding_dim)  # (b, T, K)
        # Padding must not use a word of the table, which training would then change.
        words = words.index_put(mask.nonzero(as_tuple=True), self.words(batch.ids))
        found: Tensor = self.encoder(words, mask)
        return found


class XBiLSTM(pair_classes.RowPairNetwork):
    """The English network, frozen, and a network for each other language, over its words (m, K)."""

    def __init__(self, english: InferSent, words: Mapping[str, Tensor]) -> None:
        super().__init__()
        self.english = english.requires_grad_(False)
        self.others = nn.ModuleDict(
            {_module(language): LanguageBiLSTM(english, rows) for language, rows in words.items()}
        )
        self.dimension, self.classes, self.reader = english.dimension, english.classes, english.reader

    @property
    def classifier(self) -> pair_classes.PairClassifier:
        """The classifier of the English network."""
        return self.english.classifier

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The rows (b, d') of sentences."""
        name = _module(language)
        rows: Tensor = self.others[name](batch) if name in self.others else self.english(batch, language)
        return rows


def _module(language: str) -> str:
    """The name of the module of a language: ModuleDict takes no dots, and no names of its own attributes."""
    name = language.replace(".", "%2E")
    return f"{name}%" if hasattr(nn.ModuleDict, name) else name


X_BILSTM_PRESETS = {
    "small": Preset(XBiLSTMConfig(), TrainerConfig(epochs=8, batch=128, rate=1e-3, steps=250)),
    "paper": Preset(XBiLSTMConfig(units=512, copied=False), TrainerConfig(epochs=20, batch=64, rate=1e-3)),
}


def train_x_bilstm(job: Job) -> Fitted:
    """Encoders of the languages, trained by L_align on parallel text to match the encoder of the pivot."""
    request, config, device = job.request, job.config, job.runtime.device
    english = _opened(job)
    parallel = job.parallel()
    words = {name: torch.tensor(request.space.vectors(name).matrix) for name in parallel.pairs}
    # The first stream would repeat the initial weights of an InferSent with the same seed.
    with torch_seeded(request.seed, *TrainingStream.SECOND):
        network = XBiLSTM(english, words).to(device)
    for other in network.others.children():
        if config.copied:
            other.get_submodule("encoder").load_state_dict(english.encoder.state_dict())
        other.get_submodule("words").requires_grad_(config.words)
    loss = Align(config.weight)
    learner = PairLearner(network, loss, parallel, job.runtime.processes)
    epochs = job.train(learner)
    label = f"x-bilstm[{english.config.form}:{network.dimension},{loss}]"
    settings = {"network": asdict(english.config), "learned": [*parallel.pairs]}
    settings["languages"] = [job.languages[0], *parallel.pairs]
    return job.fitted(learner, epochs, network, label, settings, parallel.counts)


def _opened(job: Job) -> InferSent:
    config, space = job.config, job.request.space
    if not config.english:
        raise BadSetting(
            "x-bilstm needs an English encoder: give --set english=FOLDER with one that muse train --encoder "
            f"{INFERSENT.name} made for this space"
        )
    english = open_english(Path(config.english), job.backbone, space)
    if english.config.units != config.units:
        raise Mismatch(
            f"{config.english}: this preset needs an encoder of {config.units} units, got "
            f"{english.config.units}; train a matching one, or give --set units={english.config.units}"
        )
    return english


def open_english(folder: Path, backbone: Backbone, space: Space) -> InferSent:
    """The InferSent network saved in a folder, for the words of a space."""

    def make(settings: Mapping[str, Any]) -> InferSent:
        if settings.get("backbone"):
            raise BadSetting(f"{folder}: x-bilstm needs an encoder trained without --backbone")
        return InferSent(backbone, InferSentConfig(**settings["network"]))

    needed = f"x-bilstm needs an encoder trained with {INFERSENT.name}"
    return open_network(folder, INFERSENT.name, needed, make, space)


def make_x_bilstm(settings: Mapping[str, Any], space: Space) -> XBiLSTM:
    """The network of a saved encoder."""
    english = InferSent(SpaceBackbone(space), InferSentConfig(**settings["network"]))
    shapes = {name: space.vectors(name).matrix.shape for name in settings["learned"]}
    return XBiLSTM(english, {name: torch.empty(shape) for name, shape in shapes.items()})


X_BILSTM = System("x-bilstm", X_BILSTM_PRESETS, ("parallel",), train_x_bilstm, make_x_bilstm, several=True)
