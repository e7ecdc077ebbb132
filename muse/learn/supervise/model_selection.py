"""Choice: the method that translates held-out pairs best, or of equals the simplest.

For rows in no order, it is of equals the one that keeps most neighbours of held-out rows
(`cross_validation`). Queries that are mapped into a store that does not change have a map of their own, the
one that keeps most neighbours whatever its counterparts; with many pairs hidden units are added if that
surely keeps more.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from statistics import fmean
from typing import Any

import numpy as np

from muse.learn.supervise.cross_validation import (
    Folds,
    HeldOutConfig,
    HeldOutMaps,
    HeldOutSearch,
    Ranks,
    chance,
    held_out,
    kept_neighbours,
    wilson,
)
from muse.learn.supervise.linear import CanonicalConfig
from muse.learn.supervise.methods import (
    CORRECTIONS,
    NETWORK_PENALTIES,
    PENALTIES,
    PROCRUSTES,
    RANKED_PENALTY,
    RANKS,
    RCSLS,
    SETTINGS,
    WHITENED,
    Method,
    canonical_method,
    contrastive_method,
    corrected_method,
    fitted_once,
    hinted_method,
    network_methods,
    refined_method,
    ridge_method,
    self_learning_method,
    transport_method,
    trimmed_method,
    unfitted,
)
from muse.learn.supervise.training_pairs import Maps, TrainingPairs
from muse.progress import Tick
from muse.run.runtime import Runtime

log = logging.getLogger(__name__)

TESTED = 500  # words on which the slow methods are tested, and all methods of rows
METHODS = 5 + len(SETTINGS)  # that are tried without any start, for the progress line
TRIES = 2  # of transport, of a pseudo dictionary and of a start: with self-learning and without
TRAINED = 2  # RCSLS and contrastive training
FEW = 2_000  # source words
# Pairs: training, and self-learning from what succeeded without pairs, may spoil rare words, and fewer pairs
# cannot show that they did.
LEAST_TO_TRAIN = 500
LEAST_FOR_NETWORK = 1_000  # pairs: with 200, hidden units gained nothing
SURE = 2.0  # standard errors
OF_ROWS = HeldOutConfig(sources=1_000)  # of the many methods of rows, whose search is most of their time
FINAL = HeldOutConfig(targets=30_000, sources=4_000)  # of the figure that is reported


@dataclass(frozen=True, eq=False)
class Start:
    """Maps that were learned without the pairs, and whether the verdict without pairs calls them failed."""

    name: str
    maps: Maps
    failed: bool = False


@dataclass(frozen=True, eq=False)
class MethodScore:
    """A method with its maps for the first folds, the ranks of their words, and the seconds that took."""

    method: Method
    fits: Sequence[Maps]
    ranks: Ranks
    seconds: float
    kept: Mapping[int, float] | None = None  # the share of neighbours that each word keeps, for rows

    @property
    def values(self) -> Mapping[int, float]:
        """The reciprocal rank of each held-out word."""
        return dict(zip(self.ranks.words.tolist(), self.ranks.reciprocal.tolist(), strict=True))

    @property
    def score(self) -> float:
        """The mean reciprocal rank of the held-out words."""
        return float(self.ranks.reciprocal.mean()) if len(self.ranks.ranks) else 0.0

    def as_json(self) -> dict[str, Any]:
        """The fields that `--json` and the manifest show."""
        return {
            "name": self.method.name,
            **_held_out(self.ranks.right, len(self.ranks.ranks)),
            "reciprocal_rank": round(self.score, 4),
            **({} if not self.kept else {"kept_neighbours": round(100 * fmean(self.kept.values()), 2)}),
            "words": len(self.ranks.words),
            "seconds": round(self.seconds, 2),
        }


@dataclass(frozen=True, eq=False)
class MapIntoStore:
    """The maps of the method that keeps most neighbours, and their share, of held-out rows, in percent."""

    method: str
    maps: Maps
    kept: float

    def as_json(self) -> dict[str, Any]:
        """The fields that `--json` and the manifest show."""
        return {"chosen": self.method, "kept_neighbours": round(self.kept, 2)}


@dataclass(frozen=True)
class Supervision:
    """What was learned from pairs: the method chosen, and its P@1 in percent on pairs held out.

    `pairs` are those known in both vocabularies; `right` of `tested` words were translated correctly;
    `chance` is the P@1 of shuffled translations. A single source word leaves none to hold out. `noun` is what
    is translated: words, or rows. `held_out` are the maps of that method fitted without some of the pairs.
    `into_store` maps queries into a target that does not change.
    """

    pairs: int
    chosen: str
    right: int
    tested: int
    chance: float
    candidates: tuple[Mapping[str, Any], ...]
    noun: str = "words"
    held_out: HeldOutMaps | None = field(default=None, repr=False, compare=False)
    into_store: MapIntoStore | None = field(default=None, repr=False, compare=False)

    @property
    def p_at_1(self) -> float | None:
        """P@1 in percent on those held out; None if there are none."""
        return 100 * self.right / self.tested if self.tested else None

    def __str__(self) -> str:
        """The result in one line."""
        if not self.tested:
            return f"none of {self.pairs} {'pair' if self.pairs == 1 else 'pairs'}: too few to test on"
        low, high = wilson(self.right, self.tested)
        return (
            f"P@1 {self.p_at_1:.1f} [{low:.1f}, {high:.1f}] on {self.tested} {self.noun} of "
            f"{self.pairs} pairs (chance {self.chance:.2f})"
        )

    def as_json(self) -> dict[str, Any]:
        """The fields that `--json` and the manifest show."""
        return {
            "pairs": self.pairs,
            "chosen": self.chosen,
            **_held_out(self.right, self.tested),
            "chance": round(self.chance, 4),
            "candidates": list(self.candidates),
            **({} if self.into_store is None else {"into_store": self.into_store.as_json()}),
        }


def _held_out(right: int, tested: int) -> dict[str, Any]:
    """The fields of a P@1 in percent and its interval, None where nothing was tested."""
    if not tested:
        return {"held_out_p_at_1": None, "ci95": None}
    interval = [round(bound, 2) for bound in wilson(right, tested)]
    return {"held_out_p_at_1": round(100 * right / tested, 2), "ci95": interval}


@dataclass(frozen=True)
class ChoiceConfig:
    """Which methods there are to choose from.

    With `fixed` the target does not move; with `plain` Procrustes is the only candidate; with `regress`, for
    rows in no order, regressions take the place of what is trained, and of equals the one that keeps most
    neighbours wins.
    """

    fixed: bool = False
    plain: bool = False
    regress: bool = False


@dataclass(frozen=True, eq=False)
class HeldOutTrials:
    """What the methods are tested with."""

    folds: Folds
    search: HeldOutSearch
    config: ChoiceConfig
    seed: Sequence[int]
    tick: Tick
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def maps(self, method: Method, evidence: TrainingPairs, *, last: bool = False) -> Maps:
        """The maps of a method, which leave the target as it is where that is asked for."""
        found = method.fit(evidence, last)
        return found.into_target() if self.config.fixed else found

    def test(self, method: Method) -> MethodScore:
        """The method, tested on the folds, on fewer of them if it is slow."""
        began, rows = time.perf_counter(), self.config.regress
        most = self.folds.enough(TESTED) if method.slow or rows else self.folds.number
        fits = [self.maps(method, fitted) for fitted, _ in self.folds.trials[:most]]
        ranks = held_out(fits, self.folds, self.search)
        kept = kept_neighbours(fits, self.folds, self.search) if rows else None
        tested = MethodScore(method, fits, ranks, time.perf_counter() - began, kept)
        self.tick(next(self.numbers))
        share = f"P@1 {ranks.p_at_1:.1f}" if len(ranks.ranks) else "no P@1"
        log.info("%s: %s on %d held out (%.1f s)", method.name, share, len(ranks.words), tested.seconds)
        return tested

    def self_learning(self, start: Method, config: CanonicalConfig, name: str = "") -> MethodScore:
        """Self-learning from a start, tested; it may have a name of its own."""
        name = name or f"self-learning from {start.name}"
        return self.test(
            self_learning_method(name, start, config, self.rng, frequency_ordered=not self.config.regress)
        )

    def rng(self) -> np.random.Generator:
        """A generator that always draws the same numbers, so that methods can be compared."""
        return np.random.default_rng([*self.seed, 1])


def are_few(evidence: TrainingPairs) -> bool:
    """Whether transport and unsupervised initialisations may know more than the pairs teach."""
    return evidence.source_words < FEW


def choose(
    evidence: TrainingPairs,
    starts: Sequence[Start],
    config: ChoiceConfig,
    *,
    seed: Sequence[int],
    runtime: Runtime,
) -> tuple[Maps, Supervision]:
    """The maps of the method chosen by cross-validation, fitted to all pairs, and how it was chosen.

    `starts` are maps learned without the pairs, simplest first: candidates themselves, and starts of
    self-learning. Few pairs overrule one that succeeded, on thousands of words, only if they are sure: by two
    standard errors.
    """
    rng = np.random.default_rng([*seed, 0])
    folds = Folds.of(evidence, rng)
    search = HeldOutSearch.of(evidence, rng, OF_ROWS if config.regress else None)
    steps = 1 if config.plain else _steps(evidence, starts, config.regress)
    with runtime.progress.stage("learning from pairs", steps, "methods", may_end_early=True) as tick:
        choice = HeldOutTrials(folds, search, config, seed, tick)
        tested = [choice.test(PROCRUSTES)] if config.plain else _tested(choice, starts)
        leads = any(one.name == tested[0].method.name and not one.failed for one in starts)
        overruling = len(evidence) < LEAST_TO_TRAIN and leads
        if config.regress and not overruling:
            best = keeping_most(tested)
        else:
            best = simplest(tested, SURE if overruling else 1.0)
        into_store = None
        if config.regress and config.fixed:
            into_store, tested = choose_into_store(choice, tested)
        maps = choice.maps(best.method, evidence, last=True)
        found = held_out(best.fits, folds, HeldOutSearch.of(evidence, rng, FINAL))
    supervision = Supervision(
        len(evidence), best.method.name, found.right, len(found.ranks), chance(found, evidence),
        tuple(one.as_json() for one in tested), held_out=HeldOutMaps.of(best.fits, folds),
        into_store=into_store,
    )  # fmt: skip
    return maps, supervision


def _steps(evidence: TrainingPairs, starts: Sequence[Start], regress: bool) -> int:
    """How many methods are tried at most: what serves is only known on the way."""
    begun = are_few(evidence) + len(starts)
    steps = METHODS + TRIES * (begun + (evidence.pseudo_dictionary is not None))
    if regress:
        bases = 2 + TRIES * begun
        networks = len(NETWORK_PENALTIES) * (len(evidence) >= LEAST_FOR_NETWORK)
        return steps + len(RANKS) + len(PENALTIES) + len(CORRECTIONS) * bases + networks
    return steps + TRAINED * (len(evidence) >= LEAST_TO_TRAIN)


def _tested(choice: HeldOutTrials, starts: Sequence[Start]) -> list[MethodScore]:
    """All methods, tested, simplest first: what was learned without the pairs needs no fit at all.

    Maps fitted to induced pairs too have no more parameters than others, and several times the pairs
    for them; and they cover rarer words, which a dictionary seldom has and cross-validation cannot see.
    Self-learning does not begin with a start that ranks held-out pairs worse than canonical maps do, nor,
    where pairs are few, with one that succeeded without them. One that failed comes last: a few pairs cannot
    show that it is better than its equals. If only failed starts can be used and the pairs are few, transport
    is tried too.
    """
    evidence = choice.folds.evidence
    trains = len(evidence) >= LEAST_TO_TRAIN
    rotations = [choice.test(PROCRUSTES)]
    if not choice.config.regress:  # of rows, self-learning finds more from this start, and keeps the pairs
        rotations.append(choice.test(refined_method(choice.rng)))
    whitened = choice.test(WHITENED)
    grid = {config: choice.test(canonical_method(config)) for config in SETTINGS}
    config = max(grid, key=lambda one: grid[one].score)
    canonicals = [*grid.values(), choice.test(trimmed_method(config, choice.rng))]
    inducing, others = list[MethodScore](), list[MethodScore]()
    for start in starts:
        given = choice.test(unfitted(start.name, start.maps))
        serves = given.score >= grid[config].score
        grows = serves and (start.failed or trains)
        grown = [choice.self_learning(given.method, config)] if grows else []
        (inducing if serves and not start.failed else others).extend([given, *grown])
    inducing += [
        *_hinted(choice, grid[config], config),
        *_induced(choice, grid[config], config, transports=are_few(evidence) and not inducing),
    ]
    fitted = [*rotations, whitened, *canonicals, *others]
    if choice.config.regress:
        return [*inducing, *fitted, *_regressions(choice, [rotations[0], *inducing, *others])]
    best = max((*inducing, *canonicals, *others), key=lambda one: one.score)
    trained = [RCSLS, contrastive_method(best.method, choice.rng)] if trains else []
    return [*inducing, *fitted, *map(choice.test, trained)]


def _hinted(choice: HeldOutTrials, canonical: MethodScore, config: CanonicalConfig) -> list[MethodScore]:
    """Canonical maps of pairs and a pseudo dictionary, if there is one, and if it serves self-learning."""
    if choice.folds.evidence.pseudo_dictionary is None:
        return []
    given = choice.test(hinted_method(config))
    grown = [choice.self_learning(given.method, config)] if given.score >= canonical.score else []
    return [*grown, given]


def _induced(
    choice: HeldOutTrials, canonical: MethodScore, config: CanonicalConfig, *, transports: bool
) -> list[MethodScore]:
    """Self-learning from canonical maps, and if it `transports` transport and self-learning from it.

    Of rows, self-learning goes on from the better of the two alone: it takes most of the time.
    """
    found, from_both = list[MethodScore](), not choice.config.regress
    if transports:
        transport = choice.test(transport_method(config, frequency_ordered=not choice.config.regress))
        better = transport.score >= canonical.score
        if better or from_both:
            found.append(choice.self_learning(transport.method, config))
        found.append(transport)
        if better and not from_both:
            return found
    return [*found, choice.self_learning(canonical.method, config, "self-learning")]


def _regressions(choice: HeldOutTrials, bases: Sequence[MethodScore]) -> list[MethodScore]:
    """Ridge regressions, and those that correct a rotation, what was learned without pairs or from more."""
    rotation, *_ = starts = [fitted_once(one.method) for one in bases]
    return [
        *(choice.test(corrected_method(rotation, RANKED_PENALTY, rank)) for rank in RANKS),
        *(choice.test(corrected_method(one, size)) for one in starts for size in CORRECTIONS),
        *(choice.test(ridge_method(size)) for size in PENALTIES[::-1]),
    ]


def choose_into_store(
    choice: HeldOutTrials, tested: Sequence[MethodScore]
) -> tuple[MapIntoStore | None, list[MethodScore]]:
    """What keeps most neighbours of held-out rows, fitted to all pairs, and all that was tested.

    A network has a hundred times the parameters of a linear map, so it must keep more by two standard errors.
    """
    evidence = choice.folds.evidence
    if not all(one.kept for one in tested):  # a single pair leaves none to hold out
        return None, [*tested]
    common = sorted(set.intersection(*(set(one.kept or {}) for one in tested)))
    linear = best = max(tested, key=lambda one: _kept(one, common))
    networks, others = list[MethodScore](), linear.kept or {}
    if len(evidence) >= LEAST_FOR_NETWORK:
        known = ((own, maps) for (own, _), maps in zip(choice.folds.trials, linear.fits, strict=False))
        networks = [
            choice.test(one) for one in network_methods(fitted_once(linear.method, known), choice.rng)
        ]
        better = list[MethodScore]()
        for one in networks:
            kept = one.kept or {}
            gained = np.array([kept[word] - others[word] for word in sorted(set(kept) & set(others))])
            if len(gained) > 1 and gained.mean() > SURE * gained.std(ddof=1) / np.sqrt(len(gained)):
                better.append(one)
        best = max(better, key=lambda one: fmean((one.kept or {}).values()), default=linear)
    maps = choice.maps(best.method, evidence, last=True)
    return MapIntoStore(best.method.name, maps, 100 * fmean((best.kept or {}).values())), [*tested, *networks]


def simplest(tested: Sequence[MethodScore], errors: float = 1.0) -> MethodScore:
    """The first within `errors` standard errors of the best (Breiman et al., 1984, 3.4.3: one)."""
    return _equals(tested, errors)[0][0]


def keeping_most(tested: Sequence[MethodScore]) -> MethodScore:
    """The method that keeps most neighbours, of those within one standard error of the best."""
    equals, common = _equals(tested, 1.0)
    return max(equals, key=lambda one: _kept(one, common))


def _kept(one: MethodScore, words: Sequence[int]) -> float:
    """The sum of the shares of neighbours that a method keeps of these held-out words."""
    return sum((one.kept or {}).get(word, 0.0) for word in words)


def _equals(tested: Sequence[MethodScore], errors: float) -> tuple[list[MethodScore], list[int]]:
    """The methods within `errors` standard errors of the best, in order, and the words they are compared on.

    Those are the words that all were tested on; the standard error is of the differences of their reciprocal
    ranks, word by word.
    """
    common = sorted(set.intersection(*(set(one.values) for one in tested)))
    scores = [np.array([one.values[word] for word in common]) for one in tested]
    best = max(scores, key=lambda of: float(of.mean()) if len(of) else 0.0)
    equals = []
    for one, own in zip(tested, scores, strict=True):
        lost = best - own
        error = float(lost.std(ddof=1)) / np.sqrt(len(lost)) if len(lost) > 1 else 0.0
        if not len(lost) or float(lost.mean()) <= errors * error:
            equals.append(one)
    return equals, common
