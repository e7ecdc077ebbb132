"""muse export --format spacy: spaCy loads it and finds every word, and muse reads the same words and rows."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.errors import BadFile, Mismatch, MissingExtra, MuseError
from muse.export.spacy_folder import export_spacy
from muse.files import read_vectors
from muse.installation import install_extra
from muse.space import Space
from tests.support.command import Command, tree
from tests.support.pipelines import load
from tests.support.spaces import plain_space, saved

pytestmark = pytest.mark.slow

FRENCH = ["le", "chat", "Noir", "aujourd'hui", "deux mots", "NOUN"]
ENGLISH = ["the", "cat", "Black", "today"]


@pytest.fixture
def space() -> Space:
    rows = np.random.default_rng(0).normal(size=(6, 8)).astype(np.float32)
    return plain_space(rows, rows[:4] + np.float32(0.01), FRENCH, ENGLISH)


@pytest.mark.slow
def test_every_word_goes_there_and_back(space: Space, tmp_path: Path) -> None:
    written = export_spacy(space, tmp_path / "out")
    assert [(one.language, one.pipeline, one.words, one.left_out) for one in written] == [
        ("fr", "fr", 6, 0),
        ("en", "en", 4, 0),
    ]
    for one in written:
        vectors = space.vectors(one.language)
        vocab = load(one.path).vocab
        np.testing.assert_array_equal([vocab.get_vector(word) for word in vectors.words], vectors.matrix)
        again = read_vectors(one.path, language=one.language)
        assert list(again.words) == list(vectors.words)
        np.testing.assert_array_equal(again.matrix, vectors.matrix)


@pytest.mark.slow
def test_a_text_has_a_vector_and_a_similarity_across_languages(space: Space, tmp_path: Path) -> None:
    export_spacy(space, tmp_path / "out")
    french, english = load(tmp_path / "out" / "fr"), load(tmp_path / "out" / "en")
    rows = space.vectors("fr").matrix
    np.testing.assert_allclose(french("le chat").vector, rows[:2].mean(axis=0), atol=1e-6)
    cosine = float(rows[1] @ space.vectors("en").matrix[1])
    assert french("chat").similarity(english("cat")) == pytest.approx(cosine, abs=1e-5)
    # French has its own tokenizer, which keeps this word whole.
    assert [token.has_vector for token in french("aujourd'hui")] == [True]
    assert not french("chien").has_vector


def test_words_in_lower_case_are_found_by_capitalised_tokens(tmp_path: Path) -> None:
    rows = np.eye(2, dtype=np.float32)
    export_spacy(plain_space(rows, rows, ["roi", "été"], ["King", "summer"]), tmp_path / "out")
    french, english = load(tmp_path / "out" / "fr"), load(tmp_path / "out" / "en")
    np.testing.assert_array_equal([token.vector for token in french("Roi ÉTÉ")], rows)
    assert [token.has_vector for token in english("King king Summer")] == [True, False, False]
    assert list(read_vectors(tmp_path / "out" / "fr", language="fr").words) == ["roi", "été"]


def space_with(language: str) -> Space:
    rows = np.eye(2, dtype=np.float32)
    sides = plain_space(rows, rows, ["a", "b"], ["c", "d"]).sides
    renamed = replace(sides["fr"], vectors=replace(sides["fr"].vectors, language=language))
    return Space({language: renamed, "en": sides["en"]}, "en")


@pytest.mark.parametrize("language", ["sw", "zz", "frw", "eng_Latn", "java-api", "../x", "en.stop_words"])
def test_a_language_that_spacy_does_not_know(tmp_path: Path, language: str) -> None:
    written = export_spacy(space_with(language), tmp_path / "out")[0]
    assert (written.pipeline, written.path.parent) == ("xx", tmp_path / "out")
    assert load(written.path).lang == "xx"


def test_iso_codes_of_three_letters(tmp_path: Path) -> None:
    assert export_spacy(space_with("fra"), tmp_path / "out")[0].pipeline == "fr"


def test_one_language_is_the_folder_itself(space: Space, tmp_path: Path) -> None:
    (written,) = export_spacy(space, tmp_path / "out", language="fr", max_vocab=2)
    assert (written.path, written.words) == (tmp_path / "out", 2)
    assert load(tmp_path / "out").vocab.has_vector("chat")
    assert list(read_vectors(tmp_path / "out", language="fr").words) == FRENCH[:2]
    with pytest.raises(MuseError, match="'de'"):
        export_spacy(space, tmp_path / "out", language="de")


def test_the_empty_word_is_left_out(tmp_path: Path) -> None:
    rows = np.eye(3, dtype=np.float32)
    space = plain_space(rows, rows, ["a", "", " "], ["", "", ""][:1] + ["b", "c"])
    french = export_spacy(space, tmp_path / "out")[0]
    assert (french.words, french.left_out) == (2, 1)
    assert list(read_vectors(french.path, language="fr").words) == ["a", " "]
    with pytest.raises(Mismatch, match="expected words of fr, got none"):
        export_spacy(plain_space(rows[:1], rows[:1], [""], ["b"]), tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_an_earlier_export_is_replaced_and_nothing_else(space: Space, tmp_path: Path) -> None:
    export_spacy(space, tmp_path / "out", max_vocab=2)
    export_spacy(space, tmp_path / "out")
    assert len(read_vectors(tmp_path / "out" / "fr", language="fr")) == 6
    (tmp_path / "out" / "en" / "ner").mkdir()
    (tmp_path / "file").touch()
    before = tree(tmp_path)
    for place in (tmp_path / "out", tmp_path / "file"):
        with pytest.raises(BadFile, match="expected a "):
            export_spacy(space, place)
    assert tree(tmp_path) == before


def test_what_fails_midway_leaves_what_was_there(
    space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_spacy(space, tmp_path / "out", language="fr", max_vocab=2)
    before = tree(tmp_path)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("spacy.language.Language.to_disk", full)
    with pytest.raises(BadFile, match="the disk is full"):
        export_spacy(space, tmp_path / "out", language="fr")
    assert tree(tmp_path) == before


def test_without_spacy(space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtra, match="needs spacy") as caught:
        export_spacy(space, tmp_path / "out")
    assert install_extra("spacy") in str(caught.value)
    assert tree(tmp_path) == {}


def test_from_the_command_line(muse: Command, tmp_path: Path) -> None:
    kept = saved(tmp_path / "space")
    ended = muse("export", tmp_path / "space", "--format", "spacy", "--out", tmp_path / "out", "--json")
    assert ended.code == 0
    assert [Path(one["path"]).name for one in ended.json["folders"]] == ["en", "fr"]
    read = read_vectors(tmp_path / "out" / "fr", language="fr")
    words = [word for word in kept.vectors("fr").words if word]
    assert list(read.words) == words
    meta = json.loads((tmp_path / "out" / "fr" / "meta.json").read_text(encoding="utf-8"))
    assert meta["description"] == "Word vectors of fr, in one space with en"
    shown = muse("export", tmp_path / "space", "--format", "spacy", "--lang", "en", "--out", tmp_path / "en")
    assert shown.out == f"{len(kept.vectors('en')) - 1} words of en in {tmp_path / 'en'}, pipeline en\n"
