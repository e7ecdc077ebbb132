"""Signatures, the bootstrap, exact ranks and word similarity against independent references."""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadFile, Mismatch
from muse.evaluation import ratings as module
from muse.evaluation import score
from muse.evaluation.ranks import average_precisions, best_ranks, ranks
from muse.evaluation.ratings import SimilarityScore, correlation_interval, evaluate_similarity
from muse.lexicon import Lexicon
from muse.normalise import Normalisation
from muse.ranking.ranker import Ranker
from muse.search.retrieval import Retrieval
from muse.space import Space
from tests.evaluation.test_words import noisy_space, scores
from tests.support.spaces import RETRIEVALS, plain_space, raw_rows, saved, space_with_zeros

SIGNATURE = score.Signature(
    "csls:10", "fr-en", "unit,centre,unit", "gromov", 0, (14_000, 13_999), "g.txt@3f2a", 0.98
)


def test_what_is_unknown_is_left_out() -> None:
    assert str(score.Signature("nn", "fr-en", version="1")) == "nn | fr-en | muse 1"
    assert (
        str(score.Signature("nn", "fr-en", more=("encoder:sif",), version="1"))
        == "nn | fr-en | encoder:sif | muse 1"
    )
    assert "coverage:0.00" in str(replace(SIGNATURE, coverage=0.0))


def test_the_signature_of_a_space(tmp_path: Path) -> None:
    space = saved(tmp_path / "s")
    signature = score.space_signature(
        space, "fr", "en", retrieval="nn", gold="g@1", coverage=1.0, more=("x:1",)
    )
    assert str(signature).startswith(
        "nn | fr-en | unit,centre,unit | gromov | seed:7 | vocab:39/40 | gold:g@1"
    )
    assert signature.more == ("x:1",)
    assert str(score.space_signature(space, "en", "fr", retrieval="nn")).startswith("nn | en-fr | unit")


def test_a_space_without_a_past_still_signs() -> None:
    space = plain_space(raw_rows(0, 3), raw_rows(1, 4), list("abc"), list("wxyz"))
    other = replace(space.side("en"), normalisation=Normalisation(("unit", "unit"), ()))
    space = Space({**space.sides, "en": other}, "en")
    assert str(score.space_signature(space, "fr", "en", retrieval="nn")).startswith(
        "nn | fr-en | unit/unit,unit | vocab:3/4"
    )


def test_gold_names(tmp_path: Path) -> None:
    path = tmp_path / "fr-en.txt"
    path.write_bytes(b"chat cat\n")
    assert score.gold_name(path) == f"fr-en.txt@{hashlib.sha256(b'chat cat' + bytes([10])).hexdigest()[:4]}"
    with pytest.raises(BadFile, match="none: expected a file, but it does not exist; check the path"):
        score.gold_name(tmp_path / "none")
    assert score.lexicon_name(Lexicon((("a", "b"),))).startswith("1-pairs@")
    assert score.lexicon_name(Lexicon((("a", "b"),))) != score.lexicon_name(Lexicon((("b", "a"),)))


def test_the_interval_is_that_of_resampling_the_queries() -> None:
    hits = np.random.default_rng(1).random(200) < 0.7
    rng = np.random.default_rng(2)
    resampled = 100 * hits[rng.integers(200, size=(20_000, 200))].mean(axis=1)
    expected = np.percentile(resampled, [2.5, 97.5])
    found = score.bootstrap_interval(hits, np.random.default_rng(3), samples=20_000)
    np.testing.assert_allclose(found, expected, atol=0.51)  # one query of 200 is half a percent


def test_the_interval_of_a_mean_is_that_of_resampling_skewed_values() -> None:
    values = np.random.default_rng(1).gamma(0.3, size=60)
    resampled = values[np.random.default_rng(2).integers(60, size=(20_000, 60))].mean(axis=1)
    expected = np.percentile(resampled, [2.5, 97.5])
    found = score.bootstrap_mean(values, np.random.default_rng(3), samples=20_000)
    np.testing.assert_allclose(found, expected, atol=0.02 * (expected[1] - expected[0]))


def test_nineteen_of_twenty_intervals_hold_the_truth() -> None:
    rng = np.random.default_rng(4)
    held = 0
    for _ in range(400):
        low, high = score.bootstrap_interval(rng.random(300) < 0.6, rng)
        held += low <= 60 <= high
    assert 0.91 < held / 400 < 0.98


def test_where_all_are_right_or_none_is_the_interval_has_a_width() -> None:
    rng = np.random.default_rng(0)
    # By Wilson's formula with no or only right ones: z^2 / (n + z^2).
    beyond = 100 * 1.96**2 / (9 + 1.96**2)
    assert score.bootstrap_interval(np.zeros(9, bool), rng) == pytest.approx((0.0, beyond), abs=0.05)
    assert score.bootstrap_interval(np.ones(9, bool), rng) == pytest.approx((100 - beyond, 100.0), abs=0.05)
    with pytest.raises(Mismatch, match="at least one query, got none"):
        score.bootstrap_interval(np.zeros(0, bool), rng)


