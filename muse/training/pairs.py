"""Pairs: parallel text as bags on both sides, on the device, with a part held out."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from muse.encoders.bags import Bags, Reader
from muse.errors import Mismatch
from muse.progress import Progress
from muse.training.batching import Padded, Ragged

log = logging.getLogger(__name__)

FEWEST = 20  # usable pairs: one is held out of so few
HELD_OUT, SHARE = 2_000, 0.05  # held out are so many pairs, but never a larger share
UNKNOWN = 0.4  # of the tokens: a space knows 70 to 95 % of its own language, signs included, else 30 to 55
_LINES = 2_000  # sentences made into bags between two ticks of the progress line


class Batch(NamedTuple):
    """The word numbers (t,) of b sentences, one after the other, and where each sentence begins (b,)."""

    ids: Tensor
    starts: Tensor

    @property
    def offsets(self) -> Tensor:
        """Where each sentence begins, and where the last one ends (b + 1,)."""
        return torch.cat([self.starts, self.starts.new_tensor([len(self.ids)])])

    @property
    def lengths(self) -> Tensor:
        """The number of words (b,) of each sentence."""
        return self.offsets.diff()

    def take(self, rows: Tensor) -> Batch:
        """The sentences with these numbers (c,)."""
        return _taken(self.ids, self.offsets, rows)

    def padded(self) -> Padded:
        """The same as ids (b, t), as long as the longest sentence, and their mask (b, t)."""
        sentences = Ragged(self.ids, self.offsets)
        return sentences.padded(torch.arange(len(sentences), device=self.ids.device))


@dataclass(frozen=True, eq=False)
class Sentences:
    """Bags on a device: ids (t,) and offsets (s + 1,); equal sentences have equal `keys` (s,)."""

    ids: Tensor
    offsets: Tensor
    keys: Tensor

    @classmethod
    def of(cls, bags: Bags, keys: NDArray[np.int64], device: str) -> Sentences:
        """The bags, moved to the device."""
        return cls(*(torch.from_numpy(array).to(device) for array in (bags.ids, bags.offsets, keys)))

    def __len__(self) -> int:
        return len(self.keys)

    def batch(self, rows: Tensor) -> Batch:
        """The sentences with these numbers (b,)."""
        return _taken(self.ids, self.offsets, rows)


def _taken(ids: Tensor, offsets: Tensor, rows: Tensor) -> Batch:
    lengths = offsets[rows + 1] - offsets[rows]  # (b,)
    ends = lengths.cumsum(0)
    starts = ends - lengths
    # Word k of the batch is word k - start + offset of the text, for the sentence it is in.
    shift = torch.repeat_interleave(offsets[rows] - starts, lengths)
    return Batch(ids[torch.arange(len(shift), device=rows.device) + shift], starts)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Sentences and their translations, row by row, and which rows (p,) train and which are held out.

    `skipped` pairs had no known word on one of the sides, or a sentence in common with a held-out pair;
    `truncated` sentences were longer than their reader takes.
    """

    pivot: Sentences
    other: Sentences
    training: Tensor
    held_out: Tensor
    skipped: int
    truncated: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """What is to be told of them."""
        return {"pairs": len(self.training), "skipped": self.skipped, "truncated": self.truncated}


def make_pairs(
    texts: Sequence[Sequence[str]],
    readers: Sequence[Reader],
    *,
    rng: np.random.Generator,
    device: str,
    progress: Progress,
) -> Pairs:
    """The pairs of two aligned texts, pivot first; Mismatch where too few have known words on both sides."""
    bags = [read_bags(text, reader, progress) for text, reader in zip(texts, readers, strict=True)]
    usable = np.flatnonzero(np.logical_and(*(np.diff(side.offsets) > 0 for side in bags)))
    if len(usable) < FEWEST:
        tokens = [side.tokens for side in bags]
        raise Mismatch(
            f"at least {FEWEST} pairs need a word of the space on both sides, got {len(usable)} of "
            f"{len(texts[0])}; the space knows {len(bags[0].ids)} of {tokens[0]} tokens of the pivot and "
            f"{len(bags[1].ids)} of {tokens[1]} of the other: check --lang and the order of the columns"
        )
    keys = [_keys(text) for text in texts]
    training, held_out = _split(usable, keys, rng)
    pivot, other = (Sentences.of(side, key, device) for side, key in zip(bags, keys, strict=True))
    parts = [torch.from_numpy(part).to(device) for part in (training, held_out)]
    skipped = len(texts[0]) - len(training) - len(held_out)
    return Pairs(pivot, other, parts[0], parts[1], skipped, sum(side.truncated for side in bags))


def read_bags(text: Sequence[str], reader: Reader, progress: Progress) -> Bags:
    """The bags of the sentences of a text, in order; warns where few of its words are known."""
    parts = []
    with progress.stage("words", len(text)) as tick:
        for begin in range(0, len(text), _LINES):
            parts.append(reader.bags(text[begin : begin + _LINES]))
            tick(min(begin + _LINES, len(text)))
    bags = Bags.joined(parts) if parts else reader.bags([])
    if bags.unknown > UNKNOWN * bags.tokens:
        log.warning(
            "%.0f %% of the tokens are not known: is the text in its language? Check --lang, and the order "
            "of the columns",
            100 * bags.unknown / bags.tokens,
        )
    return bags


def _keys(text: Sequence[str]) -> NDArray[np.int64]:
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(sentence, len(numbers)) for sentence in text], dtype=np.int64)


def _split(
    usable: NDArray[np.int64], keys: Sequence[NDArray[np.int64]], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows that train and those held out, which share no sentence, nor do two held-out ones."""
    count = min(HELD_OUT, max(2, int(len(usable) * SHARE)))
    drawn = rng.permutation(usable)
    first = np.logical_and(*(_first(side[drawn]) for side in keys))
    held_out = drawn[first][:count]
    apart = np.logical_and(*(~np.isin(side[usable], side[held_out]) for side in keys))
    training = usable[apart]
    if len(training) < 2 or len(held_out) < 2:
        raise Mismatch(
            f"at least {FEWEST} pairs of different sentences are needed, got {len(held_out)} in "
            f"{len(usable)} pairs; give more parallel text"
        )
    return training, held_out


def _first(keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each key (p,) is the first of its kind."""
    first = np.zeros(len(keys), dtype=np.bool_)
    first[np.unique(keys, return_index=True)[1]] = True
    return first
