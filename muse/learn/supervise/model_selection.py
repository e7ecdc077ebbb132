"""Choice: the method that translates held-out pairs best, or of equals the simplest.

For rows in no order, it is of equals the one that keeps most neighbours of held-out rows
(`cross_validation`). Queries that are mapped into a store that does not change have a map of their own, the
one that keeps most neighbours whatever its counterparts; with many pairs hidden units are added if that
surely keeps more.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import count
from statistics import fmean
from typing import Any

import numpy as np

from muse.errors import counted
from muse.learn.refine import RefineConfig
from muse.learn.supervise import descent, induced, linear
from muse.learn.supervise.cross_validation import (
    SIGNIFICANT,
    Folds,
    HeldOutConfig,
    HeldOutMaps,
    HeldOutSearch,
    Ranks,
    chance,
    held_out,
    kept_neighbours,
    trimmed,
    wilson,
)
from muse.learn.supervise.linear import CanonicalConfig, canonical, orthogonal
from muse.learn.supervise.training_pairs import Maps, TrainingPairs
from muse.progress import Tick
from muse.run.runtime import Runtime

log = logging.getLogger(__name__)

# Chosen on en-fr, en-de, en-ru and three pairs of unlike corpora, on parts of their training lists.
SETTINGS = tuple(
    CanonicalConfig(*one)
    for one in ((0.1, 1.0), (0.3, 0.5), (0.3, 1.0), (0.5, 0.5), (0.5, 1.0), (0.7, 0.5), (0.9, 0.5))
)
PENALTIES = (3.0, 0.3, 0.03)  # of ridge regression, from one for few pairs to hardly any
CORRECTIONS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # penalties of what corrects another map
RANKS = (16, 64)  # of corrections, with the penalty of those
RANKED_PENALTY = 0.3
UNITS = 2_048  # hidden units of a network
NETWORK_PENALTIES = (0.3, 1.0, 3.0)  # in mean variances of a unit
HINTED = 0.3  # the weight of a hint, as of an induced pair
LIGHT = 4_000  # the largest cut-off of the slow methods while they are tested
TESTED = 500  # words on which the slow methods are tested, and all methods of rows
METHODS = 5 + len(SETTINGS)  # that are tried without any start, for the progress line
TRIES = 2  # of transport, of a pseudo dictionary and of a start: with self-learning and without
TRAINED = 2  # RCSLS and contrastive training
FEW_WORDS = 2_000  # source words
# Pairs: training, and self-learning from what succeeded without pairs, may spoil rare words, and fewer pairs
# cannot show that they did.
LEAST_TO_TRAIN = 500
LEAST_FOR_NETWORK = 1_000  # pairs: with 200, hidden units gained nothing
OF_ROWS = HeldOutConfig(sources=1_000)  # of the many methods of rows, whose search is most of their time
FINAL = HeldOutConfig(targets=30_000, sources=4_000)  # of the figure that is reported

Fit = Callable[[TrainingPairs], Maps]
Induce = Callable[[TrainingPairs], TrainingPairs]


@dataclass(frozen=True, eq=False)
class Start:
    """Maps that were learned without the pairs, and whether the verdict without pairs calls them failed."""

    name: str
    maps: Maps
    failed: bool = False

    def fit(self, _: TrainingPairs) -> Maps:
        """The maps, whatever the pairs are."""
        return self.maps


@dataclass(frozen=True, eq=False)
class MethodScore:
    """A way to fit maps to pairs, its maps for the first folds, the ranks of their words, the seconds.

    `kept` is the share of neighbours that each word keeps, for rows. `induce` adds the pairs that the method
    finds itself to the given ones. A `slow` one is tested on fewer words.
    """

    name: str
    fit: Fit
    fits: Sequence[Maps]
    ranks: Ranks
    seconds: float = 0.0
    kept: Mapping[int, float] | None = None
    slow: bool = False
    induce: Induce | None = None

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
            "name": self.name,
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

    `pairs` are those known in both vocabularies, `left_out` those that lack a vector; `right` of `tested`
    words were translated correctly; `chance` is the P@1 of shuffled translations. A single source word
    leaves none to hold out. `noun` is what is translated: words, or rows. `held_out` are the maps of that
    method fitted without some of the pairs, `ranks` those of the words tested. `into_store` maps queries into
    a target that does not change.
    """

    pairs: int
    chosen: str
    right: int
    tested: int
    chance: float
    candidates: tuple[Mapping[str, Any], ...]
    noun: str = "words"
    left_out: int = 0
    held_out: HeldOutMaps | None = field(default=None, repr=False, compare=False)
    ranks: Ranks | None = field(default=None, repr=False, compare=False)
    into_store: MapIntoStore | None = field(default=None, repr=False, compare=False)

    @property
    def p_at_1(self) -> float | None:
        """P@1 in percent on those held out; None if there are none."""
        return 100 * self.right / self.tested if self.tested else None

    def __str__(self) -> str:
        pairs = counted(self.pairs, "pair")
        if self.left_out:
            pairs += f" ({self.left_out} more left out: a vector is missing)"
        if not self.tested:
            return f"none of {pairs}: too few to test on"
        low, high = wilson(self.right, self.tested)
        return (
            f"P@1 {self.p_at_1:.1f} [{low:.1f}, {high:.1f}] on {self.tested} {self.noun} of "
            f"{pairs} (chance {self.chance:.2f})"
        )

    def as_json(self) -> dict[str, Any]:
        """The fields that `--json` and the manifest show."""
        return {
            "pairs": self.pairs,
            "left_out": self.left_out,
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
    """What the methods are tested with, and the methods."""

    folds: Folds
    search: HeldOutSearch
    config: ChoiceConfig
    seed: Sequence[int]
    tick: Tick
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def maps(self, fit: Fit, evidence: TrainingPairs) -> Maps:
        """The maps of a method, which leave the target as it is where that is asked for."""
        found = fit(evidence)
        return found.into_target() if self.config.fixed else found

    def rng(self) -> np.random.Generator:
        """A generator that always draws the same numbers, so that methods can be compared."""
        return np.random.default_rng([*self.seed, 1])

    def test(self, name: str, fit: Fit, *, slow: bool = False, induce: Induce | None = None) -> MethodScore:
        """The method, tested on the folds, on fewer of them if it is slow; what it has fitted it keeps."""
        began, rows, fit = time.perf_counter(), self.config.regress, cache(fit)
        most = self.folds.enough(TESTED) if slow or rows else self.folds.number
        fits = [self.maps(fit, fitted) for fitted, _ in self.folds.trials[:most]]
        ranks = held_out(fits, self.folds, self.search)
        kept = kept_neighbours(fits, self.folds, self.search) if rows else None
        seconds = time.perf_counter() - began
        self.tick(next(self.numbers))
        share = f"P@1 {ranks.p_at_1:.1f}" if len(ranks.ranks) else "no P@1"
        log.info("%s: %s on %d held out (%.1f s)", name, share, len(ranks.words), seconds)
        return MethodScore(name, fit, fits, ranks, seconds, kept, slow, induce)

    def inducing(self, name: str, induce: Induce, config: CanonicalConfig) -> MethodScore:
        """Canonical maps of the given pairs and those induced."""
        found = cache(induce)
        return self.test(name, lambda pairs: canonical(found(pairs), config), slow=True, induce=found)

    def refinement(self) -> MethodScore:
        """Refinement as without pairs, from Procrustes."""

        def fit(pairs: TrainingPairs) -> Maps:
            config = RefineConfig(cutoffs=(LIGHT,)) if pairs.in_part else RefineConfig()
            return induced.refined(pairs, orthogonal(pairs).into_target(), config, self.rng())

        return self.test("refinement", fit, slow=True)

    def transport(self, config: CanonicalConfig) -> MethodScore:
        """Canonical maps on the pairs and those that transport finds with them."""
        settings = induced.GuidedTransportConfig()
        if self.config.regress:
            settings = settings.for_unranked_rows()
        return self.inducing("transport", partial(induced.with_transport, config=settings), config)

    def hinted(self, config: CanonicalConfig) -> MethodScore:
        """Canonical maps on the pairs and the pseudo dictionary."""

        def induce(pairs: TrainingPairs) -> TrainingPairs:
            more = pairs.pseudo_dictionary
            return pairs if more is None else pairs.plus(more, HINTED)

        return self.inducing("pairs and hints", induce, config)

    def self_learning(self, start: MethodScore, config: CanonicalConfig, name: str = "") -> MethodScore:
        """Self-learning that begins with the maps of `start`; it may have a name of its own."""

        def induce(pairs: TrainingPairs) -> TrainingPairs:
            settings = induced.SelfLearningConfig()
            if self.config.regress:
                settings = settings.for_unranked_rows(LIGHT if pairs.in_part else settings.cutoffs[-1])
            elif pairs.in_part:
                settings = settings.up_to(LIGHT)
            held = trimmed(pairs, settings.canonical, self.rng())
            return induced.self_learning(held, start.fit(held), settings, self.rng())

        return self.inducing(name or f"self-learning from {start.name}", induce, config)

    def contrastive(self, start: MethodScore) -> MethodScore:
        """Contrastive training that begins with the maps of `start`, on the pairs that it was fitted to."""

        def fit(pairs: TrainingPairs) -> Maps:
            known = pairs if start.induce is None else start.induce(pairs)
            return descent.contrastive(known, start.fit(pairs), descent.ContrastiveConfig(), self.rng())

        name = "contrastive" if start.induce is None else f"contrastive after {start.name}"
        return self.test(name, fit, slow=True)

    def corrected(self, start: MethodScore, penalty: float, rank: int | None = None) -> MethodScore:
        """The maps of `start` and a ridge regression of what they leave, into a target that does not move."""

        def fit(pairs: TrainingPairs) -> Maps:
            return linear.corrected(pairs, start.fit(pairs).into_target().source, penalty, rank)

        name = f"{start.name}+ridge:{penalty:g}"
        return self.test(name if rank is None else f"{name},rank:{rank}", fit, slow=start.slow)

    def networks(self, start: MethodScore) -> list[MethodScore]:
        """The maps of `start` with what hidden units add to them, for each penalty, fitted together."""

        @cache
        def fitted(pairs: TrainingPairs) -> list[Maps]:
            mapping = start.fit(pairs).into_target().source
            units = linear.drawn_units(mapping.shape[1], UNITS, self.rng())
            return linear.with_units(pairs, mapping, units, NETWORK_PENALTIES)

        def fit(pairs: TrainingPairs, place: int) -> Maps:
            return fitted(pairs)[place]

        return [
            self.test(f"{start.name}+network:{penalty:g}", partial(fit, place=place), slow=start.slow)
            for place, penalty in enumerate(NETWORK_PENALTIES)
        ]


def are_few(evidence: TrainingPairs) -> bool:
    """Whether transport and unsupervised initialisations may know more than the pairs teach."""
    return evidence.source_words < FEW_WORDS


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
        trials = HeldOutTrials(folds, search, config, seed, tick)
        tested = [trials.test("procrustes", orthogonal)] if config.plain else _tested(trials, starts)
        leads = any(one.name == tested[0].name and not one.failed for one in starts)
        overruling = len(evidence) < LEAST_TO_TRAIN and leads
        if config.regress and not overruling:
            best = keeping_most(tested)
        else:
            best = simplest(tested, SIGNIFICANT if overruling else 1.0)
        into_store = None
        if config.regress and config.fixed:
            into_store, tested = choose_into_store(trials, tested)
        maps = trials.maps(best.fit, evidence)
        found = held_out(best.fits, folds, HeldOutSearch.of(evidence, rng, FINAL))
    supervision = Supervision(
        len(evidence), best.name, found.right, len(found.ranks), chance(found, evidence),
        tuple(one.as_json() for one in tested), held_out=HeldOutMaps.of(best.fits, folds),
        ranks=found, into_store=into_store,
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


def _tested(trials: HeldOutTrials, starts: Sequence[Start]) -> list[MethodScore]:
    """All methods, tested, simplest first: what was learned without the pairs needs no fit at all.

    Maps fitted to induced pairs too have no more parameters than others, and several times the pairs
    for them; and they cover rarer words, which a dictionary seldom has and cross-validation cannot see.
    Self-learning does not begin with a start that ranks held-out pairs worse than canonical maps do, nor,
    where pairs are few, with one that succeeded without them. One that failed comes last: a few pairs cannot
    show that it is better than its equals. If only failed starts can be used and the pairs are few, transport
    is tried too.
    """
    evidence, rows = trials.folds.evidence, trials.config.regress
    trains = len(evidence) >= LEAST_TO_TRAIN
    rotations = [trials.test("procrustes", orthogonal)]
    if not rows:  # of rows, self-learning finds more from this start, and keeps the pairs
        rotations.append(trials.refinement())
    whitened = trials.test("whitened", linear.fit_whitened)
    grid = {
        config: trials.test(f"canonical:{config}", partial(canonical, config=config)) for config in SETTINGS
    }
    config = max(grid, key=lambda one: grid[one].score)
    by_trimmed = trials.test(
        f"canonical:{config},trimmed", lambda pairs: canonical(trimmed(pairs, config, trials.rng()), config)
    )
    inducing, others = list[MethodScore](), list[MethodScore]()
    for start in starts:
        given = trials.test(start.name, start.fit)
        serves = given.score >= grid[config].score
        grows = serves and (start.failed or trains)
        grown = [trials.self_learning(given, config)] if grows else []
        (inducing if serves and not start.failed else others).extend([given, *grown])
    transports = are_few(evidence) and not inducing
    if evidence.pseudo_dictionary is not None:
        given = trials.hinted(config)
        if given.score >= grid[config].score:
            inducing.append(trials.self_learning(given, config))
        inducing.append(given)
    inducing += _induced(trials, grid[config], config, transports=transports)
    canonicals = [*grid.values(), by_trimmed]
    fitted = [*inducing, *rotations, whitened, *canonicals, *others]
    if rows:
        return [*fitted, *_regressions(trials, [rotations[0], *inducing, *others])]
    best = max((*inducing, *canonicals, *others), key=lambda one: one.score)
    if not trains:
        return fitted
    relaxed = partial(descent.relaxed, config=descent.RelaxedConfig())
    return [*fitted, trials.test("rcsls", relaxed, slow=True), trials.contrastive(best)]


def _induced(
    trials: HeldOutTrials, start: MethodScore, config: CanonicalConfig, *, transports: bool
) -> list[MethodScore]:
    """Self-learning from canonical maps, and if it `transports` transport and self-learning from it.

    Of rows, self-learning goes on from the better of the two alone: it takes most of the time.
    """
    found, from_both = list[MethodScore](), not trials.config.regress
    if transports:
        transport = trials.transport(config)
        better = transport.score >= start.score
        if better or from_both:
            found.append(trials.self_learning(transport, config))
        found.append(transport)
        if better and not from_both:
            return found
    return [*found, trials.self_learning(start, config, "self-learning")]


def _regressions(trials: HeldOutTrials, bases: Sequence[MethodScore]) -> list[MethodScore]:
    """Ridge regressions, and those that correct a rotation, what was learned without pairs or from more."""
    return [
        *(trials.corrected(bases[0], RANKED_PENALTY, rank) for rank in RANKS),
        *(trials.corrected(one, size) for one in bases for size in CORRECTIONS),
        *(trials.test(f"ridge:{size:g}", partial(linear.ridge, penalty=size)) for size in PENALTIES),
    ]


def choose_into_store(
    trials: HeldOutTrials, tested: Sequence[MethodScore]
) -> tuple[MapIntoStore | None, list[MethodScore]]:
    """What keeps most neighbours of held-out rows, fitted to all pairs, and all that was tested.

    A network has a hundred times the parameters of a linear map, so it must keep more by two standard errors.
    """
    evidence = trials.folds.evidence
    if not all(one.kept for one in tested):  # a single pair leaves none to hold out
        return None, [*tested]
    common = sorted(set.intersection(*(set(one.kept or {}) for one in tested)))
    chosen = best = max(tested, key=lambda one: _kept(one, common))
    networks, others = list[MethodScore](), chosen.kept or {}
    if len(evidence) >= LEAST_FOR_NETWORK:
        networks, better = trials.networks(chosen), list[MethodScore]()
        for one in networks:
            kept = one.kept or {}
            gained = np.array([kept[word] - others[word] for word in sorted(set(kept) & set(others))])
            if len(gained) > 1 and gained.mean() > SIGNIFICANT * gained.std(ddof=1) / np.sqrt(len(gained)):
                better.append(one)
        best = max(better, key=lambda one: fmean((one.kept or {}).values()), default=chosen)
    store = MapIntoStore(best.name, trials.maps(best.fit, evidence), 100 * fmean((best.kept or {}).values()))
    return store, [*tested, *networks]


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
