"""P@k, hubness and the paired test against counts by hand, and queries that are not covered."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from numpy.typing import NDArray

from muse.errors import BadSetting, Mismatch
from muse.evaluation.words import (
    WordScore,
    by_band,
    by_part,
    compare,
    compare_words,
    evaluate_words,
    hubness,
    warn_of_dictionary,
)
from muse.lexicon import Lexicon, Pair
from muse.search.bidirectional_search import SimilarityMatrix
from muse.search.retrieval import Retrieval
from muse.space import Space
from muse.vectors import Matrix
from tests.support.command import SCORE_FIELDS
from tests.support.spaces import RETRIEVALS, derived, plain_space, saved, space_with_zeros

Table = NDArray[np.float64]


def evaluate(space: Space, *pairs: Pair, **options: object) -> WordScore:
    rng = np.random.default_rng(0)
    return evaluate_words(space, Lexicon(pairs), rng=rng, **options)  # type: ignore[arg-type]


def scores(x: Matrix, y: Matrix, retrieval: Retrieval) -> Table:
    """Every score (n, m) by the formulas of the papers."""
    cosines: Table = x.astype(np.float64) @ y.T
    if retrieval.method == "csls":
        of_x = np.sort(cosines, axis=1)[:, -retrieval.k :].mean(axis=1, keepdims=True)
        of_y = np.sort(cosines, axis=0)[-retrieval.k :].mean(axis=0, keepdims=True)
        cosines = 2 * cosines - of_x - of_y
    if retrieval.method == "isf":
        powers = np.exp(retrieval.beta * cosines)
        cosines = powers / powers.sum(axis=0, keepdims=True)
    return cosines


def noisy_space(seed: int) -> Space:
    rng = np.random.default_rng(seed)
    target = rng.normal(size=(60, 6)).astype(np.float32)
    source = (target[:50] + 0.8 * rng.normal(size=(50, 6))).astype(np.float32)
    return plain_space(source, target, [f"s{i}" for i in range(50)], [f"t{i}" for i in range(60)])


@pytest.mark.parametrize("retrieval", RETRIEVALS, ids=str)
@pytest.mark.parametrize(("source", "target"), [("fr", "en"), ("en", "fr")])
def test_precision_is_the_brute_force_count(retrieval: Retrieval, source: str, target: str) -> None:
    space = noisy_space(0)
    pairs = [(f"s{i}", f"t{j}") for i in range(40) for j in (i, (7 * i) % 60)[: 1 + i % 2]]
    if source == "en":
        pairs = [(t, s) for s, t in pairs]
    found = evaluate(space, *pairs, source=source, target=target, retrieval=retrieval)

    x, y = space.vectors(source), space.vectors(target)
    table = scores(x.matrix, y.matrix, retrieval)
    gold = {s: {t for a, t in pairs if a == s and t in y.index} for s, _ in pairs}
    expected = {}
    for k in (1, 5, 10):
        best = {s: {y.words[j] for j in np.argsort(-table[x.index[s]])[:k]} for s in gold if gold[s]}
        expected[k] = 100 * np.mean([bool(best[s] & gold[s]) for s in best])
    assert (found.p_at_1, found.p_at_5, found.p_at_10) == pytest.approx(tuple(expected.values()))
    assert 0 < found.p_at_1 < found.p_at_10
    assert found.ci95[0] <= found.p_at_1 <= found.ci95[1]


AXES = np.eye(4, dtype=np.float32)
SPACE = plain_space(AXES, AXES, ["un", "deux", "trois", "quatre"], ["one", "two", "three", "four"])
NN = Retrieval("nn")


def test_mrr_map_and_groups_are_those_of_the_ranks() -> None:
    """With several translations of a word, the mean of 1 / rank and average precision differ."""
    space = noisy_space(0)
    pairs = [(f"s{i}", f"t{j}") for i in range(39) for j in (i, (7 * i) % 60)[: 1 + i % 2]]
    found = evaluate(space, *pairs, retrieval=NN)
    table = scores(space.vectors("fr").matrix, space.vectors("en").matrix, NN)
    reciprocal, precisions, hits = [], [], []
    for i in range(39):
        own = {int(t[1:]) for s, t in pairs if s == f"s{i}"}
        order = np.argsort(-table[i]).tolist()
        places = sorted(order.index(column) + 1 for column in own)
        reciprocal.append(1 / places[0])
        precisions.append(np.mean([(n + 1) / place for n, place in enumerate(places)]))
        hits.append(places[0] == 1)
    assert found.mrr == pytest.approx(np.mean(reciprocal))
    assert found.map == pytest.approx(np.mean(precisions))
    assert found.mrr > found.map + 0.02
    for value, (low, high) in ((found.mrr, found.mrr_ci95), (found.map, found.map_ci95)):
        assert low < value < high
    (band,) = found.bands
    parts = {part.name: part for part in found.parts}
    assert (band.name, band.queries) == ("1-50", 39)
    assert band.p_at_1 == pytest.approx(100 * np.mean(hits))
    assert {name: part.queries for name, part in parts.items()} == {"different": 39, "number": 39}
    assert parts["number"].p_at_1 == band.p_at_1


def test_hubness_that_is_kept_in_the_folder_gives_the_same(tmp_path: Path) -> None:
    space = saved(tmp_path / "s")  # computes in memory what a folder does not hold
    pairs = [(f"fr{i}", f"en{i}") for i in range(15, 35)]
    assert space.hubness("en", "fr") is None
    again = derived(tmp_path / "s")
    assert again.hubness("en", "fr") is not None
    assert evaluate(again, *pairs) == evaluate(space, *pairs)


def test_a_query_is_covered_with_one_translation_in_the_vocabulary() -> None:
    score = evaluate(
        SPACE,
        ("un", "one"),
        ("un", "a"),  # a second translation that the space has not got
        ("deux", "three"),
        ("trois", "tres"),  # its only translation is unknown
        ("dix", "one"),  # the query itself is unknown
        retrieval=NN,
    )
    assert (score.queries, score.covered, score.coverage) == (4, 2, 0.5)
    assert (score.p_at_1, score.p_at_5, score.p_at_1_all) == (50, 100, 25)


def test_a_word_without_a_vector_is_not_covered() -> None:
    score = evaluate(space_with_zeros(), ("fr3", "en3"), ("fr4", "en4"), ("fr5", "en5"), ("fr7", "en7"))
    assert (score.queries, score.covered, score.p_at_1) == (4, 1, 100)


def test_directions() -> None:
    assert evaluate(SPACE, ("one", "un"), source="en", retrieval=NN).p_at_1 == 100
    assert evaluate(SPACE, ("one", "un"), target="fr", retrieval=NN).signature.direction == "en-fr"
    with pytest.raises(BadSetting, match="are fr, en; got 'de'"):
        evaluate(SPACE, ("one", "un"), source="de")


def test_nothing_covered_says_why() -> None:
    with pytest.raises(Mismatch, match="1 pair; its direction is en to fr: swap --src and --tgt"):
        evaluate(SPACE, ("one", "un"))
    with pytest.raises(Mismatch, match="differ in upper and lower case"):
        evaluate(SPACE, ("Un", "ONE"))
    with pytest.raises(Mismatch, match="check that the dictionary is of these languages"):
        evaluate(SPACE, ("uno", "one"), ("un", "a"))
    with pytest.raises(Mismatch, match="got none of 0 pairs"):
        evaluate(SPACE)


def test_the_signature_names_it_all() -> None:
    score = evaluate(SPACE, ("un", "one"), ("x", "y"), retrieval=Retrieval("csls", k=2), gold="gold.txt@3f2a")
    assert str(score.signature).startswith(
        "csls:2 | fr-en | unit | gromov | seed:7 | vocab:4/4 | gold:gold.txt@3f2a | coverage:0.50 | own "
    )
    assert "gold:2-pairs@" in str(evaluate(SPACE, ("un", "one"), ("x", "y")).signature)
    assert str(score.score).startswith("P@1 = 100.0 [20.7, 100.0] | csls:2 | fr-en")


def test_the_fields_other_programs_read() -> None:
    fields = json.loads(json.dumps(evaluate(SPACE, ("un", "one"), retrieval=NN).as_json()))
    more = ["mrr", "mrr_ci95", "map", "map_ci95", "bands", "parts", "answers", "other_spelling"]
    assert list(fields) == [*SCORE_FIELDS, *more]
    assert fields["other_spelling"] == {"p_at_1": fields["p_at_1"], "queries": fields["covered"]}
    assert fields["ci95"] == [20.7, 100.0]
    assert isinstance(fields["signature"], str)


def test_a_dictionary_in_another_case_is_named(caplog: pytest.LogCaptureFixture) -> None:
    warn_of_dictionary(SPACE, Lexicon((("un", "one"), ("Deux", "two"), ("trois", "tres"))), "fr", "en")
    assert caplog.messages == [
        "1 of 3 pairs unknown because of upper and lower case alone: write them as the vocabularies do"
    ]
    caplog.clear()
    for pairs in ((("un", "one"), ("deux", "tres")), (("un", "one"), ("deux", "two"))):
        warn_of_dictionary(SPACE, Lexicon(pairs), "fr", "en")
    assert not caplog.messages


RNG = np.random.default_rng(0)


def test_bands_hold_their_ranks() -> None:
    rows = np.array([0, 999, 1_000, 4_999, 5_000, 29_999])
    hits = np.array([True, False, True, True, False, False])
    found = {group.name: group for group in by_band(rows, hits, RNG, words=30_000)}
    assert {name: (group.queries, group.p_at_1) for name, group in found.items()} == {
        "1-1000": (2, 50), "1001-5000": (2, 100), "5001-20000": (1, 0), "20001-30000": (1, 0),
    }  # fmt: skip
    assert found["1001-5000"].ci95 == (34.2, 100)


@pytest.mark.parametrize(("edges", "name"), [((1_000, 5_000), "1001-2500"), ((), "1-2500")])
def test_bands_end_with_the_vocabulary(edges: tuple[int, ...], name: str) -> None:
    found = by_band(np.array([1_200]), np.array([True]), RNG, words=2_500, edges=edges)
    assert [group.name for group in found] == [name]


@pytest.mark.parametrize("edges", [(5, 2), (0, 4), (3, 3)])
def test_bands_must_ascend(edges: tuple[int, ...]) -> None:
    with pytest.raises(BadSetting, match="positive and ascending"):
        by_band(np.array([1]), np.array([True]), RNG, words=9, edges=edges)


def test_parts() -> None:
    words = ["Paris", "chat", "1984", "radio", "Rome"]
    gold = [["paris"], ["cat", "tom"], ["1984"], ["wireless", "Radio"], ["rome2"]]
    hits = np.array([True, False, True, False, False])
    found = {group.name: (group.queries, group.p_at_1) for group in by_part(words, gold, hits, RNG)}
    assert found == {
        "identical": (3, pytest.approx(200 / 3)),
        "different": (2, 0),
        "number": (1, 100),
        "capitalised": (2, 50),
        "plain": (2, 0),
    }


def test_groups_add_up_to_the_whole() -> None:
    rng = np.random.default_rng(1)
    rows, hits = rng.integers(40_000, size=900), rng.random(900) < 0.4
    words = [["w", "W", "3"][row % 3] for row in rows]
    bands = by_band(rows, hits, rng, words=40_000)
    parts = by_part(words, [["w"]] * 900, hits, rng)
    for groups in (bands, parts[:2], parts[2:]):
        assert sum(group.queries for group in groups) == 900
        assert sum(group.queries * group.p_at_1 for group in groups) == pytest.approx(100 * hits.sum())


@pytest.mark.parametrize("retrieval", RETRIEVALS, ids=str)
def test_the_count_by_hand(retrieval: Retrieval) -> None:
    space = noisy_space(0)
    (found,) = hubness(space, "fr", "en", retrieval, k=4)
    table = scores(space.vectors("fr").matrix, space.vectors("en").matrix, retrieval)
    counts = np.zeros(60)
    for row in np.argsort(-table, axis=1)[:, :4]:
        counts[row] += 1
    deviation = counts - counts.mean()
    assert found.skewness == pytest.approx((deviation**3).mean() / (deviation**2).mean() ** 1.5)
    assert found.never == pytest.approx(100 * (counts == 0).mean())
    assert [count for _, count in found.largest] == sorted(counts.tolist(), reverse=True)[:10]
    assert all(counts[int(word[1:])] == count for word, count in found.largest)
    assert sum(counts) == 50 * 4


def test_csls_is_less_hubby() -> None:
    rng = np.random.default_rng(0)
    target = rng.normal(0, 1, (500, 20)).astype(np.float32)
    source = target + rng.normal(0, 0.5, target.shape).astype(np.float32)
    source[:, 0] += 3  # all sources lean one way: the targets that do so too are hubs
    space = plain_space(source, target, [f"s{i}" for i in range(500)], [f"t{i}" for i in range(500)])
    nn, csls = hubness(space, "fr", "en", Retrieval("nn"), Retrieval())
    assert csls.skewness < 0.8 * nn.skewness
    assert csls.never < nn.never


@pytest.mark.parametrize("found", [False, True])
def test_one_search_counts_hubs_and_finds_the_hubness(monkeypatch: pytest.MonkeyPatch, found: bool) -> None:
    space, other = noisy_space(0), noisy_space(0)
    known, retrievals = other.find_hubness("fr", "en"), (Retrieval("nn"), Retrieval())
    apart = tuple(hubness(other, "fr", "en", one)[0] for one in retrievals)
    if found:
        space.find_hubness("fr", "en")
    searches, whole = list[object](), SimilarityMatrix.of

    def counted(*given: Any) -> SimilarityMatrix:
        searches.append(given)
        return whole(*given)

    monkeypatch.setattr(SimilarityMatrix, "of", counted)
    assert hubness(space, "fr", "en", *retrievals) == apart
    for one, two in zip(known, space.find_hubness("fr", "en"), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-6)
    assert len(searches) == 1


def test_a_space_without_hubs() -> None:
    axes = np.eye(4, dtype=np.float32)
    (found,) = hubness(plain_space(axes, axes, list("abcd"), list("wxyz")), "fr", "en", Retrieval("nn"), k=1)
    assert (found.skewness, found.never, found.largest[0]) == (0, 0, ("w", 1))


def drawn(seed: int, first: float, second: float, count: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    shared = rng.random(count)
    return (shared < first), np.where(rng.random(count) < 0.7, shared, rng.random(count)) < second


@pytest.mark.parametrize("second", [0.5, 0.53, 0.6])
def test_p_is_that_of_the_exact_sign_test(second: float) -> None:
    hits = drawn(1, 0.5, second)
    found = compare(*hits, np.random.default_rng(0), samples=200_000)
    exact = scipy.stats.binomtest(found.only_first, found.only_first + found.only_second, 0.5).pvalue
    assert found.p_value == pytest.approx(exact, abs=0.005)


def test_the_interval_is_that_of_resampled_queries() -> None:
    first, second = drawn(2, 0.6, 0.5)
    found = compare(first, second, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    rows = rng.integers(len(first), size=(4_000, len(first)))
    differences = 100 * (first[rows].mean(1) - second[rows].mean(1))
    assert found.ci95 == pytest.approx(tuple(np.percentile(differences, [2.5, 97.5])), abs=0.5)
    assert found.difference == pytest.approx(100 * (first.mean() - second.mean()))
    assert (found.first, found.second) == pytest.approx((100 * first.mean(), 100 * second.mean()))


def test_equals_are_called_different_as_rarely_as_promised() -> None:
    rng = np.random.default_rng(0)
    found = [
        compare(rng.random(200) < 0.5, rng.random(200) < 0.5, rng, samples=500).p_value for _ in range(400)
    ]
    assert 0.01 < np.mean(np.array(found) < 0.05) < 0.08


def test_exchanging_the_two_changes_the_sign() -> None:
    first, second = drawn(3, 0.6, 0.5)
    here, there = (compare(*pair, np.random.default_rng(0)) for pair in ((first, second), (second, first)))
    assert here.difference == -there.difference
    assert here.p_value == pytest.approx(there.p_value, abs=0.02)
    assert (here.only_first, here.only_second) == (there.only_second, there.only_first)


def test_what_cannot_be_compared() -> None:
    for hits in ((np.ones(3, bool), np.ones(2, bool)), (np.ones(0, bool), np.ones(0, bool))):
        with pytest.raises(Mismatch, match="the same queries for both"):
            compare(*hits, np.random.default_rng(0))


def test_the_first_is_compared_to_the_second_over_the_queries_of_both() -> None:
    rng = np.random.default_rng(0)
    good, bad, two = (
        evaluate_words(SPACE, Lexicon(tuple(pairs)), rng=rng, retrieval=NN)
        for pairs in (
            (("un", "one"), ("deux", "two"), ("trois", "three")),
            (("un", "two"), ("deux", "one"), ("trois", "three")),
            (("deux", "two"), ("trois", "four")),
        )
    )
    found = compare_words(good, bad, rng)
    assert (found.only_first, found.only_second) == (2, 0)
    assert found.difference == pytest.approx(200 / 3)
    assert compare_words(good, two, rng).queries == 2