@pytest.mark.parametrize("retrieval", RETRIEVALS, ids=str)
@pytest.mark.parametrize("tile", [8, 2_048])
def test_ranks_are_places_in_the_sorted_row(
    retrieval: Retrieval, tile: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muse.evaluation.ranks.tile_sizes", lambda _: (tile, tile))
    space = noisy_space(1)
    table = scores(space.vectors("fr").matrix, space.vectors("en").matrix, retrieval)
    pairs = np.random.default_rng(0).integers((50, 60), size=(80, 2))
    place = np.argsort(np.argsort(-table, axis=1), axis=1) + 1
    assert ranks(Ranker(space, ("fr", "en"), retrieval), pairs).tolist() == place[tuple(pairs.T)].tolist()


def test_where_all_scores_tie_nothing_is_found() -> None:
    flat = np.ones((5, 3), np.float32)
    space = plain_space(flat, flat, list("abcde"), list("vwxyz"))
    pairs = np.array([[0, 0], [3, 4]])
    assert ranks(Ranker(space, ("fr", "en"), Retrieval("nn")), pairs).tolist() == [5, 5]


def test_means_by_their_definitions() -> None:
    rng = np.random.default_rng(0)
    queries = rng.integers(9, size=40)
    of_pairs = rng.permutation(200)[:40] + 1
    best, precisions = best_ranks(queries, of_pairs), average_precisions(queries, of_pairs)
    for i, query in enumerate(sorted(set(queries.tolist()))):
        mine = sorted(of_pairs[queries == query].tolist())
        assert best[i] == mine[0]
        hits = [sum(rank <= place for rank in mine) / place for place in mine]
        assert precisions[i] == pytest.approx(sum(hits) / len(mine))


def test_a_target_of_zeros_is_behind_all_others() -> None:
    pairs = np.array([[4, 4], [7, 7], [4, 5], [3, 3]])
    assert ranks(Ranker(space_with_zeros(), ("fr", "en"), Retrieval("nn")), pairs).tolist() == [1, 40, 40, 38]


SPACE = noisy_space(0)
RNG = np.random.default_rng(0)
PAIRS = [(f"s{i}", f"t{(3 * i) % 60}") for i in range(40)]
COSINES = np.array(
    [
        SPACE.vectors("fr").matrix[int(s[1:])] @ SPACE.vectors("en").matrix[int(t[1:])].astype(float)
        for s, t in PAIRS
    ]
)


def evaluate(ratings: np.ndarray, pairs: list[tuple[str, str]] = PAIRS) -> SimilarityScore:
    rated = Lexicon(tuple(pairs), tuple(float(rating) for rating in ratings))
    return evaluate_similarity(SPACE, rated, rng=np.random.default_rng(0))


def ranked(values: np.ndarray) -> np.ndarray:
    """Ranks from 1, the mean of them where values tie."""
    return np.array([(values < value).sum() + ((values == value).sum() + 1) / 2 for value in values])


def test_correlations() -> None:
    ratings = np.round(4 * (COSINES + RNG.normal(0, 0.4, 40)))  # with ties
    found = evaluate(ratings)
    assert found.pearson == pytest.approx(np.corrcoef(COSINES, ratings)[0, 1], abs=1e-6)
    assert found.spearman == pytest.approx(np.corrcoef(ranked(COSINES), ranked(ratings))[0, 1], abs=1e-6)
    for value, (low, high) in ((found.pearson, found.pearson_ci95), (found.spearman, found.spearman_ci95)):
        assert low < value < high <= 1
    assert (found.pairs, found.covered, found.coverage) == (40, 40, 1)


@pytest.mark.parametrize("ranks", [False, True])
def test_samples_may_be_taken_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch, ranks: bool) -> None:
    rng = np.random.default_rng(0)
    x, drawn = rng.normal(size=50), rng.integers(50, size=(200, 50))
    y = x + rng.normal(size=50)
    whole = correlation_interval(x, y, drawn, ranks=ranks)
    for at_once in (1, 999, 3_000):
        monkeypatch.setattr(module, "AT_ONCE", at_once)
        assert correlation_interval(x, y, drawn, ranks=ranks) == pytest.approx(whole, rel=1e-12)


def test_perfect_and_reversed() -> None:
    cubed = evaluate(COSINES**3)
    assert cubed.spearman == pytest.approx(1)
    assert cubed.spearman_ci95 == pytest.approx((1, 1))
    assert cubed.pearson < 1
    assert evaluate(-2 * COSINES).pearson == pytest.approx(-1, abs=1e-6)


def test_words_that_are_not_there_are_left_out() -> None:
    found = evaluate(np.r_[COSINES, -9, 9], [*PAIRS, ("nosuch", "t1"), ("s1", "nosuch")])
    assert (found.pairs, found.covered) == (42, 40)
    assert found.pearson == pytest.approx(1)
    assert str(found.signature).startswith("cosine | fr-en")
    assert "coverage:0.95" in str(found)


def test_ratings_that_cannot_be_used() -> None:
    with pytest.raises(Mismatch, match="a rating for each pair, got pairs alone"):
        evaluate_similarity(SPACE, Lexicon(tuple(PAIRS)), rng=RNG)
    with pytest.raises(Mismatch, match="at least 3 pairs .* got 2 of 2"):
        evaluate(np.array([1, 2]), PAIRS[:2])
    with pytest.raises(Mismatch, match="direction is en to fr: swap --src and --tgt"):
        evaluate(COSINES, [(t, s) for s, t in PAIRS])
    with pytest.raises(Mismatch, match="ratings that differ, got 2 for all pairs"):
        evaluate(np.full(40, 2))
    with pytest.raises(Mismatch, match="cosines that differ"):
        evaluate(np.arange(4), [PAIRS[0]] * 4)
