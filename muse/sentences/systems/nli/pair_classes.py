"""Pair classification: labelled pairs of sentences, a classifier of the features of two rows, its learner.

The pairs are inferences from a file, or others that implement PairExamples. `classify` gives each pair of
sentences its label by a trained network.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from muse.errors import BadSetting, Contradiction, Mismatch
from muse.progress import Progress
from muse.sentences.encoders.encoder import SentenceEncoder, check_trained_for
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import Reader, Reading
from muse.sentences.files.nli import LABELS, Inference, read_nli
from muse.sentences.systems.network_encoder import NetworkEncoder, SentenceNetwork
from muse.sentences.systems.system import Job
from muse.sentences.training.pairs import read_text
from muse.sentences.training.trainer import HeldOutScore, Learner

Classes = NDArray[np.int64]
PAIRS_IN_BATCH = 256  # pairs classified at once, outside training


class LabelledPairs(NamedTuple):
    """The first and the second sentence of b pairs, and their classes (b,)."""

    first: Ragged
    second: Ragged
    labels: Tensor


class PairExamples(Protocol):
    """Labelled pairs to train on and held-out ones."""

    @property
    def languages(self) -> tuple[str, str]:
        """The languages of the first and of the second sentences."""

    def __len__(self) -> int:
        """The number n of examples to train on."""

    def training(self, rows: Tensor, generator: torch.Generator) -> LabelledPairs:
        """The examples with these numbers (b,); random draws come from `generator`."""

    def held_out(self) -> Iterator[LabelledPairs]:
        """The held-out examples, the same at every call."""


@dataclass(frozen=True, eq=False)
class Inferences:
    """Premises and hypotheses, their labels (p,), and the indices of training and held-out (dev) rows.

    `skipped` pairs have no known word on one side, `truncated` sentences were cut, and `undecided` pairs have
    no label.
    """

    languages: tuple[str, str]
    first: Ragged
    second: Ragged
    labels: Tensor
    train: Tensor
    dev: Tensor
    skipped: int
    truncated: int
    undecided: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """The counts to report."""
        left_out = {name: getattr(self, name) for name in ("skipped", "truncated", "undecided")}
        return {"pairs": len(self), **left_out}

    def __len__(self) -> int:
        return len(self.train)

    def training(self, rows: Tensor, generator: torch.Generator) -> LabelledPairs:
        """The training pairs with these numbers (b,)."""
        return self._pairs(self.train[rows])

    def held_out(self) -> Iterator[LabelledPairs]:
        """The pairs of the file's dev part."""
        return map(self._pairs, torch.split(self.dev, PAIRS_IN_BATCH))

    def _pairs(self, rows: Tensor) -> LabelledPairs:
        return LabelledPairs(self.first.take(rows), self.second.take(rows), self.labels[rows])


def read_inferences(job: Job, reader_of: Callable[[str], Reader]) -> Inferences:
    """The inferences of a request in its language, as the reader of that language reads them.

    Mismatch if too few of their train and dev pairs have known words.
    """
    if job.request.nli is None:
        raise Contradiction("training on inferences needs --nli to train on, got none; add it")
    text, language, runtime = read_nli(job.request.nli), job.request.language, job.runtime
    reader = reader_of(language)
    read = [read_text(side, reader, runtime.progress) for side in (text.premises, text.hypotheses)]
    return inferences_of(text, read, language, runtime.device)


def inferences_of(text: Inference, read: Sequence[Reading], language: str, device: str) -> Inferences:
    """The train and dev parts of a file whose premises and hypotheses were read already."""
    usable = torch.logical_and(*(side.sentences.lengths > 0 for side in read)).numpy()  # (p,)
    parts, labels = np.array(text.parts), np.array(text.labels, np.int64)
    train, dev = (np.flatnonzero(usable & (parts == part)) for part in ("train", "dev"))
    if len(train) < 2 or not len(dev):
        raise Mismatch(
            f"training needs at least two train pairs and one dev pair with known {language} "
            f"{read[0].unit}s in both sentences, got {len(train)} and {len(dev)} of {len(parts)} pairs; "
            "check --lang and the file"
        )
    first, second = (side.sentences.to(device) for side in read)
    classes, train_rows, dev_rows = (torch.from_numpy(array).to(device) for array in (labels, train, dev))
    skipped = int(np.count_nonzero(~usable & (parts != "test")))
    truncated = sum(side.truncated for side in read)
    return Inferences(
        (language, language), first, second, classes, train_rows, dev_rows, skipped, truncated, text.undecided
    )


class PairNetwork(SentenceNetwork):
    """A sentence network that also sorts pairs of sentences into a number of `classes`."""

    classes: int

    @abstractmethod
    def logits(self, first: Ragged, second: Ragged, languages: tuple[str, str]) -> Tensor:
        """The logits (b, classes) of b pairs of sentences in these languages."""


