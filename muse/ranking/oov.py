"""Unseen words: words and expressions beyond those of a space, answered by the evidence of its answers.

What that needs is kept beside the answers of a direction: the trees, how the n-grams of the source become
coordinates of spelling, those of the targets, and the scores of each target's best sources. The rank of an
unseen word is taken to follow those of all others.

A word without a vector of its own is composed of its known forms (`muse.space.inflections`), or else of
n-grams. The answers to its known forms vote for their targets and, by the suffix rules of the other language,
for other forms of these. How probable its answer then is was learned from words of the vocabulary, treated as
unseen: the space has answers to them by their own vectors. N-grams alone make a misprint like a compound: no
answer is probable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy
import torch
from numpy.typing import NDArray

from muse.files.archive import Arrays
from muse.files.space_folder import derived_name
from muse.normalise import unit
from muse.orthography import plain
from muse.ranking.candidates import (
    BACK_SOURCES,
    HUBNESS_K,
    NEAREST,
    SPELLED,
    Candidates,
    NeighbourLists,
    best_by_csls,
)
from muse.ranking.canonical import CanonicalMap, Correspondences, Maps, dots
from muse.ranking.completed import MadeRows
from muse.ranking.external_scores import ExternalScores
from muse.ranking.features import MOST_SOURCES, BilingualViews, candidates_of, features_of
from muse.ranking.model import AnswerModel, ProbabilityCurve, best_answers
from muse.ranking.spelling import Grams, Spellings, letters, same_strings
from muse.search.exact import nearest
from muse.search.retrieval import Retrieval
from muse.space import Space
from muse.space.derived import (
    ALIGN,
    HIGHEST,
    LIMIT,
    AnswerTable,
    arrays_of_words,
    write_of_words,
)
from muse.space.inflections import KnownForms, SuffixRules, find_rules
from muse.vectors import Doubles, Flags, Matrix, Numbers, WordIndex

MODEL = "answers.{}.model.npz"
SIDES = "refined.source", "refined.target"
# Chosen on inflections of Italian left out of a space: beside the logarithm of the votes of known forms.
ODDS_SHARE = 0.15  # what the log odds by all the evidence count
LEAST_VOTE = 1e-3
_LARGEST = 6e4  # of what was learned, some of it in half precision: sums and products of such are finite
LEAST_PASSED = 0.02  # the least vote that is passed on to other forms of a target
UNEXPLAINED = 0.25  # the most probable answer to a word of which no form is known


@dataclass(frozen=True, eq=False)
class SpelledAlike:
    """How words of the source become coordinates of spelling: by the `basis` (g, k) of their `grams`.

    They are comparable with those of the targets, (m, k), once `offset` (k,) is subtracted.
    """

    grams: Grams
    offset: Matrix
    targets: Matrix

    @classmethod
    def of(cls, grams: Grams, learned: Correspondences) -> SpelledAlike:
        """The coordinates of learned correspondences."""
        own = learned.maps[0]
        basis = np.asarray(grams.basis @ own.map_, np.float32)
        return cls(replace(grams, basis=basis), own.offset.astype(np.float32), learned.target)

    def correspondences(self, words: Sequence[str]) -> Correspondences:
        """The correspondences of words of the source and all targets; zeros where nothing corresponds."""
        found = self.grams.components(words)
        known = self.grams.basis.any()
        rows = unit((found - self.offset).astype(np.float64)) if known else np.zeros_like(found)
        return Correspondences(rows, self.targets)

    def check(self, targets: int) -> None:
        """Raise ValueError unless the n-grams and so many targets have coordinates in one space."""
        self.grams.check()
        width = self.grams.basis.shape[1]
        if self.offset.shape != (width,) or self.targets.shape != (targets, width):
            raise ValueError("expected spellings of the targets of this space")

    def arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """The coordinates as named arrays, mostly of half precision, for an .npz."""
        found: dict[str, NDArray[Any]] = {
            "map": self.grams.basis.astype(np.float16), "targets": self.targets.astype(np.float16),
            "weights": self.grams.weights, "offset": self.offset,
            "names": np.frombuffer("\n".join(self.grams.names).encode(), np.uint8),
        }  # fmt: skip
        return {f"{prefix}.{name}": rows for name, rows in found.items()}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]], prefix: str, *, ends: bool) -> SpelledAlike:
        """The coordinates from named arrays."""
        weights = arrays[f"{prefix}.weights"]
        names = arrays[f"{prefix}.names"].tobytes().decode().split("\n") if len(weights) else []
        map_, targets = (arrays[f"{prefix}.{name}"].astype(np.float32) for name in ("map", "targets"))
        return cls(Grams(names, weights, map_, ends), arrays[f"{prefix}.offset"], targets)


@dataclass(frozen=True, eq=False)
class FormAnswers:
    """Which of q words are `composed` (q,), and the `votes` (q, m) of the answers to their known forms.

    A vote is the mean probability of a target among the answers to the forms, as these count, and of what the
    suffix rules of its language make it of. A word without known forms has none.
    """

    composed: Flags
    votes: scipy.sparse.csr_matrix

    @classmethod
    def of(
        cls, composed: Flags, forms: KnownForms, table: AnswerTable, index: WordIndex, rules: SuffixRules
    ) -> FormAnswers:
        """The votes by the answers to all words of the source, for targets of an `index` with `rules`."""
        sums = np.maximum(forms.words.sum(axis=1).A1, 1e-9)
        said = (scipy.sparse.diags(1 / sums) @ forms.words @ _probabilities(table, len(index.words))).tocsr()
        some = np.unique(said.indices[said.data >= LEAST_PASSED])
        related = rules.forms([index.words[column] for column in some.tolist()], index)
        return cls(composed, (said + said[:, some] @ related.words).tocsr())


class Targets(NamedTuple):
    """The words that answer, their rows (m, d) in the space, and these as they are compared, (m, k)."""

    words: Sequence[str]
    rows: Matrix
    compared: Matrix


class UnseenWords(NamedTuple):
    """Words with unit rows (q, d) in the space, and what the answers to their known forms say, if any do."""

    words: Sequence[str]
    rows: Matrix
    said: FormAnswers | None = None


@dataclass(frozen=True, eq=False)
class OovRanker:
    """How words beyond the `count` words of the source are answered with m targets.

    `csls_back` (m, k) are the scores of the best sources of each target, best first, `hubness_back` (m,) and
    `named` (m, 2) as in `NeighbourLists`; `whole` and `ends` the spelling of words and of their endings.
    `mapped_hubness` (m,) is that of the targets in the space, whose rows `maps` refine, if any do; with
    `completed` by what is made of other forms (`MadeRows`). `by_forms` are the probabilities of answers that
    known forms vote for.
    """

    model: AnswerModel
    count: int
    csls_back: Matrix
    hubness_back: Matrix
    named: Numbers
    whole: SpelledAlike
    ends: SpelledAlike
    mapped_hubness: Matrix
    maps: Maps = ()
    by_forms: ProbabilityCurve = field(default_factory=ProbabilityCurve.identity)
    completed: bool = False

    @classmethod
    def of(cls, model: AnswerModel, views: BilingualViews, mapped_hubness: Matrix, maps: Maps) -> OovRanker:
        """What the model and the views of all words, by rows that `maps` refined, give for others."""
        words, endings = views.written.known[0]
        spelled = SpelledAlike.of(words, views.whole), SpelledAlike.of(endings, views.ends)
        lists = views.lists
        of_targets = lists.csls_back, lists.hubness_back, lists.named
        return cls(model, len(views.source), *of_targets, *spelled, mapped_hubness, maps)

    def refined(self, targets: Matrix, words: Sequence[str], rules: SuffixRules) -> Matrix:
        """The rows (m, d) of the target words in the space as they are compared: (m, k)."""
        if self.completed:
            targets = MadeRows.of(words, targets, rules).completed()
        return self.maps[1].refined(targets) if self.maps else targets

    def answer(self, unseen: UnseenWords, targets: Targets) -> AnswerTable:
        """The answers to the words."""
        candidates, log_odds, probability = self.judged(unseen, targets)
        rows, mapped = unseen.rows, targets.rows
        near = nearest(torch.from_numpy(rows), torch.from_numpy(mapped), min(HUBNESS_K, len(mapped)))
        own = near.scores.mean(dim=1).numpy()

        def csls(words: Numbers, columns: Numbers) -> Matrix:
            """The CSLS (c,) of words and targets in the space."""
            cosine = dots(rows, mapped, words, columns)
            return np.asarray(2 * cosine - own[words] - self.mapped_hubness[columns], np.float32)

        return best_answers(candidates, log_odds, probability, csls)

    def judged(self, unseen: UnseenWords, targets: Targets) -> tuple[Candidates, Doubles, Matrix]:
        """The candidates of words, with their log odds (c,) and probabilities (c,)."""
        candidates, evidence = self.evidence(unseen, targets)
        log_odds = self.model.log_odds(evidence)
        probability = self.model.probability(evidence, log_odds)
        if unseen.said is None:
            return candidates, log_odds, probability
        return candidates, *self._by_forms(candidates, log_odds, probability, unseen.said)

    def evidence(
        self, unseen: UnseenWords, targets: Targets, known: tuple[WordIndex, Numbers] | None = None
    ) -> tuple[Candidates, Matrix]:
        """The candidates of words, with their evidence (c, f).

        For a single word of the vocabulary, `known` has its index, and targets (k,) that are candidates too.
        """
        (words, rows, said), (target, _, target_rows) = unseen, targets
        compared = self.maps[0].refined(rows) if self.maps else rows
        bare = np.array([*map(plain, words)], object), np.array([*map(plain, target)], object)
        lengths = letters(bare[0]), letters(bare[1])
        no_rows = np.zeros((len(words), 0), np.float32), np.zeros((len(target), 0), np.float32)
        back = np.full(len(target), -1) if known is None else same_strings(target, known[0].words)
        same = same_strings(words, target), back
        written = Spellings((words, target), bare, no_rows, no_rows, lengths, same)
        whole, ends = (side.correspondences([*bare[0]]) for side in (self.whole, self.ends))
        lists, best = self._lists(compared, target_rows)
        spelled = nearest(
            torch.from_numpy(whole.source), torch.from_numpy(whole.target), min(SPELLED, len(target))
        ).indices.numpy()
        ranks = np.array([self.count if known is None else known[0][word] for word in words], np.int64)
        # Nobody scored these words; the model may have learned from words that somebody did.
        outside = (ExternalScores.none((len(words), len(target))),) * MOST_SOURCES
        views = BilingualViews(
            compared, target_rows, lists, written, whole, ends, (spelled, best[1]), ranks, outside
        )
        more = [best] if said is None else [best, said.votes.nonzero()]
        more += [] if known is None else [(np.zeros(len(known[1]), np.int64), known[1])]
        candidates = candidates_of(views, np.arange(len(words)), *more)
        return candidates, features_of(views, candidates)

    def _by_forms(
        self, candidates: Candidates, log_odds: Doubles, probability: Matrix, said: FormAnswers
    ) -> tuple[Doubles, Matrix]:
        """The log odds (c,) and probabilities (c,) where known forms vote; elsewhere those given, but low."""
        places = candidates.places
        votes = np.asarray(said.votes[places, np.array(candidates.columns)], np.float64).ravel()
        voted = (np.diff(said.votes.indptr) > 0)[places]
        by_votes = ODDS_SHARE * log_odds + np.log(np.maximum(votes, LEAST_VOTE))
        most = np.where(said.composed[places], UNEXPLAINED, 1)
        shares = np.where(voted, self.by_forms(by_votes), np.minimum(probability, most))
        return np.where(voted, by_votes, log_odds), shares.astype(np.float32)

    def _lists(self, rows: Matrix, targets: Matrix) -> tuple[NeighbourLists, tuple[Numbers, Numbers]]:
        """The neighbours of the words (q, d), and the pairs of those that a target would have as its best."""
        found = nearest(torch.from_numpy(rows), torch.from_numpy(targets), min(NEAREST, len(targets)))
        cosines, names = found.scores.numpy(), found.indices.numpy()
        own = cosines[:, :HUBNESS_K].mean(axis=1)
        columns, csls = best_by_csls(cosines, names, own, self.hubness_back)
        least = self.csls_back[:, min(BACK_SOURCES, self.csls_back.shape[1]) - 1]
        best = np.nonzero(csls >= least[columns])
        none, no_names = np.zeros((len(targets), 0), np.int64), np.zeros((len(rows), 2), np.int64)
        lists = NeighbourLists(
            columns, csls, none, self.csls_back, own, self.hubness_back, self.named, no_names, (names, none)
        )
        return lists, (best[0], columns[best])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it as named arrays, for an .npz."""
        own = {"count": np.array([self.count]), "csls": self.csls_back, "hubness": self.hubness_back}
        own |= {"mapped hubness": self.mapped_hubness, "completed": np.array([self.completed])}
        own |= {"forms.knots": self.by_forms.knots, "forms.values": self.by_forms.values}
        for side, map_ in zip(SIDES, self.maps, strict=False):
            own |= map_.arrays(side)
        spelled = self.whole.arrays("whole") | self.ends.arrays("ends")
        return own | {"named": self.named.astype(np.int32)} | spelled | self.model.arrays()

    def check(self, counts: tuple[int, int], dimension: int) -> None:
        """Raise ValueError unless it answers words of a space, whose `counts` and dimension these are."""
        targets = counts[1]
        for name, one in (("hubness", self.hubness_back), ("mapped hubness", self.mapped_hubness)):
            if one.shape != (targets,) or one.dtype.kind != "f" or not (np.abs(one) <= HIGHEST).all():
                raise ValueError(f"expected a mean cosine of each target, got {name} of shape {one.shape}")
        scores = self.csls_back
        if self.count != counts[0] or scores.ndim != 2 or len(scores) != targets or not scores.shape[1]:
            raise ValueError("no answers of this space")
        before, after = scores[:, :-1], scores[:, 1:]
        ordered = ((after <= before) & (before > -np.inf)).all()  # -inf may be the last
        if scores.dtype.kind != "f" or not ordered or not (scores <= LIMIT).all():
            raise ValueError("expected the best scores of each target first")
        if self.named.shape != (targets, 2) or not ((self.named >= -1) & (self.named < counts[0])).all():
            raise ValueError("expected the words that each target names")
        for side in (self.whole, self.ends):
            side.check(targets)
        shapes = [(*one.map_.shape, *one.offset.shape) for one in self.maps]
        if shapes and (
            len(shapes) != 2 or {*map(len, shapes)} != {3} or {one[0] for one in shapes} != {dimension}
        ):
            raise ValueError("expected maps of rows of both languages")
        if len({size for one in shapes for size in one[1:]}) > 1:
            raise ValueError("expected maps into one space")
        self.model.check()
        self.by_forms.check()

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> OovRanker:
        """All of it from named arrays."""
        named = arrays["named"].astype(np.int64)
        whole, ends = (
            SpelledAlike.of_arrays(arrays, name, ends=name == "ends") for name in ("whole", "ends")
        )
        count = int(arrays["count"][0])
        scores = arrays["csls"], arrays["hubness"], named
        maps = tuple(CanonicalMap.of_arrays(arrays, side) for side in SIDES if f"{side}.map" in arrays)
        model = AnswerModel.of_arrays(arrays)
        by_forms = ProbabilityCurve(arrays["forms.knots"], arrays["forms.values"])
        completed = bool(arrays.get("completed", [False])[0])
        return cls(model, count, *scores, whole, ends, arrays["mapped hubness"], maps, by_forms, completed)


