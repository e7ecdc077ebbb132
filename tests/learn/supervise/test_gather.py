"""What a dictionary becomes: rows of both languages, with weights."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from muse.errors import Mismatch
from muse.learn.supervise.linear import orthogonal
from muse.learn.supervise.training_pairs import pairs_of
from muse.lexicon import Lexicon
from muse.procrustes import procrustes
from tests.support.toys import pair


def test_pairs_with_an_unknown_word_are_left_out() -> None:
    source, target, turn = pair(300)
    lexicon = Lexicon(tuple((f"fr{row}", f"en{row}") for row in range(100)) + (("fr1", "cat"), ("x", "en1")))
    evidence = pairs_of(lexicon, source, target)
    assert evidence.pairs.tolist() == [[row, row] for row in range(100)]
    expected = procrustes(source.tensor()[:100], target.tensor()[:100]).numpy()
    found = orthogonal(evidence).source.numpy()
    assert np.array_equal(found, expected)
    assert np.abs(found - turn).max() < 0.1


def test_pairs_without_weight_are_left_out() -> None:
    source, target, _ = pair(300)
    pairs = tuple((f"fr{row}", f"en{row}") for row in range(100))
    evidence = pairs_of(Lexicon(pairs, probabilities=(0.0, *[0.5] * 99)), source, target)
    assert evidence.pairs.tolist() == [[row, row] for row in range(1, 100)]
    with pytest.raises(Mismatch, match="must weigh more than 0"):
        pairs_of(Lexicon(pairs, probabilities=(0.0,) * 100), source, target)


def test_a_dictionary_of_other_words() -> None:
    source, target, _ = pair(300)
    with pytest.raises(Mismatch, match="got 0 of 2"):
        pairs_of(Lexicon((("en1", "fr1"), ("chat", "cat"))), source, target)


def test_swapped_columns_are_refused_even_if_some_words_are_spelt_alike() -> None:
    source, target, _ = pair(300)
    alike = tuple(f"same{row}" for row in range(40))
    source, target = (replace(side, words=(*alike, *side.words[40:])) for side in (source, target))
    pairs = (*zip(alike, alike, strict=True), *((f"fr{row}", f"en{row}") for row in range(100, 141)))
    assert len(pairs_of(Lexicon(pairs), source, target).pairs) == 81
    with pytest.raises(Mismatch, match="have fr first, but seems to have en: 40 of 81 pairs are known"):
        pairs_of(Lexicon(pairs).reversed(), source, target)
    assert len(pairs_of(Lexicon(pairs[:-1]).reversed(), source, target).pairs) == 40  # no more than twice


def test_phrases_are_the_mean_of_their_words() -> None:
    source, target, _ = pair(50)
    lexicon = Lexicon((("fr1 fr2", "en3"), ("fr4", "en5 en6"), ("fr1 unknown", "en7"), ("fr8", "en8")))
    known = pairs_of(lexicon, source, target)
    assert known.pairs.tolist() == [[50, 3], [4, 50], [8, 8]]
    mean = source.matrix[1] + source.matrix[2]
    np.testing.assert_allclose(known.x[50].numpy(), mean / np.linalg.norm(mean), atol=1e-6)
    assert known.words == (50, 50)


def test_probabilities_weigh_pairs() -> None:
    source, target, _ = pair(50)
    pairs = (("fr1", "en1"), ("fr2", "en2"), ("fr2", "en3"), ("fr9", "other"))
    known = pairs_of(Lexicon(pairs, probabilities=(0.5, 1.0, 0.2, 0.9)), source, target)
    np.testing.assert_allclose(known.weights.numpy(), [0.5, math.sqrt(0.5), 0.2 * math.sqrt(0.5)], rtol=1e-6)
    assert pairs_of(Lexicon(pairs, scores=(1.2, 0.4, 0.3, 0.1)), source, target).weights[0] == 1.0


def test_pairs_of_words_without_a_vector_are_left_out() -> None:
    source, target, _ = pair(300)
    source.matrix[3], target.matrix[7] = 0, 0
    lexicon = Lexicon((*((f"fr{row}", f"en{row}") for row in range(10)), ("fr3 fr4", "en4")))
    assert pairs_of(lexicon, source, target).pairs.tolist() == [
        [row, row] for row in range(10) if row not in (3, 7)
    ]


def spelt(change: Callable[[str], str]) -> Lexicon:
    """A hundred pairs, of which every other is spelt otherwise, and as many of unknown words."""
    known = [(f"fr{row}", f"en{row}") for row in range(100)]
    pairs = [(change(one), change(two)) if row % 2 else (one, two) for row, (one, two) in enumerate(known)]
    return Lexicon((*pairs, *((f"x{row}", f"y{row}") for row in range(100))))


@pytest.mark.parametrize("capitals", [False, True])  # in the vectors, else in the dictionary
def test_pairs_in_another_case_are_named_with_what_to_do(
    capitals: bool, caplog: pytest.LogCaptureFixture
) -> None:
    sides = list(pair(300)[:2])
    if capitals:
        every = ([word.upper() if int(word[2:]) % 2 else word for word in side.words] for side in sides)
        sides = [replace(side, words=words) for side, words in zip(sides, every, strict=True)]
    pairs_of(spelt(str.lower if capitals else str.upper), *sides)
    advice = "use --lower" if capitals else "write them as the vectors do"
    assert caplog.messages == [
        "only 50 of 200 pairs of the dictionary are of known words; 50 more differ in upper and lower case "
        f"alone: {advice}"
    ]


@pytest.mark.parametrize(("unknown", "warned"), [(60, True), (40, False)])
def test_a_dictionary_of_which_little_is_known(
    unknown: int, warned: bool, caplog: pytest.LogCaptureFixture
) -> None:
    source, target, _ = pair(300)
    pairs = tuple((f"fr{row}", f"en{row + (1_000 if row < unknown else 0)}") for row in range(100))
    pairs_of(Lexicon(pairs), source, target)
    assert caplog.messages == ["only 40 of 100 pairs of the dictionary are of known words"] * warned


@pytest.mark.parametrize(
    ("second", "named"),
    # The translations of known words are known no more often than those of others; or 1.6 times as often.
    [(range(37, 104), True), ([*range(33), *range(112, 126)], False)],
    ids=["of other languages", "of rare words"],
)
def test_a_dictionary_of_other_languages_is_named(
    second: Sequence[int], named: bool, caplog: pytest.LogCaptureFixture
) -> None:
    source, target, _ = pair(600)
    known = [(row < 67, row in second) for row in range(150)]
    pairs = [
        (f"{'fr' if source else 'de'}{row}", f"{'en' if target else 'it'}{row}")
        for row, (source, target) in enumerate(known)
    ]
    pairs_of(Lexicon(tuple(pairs)), source, target)
    assert caplog.messages == [
        "is the dictionary of fr and en? 0 % of its pairs are two identical strings and 20 % are known; "
        "check its languages, and --max-vocab"
        if named
        else "only 33 of 150 pairs of the dictionary are of known words"
    ]
