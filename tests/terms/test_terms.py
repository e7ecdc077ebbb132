"""muse terms: units of two texts are paired by their contexts and parts, in files of every format."""

import json
from pathlib import Path

import numpy as np
import pytest

from muse.space import load_space
from muse.terms.evidence import FEATURES
from muse.terms.glossary import TermConfig, find_terms
from muse.terms.model import TermModel
from muse.terms.parts import Sparse, coverage, word_shares
from muse.terms.units import UnitConfig
from tests.support.command import Command
from tests.terms.conftest import IDIOMS


def test_units_are_translated_by_contexts_and_by_parts(world: Path) -> None:
    units = UnitConfig(edge=0, association=0.2)
    config = TermConfig(units=units, answers=units)
    weights = np.zeros((2, len(FEATURES)))
    weights[:, [FEATURES.index(one) for one in ("csls by contexts", "covered", "covering")]] = 4, 2, 2
    model, texts = TermModel(weights.ravel(), -6.0), ([world / "aa"], [world / "bb"])
    found = find_terms(load_space(world / "space"), texts, ("aa", "bb"), config=config, model=model)
    best = {term.term: term.translations[0].target for term in found}
    pairs = zip(*((world / f"{one}.units").read_text().split("\n") for one in ("aa", "bb")), strict=True)
    right = [best.get(source) == target for source, target in pairs]
    assert sum(right[:IDIOMS]) >= IDIOMS - 1
    assert all(right[IDIOMS:])
    shares = [term.translations[0].probability for term in found]
    assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize("ending", ["tsv", "jsonl", "csv"])
def test_a_glossary_is_written(muse: Command, world: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"glossary.{ending}"
    given = ["terms", world / "space", "--src", "aa", "--src-text", world / "aa"]
    given += ["--tgt", "bb", "--tgt-text", world / "bb", "--out", out, "--top", "2", "--json"]
    saved = tmp_path / "extended"
    found = muse(*given, *(["--save-space", saved] if ending == "csv" else []))
    if ending == "csv":
        units = {language: len(load_space(saved).units(language)) for language in ("aa", "bb")}
        assert found.json["units"] == units and min(units.values()) > 0
    assert (found.code, found.json["verdict"], found.json["out"]) == (0, "aligned", str(out))
    if ending == "jsonl":
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        assert len(rows) == found.json["translations"]
        assert {row["rank"] for row in rows} == {1, 2}
        assert all(row["unsure"] == (row["probability"] < 0.5) for row in rows)
    assert sum(1 for _ in out.open()) == found.json["translations"] + (ending != "jsonl")


def test_what_cannot_be_written_is_told_first(muse: Command, world: Path, tmp_path: Path) -> None:
    given = ["terms", world / "space", "--src-text", world / "aa", "--tgt-text", world / "missing"]
    assert "a glossary is written as" in muse(*given, "--out", tmp_path / "a.doc").errors[0]
    assert "missing" in muse(*given, "--out", tmp_path / "a.tsv").errors[0]
    assert not (tmp_path / "a.tsv").exists()


def test_coverage_is_the_share_of_words_that_are_translated() -> None:
    rng = np.random.default_rng(0)
    shares, probabilities = rng.random((4, 5)) * (rng.random((4, 5)) < 0.5), rng.random((5, 6))
    target = rng.random((3, 6)) * (rng.random((3, 6)) < 0.5)
    found = coverage(Sparse(shares), Sparse(target), Sparse(probabilities)).toarray()
    expected = np.einsum("sn,nm,tm->st", shares, probabilities, (target > 0).astype(float))
    np.testing.assert_allclose(found, expected)
    assert word_shares([(0, 1)], np.array([1.0, 3.0, 9.0])).toarray().tolist() == [[0.25, 0.75]]


def test_the_model_is_that_of_highest_likelihood() -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((8_000, len(FEATURES))).astype(np.float32)
    alone = rng.random(8_000) < 0.5
    values[:, FEATURES.index("one word")] = alone
    truth = 2 * values[:, 0] * alone - values[:, 1] * ~alone - 0.5
    right = rng.random(8_000) < 1 / (1 + np.exp(-truth))
    model = TermModel.learned(values, right)
    of_units, of_words = model.weights.reshape(2, -1)
    np.testing.assert_allclose([of_units[0], of_units[1]], [0, -1], atol=0.15)
    np.testing.assert_allclose([of_words[0], of_words[1]], [2, 0], atol=0.15)
    assert model.probabilities(values).mean() == pytest.approx(right.mean(), abs=1e-4)
    assert model.weights.shape == TermModel.shipped().weights.shape