def write_unseen(folder: Path, languages: tuple[str, str], unseen: OovRanker) -> None:
    """Write it beside the answers in the folder of a space."""
    write_of_words(folder, MODEL, languages, unseen.arrays())


def find_unseen(space: Space, direction: tuple[str, str]) -> OovRanker | None:
    """How words beyond those of the space are answered; None where CSLS ranks them."""
    sides = [space.single_words(language) for language in direction]
    counts = len(sides[0]), len(sides[1])

    def made(content: bytes) -> OovRanker:
        return possible(
            arrays_of_words(content, (sides[0].words, sides[1].words)), counts, sides[1].dimension
        )

    name = derived_name(MODEL, *direction)
    return space.once(OovRanker, direction, lambda: space.derived.read(name, made, ALIGN))


def possible(arrays: Arrays, counts: tuple[int, int], dimension: int) -> OovRanker:
    """What named arrays hold, for `counts` words of both languages with rows of this dimension.

    ValueError for that of another space, and for anything that using it could not rely on.
    """
    if any(one.dtype.kind not in "fiub" for one in arrays.values()):
        raise ValueError("expected numbers")
    floats = (one for name, one in arrays.items() if one.dtype.kind == "f" and name != "csls")
    if not all((np.abs(one) <= _LARGEST).all() for one in floats):  # which nan is not
        raise ValueError("expected finite numbers")
    found = OovRanker.of_arrays(arrays)
    found.check(counts, dimension)
    return found


