"""Choice: the learner that translates held-out pairs best, or of equals the simplest."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from muse.learn.refine import RefineConfig
from muse.learn.supervise.canonical import CanonicalConfig, canonical
from muse.learn.supervise.contrastive import ContrastiveConfig, contrastive
from muse.learn.supervise.cross_validation import Folds, Ranks, Search, SearchConfig, chance, held_out, wilson
from muse.learn.supervise.evidence import Evidence, Maps
from muse.learn.supervise.orthogonal import orthogonal
from muse.learn.supervise.refined import refined
from muse.learn.supervise.relaxed import RelaxedConfig, relaxed
from muse.learn.supervise.self_learning import SelfLearningConfig, lighter, self_learning
from muse.learn.supervise.whitened import whitened
from muse.run.runtime import Runtime

log = logging.getLogger(__name__)

SETTINGS = tuple(
    CanonicalConfig(shrinkage, power)
    for shrinkage, power in (
        (0.1, 1.0),
        (0.3, 0.5),
        (0.3, 1.0),
        (0.5, 0.5),
        (0.5, 1.0),
        (0.7, 0.5),
        (0.9, 0.5),
    )
)
DOUBTED = 0.1
TESTED = 500  # words on which the slow learners are tested
LIGHT = 4_000  # their largest cut-off while they are tested
FINAL = SearchConfig(targets=30_000, sources=4_000)  # of the figure that is reported

Fit = Callable[[Evidence, bool], Maps]  # the flag: as at the end, rather than as in cross-validation


@dataclass(frozen=True)
class Method:
    """A way to fit maps; `slow` ones are tested on fewer words. The order of a list is that of complexity."""

    name: str
    fit: Fit
    slow: bool = False


@dataclass(frozen=True, eq=False)
class Tested:
    """A learner with the ranks of the held-out words, and the seconds it took to test."""

    learner: Method
    ranks: Ranks
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """The fields that `--json` and the manifest show."""
        right = int((self.ranks.ranks == 1).sum())
        return {
            "name": self.learner.name,
            "held_out_p_at_1": round(self.ranks.p_at_1, 2),
            "ci95": [round(bound, 2) for bound in wilson(right, len(self.ranks.ranks))],
            "reciprocal_rank": round(float(self.ranks.reciprocal.mean()), 4)
            if len(self.ranks.ranks)
            else 0.0,
            "words": len(self.ranks.words),
            "seconds": round(self.seconds, 2),
        }


@dataclass(frozen=True)
class Supervision:
    """What was learned from pairs: the learner chosen, and its P@1 in percent on pairs held out.

    `pairs` are those known in both vocabularies; `right` of `tested` words were translated correctly;
    `chance` is the P@1 of shuffled translations.
    """

    pairs: int
    chosen: str
    right: int
    tested: int
    chance: float
    candidates: tuple[Mapping[str, Any], ...]

    @property
    def p_at_1(self) -> float:
        """P@1 in percent on held-out words."""
        return 100 * self.right / self.tested if self.tested else 0.0

    def __str__(self) -> str:
        """The result in one line."""
        low, high = wilson(self.right, self.tested)
        return (
            f"P@1 {self.p_at_1:.1f} [{low:.1f}, {high:.1f}] on {self.tested} words of {self.pairs} pairs "
            f"(chance {self.chance:.2f})"
        )

    def as_json(self) -> dict[str, Any]:
        """The fields that `--json` and the manifest show."""
        return {
            "pairs": self.pairs,
            "chosen": self.chosen,
            "held_out_p_at_1": round(self.p_at_1, 2),
            "ci95": [round(bound, 2) for bound in wilson(self.right, self.tested)],
            "chance": round(self.chance, 4),
            "candidates": list(self.candidates),
        }


@dataclass(frozen=True, eq=False)
class _Choice:
    """What the learners are tested with."""

    evidence: Evidence
    folds: Folds
    search: Search
    fixed: bool
    seed: Sequence[int]
    runtime: Runtime

    def maps(self, learner: Method, evidence: Evidence, *, last: bool = False) -> Maps:
        found = learner.fit(evidence, last)
        return found.into_target() if self.fixed else found

    def test(self, learner: Method) -> Tested:
        began = time.perf_counter()
        most = self.folds.enough(TESTED) if learner.slow else self.folds.number
        fits = [self.maps(learner, fitted) for fitted, _ in self.folds.trials(most)]
        tested = Tested(learner, held_out(fits, self.folds, self.search), time.perf_counter() - began)
        log.info(
            "%s: P@1 %.1f on %d held-out words (%.1f s)",
            learner.name, tested.ranks.p_at_1, len(tested.ranks.words), tested.seconds,
        )  # fmt: skip
        return tested

    def rng(self) -> np.random.Generator:
        return np.random.default_rng([*self.seed, 1])


def choose(
    evidence: Evidence,
    starts: Mapping[str, Maps],
    *,
    fixed: bool,
    plain: bool = False,
    seed: Sequence[int],
    runtime: Runtime,
) -> tuple[Maps, Supervision]:
    """The maps of the learner chosen by cross-validation, fitted to all pairs, and how it was chosen.

    `starts` are maps learned without the pairs, simplest first: candidates themselves, and starts of
    self-learning. With `fixed` the target does not move; with `plain` Procrustes is the only candidate.
    """
    rng = np.random.default_rng([*seed, 0])
    folds, search = Folds.of(evidence, rng), Search.of(evidence, rng)
    choice = _Choice(evidence, folds, search, fixed, seed, runtime)
    tested = [choice.test(_procrustes())] if plain else _tested(choice, starts)
    best = simplest(tested)
    maps = choice.maps(best.learner, evidence, last=True)
    found = _reported(choice, best, rng)
    right = int((found.ranks == 1).sum())
    supervision = Supervision(
        len(evidence), best.learner.name, right, len(found.ranks), chance(found, evidence),
        tuple(one.as_json() for one in tested),
    )  # fmt: skip
    return maps, supervision


def _tested(choice: _Choice, starts: Mapping[str, Maps]) -> list[Tested]:
    """All candidates, tested, simplest first."""
    given = [choice.test(Method(name, _always(maps))) for name, maps in starts.items()]
    closed = [choice.test(_procrustes())]
    closed.append(choice.test(Method("whitened", lambda evidence, _: whitened(evidence))))
    grid = {
        config: choice.test(Method(f"canonical:{config}", _canonical(config, choice))) for config in SETTINGS
    }
    config = max(grid, key=lambda one: _mean(grid[one]))
    doubting = replace(config, doubted=DOUBTED)
    closed += [*grid.values(), choice.test(Method(f"canonical:{doubting}", _canonical(doubting, choice)))]
    best = max((*given, *closed), key=_mean).learner
    induced = [_refined(choice), _self_learning("self-learning", grid[config].learner, choice)]
    induced += [
        _self_learning(f"self-learning from {one.learner.name}", one.learner, choice) for one in given
    ]
    trained = [_relaxed(), _contrastive("contrastive", best, choice)]
    slow = [[choice.test(learner) for learner in learners] for learners in (induced, trained)]
    # Maps fitted to induced pairs as well have no more parameters, and several times as many pairs for them.
    return [*given, *closed[:2], *slow[0], *closed[2:], *slow[1]]


def simplest(tested: Sequence[Tested]) -> Tested:
    """The first that is within one standard error of the best (Breiman et al., 1984, section 3.4.3).

    Compared are the reciprocal ranks of the words that all were tested on; the standard error is that of
    the difference, word by word.
    """
    common = set.intersection(*(set(one.ranks.words.tolist()) for one in tested))
    scores = [_on(one.ranks, common) for one in tested]
    best = max(scores, key=lambda of: float(of.mean()) if len(of) else 0.0)
    for one, own in zip(tested, scores, strict=True):
        lost = best - own
        error = float(lost.std(ddof=1)) / np.sqrt(len(lost)) if len(lost) > 1 else 0.0
        if not len(lost) or float(lost.mean()) <= error:
            return one
    raise AssertionError("the best is within one standard error of itself")


def _on(ranks: Ranks, words: set[int]) -> np.ndarray[Any, np.dtype[np.float64]]:
    order = np.argsort(ranks.words)
    kept = np.isin(ranks.words[order], list(words))
    return np.asarray(ranks.reciprocal[order][kept])


def _mean(tested: Tested) -> float:
    return float(tested.ranks.reciprocal.mean()) if len(tested.ranks.ranks) else 0.0


def _reported(choice: _Choice, best: Tested, rng: np.random.Generator) -> Ranks:
    """The held-out ranks of the chosen learner among the whole target vocabulary."""
    search = Search.of(choice.evidence, rng, FINAL)
    most = choice.folds.enough(TESTED) if best.learner.slow else choice.folds.number
    fits = [choice.maps(best.learner, fitted) for fitted, _ in choice.folds.trials(most)]
    return held_out(fits, choice.folds, search)


def _always(maps: Maps) -> Fit:
    return lambda _, __: maps


def _procrustes() -> Method:
    return Method("procrustes", lambda evidence, _: orthogonal(evidence))


def _canonical(config: CanonicalConfig, choice: _Choice) -> Fit:
    return lambda evidence, _: canonical(evidence, config, choice.rng())


def _relaxed() -> Method:
    return Method("rcsls", lambda evidence, _: relaxed(evidence, RelaxedConfig()), slow=True)


def _refined(choice: _Choice) -> Method:
    def fit(evidence: Evidence, last: bool) -> Maps:
        config = RefineConfig() if last else RefineConfig(cutoffs=(LIGHT,))
        return refined(evidence, orthogonal(evidence).into_target(), config, choice.rng())

    return Method("refinement", fit, slow=True)


def _self_learning(name: str, start: Method, choice: _Choice) -> Method:
    def fit(evidence: Evidence, last: bool) -> Maps:
        config = SelfLearningConfig() if last else lighter(SelfLearningConfig(), LIGHT)
        return self_learning(evidence, start.fit(evidence, last), config, choice.rng())

    return Method(name, fit, slow=True)


def _contrastive(name: str, start: Method, choice: _Choice) -> Method:
    def fit(evidence: Evidence, last: bool) -> Maps:
        return contrastive(evidence, start.fit(evidence, last), ContrastiveConfig(), choice.rng())

    return Method(name, fit, slow=True)
