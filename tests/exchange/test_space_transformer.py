"""A saved space as a step of scikit-learn: its own checks, and what it is for."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.errors import BadFile, BadSetting, Mismatch
from muse.space import save_space
from tests.support.spaces import PROVENANCE, raw_rows, rotation, saved, side_to_save
from tests.support.toys import raw_pair

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
