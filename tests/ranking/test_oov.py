"""Words without vectors of their own: answered by their known forms, and otherwise never probable."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy

from muse.files.archive import arrays_of
from muse.files.source import DAMAGED
from muse.normalise import normalise
from muse.ranking import oov
from muse.ranking.features import KnownPairs
from muse.ranking.oov import UNEXPLAINED, FormAnswers, write_unseen
from muse.ranking.ranker import translate_words
from muse.ranking.train_ranker import learn_answers
from muse.ranking.translations import Translations
from muse.space import SideToSave, Space, save_space
from muse.space.derived import AnswerTable, write_answers
from muse.space.inflections import KnownForms, SuffixRules
from muse.space.new_words import own_new_words
from muse.vectors import Vectors, WordIndex
from tests.fuzz.kept import COUNT
from tests.fuzz.targets import TARGETS
from tests.ranking.test_train_ranker import FEW
from tests.support.made_up_pair import CIPHER, random_words, unit
from tests.support.spaces import PROVENANCE, derived

PAIRS = {"": "", "ba": "й", "dos": "щю", "lumi": "эъ"}  # how both languages inflect
STEMS, HELD_OUT, D, NOISE = 150, 60, 20, 0.9


class Inflected(NamedTuple):
    """A space, and the translations of words that it lacks."""

    space: Space
    gold: dict[str, str]

    def answers(self, words: list[str]) -> list[Translations]:
        """What the space says of words."""
        new = own_new_words(self.space, "fr")
        return translate_words(self.space, words, source="fr", target="en", top=2, new_words=new)


@pytest.fixture(scope="module")
def inflected(tmp_path_factory: pytest.TempPathFactory) -> Inflected:
    """Two languages that inflect alike; one in ten words is not in the first vocabulary."""
    rng = np.random.default_rng(0)
    stems, suffixes = random_words(STEMS, rng), list(PAIRS)
    parts = {one: rng.normal(size=D) * (1 if one in stems else 0.7) for one in [*stems, *suffixes]}
    forms = [*product(stems, suffixes)]
    words, others = [stem + end for stem, end in forms], [a.translate(CIPHER) + PAIRS[b] for a, b in forms]
    meaning = np.array([parts[stem] + parts[end] for stem, end in forms])
    held = rng.permutation(len(forms))[:HELD_OUT]
    kept = np.setdiff1d(np.arange(len(forms)), held)
    rows = unit(meaning + NOISE * rng.normal(size=meaning.shape))[kept], unit(meaning)
    sides = {}
    for language, text, matrix in (("fr", [words[row] for row in kept], rows[0]), ("en", others, rows[1])):
        sides[language] = SideToSave(Vectors(language, text, matrix), normalise(matrix, ["unit"])[1])
    known = np.stack([np.arange(len(kept)), kept], axis=1)[::2]
    given, vocabularies = KnownPairs(known, np.ones(len(known))), (list(sides["fr"].vectors.words), others)
    (chosen,) = learn_answers(vocabularies, rows, given, rng=rng, both=False, config=FEW)
    folder = tmp_path_factory.mktemp("inflected") / "space"
    save_space(folder, sides, pivot="en", provenance=PROVENANCE)

    def write(folder: Path) -> None:
        assert chosen.unseen is not None
        write_answers(folder, ("fr", "en"), chosen.answers)
        write_unseen(folder, ("fr", "en"), chosen.unseen)

    return Inflected(derived(folder, write), {words[row]: others[row] for row in held})


def test_an_unseen_inflection_has_an_answer_as_probable_as_right(inflected: Inflected) -> None:
    found = inflected.answers([*inflected.gold])
    right = [one[0].target == inflected.gold[one.word] for one in found]
    assert np.mean(right) > 0.8
    assert abs(np.mean(right) - np.mean([one[0].probability or 0 for one in found])) < 0.2
    assert not any(one.reason for one in found)


@pytest.mark.parametrize("by_csls", [False, True])
def test_a_word_of_which_no_form_is_known_has_no_probable_answer(inflected: Inflected, by_csls: bool) -> None:
    if by_csls:
        inflected = inflected._replace(space=inflected.space.by_csls())
    misprints = [word[:-3] + word[:1:-1] for word in inflected.gold]
    found = [one for one in inflected.answers(misprints) if one]
    assert len(found) > HELD_OUT / 2
    assert 0 < max(one[0].probability or 0 for one in found) <= UNEXPLAINED
    assert {one.reason for one in found} == {"no other form of it is known"}


def test_an_expression_is_not_composed(inflected: Inflected) -> None:
    words = inflected.space.vectors("fr").words
    (found,) = inflected.answers([f"{words[0]} {words[1]}"])
    assert found.form == f"{words[0]} {words[1]}"
    assert not found.reason


def test_votes_are_those_counted_one_by_one() -> None:
    rng = np.random.default_rng(0)
    forms, sources, targets = 3, 6, 5
    counts = rng.uniform(0.1, 1, (forms, sources)) * (rng.random((forms, sources)) < 0.5)
    counts[2] = 0  # a word without known forms
    probability = rng.uniform(0.1, 1, (sources, 2)).astype(np.float32)
    columns = np.array([rng.permutation(targets)[:2] for _ in range(sources)])
    table = AnswerTable(
        np.arange(sources + 1) * 2, columns.ravel(), np.zeros(12, np.float32), probability.ravel()
    )
    index = WordIndex(["word", "words", "other", "others", "third"])
    rules = SuffixRules(
        [("", "s"), ("s", "")], np.zeros((2, 1), np.float32), np.array([0.9, 0.8], np.float32)
    )
    known = KnownForms(scipy.sparse.csr_matrix(counts), scipy.sparse.csr_matrix((forms, 2)))
    found = FormAnswers.of(np.ones(forms, bool), known, table, index, rules).votes.toarray()

    expected = np.zeros((forms, targets))
    for word, source, place in product(range(forms - 1), range(sources), range(2)):
        share = counts[word, source] / counts[word].sum() * probability[source, place]
        target = columns[source, place]
        expected[word, target] += share
        if target < 4:  # word and words, other and others
            expected[word, target ^ 1] += share * (0.9 if target ^ 1 < target else 0.8) ** 4
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def at(place: Any, value: Any) -> Callable[[Any], Any]:
    """What puts a value at a place of an array."""

    def change(array: Any) -> Any:
        array = array.copy()
        array[place] = value
        return array

    return change


NONSENSE = {
    "a cycle": ("here.left", at(1, 0)),
    "itself": ("here.right", at(0, 0)),
    "a shared child": ("here.left", at(0, 4)),
    "a child of another tree": ("here.right", at(0, 6)),
    "no such child": ("here.left", at(0, 99)),
    "a negative child": ("here.right", at(0, -3)),
    "no such feature": ("pretrained.feature", at(0, 10**6)),
    "a kind of leaf": ("here.feature", at(2, -7)),
    "many roots": ("here.roots", lambda _: np.zeros(10**5, int)),
    "roots before": ("here.roots", at(1, -1)),
    "roots beyond": ("here.roots", at(1, 8)),
    "no root": ("here.roots", lambda one: one[:0]),
    "no numbers": ("whole.weights", lambda one: one.view("V4")),
    "fewer values": ("here.value", lambda one: one[:-1]),
    "two baselines": ("here.baseline", lambda one: np.repeat(one, 2)),
    "huge values": ("here.value", at(3, 1e300)),
    "text": ("here.feature", lambda one: one.astype(str)),
    "features of halves": ("here.feature", lambda one: one / 2),
    "knots": ("knots", lambda one: one[:-1]),
    "no knots": ("forms.knots", lambda one: one[:0]),
    "knots back": ("knots", lambda one: one[::-1]),
    "probabilities back": ("values", lambda one: one[::-1]),
    "table of knots": ("knots", lambda one: one[:, None]),
    "a share beyond": ("mix", at(0, 1.5)),
    "scores rise": ("csls", lambda one: one[:, ::-1]),
    "scores of nan": ("csls", at((0, 0), np.nan)),
    "scores without bound": ("csls", at(0, -np.inf)),
    "no scores": ("csls", lambda one: one[:, :0]),
    "one row of scores": ("csls", lambda one: one[0]),
    "no such name": ("named", at((0, 0), 99)),
    "three names": ("named", lambda one: np.repeat(one, 2, 1)),
    "hubness of one": ("mapped hubness", lambda one: one[0]),
    "a cosine beyond": ("hubness", at(0, 1.5)),
    "a map of another space": ("refined.source.map", lambda one: np.repeat(one, 2, 0)),
    "maps apart": ("refined.target.map", lambda one: one[:, :1]),
    "offset": ("refined.source.offset", lambda one: one[:1]),
    "other targets": ("whole.targets", lambda one: one[:-1]),
    "other weights": ("ends.weights", lambda one: one[:-1]),
    "an n-gram twice": ("whole.names", lambda _: np.frombuffer(b"ab\nab\ncd", np.uint8)),
    "a long n-gram": ("whole.names", lambda _: np.frombuffer(b"abcdefgh\nb\ncd", np.uint8)),
    "coordinates": ("whole.map", lambda one: one[:, :1]),
    "of fewer words": ("count", lambda one: one - 1),
}  # fmt: skip


@pytest.mark.parametrize("case", NONSENSE)
def test_nonsense_with_a_right_checksum_is_not_used(case: str) -> None:
    name, change = NONSENSE[case]
    (files,) = TARGETS["kept.unseen"].good
    arrays = dict(arrays_of(next(content for path, content in files.items() if path.endswith(".npz"))))
    oov.possible(arrays, (COUNT, COUNT), 2)
    with pytest.raises((ValueError, *DAMAGED)):
        oov.possible({**arrays, name: change(arrays[name])}, (COUNT, COUNT), 2)
