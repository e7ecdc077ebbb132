"""Words and dictionaries to other libraries and back; a saved space as a step of scikit-learn."""

import pickle
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.errors import BadFile, BadSetting, Mismatch, MissingExtra, MuseError
from muse.exchange import dictionary_frame, keyed_vectors, lexicon_of, vectors_of
from muse.export.vector_files import export_vectors
from muse.files import read_vectors
from muse.files.vectors.parquet import write_parquet
from muse.installation import install_extra
from muse.lexicon import Entry, Lexicon
from muse.ranking.induction import induce
from muse.space import save_space
from tests.evaluation.test_words import noisy_space
from tests.support.command import tree
from tests.support.spaces import PROVENANCE, raw_rows, rotation, saved, side_to_save
from tests.support.toys import raw_pair

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


sklearn = pytest.importorskip("sklearn", reason="needs scikit-learn")

from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

from muse.exchange import SpaceTransformer  # noqa: E402

WIDTHS = (1, 2, 3, 4, 5, 10, 20)  # of the rows that the checks of scikit-learn make


def of_width(folder: Path, d: int) -> Path:
    """A saved space of fr and en whose rows have d numbers."""
    sides = {
        "en": side_to_save("en", raw_rows(0, 40, d)),
        "fr": side_to_save("fr", raw_rows(1, 39, d), rotation(1, d)),
    }
    save_space(folder, sides, pivot="en", provenance=PROVENANCE)
    return folder


def test_rows_are_those_of_the_space(tmp_path: Path) -> None:
    space, rows = saved(tmp_path / "space"), raw_rows(1, 39)
    transformer = SpaceTransformer(tmp_path / "space", "fr")
    assert transformer.fit(rows) is transformer
    assert transformer.n_features_in_ == 8
    found = transformer.transform(rows)
    np.testing.assert_allclose(found, space.vectors("fr").matrix, atol=1e-6)
    np.testing.assert_array_equal(found, space.map_words("fr", rows))
    np.testing.assert_array_equal(transformer.fit_transform(rows.astype(np.float64)), found)


@pytest.mark.filterwarnings("ignore:Can't test estimator")
def test_every_check_of_scikit_learn_passes_on_rows_of_the_right_width(tmp_path: Path) -> None:
    # Each check makes rows of a width of its own, which only a space of that width can take.
    passed, checks = set(), set()
    for d in WIDTHS:
        transformer = SpaceTransformer(of_width(tmp_path / str(d), d), "fr")
        for one in check_estimator(transformer, on_fail=None, on_skip=None):
            checks.add(one["check_name"])
            if one["status"] == "failed":
                assert "Mismatch" in repr(one["exception"]) + str(one["exception"])
            else:
                passed.add(one["check_name"])
    assert len(checks) > 20
    assert passed == checks


def test_a_classifier_of_one_model_reads_the_rows_of_another(tmp_path: Path) -> None:
    source, target, turn = raw_pair()
    sides = {
        "en": side_to_save("en", target.matrix, plain=True),
        "fr": side_to_save("fr", source.matrix, turn, plain=True),
    }
    save_space(tmp_path / "space", sides, pivot="en", provenance=PROVENANCE)
    classes = source.matrix[:, 0] > np.median(source.matrix[:, 0])
    into = SpaceTransformer(str(tmp_path / "space"), "fr")
    pipeline = make_pipeline(into, LogisticRegression()).fit(source.matrix[:300], classes[:300])
    other = clone(into).set_params(language="en").fit(target.matrix)
    own = pipeline.score(source.matrix[300:], classes[300:])
    assert pipeline[-1].score(other.transform(target.matrix[300:]), classes[300:]) > own - 0.02
    assert pipeline.score(target.matrix[300:], classes[300:]) < own - 0.2  # not mapped as they should be
    search = GridSearchCV(pipeline, {"spacetransformer__language": ["fr", "en"]}, cv=3)
    assert search.fit(source.matrix, classes).predict(source.matrix[:5]).shape == (5,)


def test_a_clone_is_unfitted_and_has_the_same_parameters(tmp_path: Path) -> None:
    saved(tmp_path / "space")
    transformer = SpaceTransformer(tmp_path / "space", "fr").fit(raw_rows(1, 39))
    other = clone(transformer)
    assert other.get_params() == {"space": tmp_path / "space", "language": "fr"}
    with pytest.raises(NotFittedError):
        other.transform(raw_rows(1, 39))


def test_a_pickle_needs_no_folder(tmp_path: Path) -> None:
    saved(tmp_path / "space")
    transformer = SpaceTransformer(tmp_path / "space", "fr").fit(raw_rows(1, 39))
    expected, kept = transformer.transform(raw_rows(1, 39)), pickle.dumps(transformer)
    assert len(kept) < 5_000
    (tmp_path / "space").rename(tmp_path / "elsewhere")
    np.testing.assert_array_equal(pickle.loads(kept).transform(raw_rows(1, 39)), expected)  # noqa: S301


def test_columns_have_names(tmp_path: Path) -> None:
    saved(tmp_path / "space")
    transformer = SpaceTransformer(tmp_path / "space", "fr").fit(raw_rows(1, 39))
    names = transformer.get_feature_names_out().tolist()
    assert names == [f"spacetransformer{column}" for column in range(8)]
    pytest.importorskip("pandas")
    frame = transformer.set_output(transform="pandas").transform(raw_rows(1, 39))
    assert list(frame.columns) == names


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    space, rows = saved(tmp_path / "space"), raw_rows(1, 39)
    cases: list[tuple[Any, str, type[Exception], str]] = [
        (tmp_path / "nosuch", "fr", BadFile, "nosuch"),
        (tmp_path / "space", "de", BadSetting, "the languages of this space are en, fr; got 'de'"),
        (space, "fr", BadSetting, "the folder of a saved space, got Space; give its folder"),
    ]
    for folder, language, error, message in cases:
        with pytest.raises(error, match=message):
            SpaceTransformer(folder, language).fit(rows)
    transformer = SpaceTransformer(tmp_path / "space", "fr")
    with pytest.raises(Mismatch, match="rows of fr must have 8 numbers, got 5"):
        transformer.fit(rows[:, :5])
    transformer.fit(rows)
    with pytest.raises(ValueError, match="X has 5 features, but SpaceTransformer is expecting 8"):
        transformer.transform(rows[:, :5])
    for broken in (np.full((3, 8), np.nan), rows[0], [["a"] * 8], np.empty((0, 8))):
        with pytest.raises(ValueError, match="NaN|2D|convert|minimum"):
            transformer.transform(broken)


def test_the_space_is_read_whole_before_anything_is_set(tmp_path: Path) -> None:
    saved(tmp_path / "space")
    (tmp_path / "space" / "fr" / "mapping.npy").write_bytes(b"broken")
    transformer = SpaceTransformer(tmp_path / "space", "fr")
    with pytest.raises(BadFile):
        transformer.fit(raw_rows(1, 39))
    assert vars(transformer).keys() == {"space", "language"}