def answer_unseen(
    space: Space, words: Mapping[str, torch.Tensor], direction: tuple[str, str], retrieval: Retrieval,
    *, composed: bool = False,
) -> AnswerTable | None:  # fmt: skip
    """The answers, by all the evidence, to words with rows (d,) in the space; None where CSLS ranks.

    Those without spaces may be `composed`, without vectors of their own.
    """
    table = space.answers(*direction, retrieval)
    if not words or table is None or (unseen := find_unseen(space, direction)) is None:
        return None
    target = space.single_words(direction[1])
    rows, said = torch.stack(list(words.values())).cpu().numpy(), None
    if composed:
        made, forms = composed_forms(space, direction[0], [*words])
        known = table.only(unseen.count, len(target))
        said = FormAnswers.of(made, forms, known, target.index, find_rules(space, direction[1]))
    return unseen.answer(UnseenWords([*words], rows, said), targets_of(space, direction, unseen))


def targets_of(space: Space, direction: tuple[str, str], unseen: OovRanker) -> Targets:
    """The targets of a direction."""
    target = space.single_words(direction[1])
    mapped = np.asarray(target.matrix)

    def compared() -> Matrix:
        rules = find_rules(space, direction[1]) if unseen.completed else SuffixRules.none(mapped.shape[1])
        return unseen.refined(mapped, target.words, rules)

    return Targets(target.words, mapped, space.once("refined targets", direction, compared))  # there are many


