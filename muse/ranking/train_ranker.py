"""Choice: the answers to every word, ranked by all the evidence, each with its probability.

BoostedTrees learn from pairs of words which of a word's candidates translate it. The mapping was learned from
the same pairs, so CSLS is better on them than on other words; and spelling is better on the pairs that the
correspondences were learned from. The evidence of each fold of the pairs therefore comes from maps and
correspondences learned without it.

The evidence is comparable between languages, so trees learned on other languages (`pretrained`) choose where
there are no pairs. With pairs, the log odds of both are mixed; the weight is the one that translates held-out
words best.

The most frequent words are answered first by the pretrained trees. Those that are each other's answer
refine the vectors (`muse.ranking.canonical`), by which all words are then answered.

Where held-out words are answered worse than by CSLS, CSLS is kept. Where they show neither a gain nor a loss,
for they are few, and without pairs, trees over other evidence (`muse.ranking.neighbourhoods`) choose if
spelling says nothing of translations in either direction; and CSLS is kept if far fewer words than by it are
each other's answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.ranking import features
from muse.ranking.candidates import (
    ALIKE,
    SPELLED,
    Candidates,
    NeighbourLists,
    TwoWay,
    best_of_groups,
    nearest_both,
)
from muse.ranking.canonical import Maps, dots, refine
from muse.ranking.chosen import MUTUAL_LEFT, MUTUAL_LEFT_UNSPELLED, ChosenAnswers, more_mutual
from muse.ranking.completed import MadeRows
from muse.ranking.external_scores import ExternalScores, OutsideOdds, measured_odds
from muse.ranking.model import (
    AnswerModel,
    ChoiceReport,
    PretrainedTrees,
    ProbabilityCurve,
    answered_pairs,
    best_answers,
    decisive,
    kinds_of,
    pretrained_odds,
)
from muse.ranking.neighbourhoods import COLUMNS, Neighbourhoods
from muse.ranking.oov import OovRanker, learn_by_forms
from muse.ranking.own_strings import doubt, foreign_company
from muse.ranking.spelling import Spellings
from muse.ranking.trees import BoostedTrees, TreesConfig, fit_trees
from muse.search.exact import at_once, one_blas_thread
from muse.space.derived import AnswerTable
from muse.space.inflections import SuffixRules, learn_suffix_rules
from muse.vectors import Doubles, Flags, Matrix, Numbers

AS_UNSEEN, AS_UNSEEN_SHARE = 500, 0.2  # words of either vocabulary that are treated as unseen, at most
LEAST_ANSWERED = 1_000  # pairs that canonical directions are learned from
FIRST_WORDS = 10_000  # the most frequent words of either language, whose answers refine the vectors
# Words with pairs: on held-out words of four spaces, a mapping learned from so many gained nothing.
MANY_WORDS = 2_000
PROBED = 1_000  # words on which the influence of each kind of evidence is measured
FOLDS = 5  # of pairs that the mapping was not learned from
LEAST_WORDS = 50  # labelled words to learn trees from
# Of the trees learned here. Some hundred words cannot tell that one kind of trees is of no use.
MIXES = (0.25, 0.5, 0.75)
ONE_EACH = 1.1  # translations of a word of the pairs: with fewer, a list is one of single translations
MOST_SAME = 0.8  # of the pairs: if more are of the same string, they say nothing of other spellings


@dataclass(frozen=True, eq=False)
class _Labelled:
    """Words with known translations: candidates' evidence (c, f), labels (c,), weights (c,), words (c,).

    `csls` (c,) is by the mapping, and so not by refined rows. With `one_each` no more than one translation
    of a word is known, however many are right.
    """

    evidence: Matrix
    csls: Matrix
    right: Flags
    weights: Doubles
    word: Numbers
    one_each: bool = field(kw_only=True)


@one_blas_thread()
def learn_answers(
    words: tuple[Sequence[str], Sequence[str]],
    rows: tuple[Matrix, Matrix],
    given: features.KnownPairs | None = None,
    *,
    rng: np.random.Generator,
    pretrained: BoostedTrees | None = None,
    both: bool = True,
    config: TreesConfig | None = None,
) -> tuple[ChosenAnswers, ...]:
    """The answers from source to target, and with `both` those from target to source.

    `words` and their unit `rows` (n, k) and (m, k) in the shared space are most frequent first. Outside
    scores that say nothing in either direction are left out. Where spelling says nothing, the `unspelled`
    trees choose, if the `pretrained` ones have any.
    """
    given, untouched = given or features.KnownPairs.none(), deepcopy(rng)
    forms = _Forms.of(words, rows, deepcopy(rng))
    made = forms.made(words, rows) if len(given.pairs) else ()
    start = RefinedViews.of(words, rows, given, rng=rng, pretrained=pretrained, made=made)
    starts = (start, start.reversed()) if both else (start,)
    labelled = _labelled(starts, given, rng, pretrained)
    unspelled = pretrained.unspelled if isinstance(pretrained, PretrainedTrees) else None
    if unspelled is not None and start.informs is False and not any(labelled):
        completed = replace(start, made=made or forms.made(words, rows))
        chosen = _without_spelling(completed, given, unspelled, rng)
        left = MUTUAL_LEFT_UNSPELLED
        return more_mutual(chosen, start.mapped.lists, outside=False, left=left)[: len(starts)]
    # Each direction draws for itself, so that both can be learned at once.
    sides = zip(starts, labelled, rng.spawn(len(starts)), strict=True)
    learners = [_Learner(*side, pretrained, config or TreesConfig()) for side in sides]
    found = tuple(at_once(_Learner.answers, learners))
    if given.outside and not any(one.informed for one in found):
        given = replace(given, outside=())
        return learn_answers(
            words, rows, given, rng=untouched, pretrained=pretrained, both=both, config=config
        )
    reports = [one.report for one in found]
    lacking = [one.by == "csls" and (one.undecided or not one.labelled) for one in reports]
    if unspelled is not None and any(lacking):
        completed = replace(start, made=made or forms.made(words, rows))
        others = _without_spelling(completed, given, unspelled, rng, reports)
        found = tuple(
            other if lacks else one for one, other, lacks in zip(found, others, lacking, strict=False)
        )
    if both:
        left = MUTUAL_LEFT_UNSPELLED if unspelled is not None and any(lacking) else MUTUAL_LEFT
        found = more_mutual(found, start.mapped.lists, outside=bool(given.outside), left=left)
    return _with_forms(found, words, start, forms)


@dataclass(frozen=True, eq=False)
class _Forms:
    """The suffix rules of both languages, and `samples` (q,) of words of each that they know nothing of."""

    samples: tuple[Numbers, Numbers]
    rules: tuple[SuffixRules, SuffixRules]

    @classmethod
    def of(
        cls, words: tuple[Sequence[str], Sequence[str]], rows: tuple[Matrix, Matrix], rng: np.random.Generator
    ) -> _Forms:
        """The rules learned from words and their rows (n, k) and (m, k)."""
        counts = [min(AS_UNSEEN, int(AS_UNSEEN_SHARE * len(side))) for side in words]
        first, second = (
            np.sort(rng.permutation(len(side))[:count]) for side, count in zip(words, counts, strict=True)
        )
        left_out = (
            np.isin(np.arange(len(side)), one) for side, one in zip(words, (first, second), strict=True)
        )
        rules = at_once(learn_suffix_rules, words, rows, left_out)
        return cls((first, second), (rules[0], rules[1]))

    def made(
        self, words: tuple[Sequence[str], Sequence[str]], rows: tuple[Matrix, Matrix]
    ) -> tuple[MadeRows, ...]:
        """The rows that known forms make of all words of both languages."""
        return tuple(at_once(MadeRows.of, words, rows, self.rules))


def _with_forms(
    found: tuple[ChosenAnswers, ...],
    words: tuple[Sequence[str], Sequence[str]],
    start: RefinedViews,
    forms: _Forms,
) -> tuple[ChosenAnswers, ...]:
    """The directions, in which unseen words have probabilities where forms of them are known."""

    def with_forms(own: int, one: ChosenAnswers, way: RefinedViews) -> ChosenAnswers:
        if one.unseen is None:
            return one
        other, unseen = 1 - own, replace(one.unseen, completed=len(start.made) > 0)
        sides = (words[own], words[other]), (way.mapped.source, way.mapped.target, way.refined.target)
        learned_from = forms.samples[own], (forms.rules[own], forms.rules[other])
        return replace(one, unseen=learn_by_forms(unseen, *sides, one.answers, *learned_from))

    return tuple(at_once(with_forms, (0, 1), found, (start, start.reversed())))


def _without_spelling(
    start: RefinedViews,
    given: features.KnownPairs,
    trees: BoostedTrees,
    rng: np.random.Generator,
    reports: Sequence[ChoiceReport] = (),
) -> tuple[ChosenAnswers, ...]:
    """The answers of both directions by their neighbourhoods; `reports` are of the held-out words, if any.

    The most frequent words are answered first, by completed vectors that mutual neighbours refined, and then
    all by vectors that these answers refined. Where too few are mutual the answers are those of CSLS.
    """
    views, rows = start.mapped, _rows(start.mapped, start.made)
    ways, lists = (views, views.reversed()), (views.lists, views.lists.reversed())
    untested = ChoiceReport("csls", 0, 0.0, spelling_informs=False)
    reports = [*reports, *[untested] * (len(ways) - len(reports))]
    few = min(FIRST_WORDS, len(views.source)), min(FIRST_WORDS, len(views.target))
    first = rows[0][: few[0]], rows[1][: few[1]]
    whole = few == (len(views.source), len(views.target))
    of_first = views.lists if whole else NeighbourLists.of(*first)
    of_known = (given.pairs < few).all(axis=1)
    known = features.KnownPairs(given.pairs[of_known], given.weights[of_known])
    pairs, weights = known.with_others(of_first.mutual())
    if len(pairs) < LEAST_ANSWERED:
        sides = zip(lists, reports, strict=True)
        return tuple(ChosenAnswers.by_csls(of, one) for of, one in sides)
    model = AnswerModel.of_unspelled(trees)
    found = Neighbourhoods.of(first, of_first, pairs, weights)
    there, back = (
        _by_neighbourhoods(way, model, of.csls)
        for way, of in zip((found, found.reversed()), ways, strict=True)
    )
    answered = answered_pairs(there, back)
    every = given.with_others(answered.pairs, answered.weights)
    found = Neighbourhoods.of(rows, views.lists, *every)
    chosen = []
    for way, of, report in zip((found, found.reversed()), ways, reports, strict=True):
        some, _ = way.candidates(np.arange(len(way.source))).drawn(PROBED, rng)
        decided = decisive(some, way.evidence(some), trees.log_odds, COLUMNS)
        report = replace(report, by="all evidence", mix=0.0, decided=decided)
        answers = _by_neighbourhoods(way, model, of.csls)
        chosen.append(ChosenAnswers(answers, report, hubness=of.lists.exact_hubness))
    return tuple(chosen)


def _by_neighbourhoods(
    found: Neighbourhoods, model: AnswerModel, csls: Callable[[Numbers, Numbers], Matrix]
) -> AnswerTable:
    """The answers to all sources; `csls` as in `best_answers`."""
    every = found.candidates(np.arange(len(found.source)))
    log_odds, probability = np.empty(len(every.columns)), np.empty(len(every.columns), np.float32)
    for begin in range(0, len(every.words), features.BLOCK):
        candidates, of_part = every.only(every.words // features.BLOCK == begin // features.BLOCK)
        evidence = found.evidence(candidates)
        log_odds[of_part] = model.log_odds(evidence)
        probability[of_part] = model.curve(log_odds[of_part])
    return best_answers(every, log_odds, probability, csls)


@dataclass(frozen=True, eq=False)
class RefinedViews(TwoWay):
    """What answers are learned from: the views by the `mapped` rows, and by those `refined`, if any are.

    `halves` are how words correspond in spelling, `company` (n,) and (m,) the `foreign_company` of words, if
    trees are pretrained, `answered` the pairs that refined the rows, by `maps`. `informs` is whether spelling
    distinguishes translations in either direction, None if not found out. `made` are the rows made of other
    forms of words, which complete those refined.
    """

    mapped: features.BilingualViews
    refined: features.BilingualViews
    halves: features.SpellingHalves
    company: tuple[Doubles, ...] = ()
    answered: features.KnownPairs | None = None
    maps: Maps = ()
    informs: bool | None = None
    made: tuple[MadeRows, ...] = ()

    @classmethod
    def of(
        cls,
        words: tuple[Sequence[str], Sequence[str]],
        rows: tuple[Matrix, Matrix],
        given: features.KnownPairs,
        *,
        rng: np.random.Generator,
        pretrained: BoostedTrees | None,
        made: tuple[MadeRows, ...] = (),
    ) -> RefinedViews:
        """The views of two languages, whose rows are refined where pretrained trees give answers.

        They are not where the mapping was learned from many pairs, but completed by those `made` of forms.
        """
        written, lists = Spellings.of(*words, rng), NeighbourLists.of(*rows)
        whole, ends = written.correspondences(*given.with_others(features.believed(lists, given.outside)))
        spelled = nearest_both(whole.source, whole.target, SPELLED, ALIKE)
        views = features.BilingualViews(
            *rows, lists, written, whole, ends, (spelled[0].indices.numpy(), spelled[1].indices.numpy()),
            outside=given.outside,
        )  # fmt: skip
        start = cls(views, views, features.SpellingHalves.of(views, given), made=made)
        many, answered = given.held_out and len(np.unique(given.pairs[:, 0])) > MANY_WORDS, None
        if pretrained is not None:
            start = replace(start, company=tuple(at_once(foreign_company, (views, views.reversed()))))
        if pretrained is not None and not many:
            answered = _answered_first(start, pretrained)
            start = replace(start, informs=answered is not None)
        if answered is None or len(answered.pairs) < LEAST_ANSWERED:
            return replace(start, refined=_completed(views, made))
        refined, maps = _refined(views, answered, given, made)
        return replace(start, refined=refined, answered=answered, maps=maps)

    def doubt(self, candidates: Candidates) -> Doubles:
        """What own strings among the candidates (c,) lose, (c,)."""
        return doubt(self.company[0], self.mapped.written.same[0], candidates)


def _answered_first(start: RefinedViews, pretrained: BoostedTrees) -> features.KnownPairs | None:
    """The most frequent words that are each other's answer; None where spelling says nothing."""

    def evidence(start: RefinedViews) -> tuple[Candidates, Matrix, bool]:
        """The evidence of one direction, by the vectors as they are mapped, and whether it is any use."""
        views = start.mapped
        some, found = features.evidence_of(
            views, start.halves, np.arange(min(FIRST_WORDS, len(views.source)))
        )
        if views.outside:
            _fill_outside(views.outside, some, found, pretrained)
            return some, found, True
        return some, found, features.spelling_informs(views, start.halves, some, found)

    model = AnswerModel.of_pretrained(pretrained, outside=bool(start.mapped.outside))

    def answers(way: RefinedViews, some: Candidates, found: Matrix) -> AnswerTable:
        log_odds = model.log_odds(found) - way.doubt(some)
        return best_answers(some, log_odds, model.probability(found, log_odds), way.mapped.csls)

    ways = start, start.reversed()
    sides = at_once(evidence, ways)
    if not any(informs for _, _, informs in sides):
        return None
    return answered_pairs(*at_once(answers, ways, *zip(*(side[:2] for side in sides), strict=True)))


