"""Rows completed by other forms of words are nearer to what these mean, however a mapping rotates them."""

import numpy as np
import pytest

from muse.ranking.completed import WEIGHT, MadeRows
from muse.space.inflections import learn_suffix_rules
from tests.support.made_up_pair import unit

ENDS = ("", "s", "ed", "ing")


@pytest.fixture(scope="module")
def language() -> tuple[list[str], np.ndarray, np.ndarray]:
    """Words of 60 stems with each end, and one without forms; their rows without noise, and with it."""
    rng = np.random.default_rng(0)
    stems = ["".join(rng.choice([*"abklmoprtu"], 7)) for _ in range(60)]
    words = [stem + end for stem in stems for end in ENDS] + ["xyzxyz"]
    meant = np.repeat(rng.standard_normal((60, 20)), len(ENDS), axis=0)
    meant += np.tile(0.5 * rng.standard_normal((len(ENDS), 20)), (60, 1))
    meant = np.concatenate([meant, rng.standard_normal((1, 20))])
    return words, unit(meant), unit(meant + 0.8 * rng.standard_normal(meant.shape)).astype(np.float32)


def test_they_are_nearer_to_the_meaning(language: tuple[list[str], np.ndarray, np.ndarray]) -> None:
    words, meant, rows = language
    rules = learn_suffix_rules(words, rows)
    of_language = MadeRows.of(words, rows, rules)
    completed = of_language.completed()
    assert (completed * meant).sum(axis=1).mean() > (rows * meant).sum(axis=1).mean() + 0.03
    np.testing.assert_allclose(completed[-1], rows[-1], atol=1e-6)
    assert not of_language.made[-1].any()
    np.testing.assert_allclose(completed, unit(rows + WEIGHT * of_language.made), atol=1e-6)


def test_another_mapping_completes_the_same(language: tuple[list[str], np.ndarray, np.ndarray]) -> None:
    words, _, rows = language
    of_language = MadeRows.of(words, rows, learn_suffix_rules(words, rows))
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((20, 20)))[0].astype(np.float32)
    np.testing.assert_allclose(of_language.completed(rows @ turn), of_language.completed() @ turn, atol=1e-5)
