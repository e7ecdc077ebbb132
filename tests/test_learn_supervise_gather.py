"""What a dictionary becomes: rows of both languages, with weights."""

from __future__ import annotations

import numpy as np
import pytest

from muse.errors import Mismatch
from muse.learn.supervise.gather import gather
from muse.learn.supervise.orthogonal import orthogonal
from muse.lexicon import Lexicon
from muse.procrustes import procrustes
from tests.toys import pair


def test_pairs_with_an_unknown_word_are_left_out() -> None:
    source, target, turn = pair(300)
    lexicon = Lexicon(tuple((f"fr{row}", f"en{row}") for row in range(100)) + (("fr1", "cat"), ("x", "en1")))
    evidence = gather(lexicon, source, target)
    assert evidence.pairs.tolist() == [[row, row] for row in range(100)]
    expected = procrustes(source.tensor()[:100], target.tensor()[:100]).numpy()
    found = orthogonal(evidence).source.numpy()
    assert np.array_equal(found, expected)
    assert np.abs(found - turn).max() < 0.1


def test_pairs_without_weight_are_left_out() -> None:
    source, target, _ = pair(300)
    pairs = tuple((f"fr{row}", f"en{row}") for row in range(100))
    evidence = gather(Lexicon(pairs, probabilities=(0.0, *[0.5] * 99)), source, target)
    assert evidence.pairs.tolist() == [[row, row] for row in range(1, 100)]
    with pytest.raises(Mismatch, match="must weigh more than 0"):
        gather(Lexicon(pairs, probabilities=(0.0,) * 100), source, target)


def test_a_dictionary_of_other_words() -> None:
    source, target, _ = pair(300)
    with pytest.raises(Mismatch, match="got 0 of 2; check the order of the languages"):
        gather(Lexicon((("en1", "fr1"), ("chat", "cat"))), source, target)
