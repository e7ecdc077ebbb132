"""The story of one run: what it refuses and learns, that a seed repeats it; the criterion of a pair."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import torch

from muse.alignment import Alignment
from muse.errors import BadSetting, Mismatch
from muse.learn import bilingual
from muse.learn.auto import Candidate
from muse.learn.bilingual import MINIMUM_WORDS, Learned, check_pair, learn, normalise_in_place, sampled
from muse.learn.pair import LanguagePair, mean_cosine
from muse.learn.settings import AlignConfig
from muse.learn.supervise.model_selection import Supervision
from muse.learn.supervise.training_pairs import TrainingPairs
from muse.learn.verdict import Verdict, judge, with_pairs
from muse.lexicon import Lexicon
from muse.normalise import normalise
from muse.progress import Progress
from muse.run.runtime import Runtime
from muse.run.seeds import AlignStream, generator
from muse.vectors import Vectors
from tests.search.test_neighbours import random_rows
from tests.search.test_retrieval import cosines, csls
from tests.support.spaces import rotation
from tests.support.toys import DIMENSION, mixture, pair, raw_pair, strangers

CONFIG = AlignConfig(init="similarity")


def test_a_planted_rotation_is_learned_again_by_the_same_seed() -> None:
    source, target, turn = pair()
    one, other = (learn(source, target, config=CONFIG, runtime=Runtime()) for _ in range(2))
    assert one.verdict.label == "aligned"
    assert np.abs(one.alignment.source_map - turn).max() < 0.03
    assert one.alignment.target_map is None
    assert np.array_equal(one.alignment.source_map, other.alignment.source_map)
    assert one.seconds.keys() == {"init", "refine"}
    assert one.alignment.criterion > 0.9


def test_the_callers_progress_is_called_with_all_that_the_history_keeps() -> None:
    source, target, _ = pair()
    called: list[tuple[str, int]] = []
    progress = Progress(quiet=True, callback=lambda stage, done, figures: called.append((stage, done)))
    learned = learn(source, target, config=CONFIG, runtime=Runtime(progress=progress))
    traces = [*learned.candidates[0].history, *learned.history]
    kept = [(trace["stage"], step) for trace in traces for step in trace["steps"]]
    assert ("refine", 1) in kept
    assert set(kept) <= set(called)


def test_refinement_that_loses_a_right_mapping_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    source, target, turn = pair()

    def lost(*_: object, **__: object) -> list[Alignment]:
        return [Alignment(rotation(4, len(turn)))]

    monkeypatch.setattr("muse.learn.bilingual.improve", lost)
    learned = learn(source, target, config=CONFIG, runtime=Runtime())
    assert learned.verdict == learned.candidates[0].verdict
    assert np.abs(learned.alignment.source_map - turn).max() < 0.1


@pytest.mark.slow
def test_rows_that_failed_after_all_rounds_are_not_refined_further() -> None:
    source, target = (replace(side, frequency_ordered=False) for side in strangers())
    learned = learn(source, target, config=AlignConfig(init="gromov"), runtime=Runtime())
    assert learned.verdict.label == "failed"
    assert learned.verdict == learned.candidates[0].verdict
    assert np.array_equal(learned.alignment.source_map, learned.candidates[0].alignment.source_map)
    assert not learned.history


def test_the_first_rows_that_are_learned_from_are_of_all_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file may be sorted by topic, and what is learned looks at the first rows."""
    sides = []
    for side in mixture()[:2]:
        rows = side.matrix[np.argsort(side.matrix[:, 0])]
        sides.append(replace(side, words=[str(place) for place in range(len(rows))], matrix=rows))
    passed: list[Vectors] = []

    def spy(learning: Any) -> Learned:
        passed.extend(learning.pair.sides)
        return Learned(Alignment(rotation(0, 24)), Verdict("failed", 0.0, 0.0, 0.0), ())

    monkeypatch.setattr("muse.learn.bilingual.MOST_ROWS", 400)
    monkeypatch.setattr("muse.learn.bilingual._Learning._without_pairs", spy)
    learn(*sides, config=AlignConfig(), runtime=Runtime())
    for one, whole in zip(passed, sides, strict=True):
        assert len(one) == 400
        places = np.array([int(word) for word in one.words])
        assert np.histogram(places[:100], bins=5, range=(0, 1_500))[0].min() >= 10
        np.testing.assert_array_equal(one.matrix, whole.matrix[places])


