"""New words against words that were in training, and other models'; subwords by ridge regression."""

import logging
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Literal
from unicodedata import normalize

import numpy as np
import pytest

from muse.errors import BadFile, BadSetting, Mismatch
from muse.files import read_vectors, write_npz, write_vectors_text
from muse.normalise import normalise
from muse.space import Provenance, SideToSave, Space, load_space, save_space, subwords
from muse.space.new_words import load_new_words, map_new_words, own_new_words
from muse.space.subwords import RIDGE, learn_subwords, ngrams
from muse.vectors import Matrix, Vectors
from tests.support.spaces import raw_rows, rotation, sides_to_save

N, D = 60, 8
WORDS = [f"mot{row}" for row in range(N)]


def space_of(folder: Path, rows: Matrix, words: list[str]) -> Space:
    normalised, fitted = normalise(rows, ["unit", "centre", "unit"])
    french = SideToSave(Vectors("fr", words, normalised), fitted, rotation(3))
    save_space(
        folder / "space", {**sides_to_save(), "fr": french}, pivot="en", provenance=Provenance("gromov")
    )
    return load_space(folder / "space")


@pytest.fixture
def made(tmp_path: Path) -> tuple[Space, Matrix, Path]:
    """A space of the first 40 words, the raw rows of all 60, and a file of these."""
    rows = raw_rows(5, N, D)
    write_vectors_text(tmp_path / "all.vec", WORDS, rows)
    return space_of(tmp_path, rows[:40], WORDS[:40]), rows, tmp_path / "all.vec"


def test_a_word_of_the_space_is_mapped_to_where_it_is(made: tuple[Space, Matrix, Path]) -> None:
    space, _, path = made
    new = load_new_words(space, "fr", path)
    assert np.allclose(new.rows(WORDS[:40]), space.vectors("fr").matrix, atol=1e-5)
    mapped = map_new_words(space, new)
    assert list(mapped.words) == WORDS[40:]
    assert np.allclose(np.linalg.norm(mapped.matrix, axis=1), 1, atol=1e-5)
    assert map_new_words(space, new, ["mot50", "mot3", "mot50", " "]).words == ["mot50", "mot3"]
    assert not new.has("mot99")
    assert not new.has("")


def test_vectors_of_another_model(made: tuple[Space, Matrix, Path], tmp_path: Path) -> None:
    space, rows, _ = made
    # Another model: turned and shifted. No plain mapping fits, a fitted one does.
    write_npz(tmp_path / "other.npz", WORDS, rows @ rotation(9) + np.float32(0.1))
    with pytest.raises(Mismatch, match=r"got others \(mean cosine -?0\.\d+ over 40 common words\).* --fit"):
        load_new_words(space, "fr", tmp_path / "other.npz")
    fitted = load_new_words(space, "fr", tmp_path / "other.npz", fit=True).rows(WORDS[40:])
    expected = space.map_words("fr", rows[40:])
    assert (fitted * expected).sum(axis=1).mean() > 0.9


def test_vectors_of_another_dimension(made: tuple[Space, Matrix, Path], tmp_path: Path) -> None:
    space, rows, _ = made
    write_npz(tmp_path / "narrow.npz", WORDS, rows[:, :5])
    with pytest.raises(Mismatch, match="narrow.npz: new words of fr need 8 numbers each, got 5"):
        load_new_words(space, "fr", tmp_path / "narrow.npz")
    assert load_new_words(space, "fr", tmp_path / "narrow.npz", fit=True).rows(["mot50"]).shape == (1, D)


