"""The criterion of a pair of languages."""

import numpy as np
import pytest
import torch

from muse.learn.pair import LanguagePair, mean_cosine
from tests.search.test_neighbours import random_rows
from tests.search.test_retrieval import cosines, csls
from tests.support.spaces import rotation
from tests.support.toys import DIMENSION, pair


def test_the_definition() -> None:
    x, y = random_rows(0, 40), random_rows(1, 30)
    best = csls(x, y, 10).argmax(axis=1)
    assert mean_cosine(x, y) == pytest.approx(cosines(x, y)[np.arange(40), best].mean(), abs=1e-5)


def test_the_right_mapping_is_highest() -> None:
    source, target, turn = pair()
    score = LanguagePair(source, target).criterion()
    assert score(turn) > 0.95
    assert all(score(rotation(seed, DIMENSION)) < score(turn) - 0.1 for seed in range(1, 6))


def test_length_does_not_count() -> None:
    source, target, turn = pair()
    score = LanguagePair(source, target).criterion(200)
    assert score(3 * turn) == pytest.approx(score(turn), abs=1e-6)


def test_only_the_most_frequent_words_count() -> None:
    source, target, turn = pair()
    few = LanguagePair(source.most_frequent(200), target.most_frequent(200)).criterion()
    assert LanguagePair(source, target).criterion(200)(turn) == few(turn)
    assert LanguagePair(source, target).criterion()(turn) != few(turn)


def test_turning_both_spaces_changes_nothing() -> None:
    x, y, turn = random_rows(2, 90), random_rows(3, 90), torch.from_numpy(rotation(4, 12))
    assert mean_cosine(x @ turn.T, y @ turn.T) == pytest.approx(mean_cosine(x, y), abs=1e-5)