def _completed(
    views: features.BilingualViews, made: tuple[MadeRows, ...], anew: Numbers | None = None
) -> features.BilingualViews:
    """The views by rows completed by those `made` of forms, with neighbours as in `NeighbourLists.again`."""
    if not made and anew is None:
        return views
    source, target = _rows(views, made)
    return replace(views, source=source, target=target, lists=views.lists.again(source, target, anew))


def _rows(views: features.BilingualViews, made: tuple[MadeRows, ...]) -> tuple[Matrix, Matrix]:
    if not made:
        return views.source, views.target
    return made[0].completed(views.source), made[1].completed(views.target)


def _refined(
    views: features.BilingualViews,
    answered: features.KnownPairs,
    given: features.KnownPairs,
    made: tuple[MadeRows, ...],
    without: Flags | None = None,
) -> tuple[features.BilingualViews, Maps]:
    """The views by completed rows, refined by answered pairs and the given ones not `without` (g,)."""
    known = given.with_others(answered.pairs, answered.weights, without)
    source, target, maps = refine(_rows(views, made), *known)
    anew = None if without is None else given.pairs[without]
    return replace(views, source=source, target=target, lists=views.lists.again(source, target, anew)), maps


@dataclass(frozen=True, eq=False)
class _Fold(TwoWay):
    """Views by rows, `mapped` and `refined`, that were learned without the pairs `without` (p,)."""

    mapped: features.BilingualViews
    refined: features.BilingualViews
    without: Flags

    def labelled(self, given: features.KnownPairs) -> tuple[NDArray[Any], ...]:
        """The arrays of `_Labelled` for the words of the pairs left out: the evidence does not know them."""
        mutual = features.believed(self.refined.lists, given.outside)
        known = given.with_others(mutual, without=self.without)
        whole, ends = self.refined.written.correspondences(*known)
        view = replace(self.refined, whole=whole, ends=ends, spelled=None)
        own = given.pairs[self.without]
        candidates = features.candidates_of(view, np.unique(own[:, 0]))
        weight = dict(zip(own[:, 0].tolist(), given.weights[self.without].tolist(), strict=True))
        rows, columns, mapped = candidates.rows, candidates.columns, self.mapped
        vectors = mapped.source, mapped.target
        # The lists are of the mapping learned from all pairs, by which their words are nearer to others.
        hubness = mapped.lists.hubness_of(*vectors, rows, columns)
        return (
            features.features_of(view, candidates), 2 * dots(*vectors, rows, columns) - sum(hubness),
            candidates.are(given.pairs, len(view.target)),
            np.array([weight[row] for row in rows.tolist()]), rows,
        )  # fmt: skip


