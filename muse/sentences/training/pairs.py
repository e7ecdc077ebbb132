"""Pairs: parallel text as ids, on the device, split into training and held-out pairs, of several languages.

Text in one language is read, and split, in the same way. How often each language is sampled:
q_i = p_i^a / sum_j p_j^a, where p_i is the share of language i in the text. Lample and Conneau (2019) take
a = 0.5 for the text that word pieces are learned from, 0.7 for batches. With a below 1, small languages are
sampled more often than they occur.
"""

import logging
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from muse.errors import BadSetting, Mismatch
from muse.progress import Progress
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import PIECE, Reader, Reading
from muse.text.segmentation import unspaced_advice

log = logging.getLogger(__name__)

PIECES_EXPONENT, BATCH_EXPONENT = 0.5, 0.7
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


@dataclass(frozen=True, eq=False)
class ParallelCorpus:
    """The pairs of the pivot with each language."""

    pivot: str
    pairs: Mapping[str, Pairs]

    @property
    def counts(self) -> dict[str, int]:
        """The counts to report, over all languages."""
        counts = [pairs.counts for pairs in self.pairs.values()]
        return {name: sum(count[name] for count in counts) for name in counts[0]}


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


def language_shares(sizes: Mapping[str, int], exponent: float) -> dict[str, float]:
    """The share q_i of each language, given the sizes n_i of their texts.

    >>> language_shares({"en": 900, "ne": 100}, 0.5)
    {'en': 0.75, 'ne': 0.25}
    """
    if not sizes or min(sizes.values()) < 1:
        empty = [language for language, size in sizes.items() if size < 1]
        raise BadSetting(f"every language must have text, got none for {', '.join(empty) or 'any'}")
    total = sum(sizes.values())
    powers = {language: (size / total) ** exponent for language, size in sizes.items()}
    return {language: power / sum(powers.values()) for language, power in powers.items()}


def draw_languages(shares: Mapping[str, float], count: int, generator: torch.Generator) -> list[str]:
    """The languages of `count` batches, drawn with these shares as probabilities."""
    names = list(shares)
    weights = torch.tensor(list(shares.values()), dtype=torch.float64, device=generator.device)
    if not count:
        return []
    drawn = torch.multinomial(weights, count, replacement=True, generator=generator)  # (count,)
    return [names[place] for place in drawn.tolist()]


def balanced_text(
    texts: Mapping[str, Sequence[str]], exponent: float, generator: torch.Generator
) -> Iterator[str]:
    """The sentences of all texts, resampled to the same total with a share q_i of language i.

    Each text is repeated as often as its share allows, and a random part of it fills the rest.
    """
    shares = language_shares({language: len(text) for language, text in texts.items()}, exponent)
    total = sum(map(len, texts.values()))
    for language, text in texts.items():
        passes, rest = divmod(round(shares[language] * total), len(text))
        for _ in range(passes):
            yield from text
        for place in torch.randperm(len(text), generator=generator)[:rest].tolist():
            yield text[place]


class Consecutive:
    """The examples of several sources, by name, numbered one after the other."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.sizes, self.names = dict(sizes), list(sizes)
        self._begins = [0, *accumulate(sizes.values())]

    def __len__(self) -> int:
        return self._begins[-1]

    def numbered(self, name: str, rows: Tensor) -> Tensor:
        """The numbers (b,) of a source's examples among those of all."""
        return self._begins[self.names.index(name)] + rows

    def places(self, rows: Tensor) -> Tensor:
        """The place among `names` of the source of each example (n,)."""
        return torch.bucketize(rows, torch.tensor(self._begins[1:]), right=True)

    def batches(self, names: Iterable[str], endless: Mapping[str, Iterator[Tensor]]) -> list[Tensor]:
        """The next batch of each of the named sources in turn, by their numbers among all examples."""
        return [self.numbered(name, next(endless[name])) for name in names]

    def source(self, rows: Tensor) -> tuple[str, Tensor]:
        """The source that examples (b,) are all from, and their numbers in it."""
        place = bisect_right(self._begins, int(rows[0])) - 1
        return self.names[place], rows - self._begins[place]