class PairClassifier(nn.Module):
    """A classifier of pairs: logits of the classes, from the pair's features through one hidden layer."""

    __call__: Callable[..., Tensor]

    def __init__(self, dimension: int, hidden: int, classes: int, dropout: float) -> None:
        super().__init__()
        self.classes = classes
        self.layers = nn.Sequential(
            nn.Linear(4 * dimension, hidden), nn.Tanh(), nn.Dropout(dropout), nn.Linear(hidden, classes)
        )

    def forward(self, u: Tensor, v: Tensor) -> Tensor:
        """The logits (b, classes) of the rows u (b, d) and v (b, d)."""
        logits: Tensor = self.layers(pair_features(u, v))
        return logits


def pair_features(u: Tensor, v: Tensor) -> Tensor:
    """[u, v, |u - v|, u * v] (b, 4 d) of the rows u (b, d) and v (b, d) (Conneau, 2019, figure 3.1)."""
    return torch.cat([u, v, (u - v).abs(), u * v], dim=1)


class RowPairNetwork(PairNetwork):
    """A network that classifies pairs by their rows."""

    head: PairClassifier

    @property
    def classifier(self) -> PairClassifier:
        """The classifier of pairs of rows."""
        return self.head

    def logits(self, first: Ragged, second: Ragged, languages: tuple[str, str]) -> Tensor:
        """The logits (b, classes) of b pairs of sentences in these languages."""
        u, v = (self(batch, language) for batch, language in zip((first, second), languages, strict=True))
        return self.classifier(u, v)


class WithClassifier(RowPairNetwork):
    """A network and a classifier of pairs of its rows."""

    def __init__(self, network: SentenceNetwork, classifier: PairClassifier) -> None:
        super().__init__()
        self.network, self.head = network, classifier
        self.dimension, self.classes, self.reader = network.dimension, classifier.classes, network.reader

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The rows (b, d') of the network."""
        return self.network(batch, language)


def with_inference(network: SentenceNetwork, hidden: int = 512, dropout: float = 0.0) -> WithClassifier:
    """The network with an untrained classifier of inferences."""
    return WithClassifier(network, PairClassifier(network.dimension, hidden, len(LABELS), dropout))


class PairClassLearner(Learner):
    """Fits a network that classifies pairs, by the cross-entropy of the classes."""

    metric = "accuracy"

    def __init__(self, network: PairNetwork, pairs: PairExamples) -> None:
        super().__init__()
        self.network, self._pairs, self.examples = network, pairs, len(pairs)

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The mean () of - log p(class)."""
        pairs = self._pairs.training(rows, generator)
        return functional.cross_entropy(self._logits(pairs), pairs.labels)

    @torch.no_grad()
    def held_out(self) -> HeldOutScore:
        """The accuracy on the held-out examples."""
        parts = [(self._logits(pairs).argmax(dim=1), pairs.labels) for pairs in self._pairs.held_out()]
        right = torch.cat([found == labels for found, labels in parts])  # (h,)
        return HeldOutScore(len(right), 100 * float(right.double().mean()), int(right.sum()))

    def _logits(self, pairs: LabelledPairs) -> Tensor:
        return self.network.logits(pairs.first, pairs.second, self._pairs.languages)


def classify(
    encoder: SentenceEncoder,
    premises: Sequence[str],
    hypotheses: Sequence[str],
    language: str,
    *,
    progress: Progress,
) -> Classes:
    """The index (p,) in LABELS of each pair's label; -1 if a sentence of the pair has no known word.

    BadSetting if the encoder has no classifier of inferences, or was not trained for the language.
    """
    network = encoder.network if isinstance(encoder, NetworkEncoder) else None
    if not (isinstance(network, PairNetwork) and network.classes == len(LABELS)):
        raise BadSetting(
            f"inference needs an encoder that was trained with --nli, such as infersent, x-bilstm, lens, "
            f"cmlm or xlm; {encoder.name} has no classifier of {', '.join(LABELS)}"
        )
    network.eval()
    check_trained_for(encoder, language)
    reader = network.reader(language)
    first, second = (read_text(side, reader, progress).sentences for side in (premises, hypotheses))
    known = ((first.lengths > 0) & (second.lengths > 0)).nonzero()[:, 0]
    found = torch.full((len(premises),), -1)
    with torch.no_grad():
        for rows in torch.split(known, PAIRS_IN_BATCH) if len(known) else ():  # of nothing, one part
            one, other = (side.take(rows).to(network.device) for side in (first, second))
            found[rows] = network.logits(one, other, (language, language)).argmax(dim=1).cpu()
    labels: Classes = found.numpy()
    return labels
