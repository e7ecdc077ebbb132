"""An encoder as a scikit-learn transformer: cloned, searched over and in a Pipeline."""

import numpy as np
import pytest

from muse.errors import BadSetting
from muse.sentences.loading import load_encoder
from tests.sentences.encoders.test_encoders import TEXT, space

sklearn = pytest.importorskip("sklearn", reason="needs scikit-learn")


def test_fit_and_transform() -> None:
    encoder = load_encoder("mean+znorm", space())
    transformer = encoder.for_language("fr")
    assert transformer.fit(TEXT) is transformer
    expected = encoder.fit(TEXT, "fr").encode(TEXT, "fr").matrix
    np.testing.assert_array_equal(transformer.transform(TEXT), expected)
    np.testing.assert_array_equal(encoder.for_language("fr").fit_transform(iter(TEXT)), expected)
    assert transformer.encoder is encoder


def test_parameters() -> None:
    transformer = load_encoder("mean", space()).for_language("fr")
    assert sorted(transformer.get_params()) == ["encoder", "language"]
    assert transformer.set_params(language="en").language == "en"
    with pytest.raises(BadSetting, match="got 'nosuch'"):
        transformer.set_params(nosuch=1)


def test_a_clone_is_unfitted_and_shares_the_encoder() -> None:
    from sklearn.base import clone

    transformer = load_encoder("mean+znorm", space()).for_language("fr").fit(TEXT)
    other = clone(transformer)
    assert other is not transformer
    assert other.encoder is transformer.encoder
    with pytest.raises(BadSetting, match="must be fitted on text"):
        other.transform(TEXT)


def test_in_a_pipeline_and_a_search() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline

    text = ["le chat dort", "le chat", "chat noir", "mange", "le dort mange", "dort mange"] * 4
    labels = [0, 0, 0, 1, 1, 1] * 4
    of = space()
    pipeline = make_pipeline(load_encoder("mean", of).for_language("fr"), LogisticRegression())
    assert pipeline.fit(text, labels).score(text, labels) == 1
    choices = {"transformer__encoder": [load_encoder(name, of) for name in ("mean", "power-mean+znorm")]}
    search = GridSearchCV(pipeline, choices, cv=2).fit(text, labels)
    assert search.predict(["le chat"]).shape == (1,)
    assert search.best_estimator_[0].encoder.name in ("mean", "power-mean[-inf,1,inf]+znorm")


@pytest.mark.parametrize(
    "name",
    [
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_estimator_tags_renamed",
        "check_get_params_invariance",
        "check_no_attributes_set_in_init",
        "check_set_params",
        "check_valid_tag_types",
    ],
)
def test_checks_of_scikit_learn_that_ask_for_no_rows(name: str) -> None:
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    if not hasattr(checks, name):
        pytest.skip("this scikit-learn has no such check")
    getattr(checks, name)("Transformer", load_encoder("mean", space()).for_language("fr"))
