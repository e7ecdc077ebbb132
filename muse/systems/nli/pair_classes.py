"""Pair classification: the features of two rows, a classifier on them, and the learner that fits both."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from muse.encoders.ragged import Ragged
from muse.encoders.reading import Reader
from muse.systems.network_encoder import SentenceNetwork
from muse.training.learner import Learner


def pair_features(u: Tensor, v: Tensor) -> Tensor:
    """[u, v, |u - v|, u * v] (b, 4 d) of the rows u (b, d) and v (b, d) (Conneau, 2019, figure 3.1)."""
    return torch.cat([u, v, (u - v).abs(), u * v], dim=1)


class PairClassifier(nn.Module):
    """A classifier of pairs: logits of the classes, from the pair's features through one hidden layer."""

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


class PairNetwork(SentenceNetwork):
    """A sentence network that also classifies pairs of sentences."""

    @property
    @abstractmethod
    def classes(self) -> int:
        """The number of classes."""

    @abstractmethod
    def logits(self, first: Ragged, second: Ragged, languages: tuple[str, str]) -> Tensor:
        """The logits (b, classes) of b pairs of sentences in these languages."""


class RowPairNetwork(PairNetwork):
    """A network that classifies pairs by their rows."""

    @property
    @abstractmethod
    def classifier(self) -> PairClassifier:
        """The classifier of pairs of rows."""

    @property
    def classes(self) -> int:
        """The number of classes of the classifier."""
        return self.classifier.classes

    def logits(self, first: Ragged, second: Ragged, languages: tuple[str, str]) -> Tensor:
        """The logits (b, classes) of b pairs of sentences in these languages."""
        u, v = (self(batch, language) for batch, language in zip((first, second), languages, strict=True))
        found: Tensor = self.classifier(u, v)
        return found


class WithClassifier(RowPairNetwork):
    """A network and a classifier of pairs of its rows."""

    def __init__(self, network: SentenceNetwork, classifier: PairClassifier) -> None:
        super().__init__()
        self.network, self.head = network, classifier

    @property
    def dimension(self) -> int:
        """The number of columns d' of the network."""
        return self.network.dimension

    @property
    def classifier(self) -> PairClassifier:
        """The classifier."""
        return self.head

    def reader(self, language: str) -> Reader:
        """The reader of the network."""
        return self.network.reader(language)

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The rows (b, d') of the network."""
        rows: Tensor = self.network(batch, language)
        return rows


class LabelledPairs(NamedTuple):
    """The first and the second sentence of b pairs, and their classes (b,)."""

    first: Ragged
    second: Ragged
    labels: Tensor


class PairExamples(Protocol):
    """Labelled pairs, some of which are held out."""

    @property
    def languages(self) -> tuple[str, str]:
        """The language of the first sentences and that of the second ones."""

    def __len__(self) -> int:
        """The number n of examples to train on."""

    def training(self, rows: Tensor, generator: torch.Generator) -> LabelledPairs:
        """The examples with these numbers (b,); random draws come from `generator`."""

    def held_out(self) -> Iterator[LabelledPairs]:
        """The held-out examples, the same at every call."""


class PairClassLearner(Learner):
    """Fits a network that classifies pairs, by the cross-entropy of the classes."""

    def __init__(self, network: PairNetwork, pairs: PairExamples) -> None:
        super().__init__()
        self.network = network
        self._pairs = pairs

    @property
    def examples(self) -> int:
        """The number of training examples."""
        return len(self._pairs)

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The mean () of - log p(class)."""
        pairs = self._pairs.training(rows, generator)
        return functional.cross_entropy(self._logits(pairs), pairs.labels)

    def score(self) -> float:
        """The accuracy on the held-out examples, in percent."""
        return 100 * float(self._right().double().mean())

    def hits(self) -> int:
        """The number of held-out examples that are classified correctly."""
        return int(self._right().sum())

    @torch.no_grad()
    def _right(self) -> Tensor:
        """Whether each held-out example (h,) is classified correctly."""
        held_out = self._pairs.held_out()
        return torch.cat([self._logits(pairs).argmax(dim=1) == pairs.labels for pairs in held_out])

    def _logits(self, pairs: LabelledPairs) -> Tensor:
        return self.network.logits(pairs.first, pairs.second, self._pairs.languages)