def _labelled(
    starts: Sequence[RefinedViews],
    given: features.KnownPairs,
    rng: np.random.Generator,
    pretrained: BoostedTrees | None,
) -> list[_Labelled | None]:
    """The words of the pairs, in each direction, each with evidence learned without its own pairs.

    None for too few pairs, or those of the same string.
    """
    same = starts[0].mapped.written.same[0][given.pairs[:, 0]] == given.pairs[:, 1]
    if not _is_enough(given) or same.mean() > MOST_SAME:
        return [None for _ in starts]
    ways = [(pairs, list[tuple[NDArray[Any], ...]]()) for pairs in (given, given.reversed())[: len(starts)]]
    for fold in _folds(starts[0], given, rng, pretrained):  # one after the other: rows of all words are large
        labelled = at_once(_Fold.labelled, (fold, fold.reversed()), (pairs for pairs, _ in ways))
        for (_, found), own in zip(ways, labelled, strict=True):
            found.append(own)
    return [
        _Labelled(
            *map(np.concatenate, zip(*found, strict=True)),
            one_each=len(pairs.pairs) < ONE_EACH * len(np.unique(pairs.pairs[:, 0])),
        )
        if _is_enough(pairs)
        else None
        for pairs, found in ways
    ]


def _is_enough(given: features.KnownPairs) -> bool:
    return len(np.unique(given.pairs[:, 0])) >= LEAST_WORDS


