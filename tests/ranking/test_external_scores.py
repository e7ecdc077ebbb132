"""Outside scores count as far as they agree with other evidence, and those that know nothing do not."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from muse.ranking.candidates import Candidates
from muse.ranking.chosen import ChosenAnswers
from muse.ranking.external_scores import (
    LISTED,
    MOST_SCALE,
    SUBTRACTED,
    ComparableVectors,
    ExternalScores,
    SoftmaxOdds,
    measured_odds,
)
from muse.ranking.features import KnownPairs
from muse.ranking.model import read_pretrained
from muse.ranking.oov import Targets, UnseenWords
from muse.ranking.train_ranker import learn_answers
from muse.ranking.trees import TreesConfig
from muse.vectors import Doubles
from tests.support.made_up_pair import Made, made_up, unit


def test_pairs_are_ranked_by_their_scores() -> None:
    pairs = np.array([[0, 3], [0, 1], [2, 1], [0, 2]])
    scores = ExternalScores.of_pairs(pairs, np.array([0.2, 0.9, 1.0, 0.2]), (3, 4))
    assert scores.columns[0, :4].tolist() == [1, 2, 3, -1]
    assert scores.known.tolist() == [True, False, True]
    there, back = scores.ranks(np.array([0, 0, 2, 1]), np.array([1, 3, 1, 0]))
    assert there.tolist() == [0, 2, 0, LISTED]
    assert back.tolist() == [1, 0, 0, LISTED]
    mutual, _ = scores.mutual()
    assert mutual.tolist() == [[2, 1]]  # the first of word 0 has a better source
    rows, columns = scores.candidates(np.array([0, 1]))
    assert rows.tolist() == [0, 0, 0]
    assert columns.tolist() == [1, 2, 3]


def test_of_a_pair_that_is_given_again_the_highest_score_counts() -> None:
    pairs, scores = np.array([[0, 0], [0, 1], [0, 0], [1, 1]]), np.array([0.1, 0.5, 0.9, 0.3])
    found = ExternalScores.of_pairs(pairs, scores, (2, 2))
    assert found.columns[:, :2].tolist() == [[0, 1], [1, -1]]
    np.testing.assert_allclose(found.scores[0, :2] * 0.9, [0.9, 0.5], rtol=1e-6)


@pytest.mark.parametrize("factor", [1e-3, 100.0, 1e300])
def test_scores_are_on_any_scale(factor: float) -> None:
    rng = np.random.default_rng(0)
    pairs = rng.integers(40, size=(120, 2))
    # Words with a single translation, whose lead has no second to be measured by, are the surest.
    pairs = np.concatenate([pairs, np.stack([np.arange(40, 50)] * 2, axis=1)])
    scores = rng.random(len(pairs))
    one, other = (ExternalScores.of_pairs(pairs, scores * by, (50, 50)) for by in (1.0, factor))
    np.testing.assert_array_equal(one.columns, other.columns)
    np.testing.assert_array_equal(one.surest(), other.surest())
    np.testing.assert_array_equal(one.cells(*pairs.T), other.cells(*pairs.T))
    assert {*range(40, 50)} <= set(one.surest()[:, 0].tolist())


def test_cells_of_what_is_unknown() -> None:
    scores = ExternalScores.of_pairs(np.array([[0, 1], [2, 2]]), np.ones(2), (3, 3))
    cells = scores.cells(np.array([0, 0, 1, 0]), np.array([1, 2, 1, 0]))
    assert cells[0] > 0
    assert cells[1] > 0  # both are known, and not as translations
    assert cells[2] == 0  # nothing is known of word 1
    assert cells[3] == 0  # nor of target 0


def test_vectors_of_unknown_words_are_no_candidates() -> None:
    rows = np.random.default_rng(0).standard_normal((30, 8)).astype(np.float32)
    source, target = rows.copy(), rows.copy()
    source[3], target[5] = 0, 0
    scores = ExternalScores.of_vectors(source, target)
    assert not scores.known[3]
    others = np.setdiff1d(np.arange(30), [3, 5])
    assert (scores.columns[others, 0] == others).all()
    assert not (scores.columns == 5).any()
    assert not (scores.rows == 3).any()


@pytest.mark.parametrize("counts", [(3, 50), (50, 3), (2, 3), (12, 5)])
def test_ranks_where_few_words_of_a_language_are_known(counts: tuple[int, int]) -> None:
    rows = np.random.default_rng(0).standard_normal((50, 8)).astype(np.float32)
    source, target = (np.where(np.arange(50)[:, None] < count, rows, 0) for count in counts)
    ranks = ExternalScores.of_vectors(source, target).ranks(*np.indices(counts).reshape(2, -1))
    for side, own, other in zip(ranks, counts, counts[::-1], strict=True):
        assert np.bincount(side)[: min(other, LISTED)].tolist() == [own] * min(other, LISTED)


def test_the_odds_of_a_mixture() -> None:
    # Of 20,000 words with four candidates the first by other evidence is right with probability .6, the
    # others never. The scores name one target of each word: a right candidate with probability .625, a wrong
    # one with .125, and else a fifth target, which is no candidate.
    rng, words, share = np.random.default_rng(0), 20_000, 0.6
    columns = np.tile(np.arange(4), words)
    candidates = Candidates(np.arange(words), np.arange(words + 1) * 4, columns)
    right = rng.random(words) < share
    draw = rng.random(words)
    named = np.where(draw < 0.625, 0, 1 + np.minimum((draw - 0.625) // 0.125, 2)).astype(int)
    named[~right] = np.minimum(draw[~right] // 0.125, 4).astype(int)
    pairs = np.stack([np.arange(words), named], axis=1)
    scores = ExternalScores.of_pairs(pairs, np.ones(words), (words, 5))
    values = np.tile([4.0, 3.0, 2.0, 1.0], words)
    probability = np.tile(np.array([share, 0, 0, 0], np.float32), words)
    alike = np.zeros((len(columns), 1), np.float32)
    odds = measured_odds(scores, candidates, alike, values, probability)
    found = odds(scores.said(candidates.rows, columns), alike, candidates.places)
    is_named = columns == np.repeat(named, 4)
    assert found[is_named].mean() == pytest.approx(np.log(0.625 / 0.125), abs=0.1)
    assert found[~is_named].mean() == pytest.approx(np.log(0.375 / 0.875), abs=0.1)
    assert odds(np.zeros(1, np.float32), alike[:1], np.zeros(1, np.int64)).tolist() == [0]


def mixture(share: float, words: int = 6_000) -> tuple[Candidates, np.ndarray, np.random.Generator]:
    """Words with five candidates, the first by other evidence right with probability `share`, their scores.

    Scores of a right one are drawn by a softmax of temperature 1 / 3 among normal scores; others have any.
    """
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((words, 5))
    drawn = (3 * scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    right = rng.random(words) < share
    chosen = np.where(right, drawn, rng.integers(5, size=words))
    first = scores[np.arange(words), chosen].copy()
    scores[np.arange(words), chosen], scores[:, 0] = scores[:, 0].copy(), first
    return Candidates(np.arange(words), np.arange(words + 1) * 5, np.tile(np.arange(5), words)), scores, rng


def softmax_odds(candidates: Candidates, scores: np.ndarray, alike: np.ndarray, share: float) -> SoftmaxOdds:
    words = len(candidates.words)
    outside = replace(ExternalScores.none((words, 5)), vectors=Fixed(scores.astype(np.float32)))
    values, probability = np.tile([5.0, 4, 3, 2, 1], words), np.full(5 * words, share, np.float32)
    odds = measured_odds(outside, candidates, alike, values, probability)
    assert isinstance(odds, SoftmaxOdds)
    return odds


def test_the_temperature_of_a_mixture() -> None:
    candidates, scores, rng = mixture(share=0.3)
    alike = np.zeros((scores.size, 1), np.float32)
    odds = softmax_odds(candidates, scores, alike, 0.3)
    assert odds.scales[0] == pytest.approx(3, rel=0.25)
    found = odds(np.array([1, 0, np.nan, 2], np.float32), alike[:4], np.array([0, 0, 0, 1]))
    shares = np.exp([odds.scales[0], 0]) / np.exp([odds.scales[0], 0]).sum()
    np.testing.assert_allclose(found, [*np.log(2 * shares), 0, 0], rtol=1e-5, atol=1e-9)
    knows_nothing = rng.permutation(scores.ravel()).reshape(scores.shape)
    assert softmax_odds(candidates, knows_nothing, alike, 0.3).scales[0] < 0.15


def test_scores_count_less_the_more_answers_are_right() -> None:
    candidates, scores, _ = mixture(share=0.8)
    alike = np.zeros((scores.size, 1), np.float32)
    assert softmax_odds(candidates, scores, alike, 0.8).scales[0] == pytest.approx(
        MOST_SCALE * 0.25 / scores.std(), rel=1e-3
    )


def test_scores_do_not_count_for_spelling() -> None:
    # What is spelled alike has higher scores. Of the two measures one is the other's double, and noise.
    candidates, scores, rng = mixture(share=0.3)
    alike = rng.random(scores.size)
    both = np.stack([alike, 2 * alike + rng.standard_normal(scores.size)], axis=1).astype(np.float32)
    odds = softmax_odds(candidates, scores + 4 * alike.reshape(scores.shape), both, 0.3)
    np.testing.assert_allclose(odds.slopes, [SUBTRACTED * 4, 0], atol=0.15)
    same = odds(np.array([1, 1 + SUBTRACTED * 4], np.float32), np.array([[0, 0], [1, 0]]), np.zeros(2, int))
    np.testing.assert_allclose(same, [0, 0], atol=0.2)


class Fixed(ComparableVectors):
    scores: np.ndarray

    def __init__(self, scores: np.ndarray) -> None:
        object.__setattr__(self, "scores", scores)

    def csls(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return np.asarray(self.scores[rows, columns], np.float32)


def chosen(made: Made, *outside: ExternalScores) -> ChosenAnswers:
    given = KnownPairs(np.zeros((0, 2), np.int64), np.zeros(0), outside=outside)
    (found,) = learn_answers(
        made.words, made.rows, given,
        rng=np.random.default_rng(0), pretrained=read_pretrained(), both=False,
    )  # fmt: skip
    return found


def right(found: ChosenAnswers, made: Made) -> float:
    return float((found.answers.first() == made.gold).mean())


@pytest.mark.parametrize("sources", [1, 2])
def test_unseen_words_are_answered_without_the_scores(sources: int) -> None:
    # Trees that learned from pairs and scores meet words of which there are no scores.
    made, rng = made_up(500), np.random.default_rng(1)
    known = np.stack([np.arange(0, 500, 2), made.gold[::2]], axis=1)
    scores = ExternalScores.of_pairs(
        np.stack([np.arange(500), made.gold], axis=1), rng.random(500), (500, 500)
    )
    given = KnownPairs(known, np.ones(len(known)), outside=(scores,) * sources)
    (found,) = learn_answers(
        made.words, made.rows, given, rng=rng, both=False, config=TreesConfig(trees=25, rate=0.2, hessian=0.5)
    )
    assert found.unseen is not None
    answered = found.unseen.answer(
        UnseenWords(["new"], made.rows[0][:1]), Targets(made.words[1], *made.rows[1:] * 2)
    )
    assert len(answered) == 1
    assert np.isfinite(answered.probability).all()


@pytest.mark.slow
def test_scores_that_know_help_and_others_do_no_harm() -> None:
    made, rng = made_up(900, noise=1.6), np.random.default_rng(1)
    meaning = rng.standard_normal((900, 30))
    knows = unit(meaning + rng.standard_normal(meaning.shape)), np.empty_like(meaning, np.float32)
    knows[1][made.gold] = unit(meaning + rng.standard_normal(meaning.shape))
    noise = tuple(unit(rng.standard_normal((900, 30))) for _ in range(2))
    vectors = [ExternalScores.of_vectors(*rows) for rows in (knows, noise)]
    alone, helped, unharmed = chosen(made), *(chosen(made, one) for one in vectors)
    known = np.stack([np.arange(0, 900, 2), made.gold[::2]], axis=1)
    of_pairs = ExternalScores.of_pairs(known, rng.random(len(known)), (900, 900))
    assert right(chosen(made, vectors[0], of_pairs), made) > right(helped, made) + 0.05
    assert right(helped, made) > right(alone, made) + 0.1
    assert helped.report.decided["other sources"] > 0.05
    assert unharmed.report == alone.report
    np.testing.assert_array_equal(unharmed.answers.columns, alone.answers.columns)
    np.testing.assert_array_equal(unharmed.answers.probability, alone.answers.probability)


# How scores are made of similarities (w, k), best first, and whether they are distances.
KINDS: dict[str, tuple[Callable[[Doubles], Doubles], bool]] = {
    "similarities": (lambda near: near, False), "logarithms": (np.log, False),
    "one score": (np.ones_like, False), "ranks": (lambda near: 1 / near, True),
    "1 - similarity": (lambda near: 1 - near, True), "negated": (lambda near: -near, True),
    "angles": (np.arccos, True), "costs": (lambda near: -np.log(near), True),
    "one candidate": (lambda near: 1 - near[:, :1], False), "few words": (lambda near: 1 - near[:20], False),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_distances_in_place_of_scores_are_told(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    made, told = KINDS[kind]
    near = np.sort(np.random.default_rng(0).uniform(0.1, 0.9, (60, 5)))[:, ::-1]
    scores = made(near)
    rows = np.repeat(np.arange(len(scores)), scores.shape[1])
    columns = (rows + np.tile(np.arange(scores.shape[1]), len(scores)) * 7) % 60
    found = ExternalScores.of_pairs(np.stack([rows, columns], 1), scores.ravel(), (60, 60))
    right = np.arange(len(scores))  # translations, whose targets have the same numbers
    for way in (found, found.reversed(), found):
        way.warn_of_distances(right, right, np.full(len(right), 0.7), "answers")
    assert caplog.text.count("in place of distances write 1 - distance") == told
