"""Joint refinement: the mappings of several languages, refitted to the word pairs of all pairs of languages.

Aligned one by one, two languages share the pivot's space without ever having been compared directly.
Here the word pairs of every two languages are found, and all mappings are fitted to all of them. (Pairs
of all languages, each mapping refitted in turn: Chen and Cardie, 2018, multilingual pseudo-supervised
refinement.) The pairs of two languages enter as one matrix, so the iterations cost next to nothing.

The weight of pairs without the pivot is chosen on held-out pairs, and no two languages may lose more of
them than one standard error (the rule of Breiman et al., 1984, for the size of a tree); otherwise the
mappings do not change.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.learn.refine import RefineConfig, look_up
from muse.learn.supervise.cross_validation import SIGNIFICANT, standard_errors
from muse.procrustes import both_mapped, gram, rotation
from muse.run.runtime import Runtime
from muse.search.retrieval import Retrieval, mutual_neighbours, translations
from muse.vectors import Matrix, Vectors

log = logging.getLogger(__name__)

LOSS = -1.0  # the largest loss of any two languages that is accepted, in standard errors

Pairs = dict[tuple[str, str], Tensor]  # for two languages, the (p, 2) row numbers of their word pairs
Maps = dict[str, Tensor]  # for each language, its (k, d): k of the pivot, d its own
Products = dict[tuple[str, str], Tensor]  # for two languages, Y^T X (e, d) over their pairs


@dataclass(frozen=True)
class JointConfig:
    """The number of words and rounds, and the weights to try for pairs without the pivot."""

    words: int = 15_000
    share: float = 0.75  # of the smallest vocabulary, as in RefineConfig
    rounds: int = 2
    # More gains nothing and harms the pivot's pairs (benchmarks/results/align/many-languages.md).
    weights: tuple[float, ...] = (0.25, 0.1)
    tested: int = 10_000  # the words whose pairs are tested
    turns: int = 50
    gain: float = 1e-5  # of the objective, for another turn


@dataclass(frozen=True)
class Change:
    """How many of `tested` held-out pairs of two languages are recovered before and after."""

    source: str
    target: str
    tested: int
    before: int
    after: int
    standard_errors: float

    @classmethod
    def between(cls, languages: tuple[str, str], before: Tensor, after: Tensor) -> "Change":
        """The change from `before` to `after`, (p,) bool: whether each held-out pair is recovered."""
        found = int(before.sum()), int(after.sum())
        return cls(*languages, len(before), *found, standard_errors(before, after))

    def as_json(self) -> dict[str, float]:
        """The figures that `--json` shows."""
        figures = {"tested": self.tested, "before": self.before, "after": self.after}
        return {**figures, "standard_errors": round(self.standard_errors, 2)}

    def __str__(self) -> str:
        """The change in words."""
        return f"{self.source}-{self.target} {self.before} to {self.after} of {self.tested}"


@dataclass(frozen=True, eq=False)
class Joint:
    """The mappings (k, d) of every language but the pivot, and the changes on held-out pairs.

    `weight` is the weight of pairs without the pivot, 0 if the mappings did not change.
    """

    mappings: Mapping[str, Matrix]
    weight: float
    changes: tuple[Change, ...]

    def __str__(self) -> str:
        kept = "kept" if self.weight else "not kept"
        return f"{kept}; held-out pairs recovered: {', '.join(map(str, self.changes))}"

    def as_json(self) -> dict[str, Any]:
        """The fields that `--json` and the manifest show."""
        pairs = {f"{one.source}-{one.target}": one.as_json() for one in self.changes}
        return {"kept": self.weight > 0, "weight": self.weight, "pairs": pairs}


def refine_jointly(
    languages: Sequence[Vectors],
    start: Mapping[str, Matrix],
    *,
    rng: np.random.Generator,
    runtime: Runtime,
    config: JointConfig | None = None,
) -> Joint:
    """The mappings (e, d) of `languages`, refitted from `start`; the last is the fixed pivot."""
    config = config or JointConfig()
    words = min(config.words, max(1, int(config.share * min(map(len, languages)))))
    rows = {side.language: side.most_frequent(words).tensor(runtime.device) for side in languages}
    fit = Fit(rows, languages[-1].language, config)
    maps = {language: torch.from_numpy(mapping).to(runtime.device) for language, mapping in start.items()}
    maps[fit.pivot] = torch.eye(languages[-1].dimension, device=runtime.device)
    pairs = fit.pairs(maps, rng, runtime)
    changes: tuple[Change, ...] = ()
    trials = fit.trials(pairs, rng, runtime)
    for weight, changes in zip(config.weights, trials, strict=True):
        shown = ", ".join(map(str, changes))
        log.info("joint refinement, weight %g; held-out pairs recovered: %s", weight, shown)
        # Some two languages recover significantly more pairs, and no two lose more than LOSS.
        gains = [change.standard_errors for change in changes]
        if min(gains) >= LOSS and max(gains) > SIGNIFICANT:
            found = fit.solve(fit.anchored(pairs, maps), weight)
            mappings = {language: found[language].cpu().numpy() for language in start}
            return Joint(mappings, weight, changes)
    return Joint(start, 0.0, changes)


@dataclass(frozen=True, eq=False)
class Fit:
    """The rows (n, d) of each language, and the pivot, whose map is fixed."""

    rows: dict[str, Tensor]
    pivot: str
    config: JointConfig

    def pairs(self, maps: Maps, rng: np.random.Generator, runtime: Runtime) -> Pairs:
        """The word pairs of every two languages, found as in refinement."""
        found, refining, both = {}, RefineConfig(), list(combinations(self.rows, 2))
        with runtime.progress.stage("joint refinement: pairs", len(both), "pairs") as tick:
            for done, (source, target) in enumerate(both, 1):
                x, y = self.rows[source], self.rows[target]
                between = maps[target].T @ maps[source]  # (e, d)
                mapped, keys = both_mapped(x, y, between)
                # Over a pivot of fewer dimensions `between` loses some, and rows their length.
                pairs = mutual_neighbours(normalize(mapped), keys, refining.retrieval)
                grams = gram(x), gram(y)
                for _ in range(self.config.rounds):
                    pairs = mutual_neighbours(*look_up(x, y, pairs, grams, refining, rng), refining.retrieval)
                found[source, target] = pairs
                tick(done)
        return found

    def products(self, pairs: Pairs) -> Products:
        """Y^T X (e, d) over the pairs of every two languages."""
        return {
            (source, target): self.rows[target][own[:, 1]].double().T @ self.rows[source][own[:, 0]].double()
            for (source, target), own in pairs.items()
        }

    def anchored(self, pairs: Pairs, maps: Maps) -> Products:
        """The products, where those with the pivot are replaced so that they alone would yield `maps`.

        W of refinement averages over rounds, which is better than a fit to the pairs of one. So P is
        replaced by c W X^T X W^T W over the pairs, whose polar factor is W, with the same sum of cosines.
        """
        products = self.products(pairs)
        for (source, target), product in products.items():
            if target == self.pivot:
                mapping, own = maps[source].double(), pairs[source, target][:, 0]
                spread = gram(self.rows[source][own].double())
                anchor = mapping @ spread @ mapping.T @ mapping
                scale = (mapping * product).sum() / (mapping * anchor).sum()
                products[source, target] = scale * anchor
        return products

    def solve(self, products: Products, weight: float) -> Maps:
        """The rotations of the largest sum of cosines over all pairs, those without the pivot times `weight`.

        Each in turn is the polar factor of sum_j w_ij W_j P_ij, P_ij = Y_j^T X_i over the pairs of
        languages i and j, until the sum stalls: it can only grow.
        """
        others = [language for language in self.rows if language != self.pivot]
        maps = {language: rotation(products[language, self.pivot]) for language in others}
        objective = -1.0
        for _ in range(self.config.turns if weight else 0):
            reached = 0.0
            for language in others:
                total = self._target_of(language, maps, products, weight)
                maps[language] = rotation(total)
                reached += float((maps[language].double() * total).sum())
            if reached < objective * (1 + self.config.gain):
                break
            objective = reached
        some = next(iter(maps.values()))
        return {**maps, self.pivot: torch.eye(len(some), device=some.device)}

    def _target_of(self, language: str, maps: Maps, products: Products, weight: float) -> Tensor:
        """The (k, d) whose polar factor is the best map of a language, given the maps of the others."""
        total = products[language, self.pivot].clone()
        for (source, target), product in products.items():
            if self.pivot in (source, target) or language not in (source, target):
                continue
            other = maps[target if source == language else source].double()
            total += weight * other @ (product if source == language else product.T)
        return total

    def trials(
        self, pairs: Pairs, rng: np.random.Generator, runtime: Runtime
    ) -> Iterator[tuple[Change, ...]]:
        """Yields, for each weight, the changes on pairs of the half of the vocabulary not fitted to."""
        halves = self._halves(pairs, rng)
        products = [self.products(self._within(pairs, halves, 1 - half)) for half in (0, 1)]
        held = [self._within(pairs, halves, half, self.config.tested) for half in (0, 1)]
        with runtime.progress.stage("joint refinement: test", 1 + len(self.config.weights)) as tick:
            before = self._recovered(products, held, 0.0)
            for done, weight in enumerate(self.config.weights, 1):
                tick(done)
                after = self._recovered(products, held, weight)
                yield tuple(Change.between(key, before[key], after[key]) for key in pairs)

    def _recovered(self, products: Sequence[Products], held: Sequence[Pairs], weight: float) -> Pairs:
        """Whether held-out pairs are mutual translations by the fit to the other half: (p,) bool."""
        found: dict[tuple[str, str], list[Tensor]] = {key: [] for key in held[0]}
        for half, tested in zip(products, held, strict=True):
            maps = self.solve(half, weight)
            for key, pairs in tested.items():
                x, y = (normalize(self.rows[one][: self.config.tested] @ maps[one].T) for one in key)
                forward, backward = translations(x, y, Retrieval())
                left, right = pairs.T
                found[key].append((forward[left] == right) & (backward[right] == left))
        return {key: torch.cat(parts) for key, parts in found.items()}

    def _halves(self, pairs: Pairs, rng: np.random.Generator) -> dict[str, Tensor]:
        """The half, 0 or 1, of every word: the half of its translation in the pivot, if it has one.

        Otherwise test pairs could leak into training by way of a third language.
        """
        halves = {
            language: torch.from_numpy(rng.integers(2, size=len(rows))).to(rows.device)
            for language, rows in self.rows.items()
        }
        for language in self.rows:
            if language != self.pivot:
                own = pairs[language, self.pivot]
                halves[language][own[:, 0]] = halves[self.pivot][own[:, 1]]
        return halves

    @staticmethod
    def _within(pairs: Pairs, halves: dict[str, Tensor], half: int, words: int | None = None) -> Pairs:
        """The pairs with both words in a half, and among the `words` most frequent."""
        found = {}
        for (source, target), own in pairs.items():
            inside = (halves[source][own[:, 0]] == half) & (halves[target][own[:, 1]] == half)
            if words is not None:
                inside &= (own < words).all(dim=1)
            found[source, target] = own[inside]
        return found
