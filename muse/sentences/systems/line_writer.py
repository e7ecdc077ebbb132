"""LineWriter: lines of text translated or rewritten by a model, cut into sentences that it can read."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

import torch

from muse.errors import BadSetting
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import Reading
from muse.sentences.systems.pieces import Pieces
from muse.text.strings import all_strings

_SENTENCE = re.compile(r"(?<=[.!?…])\s+")


@dataclass
class PieceCounts:
    """The numbers of pieces read so far, of unknown ones among them, and of lines cut into parts."""

    pieces: int = 0
    unknown: int = 0
    cut: int = 0


@dataclass(eq=False)
class LineWriter(ABC):
    """Translates or rewrites lines of text with a model, a batch of sentences at a time."""

    network: Any
    direction: tuple[str, str]
    beam: int = field(default=4, kw_only=True)
    batch: int = field(default=32, kw_only=True)
    counts: PieceCounts = field(default_factory=PieceCounts, init=False)

    def __post_init__(self) -> None:
        """Raise BadSetting if the model lacks one of the languages of the direction."""
        for language in self.direction:
            if language not in self.network.languages:
                known = ", ".join(map(str, self.network.languages))  # of a damaged file they may be anything
                raise BadSetting(f"the model knows {known}, got {language!r}; train one with text of it")

    @property
    def pieces(self) -> Pieces:
        """The pieces that the model reads and writes."""
        found: Pieces = self.network.pieces
        return found

    @property
    def longest(self) -> int:
        """The largest number of pieces that it reads."""
        return int(self.network.config.longest)

    @abstractmethod
    def read(self, sentences: Sequence[str]) -> Reading:
        """The sentences as it learned to read them, without <bos> and <eos>; a long one is cut."""

    @abstractmethod
    def write(self, source: Ragged, beam: int) -> Ragged:
        """The sentence written for each of the sentences; neither has <bos> or <eos>."""

    def translate(self, lines: Iterable[str]) -> list[str]:
        """The translation of each line; an empty line stays empty."""
        parts = [self._parts(line) for line in all_strings(lines, "lines")]
        self.counts.cut += sum(len(own) > 1 for own in parts)
        found = self._translated(list(chain.from_iterable(parts)))
        return [" ".join(islice(found, len(own))) for own in parts]

    def _parts(self, line: str) -> list[str]:
        """The line, or its sentences or parts of them, each short enough for the model."""
        if not line.strip():
            return []
        if len(self.pieces.encode([line])[0]) <= self.longest:
            return [line]
        sentences = _SENTENCE.split(line.strip())
        if len(sentences) > 1:
            return [part for sentence in sentences for part in self._parts(sentence)]
        words = line.split()
        if len(words) == 1:
            return words  # one word of many pieces is cut by the reader
        half = len(words) // 2
        return [part for some in (words[:half], words[half:]) for part in self._parts(" ".join(some))]

    def _translated(self, parts: Sequence[str]) -> Iterator[str]:
        """The translation of each part; empty if the model knows nothing in it."""
        reading = self.read(parts)
        self.counts.pieces += reading.tokens
        self.counts.unknown += reading.unknown
        lengths = reading.sentences.lengths  # (s,)
        order = lengths.argsort(stable=True)
        found = [""] * len(parts)
        for chosen in torch.split(order[lengths[order] > 0], min(self.batch, max(1, len(order)))):
            made = self.write(reading.sentences.take(chosen), self.beam)
            written = torch.split(made.ids.cpu(), made.lengths.tolist())
            for place, ids in zip(chosen.tolist(), written, strict=True):
                found[place] = self.pieces.decode(ids.tolist())
        yield from found
