"""Neighbours, candidates and evidence against their definitions."""

from dataclasses import replace

import numpy as np
import pytest

from muse.orthography import plain
from muse.ranking import features, spelling
from muse.ranking.candidates import NeighbourLists
from muse.ranking.canonical import Correspondences
from muse.ranking.features import (
    NAMES,
    BilingualViews,
    KnownPairs,
    SpellingHalves,
    candidates_of,
    evidence_of,
    features_of,
)
from muse.ranking.spelling import Grams, LetterSimilarity, Spellings
from tests.support.made_up_pair import CIPHER, made_up, random_words


@pytest.fixture(scope="module")
def views() -> BilingualViews:
    made = made_up(200)
    written = Spellings.of(*made.words, np.random.default_rng(0))
    pairs = np.stack([np.arange(100), made.gold[:100]], axis=1)
    return BilingualViews(*made.rows, NeighbourLists.of(*made.rows), written, *written.correspondences(pairs))


def test_lists_are_those_of_brute_force(views: BilingualViews) -> None:
    cosines = views.source @ views.target.T
    r, s = (np.sort(one, axis=1)[:, -10:].mean(axis=1) for one in (cosines, cosines.T))
    csls = 2 * cosines - r[:, None] - s
    lists = views.lists
    np.testing.assert_array_equal(lists.columns[:, 0], csls.argmax(axis=1))
    np.testing.assert_array_equal(lists.rows[:, 0], csls.argmax(axis=0))
    np.testing.assert_allclose(lists.csls, np.take_along_axis(csls, lists.columns, 1), atol=1e-5)


def test_neighbours_by_other_rows_are_found_among_those_near(views: BilingualViews) -> None:
    rng = np.random.default_rng(1)
    near = rng.permuted(np.tile(np.arange(200), (200, 1)), axis=1), np.tile(np.arange(200), (200, 1))
    others = made_up(200, noise=0.4).rows
    lists, some = replace(views.lists, near=near), (np.array([7, 3, 7]), np.array([0, 9, 5]))
    found, whole = lists.again(*others), NeighbourLists.of(*others)
    hubness = lists.hubness_of(*others, *some)
    np.testing.assert_allclose(hubness[0], whole.hubness[some[0]], atol=1e-5)
    np.testing.assert_allclose(hubness[1], whole.hubness_back[some[1]], atol=1e-5)
    np.testing.assert_array_equal(found.columns, whole.columns)
    np.testing.assert_array_equal(found.rows, whole.rows)
    np.testing.assert_allclose(found.csls_back, whole.csls_back, atol=1e-5)
    np.testing.assert_array_equal(found.named, whole.named)
    assert not np.array_equal(found.columns, views.lists.columns)
    fewer = replace(views.lists, near=(near[0][:, :50], near[1][:, :50])).reversed().again(*others[::-1])
    assert np.isin(fewer.rows[0], near[0][0, :50]).all()


def test_evidence_of_vectors_by_definition(views: BilingualViews) -> None:
    candidates = candidates_of(views, np.arange(200))
    gathered = features_of(views, candidates)
    cosines = views.source @ views.target.T
    r, s = (np.sort(one, axis=1)[:, -10:].mean(axis=1) for one in (cosines, cosines.T))
    csls = 2 * cosines - r[:, None] - s
    for place in range(0, len(candidates.columns), 97):
        i, j = candidates.rows[place], candidates.columns[place]
        found = dict(zip(NAMES, gathered[place], strict=True))
        assert found["csls"] == pytest.approx(csls[i, j], abs=1e-5)
        assert found["margin"] == pytest.approx(csls[i, j] - np.delete(csls[i], j).max(), abs=1e-5)
        assert found["margin back"] == pytest.approx(csls[i, j] - np.delete(csls[:, j], i).max(), abs=1e-5)
        assert found["rank"] == min(20, (csls[i] > csls[i, j] + 1e-7).sum())
        assert found["commonness"] == pytest.approx(np.log1p(i), rel=1e-6)