def lexicon(pairs: int) -> Lexicon:
    return Lexicon(tuple((f"fr{row}", f"en{row}") for row in range(pairs)))


class FromPairs:
    """A stand-in for `learn_from_pairs`, of a wrong mapping; it keeps the names of what else it was given."""

    alignment = Alignment(rotation(4, DIMENSION), method="dictionary:0")
    supervision = Supervision(
        30,
        "0",
        right=2,
        tested=30,
        chance=1.5,
        candidates=tuple({"name": str(number)} for number in range(4)),
    )

    def __init__(self) -> None:
        self.given: list[str] = []

    def __call__(
        self, evidence: TrainingPairs, unsupervised: Sequence[Candidate], *_: object, **__: object
    ) -> tuple[Alignment, Supervision]:
        self.given = [one.alignment.init for one in unsupervised]
        return self.alignment, self.supervision


def test_the_verdict_with_pairs_is_that_of_all_methods_and_counts_what_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source, target, _ = pair()
    monkeypatch.setattr("muse.learn.bilingual.learn_from_pairs", FromPairs())
    pairs = *lexicon(30).pairs, ("nowhere", "en1"), ("fr31", "en32")
    more = Lexicon(pairs, probabilities=(*[1.0] * 31, 0.0))  # what weighs nothing is not missing
    config = AlignConfig(init="dictionary", lexicon=more, seed=3)
    learned = learn(source, target, config=config, runtime=Runtime())
    rng = generator(3, AlignStream.PAIRS_VERDICT)
    alone = judge(LanguagePair(source, target), FromPairs.alignment, rng=rng)
    assert learned.verdict == with_pairs(alone, 2, 30, methods=4)
    assert "on 30 words of 30 pairs (1 more left out" in str(learned.supervision)