def _folds(
    start: RefinedViews,
    given: features.KnownPairs,
    rng: np.random.Generator,
    pretrained: BoostedTrees | None,
) -> Iterator[_Fold]:
    """Views by rows learned without some pairs; a source word is without its pair in one at most.

    Where the mapping was learned from the pairs, so are the answers that refine the rows: other forms and
    neighbours of a held-out word have those of its translation. Those of a fold are by its own mapping.
    """
    views = start.mapped
    if given.held_out:
        folds = [
            (replace(views, source=one.source, target=one.target), one.without) for one in given.held_out
        ]
    else:
        sources, place = np.unique(given.pairs[:, 0], return_inverse=True)
        fold = (rng.permutation(len(sources)) % FOLDS)[place]
        folds = [(views, fold == number) for number in range(FOLDS)]
    for mapped, without in folds:  # with the lists of all pairs
        answered = start.answered
        if answered is not None and given.held_out and pretrained is not None:
            own = _completed(mapped, (), given.pairs[without])
            answered = _answered_first(replace(start, mapped=own), pretrained)
        if answered is not None:
            yield _Fold(mapped, _refined(mapped, answered, given, start.made, without)[0], without)
        elif given.held_out:
            yield _Fold(mapped, _completed(mapped, start.made, given.pairs[without]), without)
        else:
            yield _Fold(mapped, start.refined, without)