def test_both_directions_see_the_same(views: BilingualViews) -> None:
    there, back = views, views.reversed()
    one, two = (candidates_of(side, np.arange(200)) for side in (there, back))
    first, second = features_of(there, one), features_of(back, two)
    places = {
        (i, j): place
        for place, (j, i) in enumerate(zip(two.rows.tolist(), two.columns.tolist(), strict=True))
    }
    both = [
        (place, places[pair])
        for place, pair in enumerate(zip(one.rows.tolist(), one.columns.tolist(), strict=True))
        if pair in places
    ]
    here, over = (np.array(side) for side in zip(*both, strict=True))
    for name, other in (
        ("csls", "csls"),
        ("margin", "margin back"),
        ("edit", "edit"),
        ("correspondence", "correspondence"),
        ("length", "length back"),
        ("rank", "rank back"),
    ):
        np.testing.assert_allclose(
            first[here, NAMES.index(name)], second[over, NAMES.index(other)], atol=1e-5
        )


def test_a_cipher_corresponds_to_words_never_seen() -> None:
    words = random_words(600, np.random.default_rng(0))
    other = [word.translate(CIPHER) for word in words]
    written = Spellings.of(words, other, np.random.default_rng(0))
    known = np.arange(0, 600, 2)
    whole, _ = written.correspondences(np.stack([known, known], axis=1))
    similar = whole.source @ whole.target.T
    unseen = np.arange(1, 600, 2)
    assert (similar[unseen].argmax(axis=1) == unseen).mean() > 0.8


def test_directions_of_frequent_words_serve_all_words(monkeypatch: pytest.MonkeyPatch) -> None:
    words = random_words(600, np.random.default_rng(0))
    monkeypatch.setattr(spelling, "LEARNED_FROM", 400)
    learned, components = Grams.of(words, ends=False, rng=np.random.default_rng(0))
    np.testing.assert_allclose(components, learned.components(words), atol=1e-5)
    other = [word.translate(CIPHER) for word in words]
    whole, _ = Spellings.of(words, other, np.random.default_rng(0)).correspondences(
        np.tile(np.arange(400), (2, 1)).T
    )
    unseen = np.arange(400, 600)
    similar = whole.source[unseen] @ whole.target.T
    assert (similar.argmax(axis=1) == unseen).mean() > 0.8


def test_evidence_does_not_depend_on_blocks(views: BilingualViews, monkeypatch: pytest.MonkeyPatch) -> None:
    halves, words = SpellingHalves.of(views, KnownPairs.none()), np.arange(0, 200, 2)
    candidates, whole = evidence_of(views, halves, words)
    monkeypatch.setattr(features, "BLOCK", 7)
    again, in_blocks = evidence_of(views, halves, words)
    np.testing.assert_array_equal(again.columns, candidates.columns)
    np.testing.assert_allclose(in_blocks, whole, atol=1e-6)


def test_without_pairs_nothing_corresponds() -> None:
    written = Spellings.of(["a", "b"], ["c"], np.random.default_rng(0))
    whole, _ = written.correspondences(np.zeros((0, 2), np.int64))
    assert not whole.source.any() and not whole.target.any()


@pytest.mark.parametrize("words", [["漢字", "日本"], ["1914", "007"], ["", " "], ["ক্ষ", "कि"]])
def test_any_script_and_no_letters(words: list[str]) -> None:
    written = Spellings.of(words, words, np.random.default_rng(0))
    assert np.isfinite(written.grams[0]).all()
    assert [plain(word) for word in words] == words


def test_alike_letter_by_letter() -> None:
    alike = LetterSimilarity.of(
        np.array(["nation", "", "x"], object), np.array(["nazione", "a", "x"], object)
    )
    assert alike.prefix.tolist() == [2, 0, 1]
    assert alike.suffix.tolist() == [0, 0, 1]
    assert alike.edit[0] == pytest.approx(2 * 5 / 13)


def test_correspondences_do_not_depend_on_the_order_of_pairs() -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((50, 5)).astype(np.float32) for _ in "xy")
    pairs = np.stack([np.arange(50), np.arange(50)], axis=1)
    one, two = (Correspondences.learned(x, y, of) for of in (pairs, pairs[::-1]))
    np.testing.assert_allclose(one.source @ one.target.T, two.source @ two.target.T, atol=1e-4)
