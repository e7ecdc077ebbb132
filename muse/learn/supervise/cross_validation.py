"""Cross-validation: how well maps translate words whose pairs they were not fitted to.

The same cosines show which pairs are wrong (`trimmed`). Wrong pairs have cosines like those of the same words
shuffled, which are known; those of right pairs are higher. In a mixture of two normal distributions, the
first fixed, every pair has a probability of being right (the local false discovery rate, Efron et al., 2001).

Between equal maps of rows the neighbours that they keep decide (`kept_neighbours`). A store is asked for what
is near a query, so a map of queries is as good as the neighbours it finds are those by the store's own model.
Whether the row of the very same text comes first is another question: maps that keep as many neighbours may
find half as many counterparts.

`standard_errors` tells whether one map gets significantly more held-out cases right than another.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from muse.learn.supervise.linear import CanonicalConfig, canonical
from muse.learn.supervise.training_pairs import Maps, TrainingPairs
from muse.search.retrieval import mean_similarity

FOLDS = 5
BLOCK = 1_024  # words looked up at a time
LEAST_PAIRS = 500  # with fewer, the maps of the others say little about a pair
LEAST_WRONG = 0.05  # a dictionary with fewer wrong pairs is taken as it is
MIXTURE_ROUNDS = 30
MOST_WRONG = 0.9
NEIGHBOURS = 10  # of a row, at most
SHARE = 50  # rows for one neighbour: among few rows, the ten nearest would say little
SIGNIFICANT = 2.0  # standard errors that a gain must exceed


class Ranks(NamedTuple):
    """The rank (q,) of the best known translation of each tested word, from 1, and which words these are."""

    words: NDArray[np.int64]
    ranks: NDArray[np.int64]
    answers: NDArray[np.int64]  # the row of the target ranked first

    @property
    def right(self) -> int:
        """The number of words whose best target is a known translation."""
        return int((self.ranks == 1).sum())

    @property
    def p_at_1(self) -> float:
        """The share of these words, in percent."""
        return 100 * self.right / len(self.ranks) if len(self.ranks) else 0.0

    @property
    def reciprocal(self) -> NDArray[np.float64]:
        """1 / rank (q,): unlike P@1 it credits near misses, which matters with few pairs."""
        return 1.0 / self.ranks


@dataclass(frozen=True)
class HeldOutConfig:
    """How many of the most frequent targets are searched, and how many source words give their hubness."""

    targets: int = 8_000
    sources: int = 2_000
    among: int = 15_000


@dataclass(frozen=True, eq=False)
class Folds:
    """The fold of each pair of the evidence (p,): all pairs of a source word are in one.

    Pairs with the same target may be in several folds, so a map may have been fitted to targets that it is
    tested on.
    """

    evidence: TrainingPairs
    of_pair: Tensor
    number: int

    @classmethod
    def of(cls, evidence: TrainingPairs, rng: np.random.Generator) -> "Folds":
        """At most FOLDS folds with about the same number of source words, drawn at random."""
        sources, place = torch.unique(evidence.pairs[:, 0], return_inverse=True)
        number = min(FOLDS, len(sources))
        drawn = torch.from_numpy(rng.permutation(len(sources)) % max(1, number)).to(place.device)
        return cls(evidence, drawn[place], number)

    @cached_property
    def trials(self) -> list[tuple[TrainingPairs, TrainingPairs]]:
        """What to fit to and what to test on, for each fold; none with fewer than two source words."""
        own = [self.of_pair == fold for fold in range(self.number if self.number > 1 else 0)]
        return [(replace(self.evidence.only(~fold), in_part=True), self.evidence.only(fold)) for fold in own]

    def enough(self, words: int) -> int:
        """The number of folds that together test at least `words` source words, or all folds."""
        each = len(torch.unique(self.evidence.pairs[:, 0])) / max(1, self.number)
        return min(len(self.trials), math.ceil(words / each))


@dataclass(frozen=True, eq=False)
class HeldOutMaps:
    """Pairs (p, 2) of rows with their weights (p,) and folds (p,); map i was fitted without fold i.

    There may be fewer maps than folds.
    """

    pairs: NDArray[np.int64]
    weights: NDArray[np.float64]
    fold: NDArray[np.int64]
    maps: tuple[Maps, ...]

    @classmethod
    def of(cls, fits: Sequence[Maps], folds: Folds) -> "HeldOutMaps":
        """The maps of a method, with the pairs of single words."""
        evidence = folds.evidence
        single = evidence.single
        pairs, weights, fold = (
            side[single].cpu().numpy() for side in (evidence.pairs, evidence.weights, folds.of_pair)
        )
        return cls(pairs, weights.astype(np.float64), fold, tuple(fits))


def ranked_apart(ranks: Ranks, maps: HeldOutMaps, alike: NDArray[np.bool_]) -> Ranks:
    """The ranks of the words that only a right mapping can translate.

    No translation of theirs is also one of a word in another fold, to which maps were fitted, and none is
    spelled like the word: `alike` (p,) says so of each of the pairs.
    """
    targets, place = np.unique(maps.pairs[:, 1], return_inverse=True)
    folds = np.full((2, len(targets)), maps.fold.max(initial=0))
    np.minimum.at(folds[0], place, maps.fold)
    folds[1] = 0
    np.maximum.at(folds[1], place, maps.fold)
    known = maps.pairs[alike | (folds[0] < folds[1])[place], 0]
    return Ranks(*(part[~np.isin(ranks.words, known)] for part in ranks))


def held_out(fits: Sequence[Maps], folds: Folds, search: "HeldOutSearch") -> Ranks:
    """The ranks of the words of the first folds, by maps that were fitted to the other folds, in order."""
    tested = [search.ranks(maps, own) for maps, (_, own) in zip(fits, folds.trials, strict=False)]
    if not tested:
        return Ranks(*(np.zeros(0, np.int64) for _ in Ranks._fields))
    return Ranks(*(np.concatenate(parts) for parts in zip(*tested, strict=True)))


@dataclass(frozen=True, eq=False)
class HeldOutSearch:
    """The targets (m, dt) among which held-out words are looked up, and the sources (s, ds) for hubness."""

    targets: Tensor
    sources: Tensor
    rows: Tensor  # (m,) the row number of each target

    @classmethod
    def of(
        cls, evidence: TrainingPairs, rng: np.random.Generator, config: HeldOutConfig | None = None
    ) -> "HeldOutSearch":
        """The search among the most frequent words of both sides, and all translations in the evidence."""
        config = config or HeldOutConfig()
        x, y = evidence.vocabulary
        device = x.device
        known = evidence.pairs[:, 1][evidence.pairs[:, 1] < len(y)]
        rows = torch.unique(torch.cat([torch.arange(min(config.targets, len(y)), device=device), known]))
        drawn = rng.permutation(min(config.among, len(x)))[: config.sources]
        return cls(y[rows], x[torch.from_numpy(drawn).to(device)], rows)

    def ranks(self, maps: Maps, own: TrainingPairs) -> Ranks:
        """The ranks, by CSLS, of the source words in `own`; phrases are left out, ties count as ahead."""
        pairs = torch.unique(own.pairs[own.single], dim=0)  # two spellings may be of the same rows
        words, place = torch.unique(pairs[:, 0], return_inverse=True)
        column = torch.searchsorted(self.rows, pairs[:, 1].contiguous())  # (p,)
        mapped, targets = maps.of_source(own.x[words]), maps.of_target(self.targets)
        bias = mean_similarity(targets, maps.of_source(self.sources)) / 2  # (m,)
        ranks, first = [words[:0]], [words[:0]]
        for begin in range(0, len(words), BLOCK):
            scores = mapped[begin : begin + BLOCK] @ targets.T - bias  # (b, m)
            here = (place >= begin) & (place < begin + BLOCK)
            right = scores[place[here] - begin, column[here]]
            best = torch.full((len(scores),), -torch.inf).to(right)
            best = best.scatter_reduce(0, place[here] - begin, right, "amax")
            level = torch.zeros(len(scores), dtype=torch.long, device=scores.device)  # right, and as near
            level.scatter_add_(0, place[here] - begin, (right >= best[place[here] - begin]).long())
            ahead = (scores >= best[:, None]).sum(dim=1) - level
            ranks.append(torch.where(best.isnan(), scores.shape[1] - 1, ahead) + 1)
            first.append(self.rows[scores.argmax(dim=1)])
        return Ranks(*(part.cpu().numpy() for part in (words, torch.cat(ranks), torch.cat(first))))


def chance(ranks: Ranks, evidence: TrainingPairs) -> float:
    """The P@1 in percent of the same answers where words and their translations are shuffled.

    Exact: the mean over all words w and all other words v of whether w's answer is a known translation of v.
    """
    pairs = evidence.pairs.cpu().numpy()
    tested = pairs[np.isin(pairs[:, 0], ranks.words)]
    rows, counts = np.unique(np.unique(tested, axis=0)[:, 1], return_counts=True)
    if len(ranks.words) < 2:
        return 0.0
    place = np.searchsorted(rows, ranks.answers).clip(max=len(rows) - 1)
    found = np.where(rows[place] == ranks.answers, counts[place], 0)
    known = set(map(tuple, tested.tolist()))
    own = [pair in known for pair in zip(ranks.words.tolist(), ranks.answers.tolist(), strict=True)]
    return 100 * float((found - np.array(own)).mean()) / (len(ranks.words) - 1)


def wilson(right: int, tested: int) -> tuple[float, float]:
    """The 95 % interval of a share, in percent (Wilson, 1927).

    >>> [round(bound, 1) for bound in wilson(5, 10)]
    [23.7, 76.3]
    """
    if not tested:
        return 0.0, 100.0
    z, share = 1.959964, right / tested
    middle = share + z * z / (2 * tested)
    width = z * math.sqrt(share * (1 - share) / tested + z * z / (4 * tested * tested))
    scale = 100 / (1 + z * z / tested)
    return max(0.0, scale * (middle - width)), min(100.0, scale * (middle + width))


class Support(NamedTuple):
    """The cosine of each pair (p,) by maps that its source word was not in, and of shuffled pairs (p,)."""

    own: Tensor
    shuffled: Tensor


def trimmed(evidence: TrainingPairs, config: CanonicalConfig, rng: np.random.Generator) -> TrainingPairs:
    """The evidence without the pairs that are probably wrong, if these are more than LEAST_WRONG of it."""
    if len(evidence) < LEAST_PAIRS:
        return evidence
    probable = probability_right(supported(evidence, config, rng)) >= 0.5
    wrong = 1 - float(probable.double().mean())
    some = LEAST_WRONG < wrong < 1.0  # where all look wrong, nothing shows which are
    return evidence.only(probable) if some else evidence


def supported(evidence: TrainingPairs, config: CanonicalConfig, rng: np.random.Generator) -> Support:
    """How well the other pairs support each pair, and how well they support it at random."""
    folds = Folds.of(evidence, rng)
    found = Support(*(torch.zeros(len(evidence)).to(evidence.x) for _ in Support._fields))
    for fold, (fitted, own) in enumerate(folds.trials):
        maps = canonical(fitted, config)
        left = maps.of_source(own.left.to(evidence.x))
        right = maps.of_target(own.right.to(evidence.y))
        mixed = torch.from_numpy(rng.permutation(len(own))).to(left.device)
        here = folds.of_pair == fold
        found.own[here] = (left * right).sum(dim=1)
        found.shuffled[here] = (left * right[mixed]).sum(dim=1)
    return found


def probability_right(support: Support) -> Tensor:
    """The probability (p,) that each pair is no shuffled one, by expectation maximisation, double."""

    def log_density(mean: Tensor, deviation: Tensor) -> Tensor:
        return -(((own - mean) / deviation) ** 2) / 2 - deviation.log()

    own, shuffled = (cosines.double() for cosines in support)
    low, spread = shuffled.mean(), shuffled.std().clamp_min(1e-6)
    # Half of the wrong pairs lie below the mean of the shuffled, and hardly any right one (Storey, 2002).
    wrong = min(max(2 * float((own < low).double().mean()), 1e-3), MOST_WRONG)
    above = own > low + spread
    right = above.double()
    if not above.any():
        return right
    for _ in range(MIXTURE_ROUNDS):
        mean = (right * own).sum() / right.sum()
        width = ((right * (own - mean) ** 2).sum() / right.sum()).sqrt().clamp_min(spread / 2)
        odds = log_density(mean, width) - log_density(low, spread) + math.log(1 / wrong - 1)
        right = torch.where(own > mean, 1.0, torch.sigmoid(odds))
        wrong = min(max(float((1 - right).mean()), 1e-3), MOST_WRONG)
    return right


def kept_neighbours(fits: Sequence[Maps], folds: Folds, search: HeldOutSearch) -> dict[int, float]:
    """The share of the native neighbours of each held-out source row that the maps find, by its row number.

    The maps were fitted without the fold of the row. Its counterpart is in neither list; of several
    counterparts the first counts.
    """
    found: dict[int, float] = {}
    for maps, (_, own) in zip(fits, folds.trials, strict=False):
        single = own.pairs[own.single].cpu().numpy()
        _, first = np.unique(single[:, 0], return_index=True)
        pairs = torch.from_numpy(single[first]).to(own.pairs)
        shares = overlap(maps, own, pairs, search)
        found |= dict(zip(pairs[:, 0].tolist(), shares.tolist(), strict=True))
    return found


def overlap(maps: Maps, own: TrainingPairs, pairs: Tensor, search: HeldOutSearch) -> NDArray[np.float64]:
    """The share (q,) of the nearest rows of each target of `pairs` (q, 2) that its mapped source finds."""
    targets = maps.of_target(search.targets)  # (m, k)
    native = torch.nn.functional.normalize(search.targets)
    k = max(1, min(NEIGHBOURS, len(targets) // SHARE))
    shares: list[NDArray[np.float64]] = [np.zeros(0)]
    for block in torch.split(pairs, BLOCK):
        column = torch.searchsorted(search.rows, block[:, 1].contiguous())[:, None]  # (b, 1)
        best = []
        for queries, rows in ((own.y[block[:, 1]], native), (maps.of_source(own.x[block[:, 0]]), targets)):
            scores = (queries @ rows.T).scatter(1, column, -torch.inf)  # (b, m)
            best.append(scores.topk(min(k, scores.shape[1])).indices)  # (b, k)
        both = (best[0][:, :, None] == best[1][:, None, :]).sum(dim=(1, 2))
        shares.append((both / best[0].shape[1]).double().cpu().numpy())
    return np.concatenate(shares)


def standard_errors(before: Tensor, after: Tensor) -> float:
    """The gain in right cases from `before` to `after`, in standard errors (McNemar, 1947).

    `before` and `after` (p,) say for each case whether it is right. With b cases gained and c lost:
    (b - c) / sqrt(b + c), 0 if none changed.

    >>> standard_errors(torch.tensor([True, False]), torch.tensor([True, True]))
    1.0
    """
    gained, lost = int((after & ~before).sum()), int((before & ~after).sum())
    return (gained - lost) / math.sqrt(gained + lost) if gained + lost else 0.0
