"""Network encoders: a torch module that makes rows of sentences, as an encoder that is saved and loaded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from muse.encoders.encoder import Encoded, SentenceEncoder, check_trained_for
from muse.encoders.ragged import Ragged
from muse.encoders.reading import Reader, blocks
from muse.encoders.saving import Arrays, Saved, checksums, write_encoder
from muse.errors import BadSetting
from muse.files.space_manifest import plain
from muse.space import AlignedSpace
from muse.systems.networks.transformer import current_names
from muse.training.two_sides import TwoSides
from muse.vectors import Matrix

KIND = "network"
_TOKENS = 1 << 14  # of a batch with its padding: its matrices, with all that is made of them, stay small


class SentenceNetwork(nn.Module, ABC):
    """What makes rows of sentences: its parameters, and buffers that persist, are all that is saved of it."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of columns d'."""

    @abstractmethod
    def reader(self, language: str) -> Reader:
        """What reads sentences of a language into the numbers it takes."""

    @abstractmethod
    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The rows (b, d') of sentences of a language, each of which has a word."""

    def word_space(self, space: AlignedSpace) -> AlignedSpace:
        """The words of a space with the rows that it learned for them, of unit length; BadSetting without."""
        raise BadSetting(
            f"{type(self).__name__} learns no rows of words; choose another encoder, such as xlm"
        )


class BothSides(TwoSides):
    """One network for both sides of pairs: what a PairLearner trains."""

    def __init__(self, network: SentenceNetwork, languages: tuple[str, str]) -> None:
        super().__init__()
        self.network = network
        self._languages = languages

    def pivot(self, batch: Ragged) -> Tensor:
        """The rows (b, d') of sentences of the first language."""
        rows: Tensor = self.network(batch, self._languages[0])
        return rows

    def other(self, batch: Ragged) -> Tensor:
        """The rows (b, d') of sentences of the second language."""
        rows: Tensor = self.network(batch, self._languages[1])
        return rows


@dataclass(frozen=True, eq=False)
class NetworkEncoder(SentenceEncoder):
    """A trained network and the space it belongs to.

    `settings` have, as JSON takes them, the `system` that makes the network again (see systems) and all that
    it needs for that, and how it was trained.
    """

    label: str
    space: AlignedSpace
    trained_for: tuple[str, ...]
    network: SentenceNetwork
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its label: lens[simple:1024]."""
        return self.label

    @property
    def languages(self) -> tuple[str, ...]:
        """Those it was trained for."""
        return self.trained_for

    @property
    def dimension(self) -> int:
        """The number of columns d'."""
        return self.network.dimension

    @property
    def words(self) -> AlignedSpace:
        """The words of the space with the rows that the network learned for them; BadSetting without any."""
        return self.network.word_space(self.space)

    def fit(self, sentences: Iterable[str], language: str) -> NetworkEncoder:
        """Itself: it has learned already."""
        check_trained_for(self, language)
        return self

    def encode(self, sentences: Iterable[str], language: str) -> Encoded:
        """The rows of the sentences, in order; BadSetting where it was not trained for the language."""
        check_trained_for(self, language)
        reader, parts, empty = self.network.reader(language), [np.zeros((0, self.dimension), np.float32)], 0
        tokens = unknown = truncated = 0
        for block in blocks(sentences):
            reading = reader.read(block)
            parts.append(self._rows(reading.sentences, language))
            empty += reading.empty
            tokens += reading.tokens
            unknown += reading.unknown
            truncated += reading.truncated
        return Encoded(np.concatenate(parts), empty, tokens, unknown, truncated)

    @torch.no_grad()
    def _rows(self, sentences: Ragged, language: str) -> Matrix:
        """The rows (s, d') of the sentences, 0 for those without a word."""
        self.network.eval()
        device = str(next(self.network.parameters()).device)
        moved = sentences.to(device)
        rows = torch.zeros(len(sentences), self.dimension)
        for chosen in _batches(sentences.lengths.numpy()):
            rows[chosen] = self.network(moved.take(chosen.to(device)), language).float().cpu()
        return rows.numpy()

    def save(self, folder: Path) -> None:
        """Writes what the network learned, and what makes it again."""
        found = checksums(self.space)
        state = {name: value.cpu().numpy() for name, value in self.network.state_dict().items()}
        settings = {**plain(self.settings), "languages": list(self.trained_for)}
        spaces = {language: found[language] for language in self.trained_for if language in found}
        write_encoder(folder, Saved(KIND, self.label, spaces, settings, state))


def load_state(network: SentenceNetwork, arrays: Arrays) -> SentenceNetwork:
    """The network with what it had learned; ValueError where the arrays are of another one."""
    try:
        named = current_names(arrays)
        network.load_state_dict({name: torch.from_numpy(array) for name, array in named.items()})
    except (RuntimeError, KeyError) as error:
        raise ValueError(str(error).partition("\n")[0]) from error
    return network.eval()


def _batches(lengths: NDArray[np.int64]) -> Iterator[Tensor]:
    """The numbers (b,) of the sentences that have a word, similar lengths (s,) together."""
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] > 0][::-1].copy()  # the longest first: what is too long fails at once
    begin = 0
    while begin < len(order):
        count = max(1, _TOKENS // int(lengths[order[begin]]))
        yield torch.from_numpy(order[begin : begin + count])
        begin += count
