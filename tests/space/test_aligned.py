"""The space as a thing, and what comes back from disk."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from muse.errors import BadSetting, Mismatch
from muse.evaluation.score import look_up_signature, space_signature
from muse.normalise import Normalisation, normalise
from muse.ranking.derived import write_derived
from muse.ranking.ranker import Ranker
from muse.search.approximate import Approximation, Demand, Recall
from muse.search.retrieval import Retrieval
from muse.space import SideToSave, Space, load_space, save_space
from muse.vectors import Matrix, Vectors
from tests.support.spaces import PROVENANCE, derived, raw_rows, saved, side_to_save, sides_to_save, words


@pytest.fixture
def space(tmp_path: Path) -> Space:
    return saved(tmp_path / "space")


def test_rows_are_the_normalised_ones_rotated(space: Space) -> None:
    for language, side in sides_to_save().items():
        mapping = np.eye(8) if side.mapping is None else side.mapping
        expected = side.vectors.matrix.astype(np.float64) @ mapping.T
        np.testing.assert_allclose(space.vectors(language).matrix, expected, atol=1e-6)
        np.testing.assert_array_equal(space.side(language).mapping, mapping.astype(np.float32))
        assert list(space.vectors(language).words) == words(language, len(expected))
    np.testing.assert_allclose(np.linalg.norm(space.vectors("fr").matrix, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize(("language", "seed", "count"), [("fr", 1, 39), ("en", 0, 40)])
def test_new_words_land_where_the_same_words_are_stored(
    space: Space, language: str, seed: int, count: int
) -> None:
    again = space.map_words(language, raw_rows(seed, count))
    np.testing.assert_allclose(again, space.vectors(language).matrix, atol=1e-6)
    one = space.map_words(language, raw_rows(seed, count)[5:6])
    np.testing.assert_allclose(one, space.vectors(language).matrix[5:6], atol=1e-6)


def test_a_mapping_that_is_no_rotation_still_gives_unit_rows(tmp_path: Path) -> None:
    sides = sides_to_save()
    stretched = rng_matrix(3)
    sides["fr"] = side_to_save("fr", raw_rows(1, 39), stretched)
    save_space(tmp_path / "s", sides, pivot="en", provenance=PROVENANCE)
    space = load_space(tmp_path / "s")
    assert space.manifest.mapping == "linear"
    np.testing.assert_allclose(np.linalg.norm(space.vectors("fr").matrix, axis=1), 1, atol=1e-6)
    new = space.map_words("fr", raw_rows(1, 39))
    np.testing.assert_allclose(new, space.vectors("fr").matrix, atol=1e-5)


def test_unweighted_rows_are_turned_and_not_stretched(space: Space) -> None:
    np.testing.assert_allclose(space.unweighted("fr", 39), space.tensor("fr"), atol=1e-6)  # a rotation
    side, stretch = space.side("fr"), np.diag(np.linspace(0.3, 3, 8))  # symmetric: the polar stretch
    original = space.vectors("fr").matrix @ side.mapping  # what the rotation turned
    stretched = original @ (side.mapping @ stretch).T
    stretched /= np.linalg.norm(stretched, axis=1, keepdims=True)
    vectors = replace(side.vectors, matrix=stretched.astype(np.float32))
    changed = replace(side, vectors=vectors, mapping=(side.mapping @ stretch).astype(np.float32))
    found = Space({"fr": changed, "en": space.side("en")}, pivot="en").unweighted("fr", 39)
    np.testing.assert_allclose(found, space.tensor("fr"), atol=1e-5)
    np.testing.assert_allclose(space.unweighted("fr", 5), space.tensor("fr")[:5], atol=1e-6)


def test_directions_that_a_mapping_leaves_out_stay_out(tmp_path: Path) -> None:
    # A mapping of few pairs has few dimensions; what is left of the others is rounding, not to be undone.
    rows = raw_rows(0, 300, 20)
    left, right = rng_rotation(1, 20)[:, :5], rng_rotation(2, 20)[:, :5]
    stretch = np.array([3, 2, 1, 0.5, 0.2])
    mapping = ((left * stretch) @ right.T).astype(np.float32)
    assert np.linalg.matrix_rank(mapping.astype(np.float64), tol=1e-12) > 5
    side = side_to_save("fr", rows, mapping)
    sides = {"en": side_to_save("en", raw_rows(3, 300, 20)), "fr": side}
    save_space(tmp_path / "s", sides, pivot="en", provenance=PROVENANCE)
    found = load_space(tmp_path / "s").unweighted("fr", 300).numpy()
    expected = side.vectors.matrix.astype(np.float64) @ right @ left.T
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, atol=1e-3)


def rng_rotation(seed: int, dimension: int) -> Matrix:
    q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(dimension, dimension)))
    return q


def rng_matrix(seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.random.default_rng(seed).normal(size=(8, 8)).astype(np.float32)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_new_words_that_are_not_finite(space: Space, bad: float) -> None:
    rows = raw_rows(1, 39)
    rows[7, 3] = bad
    with pytest.raises(Mismatch, match=r"got .* in row 8 of 39"):
        space.map_words("fr", rows)


def test_a_space_and_its_sides_are_shown_in_a_line(space: Space) -> None:
    assert repr(space) == "Space(en: 40 words, fr: 39 words, 8 dimensions, pivot en)"
    assert repr(space.vectors("fr")) == "Vectors(fr: 39 words, 8 dimensions)"
    assert repr(space.side("fr")) == "Side(fr: 39 words, 8 dimensions)"


def test_new_words_of_another_dimension(space: Space) -> None:
    with pytest.raises(Mismatch, match="new words: rows of fr need 8 numbers each, got 5"):
        space.map_words("fr", raw_rows(0, 2, 5))


def test_arrays_are_mapped_and_a_change_stays_in_memory(space: Space, tmp_path: Path) -> None:
    assert isinstance(space.vectors("fr").matrix.base, np.memmap)
    before = (tmp_path / "space" / "fr" / "vectors.npy").read_bytes()
    space.vectors("fr").matrix[:] = 0
    assert (tmp_path / "space" / "fr" / "vectors.npy").read_bytes() == before


def test_stored_hubness_is_the_mean_cosine_to_the_ten_nearest(space: Space) -> None:
    fr, en = space.vectors("fr").matrix, space.vectors("en").matrix
    cosines = fr.astype(np.float64) @ en.T
    assert space.hubness("fr", "en") is None
    space.bias("fr", "en", Retrieval())  # finds both
    for language, against, table in (("fr", "en", cosines), ("en", "fr", cosines.T)):
        expected = np.sort(table, axis=1)[:, -10:].mean(axis=1)
        stored = space.hubness(language, against)
        assert stored is not None
        np.testing.assert_allclose(stored.numpy(), expected, atol=1e-6)
    with pytest.raises(BadSetting, match="the languages of this space are en, fr; got 'de'"):
        space.hubness("fr", "de")


@pytest.mark.slow
def test_hubness_of_very_many_words_is_approximate_and_kept_as_such(tmp_path: Path) -> None:
    rng, steps = np.random.default_rng(0), Normalisation(("unit",), ())
    rows = rng.normal(size=(11_000, 8)).astype(np.float32)
    sides = {}
    for name in ("fr", "en"):
        unit = normalise(rows + 0.3 * rng.normal(size=rows.shape).astype(np.float32), ["unit"])[0]
        words = [f"{name}{row}" for row in range(len(unit))]
        sides[name] = SideToSave(Vectors(name, words, unit), steps)
    save_space(tmp_path / "s", sides, pivot="en", provenance=PROVENANCE)
    recalls: list[Recall] = []
    asked = Approximation("approximate", report=recalls.append)
    space, csls = load_space(tmp_path / "s", approximation=asked), Retrieval()
    found = space.bias("fr", "en", csls)
    assert found is not None and [recall.meets(Demand()) for recall in recalls] == [True, True]
    signed = look_up_signature(Ranker(space, ("fr", "en"), csls))
    assert "| search:approximate |" in str(signed)
    # Neither is looked up by what the space keeps.
    assert "search" not in str(look_up_signature(Ranker(space, ("fr", "en"), Retrieval("csls", k=5))))
    assert "search" not in str(space_signature(space, "fr", "en", retrieval="csls:10"))
    derived(tmp_path / "s", lambda folder: write_derived(space, folder))
    again = load_space(tmp_path / "s", approximation=asked)
    kept = again.bias("fr", "en", csls)
    assert kept is not None and torch.equal(kept, found) and len(recalls) == 2
    # An exact space does not take it, and what that has found is better.
    exact = load_space(tmp_path / "s")
    assert exact.hubness("en", "fr") is None
    bias = exact.bias("fr", "en", csls)
    assert bias is not None
    torch.testing.assert_close(found, bias, atol=0.01, rtol=0)
    derived(tmp_path / "s", lambda folder: write_derived(exact, folder))
    better = load_space(tmp_path / "s", approximation=asked)
    kept = better.bias("fr", "en", csls)
    assert kept is not None and torch.equal(kept, bias)
    assert "search" not in str(look_up_signature(Ranker(better, ("fr", "en"), csls)))


@pytest.mark.parametrize(
    "retrieval", [Retrieval(), Retrieval("csls", k=3), Retrieval("nn"), Retrieval("isf")], ids=str
)
def test_bias_is_that_of_the_retrieval(space: Space, retrieval: Retrieval) -> None:
    for source, target in (("fr", "en"), ("en", "fr")):
        expected = retrieval.bias(space.tensor(source), space.tensor(target))
        found = space.bias(source, target, retrieval)
        if expected is None:
            assert found is None
            continue
        assert found is not None
        torch.testing.assert_close(found, expected)
        assert space.bias(source, target, retrieval) is found


def test_direction_among_several(tmp_path: Path) -> None:
    two = saved(tmp_path / "two")
    assert two.direction() == two.direction("fr", "en") == ("fr", "en")
    assert two.direction("en") == two.direction(target="fr") == ("en", "fr")
    space = saved(tmp_path / "three", "fr", "de")
    assert space.languages == ("en", "fr", "de")
    assert space.direction("de") == ("de", "en")
    assert space.direction(target="de") == ("en", "de")
    assert space.direction("fr", "de") == ("fr", "de")
    with pytest.raises(BadSetting, match="has fr, de besides en; choose one with --src or --tgt"):
        space.direction()
    with pytest.raises(BadSetting, match="got 'fr' twice"):
        space.direction("fr", "fr")
    assert space.hubness("fr", "de") is None
    assert space.bias("fr", "de", Retrieval()) is not None
    assert space.hubness("fr", "de") is not None


def test_an_unknown_language_is_told_the_known_ones(space: Space) -> None:
    for ask in (space.vectors, space.tensor, lambda x: space.map_words(x, raw_rows(0, 1)), space.direction):
        with pytest.raises(BadSetting, match="are en, fr; got 'xx'"):
            ask("xx")