def test_rows_that_were_held_out_are_not_called_words(monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = (replace(side, frequency_ordered=False) for side in pair()[:2])
    monkeypatch.setattr("muse.learn.bilingual.learn_from_pairs", FromPairs())
    config = AlignConfig(init="dictionary", lexicon=lexicon(30))
    learned = learn(source, target, config=config, runtime=Runtime())
    assert "on 30 rows of 30 pairs" in str(learned.supervision)


@pytest.mark.parametrize(
    ("init", "most", "others"),
    [
        ("auto", 2_000, ["similarity"]),
        ("auto", 30, []),
        ("similarity", 30, ["similarity"]),
        ("dictionary", 30, []),
    ],
)
def test_what_needs_no_pairs_is_tried_too_if_they_are_few_or_it_is_named(
    monkeypatch: pytest.MonkeyPatch, init: str, most: int, others: list[str]
) -> None:
    """Pairs are few if they have fewer than `most` source words."""
    learner = FromPairs()
    monkeypatch.setattr("muse.learn.bilingual.learn_from_pairs", learner)
    monkeypatch.setattr("muse.learn.auto.AUTO", ("similarity",))
    monkeypatch.setattr("muse.learn.supervise.model_selection.FEW_WORDS", most)
    source, target, _ = pair()
    config = AlignConfig(init=init, lexicon=lexicon(30))
    learned = learn(source, target, config=config, runtime=Runtime())
    assert [one.alignment.init for one in learned.candidates] == [*others, "dictionary"]
    assert learner.given == others


@pytest.mark.parametrize("init", ["auto", "similarity", "dictionary"])
def test_few_words_are_aligned_by_pairs_alone(init: str, caplog: pytest.LogCaptureFixture) -> None:
    source, target, turn = pair()
    few = [side.most_frequent(60) for side in (source, target)]
    config = AlignConfig(init=init, lexicon=lexicon(50), reweight=False)
    learned = learn(few[0], few[1], config=config, runtime=Runtime())
    assert [one.alignment.init for one in learned.candidates] == ["dictionary"]
    assert learned.supervision is not None and (learned.supervision.p_at_1 or 0) > 50
    skipped = "without the dictionary: fr: at least 500 words are needed to align, got 60"
    assert any(skipped in message for message in caplog.messages) == (init != "dictionary")


@pytest.mark.parametrize("steps", [(), ("centre",), ("unit", "centre")])
def test_rows_are_compared_at_unit_length_and_fitted_as_the_steps_leave_them(steps: tuple[str, ...]) -> None:
    raw, _, _ = raw_pair()
    expected = normalise(raw.matrix.copy(), steps)[0]
    vectors, fitted = normalise_in_place(raw, steps)
    np.testing.assert_allclose(vectors.matrix, normalise(expected, ["unit"])[0], atol=1e-6)
    np.testing.assert_allclose(vectors.fitted(), expected, atol=1e-5)
    np.testing.assert_allclose(vectors.fitted_tensor().numpy(), expected, atol=1e-5)
    assert fitted.steps == steps
    assert AlignConfig(normalise=steps).keeps_lengths
    some = vectors.chosen(np.array([5, 2])).most_frequent(1)
    np.testing.assert_allclose(some.fitted(), expected[[5]], atol=1e-5)


def test_procrustes_on_a_dictionary_of_raw_rows() -> None:
    source, target, _ = raw_pair(noise=0.4)
    x, y = source.matrix.copy(), target.matrix.copy()
    sides = [normalise_in_place(side, ())[0] for side in (source, target)]
    config = AlignConfig(normalise=(), refine=False, reweight=False, lexicon=lexicon(300))
    learned = learn(sides[0], sides[1], config=config, runtime=Runtime())
    expected = scipy.linalg.orthogonal_procrustes(x[:300], y[:300])[0].T
    np.testing.assert_allclose(learned.alignment.source_map, expected, atol=1e-5)


def test_prepared_where_the_rows_are() -> None:
    raw, _, _ = raw_pair()
    copy = raw.matrix.copy()
    vectors, fitted = normalise_in_place(raw, ("unit", "centre", "unit"))
    assert np.shares_memory(vectors.matrix, raw.matrix)
    np.testing.assert_array_equal(vectors.matrix, normalise(copy)[0])
    np.testing.assert_array_equal(fitted.apply(copy), vectors.matrix)
    assert vectors.lengths is not None
    np.testing.assert_allclose(vectors.lengths, np.linalg.norm(copy, axis=1), rtol=1e-5)


def test_vectors_that_are_all_alike_are_refused() -> None:
    rows = np.tile(np.array([0.3, 0.1, 0.7], np.float32), (600, 1))
    with pytest.raises(Mismatch, match="xx: expected vectors that differ, got the same one 600 times"):
        normalise_in_place(Vectors("xx", [f"w{row}" for row in range(600)], rows), ("unit",))
    rows[300] += 1
    normalise_in_place(Vectors("xx", [f"w{row}" for row in range(600)], rows), ("unit",))


def test_pairs_that_cannot_be() -> None:
    source, target, _ = raw_pair()
    check_pair(source, target)
    check_pair(source.most_frequent(MINIMUM_WORDS), target)
    with pytest.raises(Mismatch, match="500 words are needed to align, got 499"):
        check_pair(source, target.most_frequent(MINIMUM_WORDS - 1))
    check_pair(source.most_frequent(40), target.most_frequent(40), lexicon(30))
    with pytest.raises(BadSetting, match="got 'fr' twice"):
        check_pair(source, replace(target, language="fr"))
    check_pair(source, replace(target, matrix=target.matrix[:, :19]))


def test_pairs_of_an_encoder_do_where_no_word_is_spelt_alike() -> None:
    source, target, _ = pair(700)
    pseudo_dictionary = Lexicon(tuple(zip(source.words[:400], target.words[:400], strict=True)))
    config = AlignConfig(init="identical", pseudo_dictionary=pseudo_dictionary)
    learned = learn(source, target, config=config, runtime=Runtime())
    assert learned.supervision is not None and learned.verdict.label == "aligned"


def _rows(count: int) -> Vectors:
    rows = np.arange(2 * count, dtype=np.float32).reshape(count, 2)
    lengths = np.arange(count, dtype=np.float32)
    return Vectors("a", [f"id{row}" for row in range(count)], rows, lengths=lengths, frequency_ordered=False)


def _sampled(side: Vectors, keep: Collection[str] = ()) -> Vectors:
    return sampled(LanguagePair(side, side), np.random.default_rng(0), keep=keep).source


def test_words_are_left_in_their_order() -> None:
    words = replace(_rows(20), frequency_ordered=True)
    assert _sampled(words) is words


def test_every_row_is_there_once_with_its_id_and_length() -> None:
    found = _sampled(_rows(200))
    assert sorted(found.words) == sorted(_rows(200).words)
    assert list(found.words) != list(_rows(200).words)
    numbers = [int(name[2:]) for name in found.words]
    assert np.array_equal(found.matrix, _rows(200).matrix[numbers])
    assert found.lengths is not None
    assert found.lengths.tolist() == numbers
    assert not found.frequency_ordered


def test_of_many_rows_a_sample_from_all_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bilingual, "MOST_ROWS", 100)
    found = _sampled(_rows(1_000))
    numbers = np.array([int(name[2:]) for name in found.words])
    assert len(set(numbers.tolist())) == 100
    assert 400 < numbers.mean() < 600
    assert 400 < numbers[:30].mean() < 600  # the first of them are a sample too
    again = _sampled(_rows(1_000))
    assert list(again.words) == list(found.words)


