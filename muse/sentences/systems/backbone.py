"""The backbone: a frozen encoder that gives the sentence systems one row for each word of a sentence.

It turns the ids of a sentence into a matrix (T, K): rows of an aligned space, or the last layer of a
pretrained encoder (see pretrained_backbones).
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import Limited, Reader, Vocabulary
from muse.space import Space

log = logging.getLogger(__name__)

SENTENCES_GUESSED_FROM = 2_000  # sentences whose language is guessed
LONGEST = 512  # words of a sentence; longer input is not a sentence, and its matrix would fill the memory


class Matrices(NamedTuple):
    """The rows (b, T, K) of the words of b sentences, float32 and 0 in padding, and their mask (b, T)."""

    rows: Tensor
    mask: Tensor


class Backbone(ABC):
    """The interface of backbones, which are never trained.

    `name` stands in signatures, such as space or bert@3f2a. `dimension` is the number of columns K.
    `settings` are the JSON values that identify the backbone in a saved encoder; empty for the words of its
    space.
    """

    name: str
    dimension: int
    settings: Mapping[str, Any]

    @abstractmethod
    def reader(self, language: str) -> Reader:
        """A reader of sentences in a language; BadSetting if the backbone lacks it."""

    @abstractmethod
    def matrices(self, batch: Ragged, language: str) -> Matrices:
        """The matrices of sentences, given as ids from the reader of their language."""


class SpaceBackbone(Backbone):
    """The words of an aligned space; the row of a word does not depend on its context."""

    name = "space"

    def __init__(self, space: Space, device: str = "cpu") -> None:
        self._space, self._device = space, device
        self._rows: dict[str, Tensor] = {}
        self.dimension, self.settings = space.vectors(space.pivot).dimension, dict[str, Any]()

    def reader(self, language: str) -> Reader:
        """A reader of the words that the space contains."""
        return Limited(Vocabulary(language, self._space.vectors(language).index), LONGEST)

    def matrices(self, batch: Ragged, language: str) -> Matrices:
        """The rows of the words of each sentence."""
        if language not in self._rows:
            # A copy, because the memory-mapped folder may be replaced while its rows are in use.
            self._rows[language] = torch.tensor(self._space.vectors(language).matrix, device=self._device)
        ids, mask = batch.padded()
        return Matrices(self._rows[language][ids] * mask[..., None], mask)


def warn_of_another_language(
    text: Sequence[str], language: str, path: Path, backbone: Backbone, space: Space
) -> None:
    """Logs a warning if more tokens of a text are words of another language than of `language`."""
    known = {}
    for other in space.languages:
        reading = backbone.reader(other).read(text[:SENTENCES_GUESSED_FROM])
        known[other] = reading.known / max(1, reading.tokens)
    best = max(known, key=lambda other: known[other])
    if known[best] > known[language]:
        log.warning(
            "%s: %.0f %% of the tokens are words of %s, %.0f %% of %s: is the text in %s?",
            path, 100 * known[best], best, 100 * known[language], language, language,
        )  # fmt: skip
