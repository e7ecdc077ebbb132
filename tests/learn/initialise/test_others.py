"""Similar distributions and identical strings as initialisations."""

from dataclasses import replace

import numpy as np
import pytest

from muse.errors import Mismatch
from muse.learn.initialise.identical import IdenticalConfig, identical, identical_strings
from muse.learn.initialise.similarity import SimilarityConfig, similarity
from muse.learn.pair import LanguagePair
from tests.support.toys import pair, shuffled

RNG = np.random.default_rng(0)


def test_similarity_finds_a_planted_rotation_in_any_order() -> None:
    source, target, turn = pair(500)
    mixed, _ = shuffled(target)
    for other in (target, mixed, mixed.most_frequent(490)):
        score = LanguagePair(source, other).criterion()
        (found,) = similarity(LanguagePair(source, other), score, RNG, config=SimilarityConfig())
        assert found.method == "similarity"
        assert found.criterion == pytest.approx(score(found.source_map))
        if len(other) == len(source):
            assert np.abs(found.source_map - turn).max() < 0.2


def test_identical_strings() -> None:
    source, target, turn = pair(300)
    shared = replace(target, words=[*target.words[:100], *source.words[100:]])
    assert identical_strings(source, shared).pairs[0] == ("fr100", "fr100")
    assert len(identical_strings(source, shared)) == 200
    both = LanguagePair(source, shared)
    (found,) = identical(both, both.criterion(), RNG, config=IdenticalConfig())
    assert found.method == "identical"
    assert np.abs(found.source_map - turn).max() < 0.1


@pytest.mark.parametrize("shared", [0, 9])
def test_too_few_identical_strings(shared: int) -> None:
    source, target, _ = pair(300)
    other = replace(target, words=[*source.words[:shared], *target.words[shared:]])
    with pytest.raises(Mismatch, match=f"at least 10 words spelt alike in both languages, got {shared}"):
        list(identical(LanguagePair(source, other), lambda _: 0.0, RNG, config=IdenticalConfig()))


def test_identical_strings_that_mean_something_else_are_left_out() -> None:
    source, target, turn = pair(400)
    false = shuffled(target.most_frequent(100))[0].matrix
    rows = np.concatenate([false, target.matrix[100:]])
    shared = replace(target, words=source.words, matrix=rows)
    errors = []
    for chance in (0.95, 0.0):
        config, rng = IdenticalConfig(chance=chance), np.random.default_rng(0)
        (found,) = identical(LanguagePair(source, shared), lambda _: 0.0, rng, config=config)
        errors.append(np.abs(found.source_map - turn).max())
    assert errors[0] < errors[1] / 2
