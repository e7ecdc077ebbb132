"""Induction: a bilingual dictionary from an aligned space, generated batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from muse.errors import BadSetting, Mismatch
from muse.lexicon import Entry, Lexicon
from muse.ranking.model import ANSWERS
from muse.ranking.probability import calibrate_space, find_calibration
from muse.ranking.ranker import Ranker
from muse.ranking.settings import InducedPairs
from muse.ranking.translations import Translation
from muse.search.approximate import Approximation
from muse.search.retrieval import Retrieval, check_count
from muse.space import Space
from muse.space.direction import MakeSearch, search_with
from muse.vectors import Doubles, Numbers

BATCH = 2_048  # source words at once


@dataclass(frozen=True)
class InductionConfig:
    """Which pairs a dictionary contains.

    `top` translations of a word; with `mutual` only the first, if its own first is the word.
    `source_max` and `target_max` limit the dictionary to the most frequent words; None means all.
    `min_probability` drops less probable pairs, which requires a calibration, and so does `precision`, which
    keeps the surest, as many as have this mean probability in percent. `only` are the source words that a
    list names, None means all, and `terms` what it has of several words, which follow.
    """

    top: int = 1
    mutual: bool = False
    source_max: int | None = None
    target_max: int | None = None
    min_probability: float | None = None
    precision: float | None = None
    only: frozenset[str] | None = None
    terms: Mapping[str, Translation] = field(default_factory=dict)

    @classmethod
    def of(
        cls, options: InducedPairs, only: frozenset[str] | None, terms: Mapping[str, Translation]
    ) -> InductionConfig:
        """The pairs that the options ask for."""
        source, target = (
            options.max_vocab if one is None else one for one in (options.src_max, options.tgt_max)
        )
        surest = options.min_probability, options.precision
        return cls(options.top, options.mutual, source, target, *surest, only, terms)

    def reversed(self) -> InductionConfig:
        """These limits for the other direction."""
        return replace(self, source_max=self.target_max, target_max=self.source_max, only=None, terms={})


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

    `mutual` keeps only the pairs of words that are each other's first, whatever `top` is.
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

    They are generated batch by batch, as `Ranker` ranks them. With `rng`, for the calibration, those that are
    no answers by all the evidence have probabilities too; without, `limits.min_probability` leaves only pairs
    of the table of the space. The search is exact unless another one is given.
    """
    source, target = space.direction(source, target)
    retrieval = retrieval or Retrieval()
    limits = replace(limits, top=1) if limits.mutual else limits
    ranker = Ranker(
        space, (source, target), retrieval, limits.top, (limits.source_max, limits.target_max),
        search or search_with(Approximation()),
    )  # fmt: skip
    if rng is not None and ranker.table is None:
        found = calibrate_space(space, source, target, rng=rng, retrieval=retrieval)
        ranker = replace(ranker, calibration=found)
    count = len(ranker.rows[0])
    back = ranker.back() if limits.mutual else None
    index, done = space.vectors(source).index, 0
    wanted: Sequence[int] = range(count)
    if limits.only is not None:
        wanted = sorted(row for word in limits.only if (row := index[word]) < count)
    if limits.precision is not None:
        least = max(_least_of_surest(ranker, _batches(wanted), limits, back), limits.min_probability or 0.0)
        limits = replace(limits, min_probability=least)
    with space.progress.stage(f"dictionary {source}-{target}", len(wanted), "words") as tick:
        for rows in _batches(wanted):
            yield from entries_of(ranker, rows, limits=limits, back=back)
            done += len(rows)
            tick(done)
    for word, one in limits.terms.items():
        if not limits.mutual and (one.probability or 0.0) >= (limits.min_probability or 0.0):
            yield Entry(word, *one, one.rank, one.probability)


def _least_of_surest(
    ranker: Ranker, batches: Iterable[Numbers], limits: InductionConfig, back: Numbers | None
) -> float:
    """The least probability that leaves pairs of the precision wanted; BadSetting if none have it."""
    found = (entries_of(ranker, rows, limits=limits, back=back) for rows in batches)
    shares, wanted = np.array([one.probability or 0.0 for some in found for one in some]), limits.precision
    least = least_probability(shares, (wanted or 0.0) / 100)
    if least is None:
        raise BadSetting(
            f"--precision {wanted:g} needs pairs as probable as that, and the surest have "
            f"{100 * shares.max(initial=0):.0f} %; ask for less, or align with pairs (--dictionary)"
        )
    return least


