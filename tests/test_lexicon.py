"""The lexicon as a thing: indices, reversal, translations."""

from __future__ import annotations

import numpy as np
import pytest

from muse.errors import Mismatch
from muse.lexicon import Lexicon

LEXICON = Lexicon((("cat", "chat"), ("dog", "chien"), ("cat", "matou")), (0.9, 0.8, 0.1))


def test_indices_of_the_covered_pairs_in_order() -> None:
    indices = LEXICON.indices({"cat": 5, "dog": 2}, {"chat": 0, "matou": 7})
    assert indices.tolist() == [[5, 0], [5, 7]]
    assert indices.dtype == np.int64


def test_no_pair_covered_keeps_the_shape() -> None:
    indices = LEXICON.indices({}, {"chat": 0})
    assert indices.shape == (0, 2)
    assert indices.dtype == np.int64


def test_reversed_twice_is_the_same() -> None:
    assert LEXICON.reversed().pairs[0] == ("chat", "cat")
    assert LEXICON.reversed().scores == LEXICON.scores
    assert LEXICON.reversed().reversed() == LEXICON


def test_translations_collects_all_of_a_word() -> None:
    assert LEXICON.translations() == {"cat": frozenset({"chat", "matou"}), "dog": frozenset({"chien"})}
    assert list(LEXICON.translations()) == ["cat", "dog"]


def test_length_is_the_number_of_pairs() -> None:
    assert len(LEXICON) == 3
    assert len(Lexicon(())) == 0


def test_scores_must_fit() -> None:
    with pytest.raises(Mismatch, match="one score for each pair or none, got 1 for 2 pairs"):
        Lexicon((("a", "b"), ("c", "d")), (1.0,))


def test_frozen() -> None:
    with pytest.raises(AttributeError):
        LEXICON.pairs = ()  # type: ignore[misc]
