"""Facts: the content of a report, gathered from a space, its manifest and evaluations.

What its manifest records of how each language was mapped comes first; the `Facts` gather all the rest.

Without a gold list, a survey of the best translations of the frequent words, with their probabilities, stands
for accuracy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from muse.evaluation.score import Signature, look_up_signature
from muse.evaluation.words import Hubness, hubness
from muse.files.space_manifest import UNKNOWN, LanguageRecord, Reason
from muse.lexicon import Entry
from muse.optional import has, load
from muse.progress import Progress
from muse.ranking.expected import ExpectedPrecision
from muse.ranking.induction import best_entries
from muse.ranking.ranker import Ranker
from muse.ranking.translations import TRUSTED
from muse.report import measured
from muse.report.word_map import Picture, draw_picture, grouped_pairs
from muse.search.retrieval import Retrieval
from muse.space import Space

LABELS = ("failed", "doubtful", UNKNOWN, "aligned")  # from worst to best
REASONS = {
    Reason.FIRST_ALIGNED: "it was the first to be judged aligned, which ends the search",
    Reason.ONLY: "no other was tried",
    Reason.CRITERION: "none was judged aligned, and it has the highest criterion",
    Reason.VERDICT: "none was judged aligned, and it has the best verdict",
    Reason.PAIRS: "the pairs to learn from decided, as shown below",
    Reason.DETOUR: "the mapping over another language was judged better than the direct one",
}
SHOWN_WORDS = 10  # of the surest, of the least sure, and drawn at random
LONGEST_TEXT = 200  # characters shown


def why_chosen(record: LanguageRecord) -> str:
    """Why the chosen candidate was chosen, as its run recorded it; empty in a space of an older muse."""
    return REASONS[Reason(record.reason)] if record.reason in set(Reason) else record.reason


def supervision_json(found: Sequence[LanguageRecord]) -> dict[str, Any]:
    """The entries on learning from a dictionary, placed as in `muse align --json`; none without one."""
    entries = {
        record.language: {"supervision": dict(record.supervision.fields)}
        for record in found
        if record.supervision is not None
    }
    if len(found) == 1:
        return next(iter(entries.values()), {})
    return {"languages": entries} if entries else {}


def least_certain(found: Sequence[LanguageRecord]) -> LanguageRecord | None:
    """The record with the worst verdict and, among equals, the lowest confidence; None if there are none."""
    return min(found, default=None, key=lambda one: (
        LABELS.index(one.label if one.label in LABELS else UNKNOWN),
        1.0 if one.confidence is None else one.confidence,
    ))  # fmt: skip


@dataclass(frozen=True)
class ReportConfig:
    """The settings of a report: the direction, the gold list, the words searched.

    `terms` is a `muse.terms.kept.KeptGlossary` to show, or None.

    Paths are shown relative to `base`, in which the reader is to run commands.
    """

    source: str
    target: str
    base: Path
    gold: measured.Gold | None = None
    max_vocab: int = 20_000
    seed: int = 0
    terms: Any = None


@dataclass(frozen=True, eq=False)
class Accuracy:
    """What a gold list says: of both directions, and of each answer in the list's own, by frequency.

    `reliability` is None if the space is too small for probabilities.
    """

    forward: measured.Measured
    backward: measured.Measured
    answers: tuple[measured.GoldAnswer, ...]
    reliability: measured.Reliability | None

    @property
    def wrong(self) -> tuple[measured.GoldAnswer, ...]:
        """The answers that are not in the list."""
        return tuple(answer for answer in self.answers if not answer.right)


@dataclass(frozen=True, eq=False)
class Facts:
    """The content of a report.

    `accuracy` is None without a gold list; `hubness` is of the frequent words that the survey has searched.
    `examples`, a `muse.examples.lookup.WordExamples` each, are of words of the survey, if texts are indexed.
    """

    space: Space
    config: ReportConfig
    signature: Signature
    accuracy: Accuracy | None
    survey: Survey
    hubness: tuple[Hubness, Hubness]
    picture: Picture
    examples: tuple[Any, ...] = ()

    @property
    def records(self) -> tuple[LanguageRecord, ...]:
        """How each language of the direction was mapped; the pivot was not."""
        return tuple(one for one in self.space.manifest.mapped if one.language in (self.source, self.target))

    @property
    def expected(self) -> ExpectedPrecision | None:
        """How many first translations were expected to be right when the answers were chosen."""
        table = self.space.answers(self.source, self.target)
        return None if table is None else ExpectedPrecision.of_report(table.report)

    @property
    def source(self) -> str:
        """The source of the direction."""
        return self.config.source

    @property
    def target(self) -> str:
        """Its target."""
        return self.config.target

    @property
    def frequency_ordered(self) -> bool:
        """Whether both languages have words, most frequent first, and not rows in no order."""
        return all(self.space.vectors(name).frequency_ordered for name in (self.source, self.target))

    @property
    def noun(self) -> str:
        """What the languages have: words, or rows."""
        return "words" if self.frequency_ordered else "rows"

    @property
    def sample(self) -> str:
        """What the survey has searched, such as "20,000 most frequent words"."""
        count = f"{self.survey.searched:,}"
        return f"{count} most frequent words" if self.frequency_ordered else f"first {count} rows"

    def text(self, language: str, word: str) -> str:
        """The text of an unlabelled vector, or its beginning; empty if not known, and for every word."""
        text = self.space.vectors(language).text_of(word) or ""
        return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"

    @property
    def folder(self) -> Path:
        """The folder of the space."""
        return Path("SPACE") if self.space.folder is None else self.space.folder.resolve()

    @property
    def label(self) -> str:
        """The worst verdict on a mapping of the direction."""
        least = least_certain(self.records)
        return UNKNOWN if least is None else least.label


def least_certain_direction(space: Space, source: str | None, target: str | None) -> tuple[str, str]:
    """The given direction of a report or, if several are possible, the one with the least certain mapping."""
    if source is None and target is None and len(space.languages) > 2:
        least = least_certain(space.manifest.mapped)
        source = None if least is None else least.language
    return space.direction(source, target)


def gather_facts(space: Space, config: ReportConfig, progress: Progress) -> Facts:
    """The facts; Mismatch, before the long searches, if no pair of the dictionary is covered."""
    source, target, most, gold = config.source, config.target, config.max_vocab, config.gold
    accuracy, rng = None, np.random.default_rng(config.seed)
    with progress.stage("report", 4) as tick:
        if gold is not None:
            forward = measured.measure(gold, max_vocab=most, rng=rng)
            backward = measured.measure(gold.backward(), max_vocab=most, rng=rng)
            answers = measured.gold_answers(gold, forward.score.ranks)
            accuracy = Accuracy(forward, backward, answers, measured.reliability_of(answers, rng))
        tick(1)
        frequent = space
        if any(len(side.vectors) > most for side in space.sides.values()):
            sides = {
                name: replace(side, vectors=side.vectors.most_frequent(most))
                for name, side in space.sides.items()
            }
            # Without the folder: the hubness there is against all words.
            frequent = Space(sides, space.pivot, space.manifest, space.device)
        plain, csls = hubness(frequent, source, target, Retrieval("nn"), Retrieval())
        tick(2)
        looked_up = survey(space, source, target, most=most, rng=rng)
        tick(3)
        picture = draw_picture(space, source, target, grouped_pairs(space, source, target), config.seed)
        tick(4)
    return Facts(
        space, config,
        look_up_signature(Ranker(space, (source, target))),
        accuracy, looked_up, (plain, csls), picture, survey_examples(space, (source, target), looked_up),
    )  # fmt: skip


def survey_examples(space: Space, way: tuple[str, str], survey: Survey) -> tuple[Any, ...]:
    """A sentence with each word drawn at random, and one with its first answer, if texts are indexed."""
    if not has("examples") or not set(way) & set(load("examples.lookup").indexed_languages(space)):
        return ()
    find = load("examples.lookup").find_examples
    return tuple(find(space, way, entry.source, entry.target, 1) for entry in survey.drawn)


@dataclass(frozen=True)
class Survey:
    """The best translations of the `searched` most frequent words.

    `expected` is their mean probability, and `trusted` the share that is shown as trusted, both in
    percent, None if the space is too small for probabilities.
    """

    searched: int
    expected: float | None
    trusted: float | None
    surest: tuple[Entry, ...]
    unsure: tuple[Entry, ...]
    drawn: tuple[Entry, ...]


def survey(space: Space, source: str, target: str, *, most: int, rng: np.random.Generator) -> Survey:
    """The survey of the `most` frequent words of both languages; `rng` draws the words to show."""
    found = list(best_entries(space, source, target, most=most))
    worth = [(entry.score or 0.0) if entry.probability is None else entry.probability for entry in found]
    order = sorted(range(len(found)), key=lambda row: -worth[row])
    drawn = np.sort(rng.choice(len(found), min(SHOWN_WORDS, len(found)), replace=False)).tolist()
    surest, unsure = order[:SHOWN_WORDS], order[: -SHOWN_WORDS - 1 : -1]
    known = np.array([entry.probability for entry in found if entry.probability is not None])
    shares = (
        (100 * float(known.mean()), 100 * float((known >= TRUSTED).mean())) if len(known) else (None, None)
    )
    return Survey(
        len(found), *shares,
        *(tuple(found[row] for row in rows) for rows in (surest, unsure, drawn)),
    )  # fmt: skip
