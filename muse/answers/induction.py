"""Induction: a bilingual dictionary from an aligned space, generated batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from muse.answers.calibration import calibrate_space
from muse.answers.probability import CANDIDATES, Calibration
from muse.errors import BadSetting, Mismatch
from muse.lexicon import Entry, Lexicon
from muse.search.approximate import Approximation
from muse.search.found import Neighbours, zero_places
from muse.search.retrieval import Retrieval
from muse.space import AlignedSpace
from muse.space.direction import Direction, MakeSearch, search_with
from muse.vectors import Vectors

BATCH = 2_048  # source words at once


@dataclass(frozen=True)
class Limits:
    """Which pairs a dictionary contains.

    `top` translations of a word; with `mutual` only those that have the word among their own `top`.
    `source_max` and `target_max` limit the dictionary to the most frequent words; None means all.
    `min_probability` drops less probable pairs, which requires a calibration.
    """

    top: int = 1
    mutual: bool = False
    source_max: int | None = None
    target_max: int | None = None
    min_probability: float | None = None

    def __post_init__(self) -> None:
        counts = {"top": self.top, "src-max": self.source_max, "tgt-max": self.target_max}
        for name, value in counts.items():
            if value is not None and value < 1:
                raise BadSetting(f"--{name} must be at least 1, got {value}")
        if self.min_probability is not None and not 0 <= self.min_probability <= 1:
            raise BadSetting(f"--min-probability must be from 0 to 1, got {self.min_probability}")

    def reversed(self) -> Limits:
        """These limits for the other direction."""
        return Limits(self.top, self.mutual, self.target_max, self.source_max, self.min_probability)


@dataclass(frozen=True, eq=False)
class Backward:
    """The best sources of every target, as the sorted numbers target * n + source of n sources."""

    numbers: Tensor
    sources: int

    @classmethod
    def of(cls, best: Tensor, sources: int) -> Backward:
        """From the best sources (m, k) of every target, among `sources` of them."""
        targets = torch.arange(len(best), device=best.device)[:, None]
        return cls((targets * sources + best.sort(dim=1).values).flatten(), sources)

    def finds(self, targets: Tensor, sources: Tensor) -> Tensor:
        """Whether each of `targets` finds its one of `sources`, both of the same shape."""
        wanted = targets * self.sources + sources
        places = torch.searchsorted(self.numbers, wanted).clamp_(max=len(self.numbers) - 1)
        return self.numbers[places] == wanted


def induce(
    space: AlignedSpace,
    *,
    source: str | None = None,
    target: str | None = None,
    top: int = 1,
    mutual: bool = False,
    max_vocab: int | None = None,
    retrieval: Retrieval | None = None,
) -> Lexicon:
    """The `top` best translations of every source word, with scores, most frequent words first.

    `mutual` keeps a pair only if the source word is also among the `top` best of the target word.
    `max_vocab` limits both languages to their most frequent words.
    """
    if max_vocab is not None and max_vocab < 1:
        raise BadSetting(f"--max-vocab must be at least 1, got {max_vocab}")
    limits = Limits(top, mutual, max_vocab, max_vocab)
    found = list(entries(space, source, target, limits=limits, retrieval=retrieval))
    return Lexicon(tuple(entry[:2] for entry in found), tuple(float(entry.score or 0) for entry in found))


def entries(
    space: AlignedSpace,
    source: str | None = None,
    target: str | None = None,
    *,
    limits: Limits,
    retrieval: Retrieval | None = None,
    rng: np.random.Generator | None = None,
    search: MakeSearch | None = None,
) -> Iterator[Entry]:
    """The entries of a dictionary, by frequency of the source word, then best translation first.

    They are generated batch by batch. With `rng`, for the calibration, each has the probability of
    `muse.answers.calibration` among the CANDIDATES best translations of its word. The search is exact
    unless another `search` is given.
    """
    source, target = space.direction(source, target)
    retrieval = retrieval or Retrieval()
    if limits.min_probability is not None and rng is None:
        raise BadSetting("--min-probability needs an rng to compute probabilities, got none")
    looked_up = limits.top if rng is None else max(limits.top, CANDIDATES)
    direction = Direction(space, (source, target), (limits.source_max, limits.target_max))
    found_by = (search or search_with(Approximation()))(direction, retrieval, looked_up)
    calibration = None
    if rng is not None:
        calibration = calibrate_space(space, source, target, rng=rng, retrieval=retrieval)
    count = len(direction.rows[0])
    back = Backward.of(found_by.back(limits.top), count) if limits.mutual else None
    with space.progress.stage(f"dictionary {source}-{target}", count, "words") as tick:
        for begin in range(0, count, BATCH):
            found = found_by.best(slice(begin, begin + BATCH), looked_up)
            yield from entries_of(direction, found, begin, limits=limits, calibration=calibration, back=back)
            tick(min(begin + BATCH, count))


def entries_of(
    direction: Direction,
    found: Neighbours,
    begin: int,
    *,
    limits: Limits,
    calibration: Calibration | None,
    back: Backward | None = None,
) -> Iterator[Entry]:
    """The entries of a batch of sources, from row `begin` on, whose best targets (b, k) are `found`.

    With `limits.mutual`, `back` are the best sources of every target. Sources of zeros have no entry.
    """
    zeros = zero_places(direction.rows[0][begin : begin + len(found.scores)])
    found = Neighbours(found.scores.index_fill(0, zeros, -torch.inf), found.indices)
    source, target = (direction.space.vectors(language).words for language in direction.languages)
    for row, column, score, rank, probability in _batch(found, begin, limits, calibration, back):
        yield Entry(source[row], target[column], score, rank, probability)


@dataclass
class Counts:
    """The number of pairs so far, and of their source words."""

    pairs: int = 0
    words: int = 0

    def counted(self, found: Iterable[Entry]) -> Iterator[Entry]:
        """The entries, counted as they pass; all entries of a source word must stand together."""
        before = None
        for entry in found:
            self.pairs += 1
            self.words += entry.source != before
            before = entry.source
            yield entry


def summary(source: Vectors, limits: Limits, found: Counts, written: Counts) -> dict[str, Any]:
    """What a dictionary has of the words looked up, and how many of them it lacks.

    `left_out` words are `without_pair` within the limits, or had none that the `format` can represent.
    """
    words = len(source.words[: limits.source_max])
    lacking = {"without_pair": words - found.words, "format": found.words - written.words}
    return {"pairs": written.pairs, "words": words, "left_out": lacking}


def check_found(count: int, wanted: str, out: Path) -> None:
    """Raise Mismatch if a dictionary, `wanted` from one language to another, would be empty."""
    if not count:
        raise Mismatch(
            f"{out}: expected at least one pair from {wanted}, got none; lower --min-probability or raise "
            "--top"
        )


def _batch(
    found: Neighbours, begin: int, limits: Limits, calibration: Calibration | None, back: Backward | None
) -> Iterator[tuple[int, int, float, int, float | None]]:
    # Row, column, score, rank and probability of the pairs of a batch that are within the limits.
    scores, columns = found.scores[:, : limits.top], found.indices[:, : limits.top]  # (b, k)
    rows = torch.arange(begin, begin + len(columns), device=columns.device)[:, None].expand_as(columns)
    kept = scores > -torch.inf
    if back is not None:
        kept &= back.finds(columns, rows)
    probable = None
    if calibration is not None:
        probable = calibration.probabilities(found.scores)[:, : limits.top]
        kept &= probable >= (limits.min_probability or 0.0)
    ranks = kept.cumsum(dim=1)  # among those kept
    probabilities = [None] * int(kept.sum()) if probable is None else probable[kept].tolist()
    parts = (rows[kept].tolist(), columns[kept].tolist(), scores[kept].tolist(), ranks[kept].tolist())
    return zip(*parts, probabilities, strict=True)
