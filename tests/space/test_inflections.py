"""Suffix rules on a language whose morphology is known, among words that have none."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple
from unicodedata import normalize

import numpy as np
import pytest

from muse.errors import Mismatch
from muse.space.inflections import SuffixRules, learn_suffix_rules
from muse.space.new_words import own_new_words
from muse.vectors import Matrix, WordIndex
from tests.support.spaces import plain_space

SUFFIXES = ("", "er", "ons", "âmes")
D = 40


class Language(NamedTuple):
    words: list[str]
    rows: Matrix
    places: WordIndex


@pytest.fixture(scope="module")
def language() -> Language:
    """40 stems with four suffixes, the row of a word their sum, and 200 words that only look inflected."""
    rng = np.random.default_rng(0)
    letters = np.array([*"bcdfglmnprtv"])
    stems = ["".join(rng.choice(letters, 5)) for _ in range(40)]
    parts = {part: rng.normal(size=D) for part in [*stems, *SUFFIXES]}
    words = [stem + suffix for stem, suffix in product(stems, SUFFIXES)]
    rows = [parts[stem] + parts[suffix] for stem, suffix in product(stems, SUFFIXES)]
    noise = ["".join(rng.choice(letters, 4)) + end for end in ("", "a") for _ in range(100)]
    noise[100:] = [word + "a" for word in noise[:100]]
    matrix = np.array([*rows, *rng.normal(size=(len(noise), D))], np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return Language([*words, *noise], matrix, WordIndex([*words, *noise]))


def without(language: Language, word: str) -> tuple[SuffixRules, Language]:
    """What is learned without a word, and the others."""
    place = language.places[word]
    words = [one for one in language.words if one != word]
    rows = np.delete(language.rows, place, axis=0)
    return learn_suffix_rules(words, rows), Language(words, rows, WordIndex(words))


def test_the_rules_are_those_of_the_language(language: Language) -> None:
    found = learn_suffix_rules(language.words, language.rows)
    assert {*found.names} == {(one, other) for one, other in product(SUFFIXES, SUFFIXES) if one != other}
    # A rule without its own pair, computed one by one.
    place = found.names.index(("er", "ons"))
    x, y = (language.rows[start:160:4] for start in (1, 2))
    cosines = []
    for pair in range(len(x)):
        others = np.arange(len(x)) != pair
        made = x[pair] + (y - x)[others].mean(axis=0)
        cosines.append(made @ y[pair] / np.linalg.norm(made))
    assert found.cosines[place] == pytest.approx(np.mean(cosines), abs=1e-5)
    np.testing.assert_allclose(found.offsets[place], (y - x).mean(axis=0), atol=1e-6)


def test_an_unknown_inflection_is_near_its_place(language: Language) -> None:
    word = language.words[6]  # the third form of the second stem
    rules, others = without(language, word)
    forms = rules.forms([word, "zzzzzons", "ons"], others.places)
    assert forms.any.tolist() == [True, False, False]
    assert {others.words[row] for row in forms.words[0].indices} == {*language.words[4:8]} - {word}
    made = rules.rows(forms, others.rows)
    assert (language.rows @ made[0]).argmax() == 6
    assert float(language.rows[6] @ made[0]) > 0.9
    assert not made[1:].any()
    # In any Unicode form, and without the word itself where the vocabulary has it.
    again = rules.forms([normalize("NFD", language.words[7])], language.places)
    assert {*again.words.indices.tolist()} == {4, 5, 6}


def test_words_left_out_teach_nothing(language: Language) -> None:
    left_out = np.zeros(len(language.words), bool)
    left_out[::7] = True
    found = learn_suffix_rules(language.words, language.rows, left_out)
    kept = np.flatnonzero(~left_out)
    fewer = learn_suffix_rules([language.words[row] for row in kept], language.rows[kept])
    assert found.names == fewer.names
    np.testing.assert_array_equal(found.offsets, fewer.offsets)
    nothing = learn_suffix_rules([], language.rows[:0])
    assert not nothing.forms(["word"], language.places).any[0]


@pytest.mark.parametrize("by_forms", [True, False])
def test_new_words_are_made_of_forms_before_n_grams(
    language: Language, by_forms: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object, **__: object) -> None:
        raise Mismatch("n-grams were learned")

    monkeypatch.setattr("muse.space.new_words.learn_subwords", none)
    word = language.words[6]
    _, others = without(language, word)
    space = plain_space(others.rows, others.rows, others.words, others.words)
    new = own_new_words(space, "fr", by_forms=by_forms)
    assert new.composed
    if by_forms:
        assert new.has(word)
        assert float(new.rows([word])[0] @ language.rows[6]) > 0.9
    with pytest.raises(Mismatch, match="n-grams were learned"):
        new.has("zzzzz" if by_forms else word)
