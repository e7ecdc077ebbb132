"""Encoders of words: the weights by hand; trained rows as their tables give them, saved and loaded again."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from muse.errors import BadFile, BadSetting, Mismatch
from muse.sentences.encoders.pooling import Power, Signed
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.words import PowerMean, TrainedEncoder, weights_from_rank, weights_from_text
from muse.sentences.loading import load_encoder
from muse.space import Space
from tests.support.parallel import DIMENSION, WORDS, toy_space

FR = np.random.default_rng(5).normal(size=(WORDS, DIMENSION)).astype(np.float32)


@pytest.fixture
def space(tmp_path: Path) -> Space:
    return toy_space(tmp_path / "space")


def encoder(space: Space, pooling: str = "mean", powers: tuple[Power, ...] = (1.0,)) -> TrainedEncoder:
    return TrainedEncoder(
        "x-cbow[align:0.25]", space, ("fr", "en"), {"fr": FR}, pooling, powers, settings={"seed": 3}
    )


def test_it_pools_its_own_rows_and_of_the_pivot_those_of_the_space(space: Space) -> None:
    made = encoder(space)
    found = made.encode(["fr3 fr5 fr3", "", "fr7 unknown"], "fr")
    assert np.allclose(found.matrix, [FR[[3, 5, 3]].mean(0), np.zeros(DIMENSION), FR[7]], atol=1e-6)
    assert (found.empty, found.tokens, found.unknown) == (1, 5, 1)
    pivot = made.encode(["en3 en5", "en7"], "en").matrix
    untrained = load_encoder("mean", space).encode(["en3 en5", "en7"], "en").matrix
    assert np.array_equal(pivot, untrained)
    assert (made.name, made.languages, made.dimension) == ("x-cbow[align:0.25]", ("fr", "en"), DIMENSION)
    assert made.fit(["fr1"], "fr") is made


def test_sums_and_power_means(space: Space) -> None:
    summed = encoder(space, "sum").encode(["fr3 fr5 fr3"], "fr").matrix
    assert np.allclose(summed, FR[[3, 5, 3]].sum(0), atol=1e-5)
    powers = encoder(space, powers=(-np.inf, 1, np.inf))
    rows = FR[[3, 5]]
    expected = np.concatenate([rows.min(0), rows.mean(0), rows.max(0)])
    assert np.allclose(powers.encode(["fr3 fr5"], "fr").matrix, expected, atol=1e-6)
    assert powers.dimension == 3 * DIMENSION
    assert powers.name == "x-cbow[align:0.25]+power-mean[-inf,1,inf]"


def test_a_language_it_was_not_trained_for(space: Space) -> None:
    for use in (encoder(space).encode, encoder(space).fit):
        with pytest.raises(BadSetting, match=r"encodes fr, en; got 'de'.*muse train"):
            use([], "de")


@pytest.mark.parametrize("powers", [(1.0,), (-np.inf, 1.0, Signed(2.0), np.inf)])
def test_saved_and_loaded_again(space: Space, tmp_path: Path, powers: tuple[Power, ...]) -> None:
    made = encoder(space, "sum", powers)
    made.save(tmp_path / "encoder")
    loaded = load_encoder(tmp_path / "encoder", space)
    assert isinstance(loaded, TrainedEncoder)
    assert loaded.name == made.name
    assert loaded.settings == {"seed": 3}
    for language in ("fr", "en"):
        text = [f"{language}3 {language}5", ""]
        assert np.array_equal(loaded.encode(text, language).matrix, made.encode(text, language).matrix)
    assert list(loaded.tables) == ["fr"]  # the pivot's are the space's, and not written twice


def test_the_words_are_there_for_any_other_pooling(space: Space) -> None:
    from muse.sentences.encoders.words import Lookup

    found = PowerMean(Lookup(encoder(space).words), (3.0,)).encode(["fr3 fr5"], "fr").matrix
    assert np.allclose(found, np.cbrt((FR[[3, 5]].astype(np.float64) ** 3).mean(0)), atol=1e-5)


def test_a_broken_folder_is_refused(space: Space, tmp_path: Path) -> None:
    encoder(space).save(tmp_path / "encoder")
    path = tmp_path / "encoder" / "manifest.json"
    whole = json.loads(path.read_text())
    for settings in ({}, {**whole["settings"], "powers": 3}, {**whole["settings"], "training": "x"}):
        path.write_text(json.dumps({**whole, "settings": settings}))
        with pytest.raises(BadFile, match="settings of a trained encoder"):
            load_encoder(tmp_path / "encoder", space)


@pytest.mark.parametrize("name", ["x-cbow", "projection", "cvm-add"])
def test_a_name_alone_says_how_to_train_one(space: Space, name: str) -> None:
    with pytest.raises(BadSetting, match="need training: run muse train SPACE"):
        load_encoder(name, space)


# Three sentences over 4 words: 0 0 1 | 0 2 | (empty)
TEXT = Ragged.of([[0, 0, 1], [0, 2], []])
NOTHING = Ragged.of([[]])


def test_idf_counts_a_word_once_a_sentence() -> None:
    found = weights_from_text("idf", [TEXT], 4)
    expected = [math.log(4 / 2.5), math.log(4 / 1.5), math.log(4 / 1.5), math.log(4 / 0.5), math.log(4 / 0.5)]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_sif_counts_every_occurrence() -> None:
    p = np.array([3, 1, 1, 0, 0]) / 5
    np.testing.assert_allclose(weights_from_text("sif", [TEXT], 4), 1e-3 / (1e-3 + p), rtol=1e-6)


@pytest.mark.parametrize("weighting", ["idf", "sif"])
def test_unknown_words_are_each_as_rare_as_can_be(weighting: str) -> None:
    text = Ragged.of([[0, 4, 5], [1, 6, 4], [7]])  # 4 words are known; 4 and more are not
    found = weights_from_text(weighting, [text], 4)
    expected = {
        "idf": np.log(4 / np.array([1.5, 1.5, 0.5, 0.5, 0.5])),
        "sif": 1e-3 / (1e-3 + np.array([1, 1, 0, 0, 0]) / 7),
    }[weighting]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("weighting", ["idf", "sif"])
def test_blocks_make_no_difference(weighting: str) -> None:
    parts = [TEXT.take(torch.tensor([0])), TEXT.take(torch.tensor([1, 2]))]
    np.testing.assert_array_equal(
        weights_from_text(weighting, parts, 4), weights_from_text(weighting, [TEXT], 4)
    )


@pytest.mark.parametrize("weighting", ["idf", "sif"])
def test_by_rank_rarer_words_weigh_more(weighting: str) -> None:
    found = weights_from_rank(weighting, 1000)
    assert len(found) == 1001
    assert (np.diff(found) > 0).all()
    assert found[0] > 0


def test_by_rank_probabilities_are_zipfs() -> None:
    total = sum(1 / r for r in range(1, 12))
    sif, idf = weights_from_rank("sif", 10), weights_from_rank("idf", 10)
    assert sif[3] == pytest.approx(1e-3 / (1e-3 + 1 / 4 / total), rel=1e-5)
    assert idf[3] == pytest.approx(-math.log(1 - (1 - 1 / 4 / total) ** 10), rel=1e-5)


@pytest.mark.parametrize("weighting", ["idf", "sif"])
def test_text_without_a_word_is_refused(weighting: str) -> None:
    with pytest.raises(Mismatch, match="none in 1 line"):
        weights_from_text(weighting, [NOTHING], 4)
