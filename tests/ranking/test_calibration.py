"""Calibration: the models' mathematics, and probabilities that hold where the truth is known."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from muse.errors import Mismatch
from muse.files.space_manifest import LanguageRecord, VerdictRecord
from muse.learn.supervise.linear import reweighted_maps
from muse.ranking.probability import (
    CANDIDATES,
    Calibration,
    _halves,
    calibrate_rows,
    calibrate_space,
    find_calibration,
    fit_open_set,
    fit_temperature,
    in_half,
    known_calibration,
    labels_from_views,
)
from muse.search.exact import nearest
from muse.search.retrieval import Retrieval, best_targets, mutual_neighbours
from tests.support.spaces import plain_space, space_with_zeros


def rows(
    noise: float, count: int = 1_500, dimension: int = 40, seed: int = 0
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows of two languages in one space, row i a noisy copy of row i."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(count, dimension))
    x = y + noise * rng.normal(size=y.shape)
    return tuple(normalize(torch.from_numpy(z), dim=1).float() for z in (x, y))  # type: ignore[return-value]


def test_the_mean_of_two_softmaxes() -> None:
    scores = np.array([[0.3, 0.1, -0.2]])
    found = Calibration(0.05, 0.08, 0.12).probabilities(torch.from_numpy(scores))
    closed_set = np.exp(scores / 0.05) / np.exp(scores / 0.05).sum()
    open_set = np.exp(scores / 0.08) / (np.exp(scores / 0.08).sum() + np.exp(0.12 / 0.08))
    np.testing.assert_allclose(found.numpy(), (closed_set + open_set) / 2)


def test_a_probability_does_not_depend_on_how_many_are_looked_up() -> None:
    scores = torch.from_numpy(np.sort(np.random.default_rng(0).normal(0, 0.2, (9, 200)))[:, ::-1].copy())
    scores[0, 150:] = -torch.inf  # fewer candidates
    calibration = Calibration(0.05, 0.08, 0.12)
    few, many = (calibration.probabilities(scores[:, :count]) for count in (CANDIDATES, 200))
    torch.testing.assert_close(many[:, :CANDIDATES], few)
    assert (many.diff(dim=1) <= 0).all()
    assert not many[0, 150:].any()


def test_the_doubting_model_that_drew_is_found() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(0.1, 0.2, (30_000, 5))
    powers = np.exp(np.c_[scores, np.full(len(scores), 0.15)] / 0.1)
    edges = (powers / powers.sum(1, keepdims=True)).cumsum(1)
    right = (rng.random((len(scores), 1)) > edges).sum(1).clip(max=5)
    right[right == 5] = -1
    temperature, none = fit_open_set(torch.from_numpy(scores), torch.from_numpy(right))
    assert temperature == pytest.approx(0.1, rel=0.05)
    assert none == pytest.approx(0.15, abs=0.01)


def test_the_column_is_what_the_other_half_chose() -> None:
    x, y = rows(0.8, 200)
    q, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((40, 40)))
    halves = [torch.from_numpy(half).float() for half in (q[:, :20], q[:, 20:])]
    found = [nearest(*in_half((x, y), half), 10) for half in halves]
    scores = torch.cat([half.scores for half in found])
    right = labels_from_views(found, [half.indices[:, 0] for half in found])
    tables = []
    for half in (q[:, :20], q[:, 20:]):
        a, b = x.numpy() @ half, y.numpy() @ half
        tables.append((a / np.linalg.norm(a, axis=1)[:, None]) @ (b / np.linalg.norm(b, axis=1)[:, None]).T)
    for first, own, other in ((0, *tables), (200, *tables[::-1])):
        chosen = other.argmax(1)
        ranks = (own > own[np.arange(200), chosen][:, None]).sum(1)
        assert right[first : first + 200].tolist() == np.where(ranks < CANDIDATES, ranks, -1).tolist()
        np.testing.assert_allclose(
            scores[first : first + 200].numpy(), -np.sort(-own, axis=1)[:, :CANDIDATES], atol=1e-5
        )


def believed(noise: float) -> tuple[float, float, float]:
    """The mean probability of the first candidates that are right, of those that are wrong, and P@1."""
    x, y = rows(noise)
    retrieval = Retrieval()
    calibration = calibrate_rows(x, y, rng=np.random.default_rng(0))
    found = retrieval.translate(x, y, 10, bias=retrieval.bias(x, y))
    sure = calibration.probabilities(found.scores)
    assert float(sure.sum(dim=1).max()) <= 1 + 1e-6
    right = found.indices[:, 0] == torch.arange(len(x))
    return float(sure[right, 0].mean()), float(sure[~right, 0].mean()), float(right.float().mean())


def test_what_is_right_is_believed_more() -> None:
    of_right, of_wrong, precision = believed(1.6)
    assert 0.3 < precision < 0.9
    assert of_right > of_wrong + 0.1


def test_easy_words_are_believed_and_hard_ones_are_not_believed_too_much() -> None:
    assert believed(0.6)[0] > 0.9
    # Noise independent in every coordinate is the worst case: half of them see much less than the whole.
    of_right, of_wrong, precision = believed(1.4)
    assert precision * of_right + (1 - precision) * of_wrong < precision


def test_strangers_are_not_believed() -> None:
    rng = np.random.default_rng(0)
    x, y = (normalize(torch.from_numpy(rng.normal(size=(1_000, 40))), dim=1).float() for _ in range(2))
    retrieval = Retrieval()
    sure = calibrate_rows(x, y, rng=rng).probabilities(
        retrieval.translate(x, y, 10, bias=retrieval.bias(x, y)).scores
    )
    assert float(sure[:, 0].mean()) < 0.25


def turned(source: torch.Tensor, mapping: torch.Tensor) -> torch.Tensor:
    """The rows (n, d) turned as `mapping` (d, d) turns them, not stretched."""
    left, _, right = torch.linalg.svd(mapping)
    rotated: torch.Tensor = source @ (left @ right).T
    return rotated


def test_strangers_stretched_until_they_meet_are_believed_less_for_it() -> None:
    # 1,000 chance pairs in 100 dimensions: halves of what they stretched agree on every second word.
    before = rows(0.0, 1_000, 100, seed=0)[0], rows(0.0, 1_000, 100, seed=1)[0]
    x, y = before
    for _ in range(3):
        pairs = mutual_neighbours(x, y, Retrieval())
        maps = reweighted_maps(before[0][pairs[:, 0]], before[1][pairs[:, 1]])
        x, y = (normalize(z @ w.T) for z, w in zip(before, maps, strict=True))
    unweighted = turned(before[0], maps[0]), turned(before[1], maps[1])
    found = Retrieval().translate(x, y, 10, bias=Retrieval().bias(x, y))
    naive, honest = (
        calibrate_rows(x, y, rng=np.random.default_rng(0), unweighted=judges) for judges in (None, unweighted)
    )
    assert float(naive.probabilities(found.scores)[:, 0].mean()) > 0.6
    assert float(honest.probabilities(found.scores)[:, 0].mean()) < 0.5


def test_labels_of_a_reweighted_space_come_from_the_rows_before() -> None:
    before = rows(1.0, 400)
    stretch = torch.linspace(0.2, 3, 40)
    after = normalize(before[0] * stretch), normalize(before[1] * stretch)
    found = calibrate_rows(*after, rng=np.random.default_rng(0), unweighted=before)
    halves = _halves(before, np.random.default_rng(0))
    views = [[in_half(sides, half) for half in halves] for sides in (after, before)]
    own = [Retrieval().translate(x, y, 10, bias=Retrieval().bias(x, y)) for x, y in views[0]]
    judges = [[best_targets(x, y, Retrieval()) for x, y in of] for of in views[::-1]]
    scores = torch.cat([half.scores for half in own])
    expected = [fit_temperature(scores, labels_from_views(own, of)) for of in judges]
    assert found.closed_set == pytest.approx(expected[0])
    assert abs(expected[0] - expected[1]) > 0.02 * expected[0]


def test_the_same_seed_gives_the_same() -> None:
    x, y = rows(1.0, 300)
    first, second, third = (calibrate_rows(x, y, rng=np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first == second != third


def test_views_need_two_dimensions_and_words() -> None:
    for x, y in ((torch.ones(5, 1), torch.ones(5, 1)), (torch.ones(0, 4), torch.ones(3, 4))):
        with pytest.raises(Mismatch, match="2 dimensions or more"):
            calibrate_rows(x, y, rng=np.random.default_rng(0))


def test_the_same_as_of_the_rows_and_found_once_for_each_direction() -> None:
    space = space_with_zeros()
    assert known_calibration(space, "fr", "en") is None
    found = find_calibration(space, "fr", "en")
    expected = calibrate_rows(space.tensor("fr"), space.tensor("en"), rng=np.random.default_rng(0))
    assert found == expected
    assert calibrate_space(space, "fr", "en", rng=np.random.default_rng(0), retrieval=Retrieval()) == expected
    assert find_calibration(space, "fr", "en") is known_calibration(space, "fr", "en") is found
    assert known_calibration(space, "en", "fr") is None


@pytest.mark.parametrize(
    ("label", "belief"), [("failed", 0.1), ("doubtful", 0.1), ("aligned", 1.0), ("", 1.0)]
)
def test_probabilities_are_no_surer_than_the_mapping(label: str, belief: float) -> None:
    space = space_with_zeros()
    before = find_calibration(space, "fr", "en")
    manifest = replace(
        space.manifest,
        languages={"fr": LanguageRecord(verdict=VerdictRecord({"label": label, "confidence": 0.1}))},
    )
    found = find_calibration(replace(space, manifest=manifest), "fr", "en")
    scores = torch.tensor([[0.5, 0.2, 0.1]])
    assert before is not None and found is not None
    torch.testing.assert_close(found.probabilities(scores), belief * before.probabilities(scores))


def test_a_space_that_is_too_small_has_none() -> None:
    eye = np.eye(1, dtype=np.float32)
    assert find_calibration(plain_space(eye, eye, ["a"], ["b"]), "fr", "en") is None