@dataclass(frozen=True, eq=False)
class _Learner:
    """What the answers of one direction are learned from, and how trees are grown."""

    start: RefinedViews
    labelled: _Labelled | None
    rng: np.random.Generator
    pretrained: BoostedTrees | None
    config: TreesConfig

    def answers(self) -> ChosenAnswers:
        """The answers of the direction."""
        views, labelled, pretrained = self.start.refined, self.labelled, self.pretrained
        outside, informed = views.outside, False
        every, evidence = features.evidence_of(views, self.start.halves, np.arange(len(views.source)))
        for place, odds in _fill_outside(outside, every, evidence, pretrained).items():
            informed |= odds.informs
            if labelled is not None:
                said, alike = labelled.evidence[:, place], _alike(labelled.evidence)
                labelled.evidence[:, place] = odds(said, alike, labelled.word)
        model, report = self._model()
        if labelled is None and pretrained is not None and outside:
            model = AnswerModel.of_pretrained(pretrained, outside=True)
        informs = self.start.informs
        if informs is None:
            informs = features.spelling_informs(views, self.start.halves, every, evidence)
        report = replace(report, spelling_informs=informs)
        untested = report.undecided or labelled is None
        if untested and not report.spelling_informs and not outside:
            model = None  # the pretrained trees learned from languages with related spellings
        lists = self.start.mapped.lists
        if model is None:
            return ChosenAnswers.by_csls(lists, report, informed=informed)
        some, probed = every.drawn(PROBED, self.rng)
        decided = decisive(some, evidence[probed], model.log_odds, kinds_of(evidence))
        report = replace(report, mix=model.mix, decided=decided)
        without, other = None, None
        if pretrained is not None:
            other = pretrained_odds(pretrained, evidence) - self.start.doubt(every)
        log_odds = model.log_odds(evidence, other)
        if report.one_each and other is not None and pretrained is not None:
            plain = AnswerModel.of_pretrained(pretrained).probability(evidence, other)
            curve, without = _without_pairs(every, log_odds, other, plain)
            model = replace(model, curve=curve)
        probability = model.probability(evidence, log_odds)
        answers = best_answers(every, log_odds, probability, self.start.mapped.csls)
        unseen = OovRanker.of(model, views, lists.hubness_back, self.start.maps)
        return ChosenAnswers(answers, report, unseen, without, informed, lists.exact_hubness)

    def _trees(self, of: _Labelled, kept: slice | Flags = slice(None)) -> BoostedTrees:
        sides = of.evidence[kept], of.right[kept], of.weights[kept]
        return fit_trees(*sides, rng=self.rng, config=self.config)

    def _model(self) -> tuple[AnswerModel | None, ChoiceReport]:
        """The model of highest accuracy on held-out words, and a report; no model where CSLS is better."""
        labelled, pretrained = self.labelled, self.pretrained
        if labelled is None:
            known = None if pretrained is None else AnswerModel.of_pretrained(pretrained)
            return known, ChoiceReport("csls" if known is None else "all evidence", 0, 0.0)
        words = np.unique(labelled.word)
        fold = (self.rng.permutation(len(words)) % FOLDS)[np.searchsorted(words, labelled.word)]
        here = np.zeros(len(labelled.word))
        for number in range(FOLDS):
            own = fold == number
            here[own] = self._trees(labelled, ~own).log_odds(labelled.evidence[own])
        other = here if pretrained is None else pretrained_odds(pretrained, labelled.evidence)
        mixes = MIXES if pretrained is not None else (1.0,)
        mix = max(mixes, key=lambda one: _gain(labelled, one * here + (1 - one) * other))
        values = mix * here + (1 - mix) * other
        best, of_csls = (best_of_groups(labelled.word, one) for one in (values, labelled.csls))
        right, by_csls = labelled.right[best], labelled.right[of_csls]
        gains = right.astype(float) - by_csls
        error = float(gains.std()) / np.sqrt(len(gains))
        undecided = pretrained is not None and abs(gains.mean()) <= error
        report = ChoiceReport(
            "all evidence", len(words), mix, len(words), float(by_csls.mean()), float(right.mean()),
            undecided=undecided, one_each=labelled.one_each and pretrained is not None,
        )  # fmt: skip
        if gains.mean() <= error and not undecided:
            return None, replace(report, by="csls")
        curve = ProbabilityCurve.fitted(values[best], right)
        return AnswerModel(self._trees(labelled), pretrained, mix, curve), report


