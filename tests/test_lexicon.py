"""The core types: the lexicon and its translations, alignments, and the row of a word."""

import unicodedata

import numpy as np
import pytest

from muse.alignment import Alignment
from muse.errors import Mismatch
from muse.learn.initialise.identical import identical_strings
from muse.lexicon import Lexicon
from muse.ranking.lookup import lookup_entry
from muse.sentences.encoders.reading import Vocabulary
from muse.space import Space
from muse.translate.text import Translator
from muse.vectors import Vectors, WordIndex
from tests.support.spaces import plain_space, rotation

LEXICON = Lexicon((("cat", "chat"), ("dog", "chien"), ("cat", "matou")), (0.9, 0.8, 0.1))


def test_indices_of_the_covered_pairs_in_order() -> None:
    indices = LEXICON.indices({"cat": 5, "dog": 2}, {"chat": 0, "matou": 7})
    assert indices.tolist() == [[5, 0], [5, 7]]
    assert indices.dtype == np.int64
    assert LEXICON.indices({}, {"chat": 0}).shape == (0, 2)


def test_reversed_twice_is_the_same() -> None:
    assert LEXICON.reversed().pairs[0] == ("chat", "cat")
    assert LEXICON.reversed().scores == LEXICON.scores
    assert LEXICON.reversed().reversed() == LEXICON


def test_translations_collects_all_of_a_word() -> None:
    assert LEXICON.translations() == {"cat": frozenset({"chat", "matou"}), "dog": frozenset({"chien"})}
    assert list(LEXICON.translations()) == ["cat", "dog"]


def test_scores_must_fit() -> None:
    with pytest.raises(Mismatch, match="got 1 for 2 pairs"):
        Lexicon((("a", "b"), ("c", "d")), (1.0,))


FRENCH, ENGLISH = ([f"{name}{row}" for row in range(200)] for name in ("fr", "en"))


def of_languages(first: str, second: str, count: int = 50) -> Lexicon:
    return Lexicon(tuple((f"{first}{row}", f"{second}{row}") for row in range(count)))


@pytest.mark.parametrize(
    ("lexicon", "identical", "known"),
    [
        (of_languages("de", "it"), 0, 0),
        (of_languages("fr", "it"), 0, 0),
        (Lexicon((*of_languages("fr", "fr", 41).pairs, *of_languages("fr", "en", 9).pairs)), 82, 18),
        (Lexicon((*of_languages("De", "dE", 43).pairs, *of_languages("fr", "en", 7).pairs)), 86, 14),
    ],
)
def test_pairs_of_other_languages(lexicon: Lexicon, identical: int, known: int) -> None:
    shares = f"{identical} % of its pairs are two identical strings and {known} % are known"
    assert lexicon.doubt(WordIndex(FRENCH), WordIndex(ENGLISH)) == shares


@pytest.mark.parametrize(
    "lexicon",
    [
        of_languages("fr", "en"),
        of_languages("de", "it", 19),  # too few
        of_languages("", ""),  # numbers alone, from which alignments are learned
        of_languages("fr", "en", 2_000),  # most are unknown, since the vocabularies are small
        Lexicon((*of_languages("it", "it", 37).pairs, *of_languages("fr", "en", 13).pairs)),
    ],
)
def test_pairs_of_these_languages(lexicon: Lexicon) -> None:
    numbers = list(map(str, range(50)))
    assert lexicon.doubt(WordIndex(FRENCH + numbers), WordIndex(ENGLISH + numbers)) == ""


def test_few_known_pairs_of_these_languages_are_no_reason_to_doubt() -> None:
    # A list of rare words, and vocabularies of frequent ones: the words known here and there are the same.
    pairs = tuple((f"un{row}", f"one{row}") for row in range(1_000))
    known = [WordIndex([f"{name}{row}" for row in range(60)]) for name in ("un", "one")]
    assert Lexicon(pairs).doubt(*known) == ""
    # Of another list the words known on one side tell nothing of those on the other.
    apart = tuple((f"un{row}", f"one{(row * 17) % 1_000}") for row in range(1_000))
    more = [WordIndex([*index.words, *map(str, range(600))]) for index in known]
    assert "% are known" in Lexicon(apart).doubt(*more)


def test_pairs_of_rows_where_ids_are_repeated() -> None:
    source = WordIndex(["a", "b", "a #2", "c", "a #10", "d", "e #2"])
    target = WordIndex(["B", "A #10", "B #2", "A", "A #2", "C", "D", "D #2", "E"])
    pairs = (("a", "A"), ("b", "B"), ("c", "C"), ("d", "D"), ("e #2", "E"), ("x", "B"), ("a #2", "A"))
    found = Lexicon(pairs, tuple(np.arange(7) / 10)).pairs_of_rows(source, target)
    # In the order of their numbers; b and d have one row on one side, two on the other.
    expected = [("a", "A"), ("a #2", "A #2"), ("a #10", "A #10"), ("c", "C"), ("e #2", "E"), ("x", "B")]
    assert list(found.lexicon.pairs) == expected
    assert found.lexicon.scores == (0.0, 0.0, 0.0, 0.2, 0.4, 0.5)
    assert (found.replaced, found.left_out) == (1, 3)
    assert LEXICON.pairs_of_rows(WordIndex(["cat"]), WordIndex(["chat"])) == (LEXICON, 0, 0)


def test_the_defect() -> None:
    assert Alignment(rotation(3)).orthogonality_defect < 1e-6
    assert Alignment(2 * rotation(3)).orthogonality_defect == pytest.approx(3, abs=1e-5)


def test_projections_and_embeddings_have_no_defect() -> None:
    for mapping in (rotation(3)[:5], rotation(3)[:, :5]):
        assert Alignment(mapping).orthogonality_defect < 1e-6
        assert Alignment(2 * mapping).orthogonality_defect == pytest.approx(3, abs=1e-5)


def test_the_way_in() -> None:
    assert Alignment(rotation(0), method="gromov:length").init == "gromov"


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
