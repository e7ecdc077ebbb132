"""The softmax over CSLS against numpy, and the temperature against a grid and a known truth."""

import numpy as np
import pytest
import torch

from muse.errors import BadSetting, Mismatch
from muse.procrustes import cross_fitted
from muse.ranking.probability import (
    HELD_OUT_FOLDS,
    LEAST_TEMPERATURE,
    csls_probabilities,
    fit_temperature,
    held_out_scores,
)
from muse.search.retrieval import Retrieval, mutual_neighbours
from tests.ranking.test_calibration import rows
from tests.search.test_retrieval import csls
from tests.support.toys import pair


def drawn(temperature: float, seed: int = 0, count: int = 20_000) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores (q, k), and columns drawn from their softmax at a temperature."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 0.2, (count, 6))
    powers = np.exp(scores / temperature)
    edges = (powers / powers.sum(1, keepdims=True)).cumsum(1)
    right = (rng.random((len(scores), 1)) > edges).sum(1).clip(max=5)
    return torch.from_numpy(scores), torch.from_numpy(right)


def log_likelihood(scores: torch.Tensor, right: torch.Tensor, temperature: float) -> float:
    table = scores.double().numpy() / temperature
    log_sum = np.logaddexp.reduce(table, axis=1)
    return float((table[np.arange(len(table)), right.numpy()] - log_sum).mean())


def test_a_softmax() -> None:
    scores = torch.tensor([[0.5, 0.1, -0.2], [0.3, 0.3, float("-inf")]])
    found = csls_probabilities(scores, 0.05)
    powers = np.exp(scores.double().numpy() / 0.05)
    np.testing.assert_allclose(found.numpy(), powers / powers.sum(1, keepdims=True), rtol=1e-5)
    assert found[1].tolist() == [0.5, 0.5, 0.0]


def test_hot_is_flat_and_cold_is_certain() -> None:
    scores = torch.tensor([[0.5, 0.1]])
    assert csls_probabilities(scores, 1e3)[0].tolist() == pytest.approx([0.5, 0.5], abs=1e-3)
    assert csls_probabilities(scores, 1e-3)[0].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("temperature", [0.03, 0.2, 1.5])
def test_the_temperature_that_drew_is_found(temperature: float) -> None:
    assert fit_temperature(*drawn(temperature)) == pytest.approx(temperature, rel=0.1)


def test_no_temperature_is_likelier() -> None:
    scores, right = drawn(0.1, count=2_000)
    best = fit_temperature(scores, right)
    others = np.geomspace(0.01, 1, 50)
    at_best = log_likelihood(scores, right, best)
    assert all(log_likelihood(scores, right, other) <= at_best + 1e-12 for other in others)


def test_rows_without_a_right_candidate_say_nothing() -> None:
    scores, right = drawn(0.1, count=2_000)
    more = torch.cat([scores, scores[:99] + 1]), torch.cat([right, torch.full((99,), -1)])
    assert fit_temperature(*more) == fit_temperature(scores, right)
    with pytest.raises(Mismatch, match="among its candidates, got none"):
        fit_temperature(scores, torch.full_like(right, -1))


def test_candidates_that_are_not_there() -> None:
    scores, right = drawn(0.1, count=2_000)
    wider = torch.cat([scores, torch.full((len(scores), 2), float("-inf"), dtype=scores.dtype)], dim=1)
    assert fit_temperature(wider, right) == pytest.approx(fit_temperature(scores, right))


def test_held_out_pairs_of_a_good_space_are_found_again() -> None:
    x, y, turn = pair(noise=0.03)
    scores, right = held_out_scores(
        x.tensor() @ torch.from_numpy(turn).T, y.tensor(), top=4, rng=np.random.default_rng(0)
    )
    assert scores.shape == (len(right), 4)
    assert (right == 0).float().mean() > 0.95
    assert (scores[:, :-1] >= scores[:, 1:]).all()


def test_held_out_pairs_of_strangers_are_not() -> None:
    rng = np.random.default_rng(0)
    x, y = (
        torch.nn.functional.normalize(torch.from_numpy(rng.normal(size=(600, 50))), dim=1).float()
        for _ in range(2)
    )
    _, right = held_out_scores(x, y, top=4, rng=rng)
    assert (right == 0).float().mean() < 0.5


def test_held_out_scores_are_csls_of_the_rows_as_they_are_mapped() -> None:
    x, y = rows(1.0, 200)
    scores, right = held_out_scores(x, y, top=5, rng=np.random.default_rng(0))
    pairs = mutual_neighbours(x, y, Retrieval())
    folds = torch.from_numpy(np.random.default_rng(0).integers(HELD_OUT_FOLDS, size=200))
    table = csls(cross_fitted(x, y, pairs, folds), y, 10)[pairs[:, 0]]
    np.testing.assert_allclose(scores.numpy(), -np.sort(-table, axis=1)[:, :5], atol=1e-5)
    ranks = (table > np.take_along_axis(table, pairs[:, 1:].numpy(), axis=1)).sum(axis=1)
    assert right.tolist() == np.where(ranks < 5, ranks, -1).tolist()


@pytest.mark.parametrize("temperature", [0.0, -1.0, 1e-320, float("nan"), float("inf")])
def test_a_temperature_that_scores_cannot_be_divided_by(temperature: float) -> None:
    with pytest.raises(BadSetting, match="a temperature must be at least 1e-06 and finite"):
        csls_probabilities(torch.tensor([[0.2, 0.1]]), temperature)


def test_the_coldest_temperature_gives_finite_probabilities() -> None:
    assert csls_probabilities(torch.tensor([[2.0, -2.0]]), LEAST_TEMPERATURE).tolist() == [[1.0, 0.0]]
