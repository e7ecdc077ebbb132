"""Word similarity against numpy's correlations, and ratings that cannot be used."""

import numpy as np
import pytest

from muse.errors import Mismatch
from muse.evaluation import ratings as module
from muse.evaluation.ratings import SimilarityScore, correlation_interval, evaluate_similarity
from muse.lexicon import Lexicon
from tests.evaluation.test_words import noisy_space

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
    for value, (low, high) in (
        (found.pearson, found.pearson_ci95),
        (found.spearman, found.spearman_ci95),
    ):
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
