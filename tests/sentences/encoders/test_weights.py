"""Weights: the formulas by hand, and what rank stands for where there is no text."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from muse.errors import Mismatch
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.words import weights_from_rank, weights_from_text

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
    with pytest.raises(Mismatch, match="none in 1 lines"):
        weights_from_text(weighting, [NOTHING], 4)
