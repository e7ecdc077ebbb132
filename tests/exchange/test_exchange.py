"""Words and dictionaries to other libraries and back, unchanged."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.errors import BadFile, MissingExtra, MuseError
from muse.exchange import dictionary_frame, keyed_vectors, lexicon_of, vectors_of
from muse.export.vector_files import export_vectors
from muse.files import read_vectors
from muse.files.vectors.parquet import write_parquet
from muse.installation import install_extra
from muse.lexicon import Entry, Lexicon
from muse.ranking.induction import induce
from tests.evaluation.test_words import noisy_space
from tests.support.command import tree

SPACE = noisy_space(0)


def test_gensim_both_ways() -> None:
    pytest.importorskip("gensim")
    french = SPACE.vectors("fr")
    keyed = keyed_vectors(french)
    again = vectors_of(keyed, "fr")
    assert again.words == list(french.words)
    np.testing.assert_array_equal(again.matrix, french.matrix)
    word = french.words[3]
    cosines = np.asarray(french.matrix @ french.matrix[3])
    best = [i for i in np.argsort(-cosines).tolist() if i != 3][0]
    assert keyed.most_similar(word, topn=1)[0][0] == french.words[best]


def test_gensim_gets_a_copy_of_its_own() -> None:
    pytest.importorskip("gensim")
    keyed = keyed_vectors(SPACE.vectors("fr"))
    before = SPACE.vectors("fr").matrix.copy()
    keyed.vectors[:] = 0
    np.testing.assert_array_equal(SPACE.vectors("fr").matrix, before)


def test_a_dictionary_as_a_frame_and_back(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    lexicon = induce(SPACE, top=2)
    frame = dictionary_frame(lexicon)
    assert list(frame.columns) == ["source", "target", "score", "rank", "probability"]
    assert set(frame["rank"]) == {1, 2}
    assert lexicon_of(frame) == lexicon
    rated = replace(lexicon, probabilities=tuple(np.linspace(0, 1, len(lexicon)).tolist()))
    assert lexicon_of(dictionary_frame(rated)) == rated
    pytest.importorskip("pyarrow")
    frame.to_parquet(tmp_path / "fr-en.parquet")
    assert lexicon_of(pandas.read_parquet(tmp_path / "fr-en.parquet")) == lexicon


def test_entries_keep_their_probabilities() -> None:
    pytest.importorskip("pandas")
    frame = dictionary_frame([Entry("chat", "cat", 0.5, 1, 0.9), Entry("chat", "tomcat", None, 2)])
    assert frame["probability"].tolist()[0] == 0.9
    assert frame["score"].isna().tolist() == [False, True]
    assert lexicon_of(frame).scores is None


@pytest.mark.parametrize("pairs", [(), (("a b", "c"), ("", "x"))])
def test_odd_dictionaries(pairs: tuple[tuple[str, str], ...]) -> None:
    pytest.importorskip("pandas")
    frame = dictionary_frame(Lexicon(pairs))
    assert len(frame) == len(pairs)
    if "" in {pair[0] for pair in pairs}:
        with pytest.raises(MuseError, match="a word in every row"):
            lexicon_of(frame)


def test_a_frame_without_the_columns() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(MuseError, match="columns source and target"):
        lexicon_of(pandas.DataFrame({"word": ["a"]}))


def test_parquet_keeps_words_and_bits(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    export_vectors(SPACE, tmp_path, form="parquet")
    for language in SPACE.languages:
        vectors = SPACE.vectors(language)
        again = read_vectors(tmp_path / f"{language}.parquet", language=language)
        assert list(again.words) == list(vectors.words)
        np.testing.assert_array_equal(again.matrix, vectors.matrix)
        frame = pandas.read_parquet(tmp_path / f"{language}.parquet")
        np.testing.assert_array_equal(np.stack(frame["vector"].tolist()), vectors.matrix)


def test_what_is_no_parquet(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "x.parquet"
    good = [np.ones(2, np.float32)] * 2
    frames = [
        pandas.DataFrame({"a": [1]}),
        pandas.DataFrame({"word": ["a"], "vector": ["x"]}),
        pandas.DataFrame({"word": ["a", None], "vector": good}),
        pandas.DataFrame({"word": ["a", "b"], "vector": [[1.0, 2.0], [1.0]]}),
        pandas.DataFrame({"word": ["a", "b"], "vector": [[1.0, 2.0], [1.0, float("nan")]]}),
        pandas.DataFrame({"word": [], "vector": []}),
    ]
    for frame in frames:
        frame.to_parquet(path)
        with pytest.raises(BadFile, match="expected "):
            read_vectors(path, language="fr")
    pandas.DataFrame({"word": ["a", "b"], "vector": good}).to_parquet(path)
    whole = path.read_bytes()
    for broken in (b"PAR1", whole[:-20], whole[:20] + bytes(40) + whole[60:]):
        path.write_bytes(broken)
        with pytest.raises(BadFile, match="expected "):
            read_vectors(path, language="fr")


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("gensim", lambda path: keyed_vectors(SPACE.vectors("fr"))),
        ("pandas", lambda path: dictionary_frame(Lexicon(()))),
        ("pyarrow.parquet", lambda path: write_parquet(path / "x", ["a"], np.ones((1, 2), np.float32))),
        ("pyarrow.parquet", lambda path: export_vectors(SPACE, path / "x", form="parquet")),
    ],
)
def test_what_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, package: str, call: Any
) -> None:
    for name in (package, f"{package}.models"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match="needs?") as caught:
        call(tmp_path)
    assert install_extra("parquet" if package.startswith("pyarrow") else "exchange") in str(caught.value)
    assert tree(tmp_path) == {}
