"""Induction: a bilingual dictionary from an aligned space, generated batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from muse.errors import BadSetting, Mismatch
from muse.lexicon import Entry, Lexicon
from muse.ranking.model import SHOWN
from muse.ranking.probability import CANDIDATES, Calibration, calibrate_space, find_calibration
from muse.search.approximate import Approximation
from muse.search.exact import Neighbours, zero_places
from muse.search.retrieval import Retrieval, check_count
from muse.space import Space
from muse.space.answer_table import AnswerTable
from muse.space.direction import Direction, MakeSearch, Search, search_with
from muse.vectors import Vectors

BATCH = 2_048  # source words at once


@dataclass(frozen=True)
class InductionConfig:
    """Which pairs a dictionary contains.

    `top` translations of a word; with `mutual` only those that have the word among their own `top`.
    `source_max` and `target_max` limit the dictionary to the most frequent words; None means all.
    `min_probability` drops less probable pairs, which requires a calibration. `only` are the source words
    that a list names; None means all.
    """

    top: int = 1
    mutual: bool = False
    source_max: int | None = None
    target_max: int | None = None
    min_probability: float | None = None
    only: frozenset[str] | None = None

    def __post_init__(self) -> None:
        counts = {"top": self.top, "src-max": self.source_max, "tgt-max": self.target_max}
        for name, value in counts.items():
            if value is not None:
                check_count(f"--{name}", value)
        least = self.min_probability
        if least is not None and not (isinstance(least, int | float | np.floating) and 0 <= least <= 1):
            raise BadSetting(f"--min-probability must be from 0 to 1, got {least!r}")

    def reversed(self) -> InductionConfig:
        """These limits for the other direction."""
        return InductionConfig(self.top, self.mutual, self.target_max, self.source_max, self.min_probability)


@dataclass(frozen=True, eq=False)
class Backward:
    """The best sources of every target, as the sorted numbers target * n + source of n sources."""

    numbers: Tensor
    sources: int

    @classmethod
    def of(cls, best: Tensor, sources: int) -> Backward:
        """From the best sources (m, k) of every target, among `sources` of them; -1 is none."""
        best = best.sort(dim=1).values
        numbers = torch.arange(len(best), device=best.device)[:, None] * sources + best
        return cls(numbers[best >= 0], sources)

    def finds(self, targets: Tensor, sources: Tensor) -> Tensor:
        """Whether each of `targets` finds its one of `sources`, both of the same shape."""
        wanted = targets * self.sources + sources
        places = torch.searchsorted(self.numbers, wanted).clamp_(max=len(self.numbers) - 1)
        return self.numbers[places] == wanted


def induce(
    space: Space,
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
    if max_vocab is not None:
        check_count("--max-vocab", max_vocab)
    limits = InductionConfig(top, mutual, max_vocab, max_vocab)
    found = list(entries(space, source, target, limits=limits, retrieval=retrieval))
    return Lexicon(tuple(entry[:2] for entry in found), tuple(float(entry.score or 0) for entry in found))


def entries(
    space: Space,
    source: str | None = None,
    target: str | None = None,
    *,
    limits: InductionConfig,
    retrieval: Retrieval | None = None,
    rng: np.random.Generator | None = None,
    search: MakeSearch | None = None,
) -> Iterator[Entry]:
    """The entries of a dictionary, by frequency of the source word, then best translation first.

    They are generated batch by batch. Where the space has answers chosen by all the evidence, they are these,
    with their probabilities. Otherwise, with `rng`, for the calibration, each has the probability of
    `muse.ranking.probability` among the CANDIDATES best translations of its word. The search is exact
    unless another `search` is given.
    """
    source, target = space.direction(source, target)
    retrieval = retrieval or Retrieval()
    if limits.min_probability is not None and rng is None:
        raise BadSetting("--min-probability needs an rng to compute probabilities, got none")
    direction = Direction(space, (source, target), (limits.source_max, limits.target_max))
    table = space.answers(source, target, retrieval)
    count = len(direction.rows[0])
    if table is not None and limits.top <= SHOWN:
        answers: _Ranking = _ByEvidence(table, space.answers(target, source, retrieval), direction, limits)
    else:
        # What is found beyond the answers of a table has no probability.
        probable = rng if table is None else None
        looked_up = limits.top if probable is None else max(limits.top, CANDIDATES)
        found_by = (search or search_with(Approximation()))(direction, retrieval, looked_up)
        calibration = None
        if probable is not None:
            calibration = calibrate_space(space, source, target, rng=probable, retrieval=retrieval)
        searched = _BySearch(found_by, limits, looked_up, calibration)
        answers = searched
        if table is not None:
            answers = _Filled(_ByEvidence(table, None, direction, limits), searched)
    back = Backward.of(answers.back(), count) if limits.mutual else None
    wanted, done = _looked_up(space.vectors(source), count, limits.only), 0
    with space.progress.stage(f"dictionary {source}-{target}", len(wanted), "words") as tick:
        for rows in _batches(wanted):
            found, shares = answers.best(rows)
            yield from entries_of(direction, found, rows, limits=limits, probable=shares, back=back)
            done += len(rows)
            tick(done)


def _looked_up(source: Vectors, count: int, only: frozenset[str] | None) -> list[int]:
    """The rows, among the first `count`, of the words that a list names: of all words without one."""
    if only is None:
        return list(range(count))
    return sorted(row for word in only if (row := source.index[word]) < count)


def _batches(rows: Sequence[int]) -> Iterator[Tensor]:
    """Yields these rows, BATCH at once."""
    for begin in range(0, len(rows), BATCH):
        yield torch.tensor(rows[begin : begin + BATCH])


def entries_of(
    direction: Direction,
    found: Neighbours,
    rows: Tensor,
    *,
    limits: InductionConfig,
    probable: Tensor | None,
    back: Backward | None = None,
) -> Iterator[Entry]:
    """The entries of the sources at these rows (b,), whose best targets (b, k) are `found`.

    `probable` (b, k) are their probabilities, nan where not known. With `limits.mutual`, `back` are the best
    sources of every target. Sources of zeros have no entry, and a score of -inf is none.
    """
    zeros = zero_places(direction.rows[0][rows])
    found = Neighbours(found.scores.index_fill(0, zeros, -torch.inf), found.indices)
    source, target = (direction.space.vectors(language).words for language in direction.languages)
    for row, column, score, rank, probability in _batch(found, rows, limits, probable, back):
        yield Entry(source[row], target[column], score, rank, probability)


def best_entries(space: Space, source: str, target: str, *, most: int) -> Iterator[Entry]:
    """The best translation of the `most` frequent words, among the `most` frequent; probabilities as kept.

    Without answers by all the evidence, CSLS is calibrated once for the space (`find_calibration`).
    """
    limits, table = InductionConfig(source_max=most, target_max=most), space.answers(source, target)
    direction = Direction(space, (source, target), (most, most))
    if table is not None:
        answers: _Ranking = _ByEvidence(table, None, direction, limits)
    else:
        search = search_with(Approximation())(direction, Retrieval(), CANDIDATES)
        answers = _BySearch(search, limits, CANDIDATES, find_calibration(space, source, target))
    for rows in _batches(range(len(direction.rows[0]))):
        found, probable = answers.best(rows)
        yield from entries_of(direction, found, rows, limits=limits, probable=probable)


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


def summary(words: int, found: Counts, written: Counts) -> dict[str, Any]:
    """The numbers of pairs and of `words` that were looked up, and how many of these are left out.

    `left_out` words are `without_pair` within the limits, or had none that the `format` can represent.
    """
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
    found: Neighbours, rows: Tensor, limits: InductionConfig, probable: Tensor | None, back: Backward | None
) -> Iterator[tuple[int, int, float, int, float | None]]:
    # Row, column, score, rank and probability of the pairs of a batch that are within the limits.
    scores, columns = found.scores[:, : limits.top], found.indices[:, : limits.top]  # (b, k)
    rows = rows.to(columns.device)[:, None].expand_as(columns)
    kept = scores > -torch.inf
    if back is not None:
        kept &= back.finds(columns, rows)
    probabilities: list[float | None] = []
    if probable is not None:
        probable = probable[:, : limits.top]
        if limits.min_probability is not None:
            kept &= probable >= limits.min_probability
        probabilities = [None if one != one else one for one in probable[kept].tolist()]
    ranks = kept.cumsum(dim=1)  # among those kept
    parts = (rows[kept].tolist(), columns[kept].tolist(), scores[kept].tolist(), ranks[kept].tolist())
    return zip(*parts, probabilities or [None] * int(kept.sum()), strict=True)


class _Ranking(Protocol):
    """The answers of one direction, batch by batch."""

    def best(self, rows: Tensor) -> tuple[Neighbours, Tensor | None]:
        """The best targets, `limits.top` or more (b, k), of sources at rows (b,), and their probabilities."""

    def back(self) -> Tensor:
        """The best `limits.top` sources (m, k) of every target; -1 is none."""


@dataclass(frozen=True, eq=False)
class _BySearch:
    """Answers by a search, with probabilities if calibrated."""

    search: Search
    limits: InductionConfig
    looked_up: int
    calibration: Calibration | None

    def best(self, rows: Tensor) -> tuple[Neighbours, Tensor | None]:
        found = self.search.best(rows, self.looked_up)
        return found, None if self.calibration is None else self.calibration.probabilities(found.scores)

    def back(self) -> Tensor:
        return self.search.back(self.limits.top)


@dataclass(frozen=True, eq=False)
class _ByEvidence:
    """Answers chosen by all the evidence, and those back; within the limits, others come forward."""

    table: AnswerTable
    table_back: AnswerTable | None
    direction: Direction
    limits: InductionConfig

    def best(self, rows: Tensor) -> tuple[Neighbours, Tensor | None]:
        x, y = self.direction.rows
        columns, csls, probability = self.table.within(rows.numpy(), len(y))
        found = Neighbours(torch.from_numpy(csls).to(x), torch.from_numpy(columns.clip(min=0)).to(x.device))
        return found, torch.from_numpy(probability).to(x.device)

    def back(self) -> Tensor:
        x, y = self.direction.rows
        if self.table_back is None:
            retrieval = Retrieval()
            found = search_with(Approximation())(self.direction, retrieval, self.limits.top)
            return found.back(self.limits.top)
        columns, _, _ = self.table_back.within(np.arange(len(y)), len(x))
        return torch.from_numpy(columns[:, : self.limits.top]).to(x.device)


@dataclass(frozen=True, eq=False)
class _Filled:
    """Answers chosen, followed by those that a search finds beyond them, of unknown probability."""

    chosen: _ByEvidence
    searched: _BySearch

    def best(self, rows: Tensor) -> tuple[Neighbours, Tensor | None]:
        first, probable = self.chosen.best(rows)
        more, _ = self.searched.best(rows)
        same = more.indices[:, :, None] == first.indices[:, None]  # (b, c, k)
        repeated = (same & (first.scores[:, None] > -torch.inf)).any(dim=2)
        scores = torch.cat([first.scores, more.scores.masked_fill(repeated, -torch.inf)], 1)
        indices = torch.cat([first.indices, more.indices], 1)
        unknown = torch.full_like(more.scores, torch.nan)
        shares = unknown if probable is None else torch.cat([probable, unknown], 1)
        order = (scores == -torch.inf).to(torch.int8).argsort(dim=1, stable=True)  # those that are, first
        found = Neighbours(scores.gather(1, order), indices.gather(1, order))
        return found, shares.gather(1, order)

    def back(self) -> Tensor:
        return self.searched.back()
