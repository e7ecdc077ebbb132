"""The core: a frozen encoder of words in their sentence, which the sentence systems make one row of.

It reads a sentence into numbers, and makes of these a matrix (T, K): the rows of an aligned space, or the
last layer of a Hugging Face encoder (see hugging_face).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from muse.encoders.ragged import Ragged
from muse.encoders.reading import Limited, Reader, Vocabulary
from muse.space import AlignedSpace

LONGEST = 512  # words of a sentence: what is longer is no sentence, and its matrix would fill the memory


class Matrices(NamedTuple):
    """The rows (b, T, K) of the words of b sentences, float32 and 0 in padding, and their mask (b, T)."""

    rows: Tensor
    mask: Tensor


class Core(Protocol):
    """What every core is; nothing about it is ever trained."""

    @property
    def name(self) -> str:
        """What a signature calls it: space, bert@3f2a."""

    @property
    def dimension(self) -> int:
        """The number of columns K."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What reopens it, as JSON holds it; nothing for the space."""

    def reader(self, language: str) -> Reader:
        """What reads sentences of a language; BadSetting where the core lacks it."""

    def matrices(self, batch: Ragged, language: str) -> Matrices:
        """The matrices of sentences of a language that its reader has read."""


class SpaceCore(Core):
    """The words of an aligned space, each with its row whatever stands around it."""

    name = "space"

    def __init__(self, space: AlignedSpace, device: str = "cpu") -> None:
        self._space, self._device = space, device
        self._rows: dict[str, Tensor] = {}

    @property
    def dimension(self) -> int:
        """The number of columns d of the space."""
        return self._space.vectors(self._space.pivot).dimension

    @property
    def settings(self) -> Mapping[str, Any]:
        """Nothing: the space comes with the encoder."""
        return {}

    def reader(self, language: str) -> Reader:
        """What finds the words of the space in sentences, in their order."""
        return Limited(Vocabulary(language, self._space.vectors(language).index), LONGEST)

    def matrices(self, batch: Ragged, language: str) -> Matrices:
        """The rows of the words."""
        if language not in self._rows:
            # A copy: the folder that the rows are mapped from may be replaced while they are in use.
            self._rows[language] = torch.tensor(self._space.vectors(language).matrix, device=self._device)
        ids, mask = batch.padded()
        return Matrices(self._rows[language][ids] * mask[..., None], mask)
