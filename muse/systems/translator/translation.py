"""Translation of text with a saved model: lines are cut into sentences that the model can read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from muse.encoders.ragged import Ragged
from muse.encoders.saving import read_encoder
from muse.errors import BadFile, BadSetting
from muse.systems.network_encoder import restored
from muse.systems.pieces import BOS, EOS, UNK
from muse.systems.translator.generation import generate
from muse.systems.translator.network import TranslatorNetwork
from muse.systems.translator.system import TRANSLATOR, make_translator

_SENTENCE = re.compile(r"(?<=[.!?…])\s+")


@dataclass
class PieceCounts:
    """The number of pieces read so far, of those that the model does not know, and of lines cut in parts."""

    pieces: int = 0
    unknown: int = 0
    cut: int = 0


class ModelTranslator:
    """Translates lines of text with a trained model, a batch of sentences at a time."""

    def __init__(
        self, network: TranslatorNetwork, direction: tuple[str, str], *, beam: int = 4, batch: int = 32
    ) -> None:
        for language in direction:
            if language not in network.languages:
                raise BadSetting(
                    f"the model translates between {', '.join(network.languages)}, got {language!r}; "
                    "train one with text of it"
                )
        if direction[0] == direction[1]:
            raise BadSetting(f"a translation needs two languages, got {direction[0]} twice")
        self.network, self.direction = network.eval(), direction
        self.beam, self.batch = beam, batch
        self.counts = PieceCounts()

    def translate(self, lines: Iterable[str]) -> list[str]:
        """The translation of each line; an empty line stays empty."""
        parts: list[str] = []
        owners: list[int] = []
        found: list[list[str]] = []
        for number, line in enumerate(lines):
            own = self._parts(line)
            self.counts.cut += len(own) > 1
            parts += own
            owners += [number] * len(own)
            found.append([])
        for number, text in zip(owners, self._translated(parts), strict=True):
            found[number].append(text)
        return [" ".join(texts) for texts in found]

    def _parts(self, line: str) -> list[str]:
        """The line, or its sentences or parts of them, each short enough for the model."""
        if not line.strip():
            return []
        if self._fits(line):
            return [line]
        sentences = _SENTENCE.split(line.strip())
        if len(sentences) > 1:
            return [part for sentence in sentences for part in self._parts(sentence)]
        words = line.split()
        if len(words) == 1:
            return words  # one word of many pieces is cut by the reader
        half = len(words) // 2
        return [part for some in (words[:half], words[half:]) for part in self._parts(" ".join(some))]

    def _fits(self, text: str) -> bool:
        return len(self.network.pieces.encode([text])[0]) <= self.network.config.longest

    def _translated(self, parts: Sequence[str]) -> Iterator[str]:
        encoded = [ids[: self.network.config.longest] for ids in self.network.pieces.encode(parts)]
        self.counts.pieces += sum(map(len, encoded))
        self.counts.unknown += sum(ids.count(UNK) for ids in encoded)
        order = sorted(range(len(parts)), key=lambda place: len(encoded[place]))
        found = [""] * len(parts)
        for begin in range(0, len(order), self.batch):
            chosen = order[begin : begin + self.batch]
            for place, ids in zip(chosen, self._generated([encoded[place] for place in chosen]), strict=True):
                found[place] = self.network.pieces.decode(ids)
        yield from found

    def _generated(self, sentences: Sequence[Sequence[int]]) -> list[list[int]]:
        source = Ragged.of(sentences).framed(BOS, EOS).to(str(self.network.bias.device))
        made = generate(self.network, source, self.direction, beam=self.beam)
        return [part.tolist() for part in torch.split(made.ids.cpu(), made.lengths.tolist())]


def load_translator(folder: Path, device: str = "cpu") -> TranslatorNetwork:
    """The model saved in a folder; BadSetting or BadFile if it holds another thing."""
    saved = read_encoder(folder)
    if saved.settings.get("system") != TRANSLATOR.name:
        raise BadSetting(f"{folder}: expected a model of muse train-translator, got {saved.name}")
    try:
        network = restored(lambda: make_translator(saved.settings), saved.arrays)
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"{folder}: expected a translation model, got another ({error!r})") from error
    return network.to(device).eval()
