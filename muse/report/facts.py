"""Facts: the content of a report, gathered from a space, its manifest and evaluations."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from muse.errors import Mismatch
from muse.evaluation.hubness import Hubness, hubness
from muse.evaluation.score import Signature, space_signature
from muse.evaluation.words import WordScore, evaluate_words
from muse.induce import Limits, entries
from muse.lexicon import Entry, Lexicon
from muse.picture import Picture, draw_picture, grouped_pairs
from muse.progress import Progress
from muse.report.record import Record, records
from muse.search.retrieval import Retrieval
from muse.space import AlignedSpace

SAMPLE = 15  # entries shown of the best, of the worst, and at random


@dataclass(frozen=True)
class ReportConfig:
    """The settings of a report: the direction, the gold dictionary and its name, the words searched."""

    source: str
    target: str
    lexicon: Lexicon | None = None
    gold: str = ""
    max_vocab: int = 20_000
    seed: int = 0


@dataclass(frozen=True)
class Sample:
    """Entries of the mutual dictionary: the best, the worst, and some at random; `pairs` is their number."""

    best: tuple[Entry, ...]
    worst: tuple[Entry, ...]
    drawn: tuple[Entry, ...]
    pairs: int


@dataclass(frozen=True, eq=False)
class Facts:
    """The content of a report; hubness and sample are of the `searched` most frequent words."""

    space: AlignedSpace
    source: str
    target: str
    signature: Signature
    records: tuple[Record, ...]
    accuracy: WordScore | None
    hubness: tuple[Hubness, Hubness]
    sample: Sample
    picture: Picture
    searched: tuple[int, int]


def gather_facts(space: AlignedSpace, config: ReportConfig, progress: Progress) -> Facts:
    """The facts; Mismatch, before the long searches, if no pair of the dictionary is covered."""
    source, target, rng = config.source, config.target, np.random.default_rng(config.seed)
    with progress.stage("report", 4) as tick:
        accuracy = None
        if config.lexicon is not None:
            accuracy = evaluate_words(
                space, config.lexicon, rng=rng, source=source, target=target, gold=config.gold
            )
        tick(1)
        frequent = most_frequent(space, config.max_vocab)
        plain, csls = (hubness(frequent, source, target, Retrieval(name)) for name in ("nn", "csls"))
        tick(2)
        sample = sample_of(entries(frequent, source, target, limits=Limits(mutual=True), rng=rng), rng)
        tick(3)
        picture = draw_picture(space, source, target, grouped_pairs(space, source, target), config.seed)
        tick(4)
    return Facts(
        space, source, target,
        space_signature(space, source, target, retrieval=str(Retrieval())),
        tuple(records(space.manifest, source, target)),
        accuracy, (plain, csls), sample, picture,
        (len(frequent.vectors(source)), len(frequent.vectors(target))),
    )  # fmt: skip


def most_frequent(space: AlignedSpace, count: int) -> AlignedSpace:
    """The space reduced to the `count` most frequent words of each language, unless it has no more."""
    if all(len(side.vectors) <= count for side in space.sides.values()):
        return space
    sides = {
        language: replace(side, vectors=side.vectors.most_frequent(count))
        for language, side in space.sides.items()
    }
    # Without the folder: the hubness there is against all words.
    return AlignedSpace(sides, space.pivot, space.manifest, space.device)


def sample_of(found: Iterable[Entry], rng: np.random.Generator) -> Sample:
    """The best, the worst and some random entries; Mismatch if there are none."""
    every = list(found)
    if not every:
        raise Mismatch("expected mutual neighbours in both languages, got none; align them again")
    best = heapq.nlargest(SAMPLE, every, key=_score)
    worst = heapq.nsmallest(SAMPLE, every, key=_score)
    drawn = rng.choice(len(every), min(SAMPLE, len(every)), replace=False)
    return Sample(tuple(best), tuple(worst), tuple(every[i] for i in sorted(drawn.tolist())), len(every))


def _score(entry: Entry) -> float:
    return entry.score if entry.score is not None else float("-inf")
