"""Queries among the rows of a store as they were: by the formula, by what a search finds, and by command."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadFile, BadSetting, Mismatch
from muse.files import read_vectors
from muse.normalise import Normalisation, normalise
from muse.space import Side, Space, load_space
from muse.space.store_projection import ToStore, map_into_store
from muse.vectors import Matrix, Vectors
from tests.support.command import Command
from tests.support.spaces import STEPS, raw_rows, rotation, saved, saved_with_store_map


def unit(rows: Matrix) -> Matrix:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def rotated(turn: Matrix, store: Matrix) -> Space:
    """The store as en, and fr, whose rows are those of the store before this rotation."""
    sides = {}
    for name, raw, mapping in (
        ("fr", store @ turn, turn),
        ("en", store, np.eye(len(turn), dtype=np.float32)),
    ):
        rows, fitted = normalise(raw, STEPS)
        text = [f"{name}{row}" for row in range(len(rows))]
        sides[name] = Side(Vectors(name, text, rows @ mapping.T, frequency_ordered=False), mapping, fitted)
    return Space(sides, "en")


def test_a_query_lies_where_a_row_of_the_store_would() -> None:
    rng = np.random.default_rng(0)
    store = (rng.normal(size=(300, 40)) + 0.8).astype(np.float32)  # all near one direction, as of real models
    queries = (rng.normal(size=(200, 40)) + 0.8).astype(np.float32)
    turn = rotation(1, 40)
    space = rotated(turn, store)
    found = map_into_store(space, "fr", queries @ turn, "en")
    native = unit(queries) @ unit(store).T
    neighbours = np.argsort(-native, axis=1)[:, :10]

    def kept(by: Matrix) -> float:
        own = np.argsort(-(by @ unit(store).T), axis=1)[:, :10]
        return (
            float(np.mean([len(set(one) & set(other)) for one, other in zip(own, neighbours, strict=True)]))
            / 10
        )

    assert kept(found) > 0.94
    assert (
        kept(space.map_words("fr", queries @ turn)) < 0.7
    )  # the same search by a query that is only centred


def test_it_is_the_formula_and_zeros_stay_zeros() -> None:
    store = raw_rows(0, 60)
    space = rotated(rotation(1), store)
    queries = raw_rows(2, 9)
    queries[4] = 0
    mean = unit(store).mean(axis=0)
    inside = space.map_words("fr", queries)
    with np.errstate(invalid="ignore"):
        expected = unit(inside * np.sqrt(1 - mean @ mean) + mean)
    expected[4] = 0
    np.testing.assert_allclose(map_into_store(space, "fr", queries, "en"), expected, atol=1e-6)
    assert ToStore.of(space, "en")(inside[:0]).shape == (0, 8)


def test_a_rotated_language_is_rotated_back() -> None:
    store = raw_rows(0, 60)
    space = rotated(rotation(1), store)
    found = map_into_store(space, "en", store, "fr")
    own = unit(store @ rotation(1))
    assert ((found @ own.T).argmax(axis=1) == np.arange(60)).mean() > 0.95


@pytest.mark.parametrize("units", [0, 5])
def test_a_map_for_queries_alone_is_used_for_them_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, units: int
) -> None:
    monkeypatch.setattr("muse.alignment.BLOCK", 4)
    space, plain = saved_with_store_map(tmp_path / "space", units), saved(tmp_path / "plain")
    queries = raw_rows(2, 9)
    queries[4] = 0
    found = space.side("fr").store_map
    assert found is not None and (found.hidden is not None) == bool(units)
    x = plain.side("fr").normalisation.apply(queries).astype(np.float64)
    mapped = x @ found.weight.T
    if found.hidden is not None:
        mapped += np.maximum(x @ found.hidden.inner.T + found.hidden.bias, 0) @ found.hidden.outer.T
    (mean,) = plain.side("en").normalisation.means
    mapped[4] = 1  # any row: zeros stay zeros
    expected = unit(unit(mapped.astype(np.float32)) * np.sqrt(1 - mean @ mean) + mean)
    expected[4] = 0
    np.testing.assert_allclose(map_into_store(space, "fr", queries, "en"), expected, atol=1e-6)
    np.testing.assert_array_equal(space.map_words("fr", queries), plain.map_words("fr", queries))
    back = map_into_store(space, "en", queries, "fr")
    np.testing.assert_array_equal(back, map_into_store(plain, "en", queries, "fr"))


def test_a_damaged_map_for_queries_is_named(tmp_path: Path) -> None:
    home = tmp_path / "space"
    saved_with_store_map(home)
    weights = np.load(home / "fr" / "hidden.npy")
    np.save(home / "fr" / "hidden.npy", weights + 1)
    with pytest.raises(BadFile, match=r"hidden\.npy"):
        load_space(home)
    np.save(home / "fr" / "hidden.npy", weights[1:])
    with pytest.raises(BadFile, match=r"hidden\.npy: expected float32 of shape \(5, 17\)"):
        load_space(home, check=False)


def test_what_has_no_way_back_is_refused() -> None:
    space = rotated(rotation(1), raw_rows(0, 60))
    with pytest.raises(Mismatch, match="rows of fr are among those of fr already"):
        map_into_store(space, "fr", raw_rows(2, 3), "fr")
    mean = np.zeros(8, np.float32)
    other = replace(space.side("en"), normalisation=Normalisation(("centre", "unit"), (mean,)))
    with pytest.raises(
        BadSetting, match="en: the way back .* needs unit before each centre, got centre,unit"
    ):
        ToStore.of(replace(space, sides={**space.sides, "en": other}), "en")


def test_by_command(muse: Command, tmp_path: Path) -> None:
    space = saved_with_store_map(tmp_path / "space")
    np.save(tmp_path / "queries.npy", raw_rows(9, 30))
    given = "map", tmp_path / "space", "--lang", "fr", "--vectors", tmp_path / "queries.npy"
    out = muse(*given, "--among", "en", "--out", tmp_path / "found.npy")
    assert "30 rows in" in out.out
    found = read_vectors(tmp_path / "found.npy", language="fr").matrix
    np.testing.assert_allclose(found, map_into_store(space, "fr", raw_rows(9, 30), "en"), atol=1e-6)
    refused = muse(*given, "--among", "fr", "--out", tmp_path / "found.npy")
    assert refused.code == 2
    assert "--among needs another language than --lang, got 'fr' twice" in refused.err
