"""A core from a saved cross-lingual language model: its last states, one row for each word piece."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from muse.encoders.ragged import Ragged
from muse.encoders.reading import Reader, Reading
from muse.encoders.saving import ARRAYS
from muse.errors import BadFile, BadSetting
from muse.files.space_folder import checksum, with_checksum
from muse.systems.core import Core, Matrices
from muse.systems.network_encoder import opened, saved_by
from muse.systems.pieces import BOS, EOS
from muse.systems.xlm.network import XlmNetwork, network_of

SYSTEM = "xlm"


class XlmCore(Core):
    """A model of `muse train --encoder xlm`, which reads every language that it was trained on.

    Raises BadSetting for a folder with another encoder, BadFile for rows that are not finite.
    """

    def __init__(self, folder: Path, device: str = "cpu") -> None:
        saved = saved_by(SYSTEM, folder, f"--core must be a model trained with {SYSTEM}")
        network = opened(folder, saved, f"a model of {SYSTEM}", lambda: network_of(saved.settings))
        self._folder, self._device, self._sum = folder, device, checksum(folder / ARRAYS)
        self._network: XlmNetwork = network.to(device).requires_grad_(False)

    @property
    def name(self) -> str:
        """The folder's name and the first digits of the checksum of its weights."""
        return with_checksum(self._folder.resolve().name, self._sum)

    @property
    def dimension(self) -> int:
        """The width of the states."""
        return self._network.dimension

    @property
    def settings(self) -> Mapping[str, Any]:
        """The folder and the checksum of its weights."""
        return {"folder": str(self._folder.resolve()), "sha256": self._sum}

    def reader(self, language: str) -> Reader:
        """The reader of pieces, the same for all languages; BadSetting for one that the model lacks."""
        self._number(language)
        return Unframed(self._network.reader(language))

    @torch.no_grad()
    def matrices(self, batch: Ragged, language: str) -> Matrices:
        """The last states of the pieces; <bos> and <eos> are read around them, and left out."""
        mask = batch.padded().mask  # (b, T)
        framed = batch.framed(BOS, EOS).to(self._device).padded()
        rows = self._network.states(framed, language)[:, 1 : 1 + mask.shape[1]]  # (b, T, K)
        if not rows.isfinite().all():
            raise BadFile(
                f"{self._folder}: expected finite weights, got rows with nan or inf; train it again"
            )
        return Matrices(rows * mask[..., None], mask)

    def _number(self, language: str) -> int:
        if language not in self._network.languages:
            raise BadSetting(
                f"{self._folder}: this model was trained on {', '.join(self._network.languages)}, got "
                f"{language!r}; train one with text of it"
            )
        return self._network.languages.index(language)


class Unframed(Reader):
    """Reads what another reader reads, without the <bos> and <eos> around it."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def read(self, sentences: Iterable[str]) -> Reading:
        """The sentences as ids, in order."""
        reading = self._reader.read(sentences)
        ids = reading.sentences.ids
        return replace(reading, sentences=reading.sentences.keep((ids != BOS) & (ids != EOS)))
