"""Vectors: the row of a word, however its accents are encoded."""

import unicodedata

import numpy as np
import pytest

from muse.learn.initialise.identical import identical_strings
from muse.lexicon import Lexicon
from muse.ranking.lookup import lookup_entry
from muse.sentences.encoders.reading import Vocabulary
from muse.space import Space
from muse.translate.text import Translator
from muse.vectors import Vectors
from tests.support.spaces import plain_space

PORTUGUESE = ["é", "não", "ação", "possível", "casa"]


def apart(words: list[str]) -> list[str]:
    return [unicodedata.normalize("NFD", word) for word in words]


def vectors(words: list[str], language: str = "pt") -> Vectors:
    return Vectors(language, words, np.eye(len(words), dtype=np.float32))


def translated(space: Space, line: str) -> str:
    return Translator(space, source="fr", target="en").translate([line])[0]


@pytest.mark.parametrize("words", [PORTUGUESE, apart(PORTUGUESE)])
def test_a_word_is_found_with_its_accents_composed_and_apart(words: list[str]) -> None:
    of = vectors(words)
    for line in ("Não é possível", unicodedata.normalize("NFD", "Não é possível")):
        reading = Vocabulary("pt", of.index).read([line])
        assert (reading.sentences.ids.tolist(), reading.unknown) == ([1, 0, 3], 0)
    for typed in ("Ação", unicodedata.normalize("NFD", "ação")):
        form = lookup_entry(typed, of)
        assert form is not None
        assert of.index[form] == 2
    assert Lexicon((("não", "não"),)).indices(of.index, of.index).tolist() == [[1, 1]]


def test_the_same_word_in_two_languages_is_alike_in_any_encoding() -> None:
    composed, decomposed = vectors(PORTUGUESE), vectors(apart(PORTUGUESE), "gl")
    for one, two in ((composed, decomposed), (decomposed, composed), (composed, composed)):
        pairs = identical_strings(one, two)
        assert pairs.indices(one.index, two.index).tolist() == [[row, row] for row in range(5)]


def test_translated_text_has_composed_accents() -> None:
    eye = np.eye(5, dtype=np.float32)
    for target in (PORTUGUESE, apart(PORTUGUESE)):
        space = plain_space(eye, eye, ["est", "pas", "action", "possible", "maison"], target)
        assert translated(space, "Action pas possible.") == "Ação não possível."