def composed_forms(space: Space, language: str, words: Sequence[str]) -> tuple[Flags, KnownForms]:
    """Which of w words beyond those of a language are composed (w,), not of words, and their known forms."""
    made = np.array([" " not in word for word in words], bool)
    alone = [word if own else "" for word, own in zip(words, made.tolist(), strict=True)]
    return made, find_rules(space, language).forms(alone, space.single_words(language).index)


def learn_by_forms(
    unseen: OovRanker,
    words: tuple[Sequence[str], Sequence[str]],
    rows: tuple[Matrix, Matrix, Matrix],
    table: AnswerTable,
    sample: Numbers,
    rules: tuple[SuffixRules, SuffixRules],
) -> OovRanker:
    """The same with the probabilities of answers by known forms, learned from a `sample` (q,) of its words.

    These are treated as unseen: the `rules` of the source were learned without them. By their own vectors,
    their answers have the probabilities of the `table`. The `rows` are those of both languages in the space,
    and those of the target as they are compared.
    """
    indices = WordIndex(words[0]), WordIndex(words[1])
    forms = rules[0].forms([words[0][row] for row in sample.tolist()], indices[0])
    known = np.flatnonzero(forms.any)
    if not len(known):
        return unseen
    forms, sample = KnownForms(*(one[known] for one in forms)), sample[known]
    said = FormAnswers.of(np.ones(len(known), bool), forms, table, indices[1], rules[1])
    targets = Targets(words[1], *rows[1:])
    asked = [words[0][row] for row in sample.tolist()]
    candidates, values, _ = unseen.judged(UnseenWords(asked, rules[0].rows(forms, rows[0]), said), targets)
    best = candidates.firsts(values)
    shares = _probabilities(table, len(words[1]))[sample[candidates.places[best]], candidates.columns[best]]
    curve = ProbabilityCurve.fitted(values[best], np.asarray(shares, np.float64).ravel())
    return replace(unseen, by_forms=curve)


def _probabilities(table: AnswerTable, targets: int) -> scipy.sparse.csr_matrix:
    """The probabilities of the answers to all words, (n, m)."""
    shape = len(table), targets
    return scipy.sparse.csr_matrix((table.probability, table.columns, table.pointers), shape)
