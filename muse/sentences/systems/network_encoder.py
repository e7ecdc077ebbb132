"""Network encoders: a trained torch module as a sentence encoder that can be saved and loaded."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import shorten
from typing import Any, TypeVar

import numpy as np
import torch

from muse.errors import BadFile, BadSetting
from muse.files.source import DAMAGED
from muse.files.space_manifest import plain
from muse.sentences.encoders.encoder import Encoded, Trained, check_trained_for
from muse.sentences.encoders.ragged import Ragged, encoding_batches
from muse.sentences.encoders.reading import Reader, blocks
from muse.sentences.encoders.saving import Arrays, Saved, check_space, checksums, read_encoder, write_encoder
from muse.sentences.training.pair_learner import RowNetwork
from muse.space import Space
from muse.vectors import Matrix

KIND = "network"


Network = TypeVar("Network", bound="SentenceNetwork")


class SentenceNetwork(RowNetwork):
    """A network that encodes sentences; its parameters and persistent buffers are what is saved."""

    dimension: int  # the number of columns d'
    reader: Callable[[str], Reader]  # the reader of a language, which gives the ids that the network takes

    @property
    def device(self) -> str:
        """The device of its parameters."""
        return next((str(one.device) for one in self.parameters()), "cpu")

    def word_space(self, space: Space) -> Space:
        """A space of the unit-length word vectors that the network learned; BadSetting if it learned none."""
        raise BadSetting(f"{type(self).__name__} learns no word vectors; choose another encoder, such as xlm")


@dataclass(frozen=True, eq=False)
class NetworkEncoder(Trained):
    """A trained network and the space it belongs to.

    `settings` are JSON values: the name of the `system`, all that it needs to rebuild the network, and how
    the network was trained.
    """

    network: SentenceNetwork
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The label, such as lens[simple:512,space]."""
        return self.label

    @property
    def dimension(self) -> int:
        """The number of columns d'."""
        return self.network.dimension

    @property
    def words(self) -> Space:
        """A space of the word vectors that the network learned; BadSetting if it learned none."""
        return self.network.word_space(self.space)

    def encode(self, sentences: Iterable[str], language: str) -> Encoded:
        """The rows of the sentences, in order; BadSetting if it was not trained for the language."""
        check_trained_for(self, language)
        reader, parts = self.network.reader(language), [np.zeros((0, self.dimension), np.float32)]
        counts = np.zeros(4, np.int64)
        for block in blocks(sentences):
            reading = reader.read(block)
            parts.append(self._rows(reading.sentences, language))
            counts += (reading.empty, reading.tokens, reading.unknown, reading.truncated)
        return Encoded(np.concatenate(parts), *counts.tolist())

    @torch.no_grad()
    def _rows(self, sentences: Ragged, language: str) -> Matrix:
        """The rows (s, d') of the sentences; 0 for those without a known word."""
        self.network.eval()
        device = self.network.device
        moved = sentences.to(device)
        rows = torch.zeros(len(sentences), self.dimension)
        for chosen in encoding_batches(sentences.lengths):
            rows[chosen] = self.network(moved.take(chosen.to(device)), language).float().cpu()
        return rows.numpy()

    def save(self, folder: Path) -> None:
        """Writes the network's state and the settings that rebuild it."""
        state = {name: value.cpu().numpy() for name, value in self.network.state_dict().items()}
        settings = {**plain(self.settings), "languages": list(self.trained_for)}
        spaces = checksums(self.space, [name for name in self.trained_for if name in self.space.languages])
        write_encoder(folder, Saved(KIND, self.label, spaces, settings, state))


def restored(make: Callable[[], Network], arrays: Arrays, *, backbone: bool = False) -> Network:
    """The network that `make` builds, with its saved state; ValueError if the arrays belong to another.

    It is built twice, at first without memory, since damaged settings may ask for any amount. With a
    `backbone` other than the space it is built once, since that is a model of its own, slow to open.
    """
    try:
        state = {name: torch.from_numpy(array) for name, array in arrays.items()}
        if not backbone:
            with torch.device("meta"):
                make().load_state_dict(state, assign=True)
        network = make()
        network.load_state_dict(state)
    except (BadSetting, RuntimeError, MemoryError, KeyError, TypeError) as error:
        raise ValueError(shorten(str(error), 200)) from error
    if not all(weights.isfinite().all() for weights in network.parameters()):
        raise ValueError("weights that are not finite")
    return network.eval()


def open_network(
    folder: Path,
    system: str,
    needed: str,
    make: Callable[[Mapping[str, Any]], Network],
    space: Space | None = None,
) -> Network:
    """The network of a `system` that was saved in a folder, built by `make` from its settings.

    Raise BadSetting, which says what is `needed`, for another system's, Mismatch if it was saved for another
    space than the given one, and BadFile if its settings or arrays do not fit.
    """
    saved = read_encoder(folder)
    if saved.settings.get("system") != system:
        raise BadSetting(f"{folder}: {needed}, got {saved.name}")
    if space is not None:
        check_space(folder, saved.spaces, space)
    try:
        return restored(lambda: make(saved.settings), saved.arrays)
    except DAMAGED as error:
        raise BadFile(f"{folder}: expected a model of {system}, got another ({error!r})") from error
