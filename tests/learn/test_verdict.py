"""The verdict on mappings known to be right, and on mappings between spaces that have no right one."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from numpy.typing import NDArray

from muse.alignment import Alignment
from muse.learn.bilingual import normalise_in_place
from muse.learn.pair import LanguagePair
from muse.learn.refine import RefineConfig, refine
from muse.learn.schedule import ROUNDS
from muse.learn.verdict import (
    DRAWS,
    FLOOR,
    LEAST_GOOD,
    LEAST_NULL_OF_ROWS,
    UNSURE,
    UNTELLING,
    NullRate,
    Verdict,
    capped,
    judge,
    log_odds,
    null_agreement,
    with_pairs,
)
from muse.procrustes import procrustes
from muse.vectors import Matrix, Vectors
from tests.support.references import csls, csls_pairs, polar
from tests.support.spaces import STEPS, rotation
from tests.support.toys import DIMENSION, mixture, pair, raw_pair, shuffled, strangers


def verdict(source: Vectors, target: Vectors, mapping: Matrix, seed: int = 0) -> Verdict:
    return judge(LanguagePair(source, target), Alignment(mapping), rng=np.random.default_rng(seed))


@pytest.mark.parametrize("dimension", [20, 50])
@pytest.mark.parametrize("noise", [0.0, 0.03])
def test_a_planted_rotation_is_aligned(dimension: int, noise: float) -> None:
    found = verdict(*pair(1_000, dimension, noise))
    assert found.label == "aligned"
    assert found.confidence > 0.95
    assert found.agreement > 0.9


def test_a_wrong_mapping_of_a_good_pair_fails() -> None:
    source, target, _ = pair(1_000, 50)
    assert verdict(source, target, rotation(9, 50)).label == "failed"


def test_a_mapping_right_in_half_the_principal_axes_is_not_aligned() -> None:
    source, _ = strangers(800, 40)
    turn = rotation(3, 40)
    target = replace(source, language="en", matrix=source.matrix @ turn.T)
    _, _, axes = np.linalg.svd(source.matrix, full_matrices=False)  # widest first
    half = np.eye(40)
    half[1::2, 1::2] = rotation(7, 20)
    found = verdict(source, target, (turn @ axes.T @ half @ axes).astype(np.float32))
    assert found.mutual > 0.5  # most words have a neighbour, as under a right one
    assert found.confidence < 0.5


def test_a_mapping_fitted_to_shuffled_words_fails() -> None:
    # Even clouds: where a few directions hold nearly all variance, few pairs fix a mapping, right or wrong.
    source, _ = strangers(1_000, 50)
    mixed, _ = shuffled(source)
    assert verdict(source, source, procrustes(source.tensor(), mixed.tensor()).numpy()).label == "failed"


def test_vectors_of_two_directions_convince_nobody() -> None:
    """Where a mapping is fixed by two pairs, a wrong one predicts itself as well as a right one."""
    rng = np.random.default_rng(0)
    for _ in range(3):
        flat = [rng.standard_normal((600, 2)) @ rng.standard_normal((2, 30)) for _ in range(2)]
        source, target = (
            normalise_in_place(
                Vectors(name, [f"{name}{row}" for row in range(600)], rows.astype("f4")), STEPS
            )[0]
            for name, rows in zip(("fr", "en"), flat, strict=True)
        )
        found = verdict(source, target, procrustes(source.tensor(), target.tensor()).numpy())
        assert found.label != "aligned"
        assert found.null_spread > 0


@pytest.mark.parametrize("seed", [0])
def test_clusters_that_are_matched_say_nothing_of_the_words_in_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(5, 50))[rng.integers(0, 5, 600)]
    source, target = (
        normalise_in_place(
            Vectors(name, [f"{name}{row}" for row in range(600)],
                    (centres + rng.normal(0, width, centres.shape)).astype("f4")), STEPS
        )[0]
        for name, width in (("fr", 0.05), ("en", 0.3))
    )  # fmt: skip
    found = verdict(source, target, procrustes(source.tensor(), target.tensor()).numpy())
    assert found.label != "aligned"
    assert found.null == UNTELLING


def test_words_spelled_alike_do_not_speak_for_the_others() -> None:
    """Two fifths of the source are copies of target words, and the others have no counterparts."""
    target, other, _ = pair(1_000, 50)
    copies = np.arange(1_000) % 5 < 2
    words = [two if copy else one for one, two, copy in zip(other.words, target.words, copies, strict=True)]
    words = [word if copy else f"fr{word}" for word, copy in zip(words, copies, strict=True)]
    unrelated = strangers(1_000, 50)[0].matrix
    rows = np.where(copies[:, None], target.matrix, unrelated).astype(np.float32)
    mixed = Vectors("fr", words, rows)
    same = np.eye(50, dtype=np.float32)
    assert verdict(mixed, replace(target, language="en"), same).label != "aligned"
    renamed = replace(mixed, words=[f"fr{row}" for row in range(1_000)])
    assert verdict(renamed, replace(target, language="en"), same).label != "aligned"


@pytest.mark.parametrize("share", [0.2, 0.5])
@pytest.mark.parametrize("named_alike", [True, False])
def test_rows_copied_from_the_target_do_not_speak_for_the_others(share: float, named_alike: bool) -> None:
    """A right mapping of the copies tells nothing of the words without counterparts beside them."""
    target, _, _ = pair(1_000, 50, seed=1)
    rng = np.random.default_rng(0)
    copied = rng.random(1_000) < share
    words = [
        one if copy and named_alike else f"fr{one}" for one, copy in zip(target.words, copied, strict=True)
    ]
    blurred = target.matrix + rng.normal(0, 0.3 * target.matrix.std(), target.matrix.shape)
    rows = np.where(copied[:, None], blurred, strangers(1_000, 50)[0].matrix).astype(np.float32)
    mixed = normalise_in_place(Vectors("fr", words, rows), STEPS)[0]
    assert verdict(mixed, target, np.eye(50, dtype=np.float32)).label != "aligned"
    clean = normalise_in_place(Vectors("fr", words, blurred.astype(np.float32)), STEPS)[0]
    assert verdict(clean, target, np.eye(50, dtype=np.float32)).label == "aligned"


def test_a_single_pair_is_fitted_and_says_nothing() -> None:
    source, target, turn = pair(600)
    found = verdict(source.most_frequent(1), target.most_frequent(1), turn)
    assert (found.label, found.agreement, found.mutual) == ("failed", 0, 1)
    assert found.null <= FLOOR


@pytest.mark.slow
@pytest.mark.parametrize("decay", [0.5, 1.0])
@pytest.mark.parametrize("dimension", [20, 100])
def test_strangers_of_steep_spectra_fail_however_well_they_agree_with_themselves(
    decay: float, dimension: int
) -> None:
    # A few directions hold nearly all variance: 2d pairs fix those, right or wrong; the rest hardly matters.
    rng = np.random.default_rng(3)
    spectrum = np.arange(1, dimension + 1) ** -decay
    source, target = (
        normalise_in_place(Vectors(name, [str(i) for i in range(800)], rows.astype(np.float32)), STEPS)[0]
        for name, rows in (("fr", draw(rng, spectrum)), ("en", draw(rng, spectrum)))
    )
    start = Alignment(np.eye(dimension, dtype=np.float32))
    config = RefineConfig(cutoffs=(2_000,), folds=2, max_rounds=5)
    *_, wrong = refine(LanguagePair(source, target), start, config=config, rng=rng)
    found = judge(LanguagePair(source, target), wrong, rng=rng)
    assert found.agreement > 1.45 / np.sqrt(dimension)  # what an even cloud of this dimension would show
    assert found.label == "failed"


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [ROUNDS[0], replace(ROUNDS[1], max_rounds=30)], ids=("first", "many"))
def test_strangers_fail_however_often_refinement_has_confirmed_them(rounds: RefineConfig) -> None:
    """Of 100 even directions a wrong mapping finds a tenth of its pairs again, a refined one a third."""
    source, target = strangers(600, 100)
    rng, start = np.random.default_rng(0), Alignment(rotation(1, 100))
    *_, wrong = refine(LanguagePair(source, target), start, config=rounds, rng=rng)
    found = verdict(source, target, wrong.source_map)
    assert found.agreement > 2 * verdict(source, target, start.source_map).agreement
    assert found.label == "failed"


def draw(rng: np.random.Generator, spectrum: NDArray[np.floating]) -> NDArray[np.float64]:
    return np.asarray(rng.normal(size=(800, len(spectrum))) * spectrum)


def test_the_null_is_of_the_vectors_and_not_of_the_mapping() -> None:
    source, target, turn = pair(1_000)
    right, wrong = verdict(source, target, turn), verdict(source, target, rotation(9, 20))
    assert abs(right.null - wrong.null) < 0.15
    assert wrong.gain < right.gain and wrong.confidence < right.confidence
    assert right.agreement > 0.9 > right.null


def test_the_null_is_that_of_the_principal_axes_in_whatever_frame_rows_are() -> None:
    """Shuffled along other axes, rows would lose their spectrum, and the null would be too low."""
    rng, spectrum = np.random.default_rng(3), 1 / np.arange(1, 51)
    sides = []
    for name in ("fr", "en"):
        rows = (rng.normal(size=(800, 50)) * spectrum).astype(np.float32)
        sides.append(normalise_in_place(Vectors(name, [str(row) for row in range(800)], rows), STEPS)[0])
    turned = [replace(side, matrix=side.matrix @ rotation(seed, 50).T) for seed, side in enumerate(sides, 4)]
    before, after = (
        null_agreement(LanguagePair(one, other), np.random.default_rng(0)) for one, other in (sides, turned)
    )
    assert before.rate > 0.6
    assert after.rate == pytest.approx(before.rate, abs=0.02)


def test_the_null_of_skewed_rows_is_the_same_whatever_the_signs_of_their_axes() -> None:
    """Long tails that point the same way agree with each other; an axis has no sign of its own."""
    source, target, _ = pair(seed=1)
    signs = [np.random.default_rng(seed).choice([-1, 1], DIMENSION) for seed in (1, 2)]
    sides = [source, *(replace(source, matrix=(source.matrix * sign).astype(np.float32)) for sign in signs)]
    nulls = [null_agreement(LanguagePair(one, target), np.random.default_rng(0)).rate for one in sides]
    assert nulls[1:] == pytest.approx([nulls[0]] * 2, abs=0.005)


def test_rotating_both_spaces_changes_no_verdict() -> None:
    source, target, turn = pair(1_000, 50)
    left, right = rotation(4, 50), rotation(5, 50)
    moved = replace(source, matrix=source.matrix @ left.T), replace(target, matrix=target.matrix @ right.T)
    before, after = verdict(source, target, turn), verdict(*moved, (right @ turn @ left.T).astype(np.float32))
    assert after.agreement == pytest.approx(before.agreement, abs=0.02)
    assert after.null == pytest.approx(before.null, abs=0.1)


def test_both_maps_of_an_alignment_count() -> None:
    source, target, turn = pair(1_000, 50)
    third = rotation(6, 50)
    shared = Alignment(third @ turn, third)
    found = judge(LanguagePair(source, target), shared, rng=np.random.default_rng(0))
    assert found.label == "aligned"
    half = Alignment(third @ turn)
    assert judge(LanguagePair(source, target), half, rng=np.random.default_rng(0)).label == "failed"


def test_mutual_is_the_share_of_words_with_a_mutual_neighbour() -> None:
    source, target, turn = pair(400, noise=0.3)
    found = judge(
        LanguagePair(source, target), Alignment(turn), rng=np.random.default_rng(0), null=NullRate(0.5)
    )
    pairs, _ = csls_pairs((source.matrix @ turn.T).astype(float), target.matrix.astype(float))
    assert found.mutual == pytest.approx(len(pairs) / 400, abs=1e-4)
    assert 0.3 < found.mutual < 0.95


def test_agreement_is_the_share_recovered_by_fits_to_four_pairs_a_dimension() -> None:
    source, target, turn = pair(noise=0.3)
    x, y = source.matrix.astype(float), target.matrix.astype(float)
    pairs = np.stack(csls_pairs(x @ turn.T, y), axis=1)
    rng, rates = np.random.default_rng(5), []
    for _ in range(DRAWS):
        known, held_out = np.split(pairs[rng.permutation(len(pairs))], [4 * DIMENSION])
        fitted = polar(y[known[:, 1]].T @ x[known[:, 0]])
        best = csls(x @ fitted.T, y).argmax(axis=1)
        rates.append((best[held_out[:, 0]] == held_out[:, 1]).mean())
    rng = np.random.default_rng(5)
    found = judge(LanguagePair(source, target), Alignment(turn), rng=rng, null=NullRate(0.5))
    assert found.agreement == pytest.approx(np.mean(rates), abs=0.002)
    assert 0.7 < found.agreement < 0.9


def test_the_gain_is_the_log_of_an_odds_ratio() -> None:
    assert Verdict("aligned", 1.0, agreement=0.9, mutual=1.0, null=0.5).gain == pytest.approx(np.log(9))
    assert Verdict("failed", 0.0, agreement=0.5, mutual=1.0, null=0.8).gain == pytest.approx(-np.log(4))
    assert Verdict("failed", 0.0, agreement=0.0, mutual=1.0, null=0.5).gain == log_odds(FLOOR)


@pytest.mark.parametrize(("right", "tested"), [(0, 20), (2, 25), (50, 500)])
def test_the_verdict_of_words_multiplies_odds_by_the_bayes_factor_of_a_good_p_at_1(
    right: int, tested: int
) -> None:
    p = np.linspace(0, 1, 200_001)
    density = scipy.stats.beta.pdf(p, 1, 3) * scipy.stats.binom.pmf(right, tested, p)
    good, prior = p >= LEAST_GOOD, scipy.stats.beta.pdf(p, 1, 3)
    factor = (density[good].sum() / prior[good].sum()) / (density[~good].sum() / prior[~good].sum())
    odds = 0.4 / 0.6 * factor
    found = with_pairs(Verdict("doubtful", 0.4, 0.1, 0.1), right, tested)
    assert found.confidence == pytest.approx(min(odds / (1 + odds), UNSURE), abs=2e-4)


@pytest.mark.parametrize(("right", "tested", "rate"), [(0, 20, 0.001), (2, 25, 0.002), (60, 500, 0.01)])
def test_the_verdict_of_rows_multiplies_odds_by_the_bayes_factor_against_chance(
    right: int, tested: int, rate: float
) -> None:
    before = Verdict("doubtful", 0.4, 0.1, 0.1)
    factor = scipy.stats.betabinom.pmf(right, tested, 1, 3) / scipy.stats.binom.pmf(right, tested, rate)
    odds = 0.4 / 0.6 * factor
    found = with_pairs(before, right, tested, chance=rate)
    assert found.confidence == pytest.approx(odds / (1 + odds), abs=1e-4)


def test_a_few_hits_of_the_best_of_many_methods_convince_nobody() -> None:
    lost = Verdict("failed", 0.02, 0.1, 0.1)
    alone, of_twenty = (with_pairs(lost, 9, 30, methods) for methods in (1, 20))
    assert (alone.label, of_twenty.label) == ("aligned", "doubtful")
    assert with_pairs(lost, 29, 29).confidence == UNSURE  # too few to convince
    # Of frequent words; 5,000 pairs bring three times as much.
    assert (with_pairs(lost, 17, 100, 14).label, with_pairs(lost, 30, 100, 14).label) == (
        "doubtful",
        "aligned",
    )
    assert with_pairs(lost, 0, 25, 20) == with_pairs(lost, 0, 25)
    assert with_pairs(lost, 5, 25, 1_000).confidence == 0.2  # no evidence, but none against it


def test_the_verdict_of_pairs_outweighs_the_one_without() -> None:
    sure, lost = Verdict("aligned", 0.99, 0.6, 0.6), Verdict("failed", 0.02, 0.1, 0.1)
    assert with_pairs(lost, 100, 500).label == "aligned"  # P@1 20
    assert with_pairs(sure, 0, 500).label == "failed"
    assert with_pairs(sure, 20, 1_000).label != "aligned"  # far above chance, and of no use


def test_a_cap_makes_a_verdict_doubtful_and_never_failed() -> None:
    sure, lost = Verdict("aligned", 0.99, 0.6, 0.6), Verdict("failed", 0.02, 0.1, 0.1)
    found = [capped(sure, one) for one in (0.9, 0.5, 0.0)]
    assert [(one.label, one.confidence) for one in found] == [
        ("aligned", 0.9),
        ("doubtful", 0.5),
        ("doubtful", 0.2),
    ]
    assert capped(lost, 0.9) == lost


def test_rows_without_words_are_judged_by_the_nearest_rotation() -> None:
    """Their mapping is refined before it is judged, from a rotation, whatever it does to lengths."""
    source, target, _ = mixture(500)
    turn, axes = rotation(9, 24), rotation(5, 24)
    stretch = (axes * np.logspace(0, -2, 24)) @ axes.T
    before, after = (
        judge(LanguagePair(source, target), Alignment(one), rng=np.random.default_rng(0), null=NullRate(0.5))
        for one in (turn, (turn @ stretch).astype(np.float32))
    )
    assert after.agreement == pytest.approx(before.agreement, abs=0.02)
    assert after.mutual == pytest.approx(before.mutual, abs=0.02)


def test_the_null_of_rows_without_words_has_a_floor_where_random_mappings_collapse() -> None:
    source, target = (replace(side, frequency_ordered=False) for side in strangers(400, 200))
    assert null_agreement(LanguagePair(source, target), np.random.default_rng(0)).rate == 0.2


def test_rows_without_words_are_aligned_by_their_right_mapping_alone() -> None:
    source, target, turn = mixture(600)
    right, wrong = verdict(source, target, turn), verdict(source, target, rotation(9, 24))
    assert (right.label, wrong.label) == ("aligned", "failed")
    assert right.null > LEAST_NULL_OF_ROWS  # measured, and not the floor


@pytest.mark.slow
def test_raw_rows_are_judged_as_if_they_were_normalised() -> None:
    source, target, turn = raw_pair(1_000, noise=0.2)
    steps = ("unit", "centre", "unit")
    x, y = (normalise_in_place(replace(one, matrix=one.matrix.copy()), steps)[0] for one in (source, target))
    a, b = (normalise_in_place(one, ())[0] for one in (source, target))
    nulls = []
    for seed in range(3):
        expected, found = verdict(x, y, turn, seed), verdict(a, b, turn, seed)
        assert found.label == "aligned"
        assert found.agreement == pytest.approx(expected.agreement, abs=0.003)
        nulls.append(found.null == pytest.approx(expected.null, abs=0.01))
    # Learned from nothing, a mapping may end elsewhere by what a processor rounds.
    assert sum(nulls) >= 2