def test_rows_with_known_pairs_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bilingual, "MOST_ROWS", 100)
    known = {f"id{row}" for row in range(900, 960)} | {"absent"}
    found = _sampled(_rows(1_000), known)
    assert len(set(found.words)) == 100
    assert known - {"absent"} <= set(found.words)
    assert not known.issuperset(found.words[:60])  # and not first


def test_the_definition() -> None:
    x, y = random_rows(0, 40), random_rows(1, 30)
    best = csls(x, y, 10).argmax(axis=1)
    assert mean_cosine(x, y) == pytest.approx(cosines(x, y)[np.arange(40), best].mean(), abs=1e-5)


def test_the_right_mapping_is_highest() -> None:
    source, target, turn = pair()
    score = LanguagePair(source, target).criterion()
    assert score(turn) > 0.95
    assert all(score(rotation(seed, DIMENSION)) < score(turn) - 0.1 for seed in range(1, 6))


def test_length_does_not_count() -> None:
    source, target, turn = pair()
    score = LanguagePair(source, target).criterion(200)
    assert score(3 * turn) == pytest.approx(score(turn), abs=1e-6)


def test_only_the_most_frequent_words_count() -> None:
    source, target, turn = pair()
    few = LanguagePair(source.most_frequent(200), target.most_frequent(200)).criterion()
    assert LanguagePair(source, target).criterion(200)(turn) == few(turn)
    assert LanguagePair(source, target).criterion()(turn) != few(turn)


def test_turning_both_spaces_changes_nothing() -> None:
    x, y, turn = random_rows(2, 90), random_rows(3, 90), torch.from_numpy(rotation(4, 12))
    assert mean_cosine(x @ turn.T, y @ turn.T) == pytest.approx(mean_cosine(x, y), abs=1e-5)
