"""What each method learns from pairs, against references and invariants."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import scipy.stats
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.learn.initialise.gromov import GromovConfig
from muse.learn.refine import RefineConfig
from muse.learn.supervise import descent, linear
from muse.learn.supervise.cross_validation import Support, probability_right, supported, trimmed
from muse.learn.supervise.descent import ContrastiveConfig, RelaxedConfig, contrastive, relaxed
from muse.learn.supervise.induced import (
    GuidedTransportConfig,
    SelfLearningConfig,
    refined,
    self_learning,
    with_transport,
)
from muse.learn.supervise.linear import (
    CanonicalConfig,
    canonical,
    corrected,
    fit_whitened,
    in_basis_of,
    orthogonal,
    reweighted_maps,
    ridge,
)
from muse.learn.supervise.model_selection import SETTINGS
from muse.learn.supervise.training_pairs import Maps, TrainingPairs, shared_weight
from muse.normalise import normalise as normalise_rows
from muse.search.exact import nearest
from muse.search.retrieval import mutual_neighbours
from tests.support.growth import is_in_proportion
from tests.support.spaces import STEPS, raw_rows, rotation
from tests.support.toys import COUNT, evidence


def right(maps: Maps, of: TrainingPairs) -> float:
    """The share of all words whose nearest target is their translation."""
    found = (maps.of_source(of.x) @ maps.of_target(of.y).T).argmax(dim=1)
    return float((found == torch.arange(COUNT)).double().mean())


def narrower(of: TrainingPairs, columns: int) -> TrainingPairs:
    return replace(of, y=normalize(of.y[:, :columns]))


def test_orthogonal_is_scipys_procrustes() -> None:
    known = evidence()
    reference, _ = scipy.linalg.orthogonal_procrustes(known.left.numpy(), known.right.numpy())
    maps = orthogonal(known)
    np.testing.assert_allclose(maps.source.numpy(), reference.T, atol=1e-5)
    np.testing.assert_array_equal(maps.target.numpy(), np.eye(20))


def test_orthogonal_between_two_dimensions() -> None:
    known = narrower(evidence(), 12)
    maps = orthogonal(known)
    assert maps.source.shape == (12, 20) and maps.target.shape == (12, 12)
    for one in maps.sides:
        np.testing.assert_allclose((one @ one.T).numpy(), np.eye(12), atol=1e-5)


@pytest.mark.parametrize("penalty", [0.03, 1.0])
def test_ridge_is_that_of_scikit_learn(penalty: float) -> None:
    from sklearn.linear_model import Ridge

    known = replace(evidence(noise=0.5), weights=torch.linspace(0.5, 2, len(evidence())))
    weights = known.weights.double().numpy()
    x, y = known.left.numpy(), known.right.numpy()
    variance = (weights[:, None] * x**2).sum() / weights.sum() / x.shape[1]
    reference = Ridge(alpha=penalty * variance * weights.sum(), fit_intercept=False).fit(x, y, weights)
    maps = ridge(known, penalty)
    np.testing.assert_allclose(maps.source.numpy(), reference.coef_, atol=1e-4)
    np.testing.assert_array_equal(maps.target.numpy(), np.eye(20))


def test_ridge_finds_rows_whose_directions_are_scaled() -> None:
    rng = np.random.default_rng(0)
    count, dimension, given = 1_500, 24, 300
    meaning = rng.normal(size=(count, dimension))
    scaled = meaning @ rng.normal(size=(dimension, dimension)) * np.geomspace(0.05, 3, dimension)
    sides = meaning + 0.02 * rng.normal(size=meaning.shape), scaled + rng.normal(size=scaled.shape)
    x, y = (torch.from_numpy(normalise_rows(side.astype(np.float32), STEPS)[0]) for side in sides)
    known = TrainingPairs(x, y, torch.arange(given).repeat(2, 1).T, torch.ones(given), (count, count))
    unseen = torch.arange(given, count)

    def found(maps: Maps) -> float:
        best = (maps.of_source(x[unseen]) @ maps.of_target(y).T).argmax(dim=1)
        return float((best == unseen).double().mean())

    others = [orthogonal(known), *(canonical(known, config).into_target() for config in SETTINGS)]
    assert found(ridge(known, 0.03)) > 0.98 > 0.95 > max(map(found, others))


def test_a_correction_is_the_ridge_regression_of_what_a_map_leaves() -> None:
    from sklearn.linear_model import Ridge

    known = replace(evidence(noise=0.5), weights=torch.linspace(0.5, 2, len(evidence())))
    weights = known.weights.double().numpy()
    x, y = known.left.numpy(), known.right.numpy()
    start = orthogonal(known).source.double().numpy()
    turned = x @ start.T
    scale = (weights[:, None] * turned * y).sum() / (weights[:, None] * turned**2).sum()
    variance = (weights[:, None] * x**2).sum() / weights.sum() / x.shape[1]
    ridge_of_rest = Ridge(alpha=0.3 * variance * weights.sum(), fit_intercept=False)
    change = ridge_of_rest.fit(x, y - scale * turned, weights).coef_
    found = corrected(known, torch.from_numpy(start), 0.3).source.numpy()
    np.testing.assert_allclose(found, scale * start + change, atol=1e-4)
    low = corrected(known, torch.from_numpy(start), 0.3, rank=3).source.numpy() - scale * start
    assert np.linalg.matrix_rank(low, tol=1e-4) == 3
    weighted = np.sqrt(weights)[:, None] * x
    _, _, directions = np.linalg.svd(
        weighted @ change.T, full_matrices=False
    )  # Izenman's, of what it predicts
    np.testing.assert_allclose(low, directions[:3].T @ directions[:3] @ change, atol=1e-4)
    heavy = corrected(known, torch.from_numpy(start), 1e9).source.numpy()
    np.testing.assert_allclose(heavy, scale * start, atol=1e-4)  # few pairs: the rotation is left


def test_canonical_correlations_are_those_of_the_qr_method() -> None:
    known = evidence(noise=0.5)
    maps = canonical(known, CanonicalConfig(shrinkage=0, power=0))
    left, right_ = known.left @ maps.source.double().T, known.right @ maps.target.double().T
    for rows in (left, right_):
        np.testing.assert_allclose((rows.T @ rows / len(known)).numpy(), np.eye(20), atol=1e-3)
    qs = [np.linalg.qr(rows.numpy())[0] for rows in (known.left, known.right)]  # Bjoerck and Golub, 1973
    correlations = np.linalg.svd(qs[0].T @ qs[1], compute_uv=False)
    np.testing.assert_allclose((left.T @ right_ / len(known)).numpy(), np.diag(correlations), atol=1e-3)


def test_full_shrinkage_leaves_the_rotation_of_procrustes() -> None:
    known = evidence()
    maps = canonical(known, CanonicalConfig(shrinkage=1, power=0))
    ours = maps.target.T @ maps.source
    np.testing.assert_allclose(
        (ours / ours.norm() * 20**0.5).numpy(), orthogonal(known).source.numpy(), atol=1e-4
    )


@pytest.mark.parametrize(("columns", "pairs"), [(20, 200), (12, 200), (12, 8)])
def test_canonical_maps_by_roots_are_those_by_eigenvalues(
    monkeypatch: pytest.MonkeyPatch, columns: int, pairs: int
) -> None:
    known = narrower(evidence(pairs, noise=0.5), columns)
    for sides in (known, replace(known, x=known.y, y=known.x, pairs=known.pairs.flip(1))):
        found = canonical(sides, CanonicalConfig(shrinkage=0.3, power=0.5))
        with monkeypatch.context() as patch:
            patch.setattr(linear, "_of_roots", lambda *_: torch.linalg.cholesky(-torch.eye(2)))
            expected = canonical(sides, CanonicalConfig(shrinkage=0.3, power=0.5))
        cosines, reference = (
            maps.of_source(sides.x) @ maps.of_target(sides.y).T for maps in (found, expected)
        )
        np.testing.assert_allclose(cosines.numpy(), reference.numpy(), atol=1e-5)


def test_reweighted_maps_are_steps_1_to_4_of_artetxe() -> None:
    """Artetxe et al. (2018, AAAI, section 3) as products of matrices: scipy's powers, numpy's SVD."""
    x = raw_rows(0, 200, 5).astype(float)
    y = x @ rotation(1, 5).T + raw_rows(2, 200, 5) * np.array([0.1, 0.3, 1, 2, 4])
    white_x, white_y = (scipy.linalg.fractional_matrix_power(z.T @ z, -0.5) for z in (x, y))
    u, s, vt = np.linalg.svd(white_x @ x.T @ y @ white_y)
    assert s[0] > 2 * s[-1]
    root = np.diag(np.sqrt(s))
    left = white_x @ u @ root @ u.T @ np.linalg.inv(white_x) @ u
    right_ = white_y @ vt.T @ root @ vt @ np.linalg.inv(white_y) @ vt.T
    found, other = reweighted_maps(torch.from_numpy(x), torch.from_numpy(y))
    expected = left @ right_.T  # the signs of singular vectors cancel
    np.testing.assert_allclose((found.T @ other).numpy(), expected, atol=1e-4 * np.abs(expected).max())


def test_weights_count_as_repeated_pairs() -> None:
    known = evidence(50)
    twice = replace(known, weights=torch.where(torch.arange(50) < 20, 2.0, 1.0))
    repeated = replace(known, pairs=torch.cat([known.pairs, known.pairs[:20]]), weights=torch.ones(70))
    ours, reference = (_cosines(canonical(one, CanonicalConfig()), known) for one in (twice, repeated))
    np.testing.assert_allclose(ours.numpy(), reference.numpy(), atol=1e-4)


def _cosines(maps: Maps, of: TrainingPairs) -> Tensor:
    return maps.of_source(of.x[:40]) @ maps.of_target(of.y[:40]).T


@pytest.mark.parametrize("method", ["canonical", "whitened", "orthogonal"])
def test_rotating_both_languages_changes_no_cosine(method: str) -> None:
    known = evidence()
    turned = replace(
        known,
        x=known.x @ torch.from_numpy(rotation(8, 20)).T,
        y=known.y @ torch.from_numpy(rotation(9, 20)).T,
    )
    fit = {
        "canonical": lambda one: canonical(one, CanonicalConfig()),
        "whitened": fit_whitened,
        "orthogonal": orthogonal,
    }
    before, after = (_cosines(fit[method](one), one) for one in (known, turned))
    np.testing.assert_allclose(before.numpy(), after.numpy(), atol=1e-3)


def test_wrong_pairs_are_told_and_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    known = evidence(200, wrong=0.1, noise=0.02)
    support = supported(known, CanonicalConfig(), np.random.default_rng(0))
    assert support.own[20:].quantile(0.1) > support.own[:20].quantile(0.9)
    probable = probability_right(support)
    assert float(probable[:20].max()) < 0.5 < float(probable[20:].quantile(0.05))
    monkeypatch.setattr("muse.learn.supervise.cross_validation.LEAST_PAIRS", 100)
    kept = trimmed(known, CanonicalConfig(), np.random.default_rng(0))
    plain, robust = (canonical(one, CanonicalConfig()) for one in (known, kept))
    clean = canonical(known.only(torch.arange(200) >= 20), CanonicalConfig())
    of_clean = _cosines(clean, known)
    assert (_cosines(robust, known) - of_clean).norm() < 0.2 * (_cosines(plain, known) - of_clean).norm()


def test_probabilities_are_those_of_the_mixture_they_were_drawn_from() -> None:
    drawn = np.random.default_rng(0)
    wrong, right_ = drawn.normal(0, 0.1, 400), drawn.normal(0.35, 0.12, 1_600)
    own = torch.from_numpy(np.concatenate([wrong, right_]))
    found = probability_right(Support(own, torch.from_numpy(drawn.normal(0, 0.1, 2_000)))).numpy()
    densities = 0.8 * scipy.stats.norm.pdf(own, 0.35, 0.12), 0.2 * scipy.stats.norm.pdf(own, 0, 0.1)
    assert np.abs(found - densities[0] / sum(densities)).mean() < 0.02


def test_a_clean_dictionary_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muse.learn.supervise.cross_validation.LEAST_PAIRS", 100)
    known = evidence(200, noise=0.02)
    assert trimmed(known, CanonicalConfig(), np.random.default_rng(0)) is known
    # So is one in which every pair looks wrong: nothing shows which are.
    module = "muse.learn.supervise.cross_validation"
    monkeypatch.setattr(f"{module}.probability_right", lambda support: torch.zeros(len(support.own)))
    assert trimmed(known, CanonicalConfig(), np.random.default_rng(0)) is known


def test_two_fits_in_one_basis() -> None:
    known = evidence()
    first, second = (
        canonical(known.only(torch.arange(300) % 2 == part), CanonicalConfig()) for part in (0, 1)
    )
    turned = in_basis_of(second, first)
    assert (turned.target - first.target).norm() < 0.3 * first.target.norm()
    np.testing.assert_allclose(_cosines(turned, known).numpy(), _cosines(second, known).numpy(), atol=1e-4)


def test_a_target_that_stays_keeps_the_inner_products() -> None:
    maps = canonical(evidence(), CanonicalConfig())
    fixed, known = maps.into_target(), evidence()
    before = (known.x @ maps.source.T) @ (known.y @ maps.target.T).T
    np.testing.assert_allclose((known.x @ fixed.source.T @ known.y.T).numpy(), before.numpy(), atol=1e-4)
    np.testing.assert_array_equal(fixed.target.numpy(), np.eye(20))


def test_the_first_step_of_rcsls_is_down_its_gradient() -> None:
    known, config = evidence(60), RelaxedConfig(steps=1, rate=0.5, k=5)
    start = orthogonal(known).source.requires_grad_()
    mapped, own, others = known.x @ start.T, known.left.float() @ start.T, known.right.float()
    of_x = (own @ known.y.T).topk(5).values.mean(dim=1)
    of_y = (others @ mapped.T).topk(5).values.mean(dim=1)
    (of_x + of_y - 2 * (own * others).sum(dim=1)).mean().backward()  # type: ignore[no-untyped-call]
    assert start.grad is not None
    expected = start.detach() - 0.5 * start.grad
    np.testing.assert_allclose(relaxed(known, config).source.numpy(), expected.numpy(), atol=1e-5)


def test_self_learning_needs_few_pairs_and_keeps_them() -> None:
    known = evidence(12, noise=0.3)
    start = canonical(known, CanonicalConfig(0.7))
    assert right(start, known) < 0.5
    config = SelfLearningConfig(share=1.0)
    grown = self_learning(known, start, config, np.random.default_rng(0))
    assert torch.equal(grown.pairs[:12], known.pairs)
    added = grown.pairs[12:]
    assert not set(added[:, 0].tolist()) & set(known.pairs[:, 0].tolist())
    assert float((added[:, 0] == added[:, 1]).double().mean()) > 0.8
    assert right(canonical(grown, CanonicalConfig()), known) > right(start, known) + 0.2


def test_words_are_looked_up_by_maps_that_have_not_seen_their_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    known = evidence(60, noise=0.3)
    start = canonical(known, CanonicalConfig())
    seen = []

    def noted(mapped: Tensor, *others: object) -> Tensor:
        pairs = mutual_neighbours(mapped, *others)  # type: ignore[arg-type]
        seen.append((mapped.clone(), pairs))
        return pairs

    monkeypatch.setattr("muse.learn.supervise.induced.mutual_neighbours", noted)
    config = SelfLearningConfig(cutoffs=(COUNT,), rounds=(2,), share=1.0)
    self_learning(known, start, config, np.random.default_rng(0))
    (_, pairs), (mapped, _) = seen
    grown = known.plus(pairs[known.contains_no_known_word(pairs)], config.induced)
    folds = torch.from_numpy(np.random.default_rng(0).integers(config.folds, size=COUNT))
    basis = canonical(grown, config.canonical)
    for fold in range(config.folds):
        others = grown.only(folds[grown.pairs[:, 0]] != fold)
        maps = in_basis_of(canonical(others, config.canonical), basis)
        torch.testing.assert_close(
            mapped[folds == fold], maps.of_source(known.x[folds == fold]), atol=1e-4, rtol=0
        )


def test_self_learning_without_any_pair_begins_with_its_start() -> None:
    known = evidence(300, noise=0.03)
    start = orthogonal(known)
    none = known.only(torch.zeros(300, dtype=torch.bool))
    grown = self_learning(none, start, SelfLearningConfig(share=1.0), np.random.default_rng(0))
    assert right(canonical(grown, CanonicalConfig()), known) > 0.95


@pytest.mark.slow
def test_transport_finds_more_pairs_with_the_given_ones() -> None:
    known = evidence(8, noise=0.3)
    shuffled = torch.randperm(len(known.x), generator=torch.Generator().manual_seed(0))  # ranks tell nothing
    known = replace(
        known,
        y=known.y[shuffled],
        pairs=torch.stack([known.pairs[:, 0], torch.argsort(shuffled)[known.pairs[:, 1]]], dim=1),
    )
    config = GuidedTransportConfig(gromov=GromovConfig(words=len(known.x), dimensions=20))

    def share(mass: float) -> float:
        found = with_transport(known, replace(config, mass=mass)).pairs[len(known) :]
        return float((shuffled[found[:, 1]] == found[:, 0]).double().mean())

    assert torch.equal(with_transport(known, config).pairs[: len(known)], known.pairs)
    assert share(0.2) > share(0.0) + 0.2


def test_transport_of_rows_does_not_depend_on_their_places() -> None:
    known = evidence(60, noise=0.3)
    gromov = replace(GuidedTransportConfig.for_unranked_rows().gromov, words=len(known.x), dimensions=20)
    config = replace(GuidedTransportConfig.for_unranked_rows(), gromov=gromov)
    shuffled = torch.randperm(len(known.y), generator=torch.Generator().manual_seed(0))
    places = torch.argsort(shuffled)
    moved = replace(
        known, y=known.y[shuffled], pairs=torch.stack([known.pairs[:, 0], places[known.pairs[:, 1]]], dim=1)
    )
    found = with_transport(moved, config).pairs
    expected = with_transport(known, config).pairs
    assert len(expected) > len(known)
    same = set(zip(expected[:, 0].tolist(), places[expected[:, 1]].tolist(), strict=True))
    assert len(same & set(map(tuple, found.tolist()))) > 0.95 * len(same)


def test_refined_is_a_rotation_and_holds_a_right_start() -> None:
    known = evidence(300, noise=0.03)
    maps = refined(known, orthogonal(known), RefineConfig(share=1.0), np.random.default_rng(0))
    np.testing.assert_allclose((maps.source @ maps.source.T).numpy(), np.eye(20), atol=1e-5)
    assert right(maps, known) > 0.95


def _cross_entropy(maps: Maps, of: TrainingPairs, scale: float) -> float:
    """The loss pair by pair, as a sum over all words that are no translation."""
    u, v = maps.of_source(of.x).double(), maps.of_target(of.y).double()
    total = 0.0
    for a, b in of.pairs.tolist():
        own = float(torch.exp(scale * u[a] @ v[b]))
        others = sum(float(torch.exp(scale * u[a] @ v[j])) for j in range(COUNT) if j != b)
        others += sum(float(torch.exp(scale * u[i] @ v[b])) for i in range(COUNT) if i != a)
        total -= np.log(own / (own + others))
    return total / len(of)


@pytest.mark.slow
def test_contrastive_training_lowers_the_loss_it_is_defined_by() -> None:
    known, config = evidence(30, noise=0.2), ContrastiveConfig(steps=8, scale=10.0)
    start = canonical(known, CanonicalConfig())
    before = _cross_entropy(start, known, 10.0)
    trained = contrastive(known, start, config, np.random.default_rng(0))
    assert _cross_entropy(trained, known, 10.0) < 0.9 * before
    again = contrastive(known, start, config, np.random.default_rng(0))
    assert torch.equal(trained.source, again.source)


def contradictory(words: int, count: int) -> TrainingPairs:
    """Evidence whose `count` pairs are drawn from so many words of either side."""
    known, rng = evidence(), np.random.default_rng(0)
    pairs = torch.from_numpy(np.unique(rng.integers(0, words, (count, 2)), axis=0))
    return replace(known, pairs=pairs, weights=torch.from_numpy(rng.random(len(pairs), np.float32)))


def test_the_moments_of_many_pairs_of_few_words_are_the_sums_over_all_pairs() -> None:
    known = contradictory(12, 400)
    assert len(known) > 120  # nearly every word with every other
    x, y = (rows[known.pairs[:, side]].double() for side, rows in enumerate((known.x, known.y)))
    weighted = known.weights.double()[:, None]
    for found, expected in (
        (known.moments.source, x.T @ (weighted * x)),
        (known.moments.target, y.T @ (weighted * y)),
        (known.moments.both, x.T @ (weighted * y)),
    ):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-4, atol=1e-4)
    assert known.moments.weight == pytest.approx(float(weighted.sum()))


def test_a_word_is_looked_up_once_however_many_pairs_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[int] = []
    found = nearest

    def counted(queries: Tensor, keys: Tensor, k: int) -> object:
        looked_up.append(len(queries))
        return found(queries, keys, k)

    monkeypatch.setattr(descent, "nearest", counted)
    relaxed(contradictory(12, 400), RelaxedConfig(steps=1))
    assert set(looked_up) == {12}


def test_pairs_of_a_single_word_leave_others_as_they_are() -> None:
    known = evidence()
    pairs = torch.stack([torch.full((COUNT,), 3), torch.arange(COUNT)], dim=1)
    one = replace(known, pairs=pairs, weights=shared_weight(pairs))
    start = orthogonal(known)
    found = self_learning(
        one, start, SelfLearningConfig(cutoffs=(50,), rounds=(3,)), np.random.default_rng(0)
    )
    maps = canonical(found, CanonicalConfig())
    assert all(bool(side.isfinite().all()) for side in maps.sides)


def test_known_translations_are_found_in_time_that_grows_as_the_pairs_do() -> None:
    def drawn(count: int) -> tuple[Tensor, Tensor, Tensor]:
        rng = np.random.default_rng(0)
        own, other = (torch.from_numpy(rng.integers(60, size=count)) for _ in range(2))
        return own, other, torch.from_numpy(rng.permutation(count)[:50])

    own, other, batch = drawn(300)
    expected = [[bool(((own == own[i]) & (other == word)).any()) for word in range(70)] for i in batch]
    assert descent._known(own, other, batch, 70).tolist() == expected
    assert is_in_proportion(lambda of: descent._known(*of, 70), drawn, 5_000)
