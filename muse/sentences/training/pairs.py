"""Pairs: parallel text as ids, on the device, split into training and held-out pairs.

Text in one language is read, and split, in the same way.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from muse.errors import Mismatch
from muse.progress import Progress
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import PIECE, Reader, Reading
from muse.text.segmentation import unspaced_advice

log = logging.getLogger(__name__)

FEWEST_PAIRS = 20  # the smallest number of usable pairs
MOST_HELD_OUT_PAIRS, SHARE_HELD_OUT_PAIRS = 2_000, 0.05  # the largest number and share of pairs held out
MOST_HELD_OUT, SHARE_HELD_OUT = 200, 0.05  # the largest number and share of a text's examples held out
# The share of unknown tokens above which a warning is given: a space knows 70 to 95 % of the tokens of its
# own language, punctuation included, and 30 to 55 % of those of another.
UNKNOWN = 0.4
_LINES = 2_000  # sentences read between two updates of the progress line


@dataclass(frozen=True, eq=False)
class Pairs:
    """Sentences and their translations, row by row, with the indices (p,) of training and held-out rows.

    `keys` (s,), for the pivot and the other language, are equal for equal sentences. `skipped` pairs had no
    known word on one side or shared a sentence with a held-out pair. `truncated` sentences were cut to the
    maximum length of their reader.
    """

    pivot: Ragged
    other: Ragged
    keys: tuple[Tensor, Tensor]
    training: Tensor
    held_out: Tensor
    skipped: int
    truncated: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """The counts to report: training pairs, skipped pairs, truncated sentences."""
        return {"pairs": len(self.training), "skipped": self.skipped, "truncated": self.truncated}


def make_pairs(
    texts: Sequence[Sequence[str]],
    readers: Sequence[Reader],
    *,
    rng: np.random.Generator,
    device: str,
    progress: Progress,
) -> Pairs:
    """The pairs of two aligned texts, pivot first; Mismatch if too few have known words on both sides."""
    read = [read_text(text, reader, progress) for text, reader in zip(texts, readers, strict=True)]
    pivot, other = (side.sentences for side in read)
    usable = np.flatnonzero(((pivot.lengths > 0) & (other.lengths > 0)).numpy())
    if len(usable) < FEWEST_PAIRS:
        raise Mismatch(_too_few(len(usable), texts, read))
    # Equal numbers for equal sentences.
    places: list[dict[str, int]] = [{}, {}]
    keys = [
        np.array([place.setdefault(sentence, len(place)) for sentence in text], dtype=np.int64)
        for place, text in zip(places, texts, strict=True)
    ]
    training, held_out = _split(usable, keys, rng)
    arrays = [torch.from_numpy(array).to(device) for array in (*keys, training, held_out)]
    return Pairs(
        pivot.to(device),
        other.to(device),
        (arrays[0], arrays[1]),
        training=arrays[2],
        held_out=arrays[3],
        skipped=len(texts[0]) - len(training) - len(held_out),
        truncated=sum(side.truncated for side in read),
    )


def read_text(text: Sequence[str], reader: Reader, progress: Progress) -> Reading:
    """The sentences of a text as ids, in order; warns if few of its tokens are known."""
    parts = []
    with progress.stage("reading text", len(text), "sentences") as tick:
        for begin in range(0, len(text), _LINES):
            parts.append(reader.read(text[begin : begin + _LINES]))
            tick(min(begin + _LINES, len(text)))
    found = Reading.joined(parts) if parts else reader.read([])
    if found.unknown > UNKNOWN * found.tokens:
        advice = "is the text in the right language? Check --lang and the order of the columns"
        advice = unspaced_advice(text[:_LINES]) or advice
        log.warning("%.0f %% of the tokens are unknown: %s", 100 * found.unknown / found.tokens, advice)
    return found


def hold_out(examples: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """The indices of the training examples (n,) and the held-out ones (h,), at least one, in random order.

    >>> training, held_out = hold_out(50, torch.Generator().manual_seed(0))
    >>> len(training), len(held_out)
    (48, 2)
    """
    drawn = torch.randperm(examples, generator=generator)
    count = min(MOST_HELD_OUT, max(1, int(examples * SHARE_HELD_OUT)))
    return drawn[count:], drawn[:count]


def _too_few(usable: int, texts: Sequence[Sequence[str]], read: Sequence[Reading]) -> str:
    token, known = "word of the space", "the space knows"
    unspaced = [advice for text in texts if (advice := unspaced_advice(text[:_LINES]))]
    if all(side.unknown <= UNKNOWN * side.tokens for side in read):
        remedy = "give more pairs"
    else:
        remedy = unspaced[0] if unspaced else "check --lang and the order of the columns"
    if read[0].unit == PIECE:
        token, known = "known word piece", "known are"
        remedy = "give more parallel text, in the languages that the pieces were learned from"
    return (
        f"at least {FEWEST_PAIRS} pairs must have a {token} on both sides, got {usable} of {len(texts[0])}; "
        f"{known} {read[0].known} of {read[0].tokens} tokens of the pivot and {read[1].known} of "
        f"{read[1].tokens} of the other language: {remedy}"
    )


def _split(
    usable: NDArray[np.int64], keys: Sequence[NDArray[np.int64]], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The training and the held-out rows; no sentence is in both, nor in two held-out rows."""
    count = min(MOST_HELD_OUT_PAIRS, max(2, int(len(usable) * SHARE_HELD_OUT_PAIRS)))
    drawn = rng.permutation(usable)
    first = np.ones(len(drawn), np.bool_)  # whether both sentences of a pair occur for the first time
    for side in keys:
        first &= np.isin(np.arange(len(drawn)), np.unique(side[drawn], return_index=True)[1])
    held_out = drawn[first][:count]
    apart = np.logical_and(*(~np.isin(side[usable], side[held_out]) for side in keys))
    training = usable[apart]
    if len(training) < 2 or len(held_out) < 2:
        raise Mismatch(
            f"training needs at least {FEWEST_PAIRS} pairs of distinct sentences, got {len(held_out)} among "
            f"{len(usable)} pairs; give more parallel text"
        )
    return training, held_out