def _without_pairs(
    every: Candidates, log_odds: Doubles, other: Doubles, probability: Matrix
) -> tuple[ProbabilityCurve, Numbers]:
    """The curve for candidates with these log odds (c,), and the answers without pairs (n,).

    By the pretrained trees they have `other` log odds (c,) and this `probability` (c,). Of the words held
    out one translation was known, and all others counted as wrong, however many are right. The probabilities
    of the answers to the most frequent words are therefore distributed as those by the pretrained trees.
    """
    best, shares = (every.most(one)[:FIRST_WORDS] for one in (log_odds, probability))
    known = np.isfinite(best)
    answers = np.full(len(every.words), -1)
    firsts = every.firsts(other)
    answers[every.places[firsts]] = every.columns[firsts]
    return ProbabilityCurve.distributed_as(best[known], shares[known]), answers


def _fill_outside(
    outside: Sequence[ExternalScores], every: Candidates, evidence: Matrix, pretrained: BoostedTrees | None
) -> dict[int, OutsideOdds]:
    """What each source adds to log odds, by the answers of all evidence but that of sources, by its column.

    It is put into the evidence (c, f).
    """
    if not outside:
        return {}
    other, found = evidence[:, : len(features.NAMES)], {}
    model = AnswerModel.csls() if pretrained is None else AnswerModel.of_pretrained(pretrained)
    log_odds = model.log_odds(other)
    alike, probability = _alike(evidence), model.probability(other, log_odds)
    for one, place in zip(outside, features.odds_places(evidence), strict=True):
        found[place] = measured_odds(one, every, alike, log_odds, probability)
        evidence[:, place] = found[place](evidence[:, place], alike, every.places)
    return found


def _alike(evidence: Matrix) -> Matrix:
    """How alike words and their candidates are spelled (c, k), by the evidence (c, f)."""
    return evidence[:, features.places_of(*features.ALIKE)]


def _gain(labelled: _Labelled, values: Doubles) -> float:
    """The mean log probability of the right candidates among all of their word, as a softmax of log odds.

    It is smoother than the share of words answered correctly, which needs more words to differ.
    """
    order = np.argsort(labelled.word, kind="stable")
    word, right, values = labelled.word[order], labelled.right[order], np.exp(np.clip(values[order], -20, 20))
    starts = np.unique(word, return_index=True)[1]
    total, good = (np.add.reduceat(one, starts) for one in (values, values * right))
    known = good > 0
    return float(np.log(good[known] / total[known]).mean()) if known.any() else 0.0
