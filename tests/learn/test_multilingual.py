"""Several languages learned into one: each as if it were alone, and jointly where that is asked for."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadSetting, Mismatch
from muse.learn.bilingual import learn
from muse.learn.multilingual import learn_many
from muse.learn.settings import AlignConfig
from muse.run.checkpoint import Checkpoint
from muse.run.runtime import Runtime
from tests.support.toys import pair, shuffled

CONFIG = AlignConfig(init="similarity", rounds=(), reweight=False)


@pytest.mark.slow
def test_each_is_learned_as_if_it_were_alone(tmp_path: Path) -> None:
    fr, en, _ = pair()
    de = replace(shuffled(fr)[0], language="de")
    runtime = Runtime(checkpoint=Checkpoint(tmp_path))
    many = learn_many([fr, de], en, config=CONFIG, runtime=runtime)
    assert list(many.languages) == ["fr", "de"]
    for source in (fr, de):
        alone = learn(source, en, config=CONFIG, runtime=Runtime())
        found = many.languages[source.language]
        assert np.array_equal(found.alignment.source_map, alone.alignment.source_map)
        assert found.verdict == alone.verdict
        assert found.verdict.label == "aligned"
        assert (tmp_path / source.language / "start-similarity.npz").exists()
    assert many.joint is None
    assert many.seconds.keys() == {"init", "refine"}


def test_several_never_move_the_target() -> None:
    fr, en, _ = pair(noise=0.3)
    de = replace(fr, language="de")
    many = learn_many([fr, de], en, config=replace(CONFIG, reweight=True), runtime=Runtime())
    assert [one.alignment.target_map for one in many.languages.values()] == [None, None]


def test_jointly_refined_mappings_are_judged_anew() -> None:
    fr, en, _ = pair(noise=0.3)
    de = replace(fr, language="de")
    many = learn_many([fr, de], en, config=replace(CONFIG, joint=True), runtime=Runtime())
    assert many.joint is not None
    assert {(one.source, one.target) for one in many.joint.changes} == {
        ("fr", "de"),
        ("fr", "en"),
        ("de", "en"),
    }
    assert many.seconds.keys() == {"init", "refine", "joint"}
    for language, one in many.languages.items():
        assert np.array_equal(one.alignment.source_map, many.joint.mappings[language])
        assert 0 < one.alignment.criterion < 1


def test_rows_without_words_are_not_refined_jointly() -> None:
    fr, en, _ = pair()
    rows = replace(fr, language="de", frequency_ordered=False)
    with pytest.raises(BadSetting, match="--joint fits mappings to pairs of words, got unlabelled"):
        learn_many([fr, rows], en, config=replace(CONFIG, joint=True), runtime=Runtime())


def test_an_error_names_the_language_and_loses_no_other() -> None:
    fr, en, _ = pair()
    few = replace(fr.most_frequent(99), language="de")
    found = learn_many([fr, few], en, config=CONFIG, runtime=Runtime())
    assert [*found.languages] == ["fr"]
    assert isinstance(found.failures["de"], Mismatch)
    assert str(found.failures["de"]).startswith("de into en: de: at least 500 words")
    with pytest.raises(Mismatch, match="^de into en: de: at least 500 words"):
        learn_many([few, replace(few, language="es")], en, config=CONFIG, runtime=Runtime())