def least_probability(shares: Doubles, precision: float) -> float | None:
    """The least of the probabilities (p,) to keep for their mean to be `precision`; None if all are below.

    >>> least_probability(np.array([0.5, 0.9, 0.8, 0.1]), 0.7)
    0.5
    """
    ranked, counts = (one[::-1] for one in np.unique(shares, return_counts=True))  # surest first
    means = np.cumsum(ranked * counts) / np.cumsum(counts)  # of equals, all are kept or none
    kept = ranked[means >= precision]
    return float(kept[-1]) if len(kept) else None


def _batches(rows: Sequence[int]) -> Iterator[Numbers]:
    """Yields these rows, BATCH at once."""
    for begin in range(0, len(rows), BATCH):
        yield np.array(rows[begin : begin + BATCH])


def entries_of(
    ranker: Ranker, rows: Numbers, *, limits: InductionConfig, back: Numbers | None = None
) -> Iterator[Entry]:
    """The entries of the sources at these rows (b,); none of rows of zeros.

    Only those whose target has its source as its own first are kept if that is given: `back` (m,).
    """
    found, (source, target) = ranker.best(rows, fill=limits.top > ANSWERS), ranker.languages
    columns, scores, probable = (side[:, : limits.top] for side in found.sides)  # (b, k)
    kept = (scores > -np.inf) & ranker.rows[0][rows].any(dim=1).cpu().numpy()[:, None]
    of = np.broadcast_to(rows[:, None], columns.shape)
    if back is not None:
        kept &= back[columns] == of
    if limits.min_probability is not None:
        kept &= probable >= np.float32(limits.min_probability)
    parts = (of, columns, scores, kept.cumsum(axis=1), probable)  # ranks are among those kept
    for row, column, score, rank, share in zip(*(part[kept].tolist() for part in parts), strict=True):
        yield Entry(
            source.words[row], target.words[column], score, rank, None if share != share else share,
            frequency_rank=source.frequency_rank(row),
        )  # fmt: skip


def best_entries(space: Space, source: str, target: str, *, most: int) -> Iterator[Entry]:
    """The best translation of the `most` frequent words, among the `most` frequent; probabilities as kept."""
    limits = InductionConfig(source_max=most, target_max=most)
    search = search_with(Approximation())
    ranker = Ranker(space, (source, target), top=1, most=(most, most), make_search=search)
    if ranker.table is None:
        ranker = replace(ranker, calibration=find_calibration(space, source, target))
    for rows in _batches(range(len(ranker.rows[0]))):
        yield from entries_of(ranker, rows, limits=limits)


@dataclass
class Counts:
    """The number of pairs so far, of their source words, and of how many are expected to be right."""

    pairs: int = 0
    words: int = 0
    right: float | None = 0.0

    def counted(self, found: Iterable[Entry]) -> Iterator[Entry]:
        """The entries, counted as they pass; all entries of a source word must stand together."""
        before = None
        for entry in found:
            self.pairs += 1
            self.words += entry.source != before
            if self.right is not None:
                self.right = None if entry.probability is None else self.right + entry.probability
            before = entry.source
            yield entry


def summary(words: int, found: Counts, fitting: Counts, written: Counts | None = None) -> dict[str, Any]:
    """The numbers of pairs and of `words` that were looked up, and how many of these are left out.

    `left_out` words are `without_pair` within the limits, or had none that the `format` can represent. What
    is `fitting` is written, unless other pairs are given.
    `expected_precision` is the mean probability of the pairs in percent, None where it is not known.
    """
    lacking = {"without_pair": words - found.words, "format": found.words - fitting.words}
    right, pairs = (written or fitting).right, (written or fitting).pairs
    expected = None if right is None or not pairs else round(100 * right / pairs, 1)
    return {"pairs": pairs, "words": words, "left_out": lacking, "expected_precision": expected}


def check_found(count: int, wanted: str, out: Path) -> None:
    """Raise Mismatch if a dictionary, `wanted` from one language to another, would be empty."""
    if not count:
        raise Mismatch(
            f"{out}: expected at least one pair from {wanted}, got none; lower --min-probability or raise "
            "--top"
        )