def test_too_few_common_words(
    made: tuple[Space, Matrix, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    space, rows, _ = made
    write_npz(tmp_path / "new.npz", WORDS[40:], rows[40:])
    with pytest.raises(Mismatch, match="--fit needs at least 16 words that are also in the space, got 0"):
        load_new_words(space, "fr", tmp_path / "new.npz", fit=True)
    with caplog.at_level(logging.WARNING):
        new = load_new_words(space, "fr", tmp_path / "new.npz")
    assert "it is unknown whether the vectors fit it" in caplog.text
    assert np.allclose(new.rows(["mot41"]), space.map_words("fr", rows[41:42]))


@pytest.mark.parametrize(
    ("own", "of_english", "told"),
    [(30, 0, None), (20, 27, "33 % of the first 60 words are words of fr, 45 % of en: is fr their language"),
     (25, 20, None), (18, 0, "30 % of the first 60 words are words of fr, 0 % of en")],
)  # fmt: skip
def test_vectors_of_another_language_are_noticed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, own: int, of_english: int, told: str | None
) -> None:
    rows = raw_rows(5, N, D)
    space = space_of(tmp_path, rows[:40], WORDS[:40])
    english = [word for word in space.vectors("en").words if word.startswith("en")][:of_english]
    assert len(english) == of_english
    words = [*WORDS[:own], *english, *(f"wort{row}" for row in range(N - own - len(english)))]
    write_npz(tmp_path / "other.npz", words, rows @ rotation(9))
    load_new_words(space, "fr", tmp_path / "other.npz", fit=True)
    assert (told is None) == (not caplog.text)
    assert told is None or told in caplog.text


def test_a_space_of_one_language_has_no_other_to_name(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = raw_rows(5, N, D)
    both = space_of(tmp_path, rows[:40], WORDS[:40])
    alone = Space({"fr": both.side("fr")}, "fr", both.manifest)
    words = [*WORDS[:18], *(f"wort{row}" for row in range(N - 18))]
    write_npz(tmp_path / "other.npz", words, rows @ rotation(9))
    load_new_words(alone, "fr", tmp_path / "other.npz", fit=True)
    assert not caplog.text


def test_words_without_a_vector_are_left_out(
    made: tuple[Space, Matrix, Path], caplog: pytest.LogCaptureFixture
) -> None:
    space, _, path = made
    found = map_new_words(space, load_new_words(space, "fr", path), ["mot1", "zzz", "mot2"])
    assert list(found.words) == ["mot1", "mot2"]
    assert "no vector for 1 of 3 words (zzz), left out" in caplog.text


def test_bad_input(made: tuple[Space, Matrix, Path], tmp_path: Path) -> None:
    space, rows, path = made
    with pytest.raises(BadSetting, match="are en, fr; got 'xx'"):
        load_new_words(space, "xx", path)
    with pytest.raises(BadFile, match="it does not exist"):
        load_new_words(space, "fr", tmp_path / "nosuch")
    with pytest.raises(BadSetting, match=r"no vector for 2 of 2 words \(zzz, yyy\); use a fastText .bin"):
        map_new_words(space, load_new_words(space, "fr", path), ["zzz", "yyy"])
    with pytest.raises(BadSetting, match="--words must list at least one word of \\w+, got none"):
        map_new_words(space, load_new_words(space, "fr", path), ["", " "])
    write_npz(tmp_path / "old.npz", WORDS[:40], rows[:40])
    with pytest.raises(BadSetting, match="got only words that it contains"):
        map_new_words(space, load_new_words(space, "fr", tmp_path / "old.npz"))


def test_n_grams_of_the_space_itself(made: tuple[Space, Matrix, Path]) -> None:
    space = made[0]
    new = own_new_words(space, "fr")
    assert new.has("mot7")  # in the space
    assert new.has("mot399")  # of the same n-grams
    assert not new.has("Привет")
    rows = new.rows(["mot3", "mot399"])
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    # A word of the space is made of what it shares with the others: near its row, not on it.
    assert float(space.vectors("fr").matrix[3] @ rows[0]) > 0.5


def test_vectors_of_a_pipeline_in_mode_floret(tmp_path: Path) -> None:
    pytest.importorskip("spacy", reason="the vectors of pipelines need spaCy")
    from tests.support.pipelines import of_ngrams, of_words

    made = of_ngrams(tmp_path / "floret", WORDS[:40], raw_rows(6, 100, D))
    rows = read_vectors(made, language="fr", words=WORDS).matrix
    space = space_of(tmp_path, rows[:40], WORDS[:40])
    new = load_new_words(space, "fr", made)
    assert new.has("anything")
    assert not new.has("")
    assert np.allclose(new.rows(WORDS[:40]), space.vectors("fr").matrix, atol=1e-5)
    mapped = map_new_words(space, new, WORDS[40:])
    assert np.allclose(mapped.matrix, space.map_words("fr", rows[40:]), atol=1e-5)
    listed = load_new_words(space, "fr", of_words(tmp_path / "default", WORDS, rows))
    assert list(map_new_words(space, listed).words) == WORDS[40:]
    assert not listed.has("anything")


STEMS, ENDINGS = (
    ["parl", "chant", "dans", "mang", "trouv", "port", "jou"],
    ["er", "ons", "aient", "ant", "eraient"],
)
MADE = [stem + ending for stem, ending in product(STEMS, ENDINGS)]


def test_the_same_as_the_normal_equations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subwords, "ROUNDS", 200)
    rows = np.random.default_rng(0).normal(size=(len(MADE), 5)).astype(np.float32)
    made = learn_subwords(MADE, rows)
    counts = Counter(gram for word in MADE for gram in set(ngrams(word)))
    grams = [gram for gram, n in counts.items() if n > 1]
    x = np.array([[list(ngrams(word)).count(gram) for gram in grams] for word in MADE], dtype=float)
    x /= np.sqrt(x.sum(axis=1, keepdims=True))
    mean = rows.mean(axis=0)
    expected = np.linalg.solve(x.T @ x + RIDGE * np.eye(len(grams)), x.T @ (rows - mean))
    assert np.allclose(made.vectors[[made.index[gram] for gram in grams]], expected, atol=1e-3)
    found = x @ expected + mean
    assert np.allclose(made.rows(MADE), found / np.linalg.norm(found, axis=1, keepdims=True), atol=1e-3)


def test_a_word_of_known_parts_is_near_its_place() -> None:
    rng = np.random.default_rng(1)
    parts = {part: rng.normal(size=20) for part in [*STEMS, *ENDINGS]}
    rows = np.array([parts[s] + parts[e] for s, e in product(STEMS, ENDINGS)], dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    held = MADE.index("chantons")
    others = [row for row in range(len(MADE)) if row != held]
    made = learn_subwords([MADE[row] for row in others], rows[others])
    cosines = rows @ made.rows(["chantons"])[0]
    assert cosines.argmax() == held
    assert cosines[held] > 0.8


@pytest.mark.parametrize(("vocabulary", "asked"), list(product(("NFC", "NFD"), repeat=2)))
def test_unknown_words_are_composed_alike_in_every_unicode_form(
    vocabulary: Literal["NFC", "NFD"], asked: Literal["NFC", "NFD"]
) -> None:
    words = [stem + ending for stem, ending in product(STEMS, ["é", "âmes", "ât", "èrent"])]
    rows = np.random.default_rng(2).normal(size=(len(words), 5)).astype(np.float32)
    composed = learn_subwords(words, rows)
    made = learn_subwords([normalize(vocabulary, word) for word in words], rows)
    for word, known in (("rechantèrent", True), ("parlâ", True), ("éèâéèâ", False)):
        assert made.has(normalize(asked, word)) == composed.has(word) == known
    new = ["rechantèrent", "parlâ"]
    np.testing.assert_array_equal(made.rows([normalize(asked, word) for word in new]), composed.rows(new))


def test_what_it_makes_words_of() -> None:
    made = learn_subwords(MADE, np.eye(len(MADE), dtype=np.float32))
    assert made.has("parlaient")
    assert made.has("rechantaient")
    assert not made.has("Привет")
    assert not made.has("xyz")
    assert not made.has("")
    assert list(ngrams("")) == []
    with pytest.raises(Mismatch, match="share some n-gram of 3 letters, got none among 2"):
        learn_subwords(["ab", "cd"], np.eye(2, dtype=np.float32))
