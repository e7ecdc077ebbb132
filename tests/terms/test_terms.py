"""muse terms: units of two texts are paired by their contexts and parts, in files of every format."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy

from benchmarks.words.units import learned
from muse.embedding.corpus import write_corpora
from muse.examples.index import Example
from muse.files import read_lexicon
from muse.space import load_space
from muse.terms.decisions import Decisions
from muse.terms.evidence import FEATURES
from muse.terms.glossary import FoundTerm, TermConfig, TermTranslation, find_terms, read_term_texts
from muse.terms.glossary_file import check_glossary, write_glossary
from muse.terms.model import TermModel
from muse.terms.parts import Sparse, coverage, word_shares
from muse.terms.rows import GlossaryRow
from muse.terms.units import UnitConfig
from tests.support.command import Command, Ended
from tests.terms.conftest import IDIOMS


def test_units_are_translated_by_contexts_and_by_parts(world: Path, tmp_path: Path) -> None:
    units = UnitConfig(edge=0, association=0.2)
    weights = np.zeros((2, len(FEATURES)))
    weights[:, [FEATURES.index(one) for one in ("csls by contexts", "covered", "covering")]] = 4, 2, 2
    config = TermConfig(units=units, answers=units, model=TermModel(weights.ravel(), -6.0))
    space = load_space(world / "space")
    corpora = write_corpora({one: [world / one] for one in ("aa", "bb")}, tmp_path)
    aa, bb = read_term_texts(corpora, space, config).values()
    found = find_terms(space, (aa, bb), config=config)
    best = {term.term: term.translations[0].target for term in found}
    pairs = zip(*((world / f"{one}.units").read_text().split("\n") for one in ("aa", "bb")), strict=True)
    right = [best.get(source) == target for source, target in pairs]
    assert sum(right[:IDIOMS]) >= IDIOMS - 1
    assert all(right[IDIOMS:])
    shares = [term.translations[0].probability for term in found]
    assert shares == sorted(shares, reverse=True)


def glossary(muse: Command, world: Path, out: Path, *more: object) -> Ended:
    """What writing a glossary of the texts by the space alone ended with."""
    texts = "--src", "aa", "--src-text", world / "aa", "--tgt", "bb", "--tgt-text", world / "bb"
    return muse("terms", world / "space", "--no-learn", *texts, "--out", out, "--json", *more)


@pytest.mark.parametrize("ending", ["tsv", "jsonl", "csv"])
def test_a_glossary_is_written(muse: Command, world: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"glossary.{ending}"
    saved = tmp_path / "extended"
    more = ["--save-space", saved] if ending == "csv" else []
    found = glossary(muse, world, out, "--top", "2", "--out", tmp_path / "b.txt", *more)
    if ending == "csv":
        units = {language: len(load_space(saved).units(language)) for language in ("aa", "bb")}
        assert found.json["units"] == units and min(units.values()) > 0
    assert (found.code, found.json["verdict"], found.json["out"]) == (0, "aligned", str(out))
    if ending == "jsonl":
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        assert len(rows) == found.json["translations"]
        assert {row["rank"] for row in rows} == {1, 2}
        assert all(row["unsure"] == (row["probability"] < 0.5) for row in rows)
        example = rows[0]["examples"][0]
        line = (world / "aa").read_text().split("\n")[example["line"] - 1]
        assert (example["file"], example["text"]) == (str(world / "aa"), line)
        assert rows[0]["term"] in example["text"]
    assert sum(1 for _ in out.open()) == found.json["translations"] + (ending != "jsonl")
    assert len((tmp_path / "b.txt").read_text().splitlines()) >= found.json["terms"]


def test_what_is_decided_is_kept_and_learned_from(muse: Command, world: Path, tmp_path: Path) -> None:
    def rows(*more: object) -> list[dict[str, Any]]:
        assert glossary(muse, world, tmp_path / "a.jsonl", "--examples", "0", *more).code == 0
        return [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]

    before = rows()
    wrong = [row for row in before if row["rank"] == 1][:3]
    right = before[-1]
    decided = [["term", "translation", "decision"], ["new term", "neuer", "accepted"]]
    decided += [[row["term"], row["translation"], "rejected"] for row in wrong]
    decided.append([right["term"], right["translation"], "accepted"])
    (tmp_path / "decisions.tsv").write_text("\n".join("\t".join(row) for row in decided))
    after = rows("--decisions", tmp_path / "decisions.tsv")
    pairs = [(row["term"], row["translation"]) for row in after]
    first = [row for row in after if row["rank"] == 1][:2]
    accepted = {("new term", "neuer"), (right["term"], right["translation"])}
    assert {(row["term"], row["translation"]) for row in first} == accepted
    assert all(
        (one["probability"], one["decision"], one["unsure"]) == (1, "accepted", False) for one in first
    )
    assert not {(row["term"], row["translation"]) for row in wrong} & {*pairs}
    shares = {(row["term"], row["translation"]): row["probability"] for row in before}
    others = [
        (row["probability"], shares[pair]) for row, pair in zip(after, pairs, strict=True) if pair in shares
    ]
    assert sum(new < old for new, old in others) > len(others) / 2  # more were rejected
    (tmp_path / "bad.tsv").write_text("term\ttranslation\tdecision\na\tb\tyes\n")
    ended = glossary(muse, world, tmp_path / "b.tsv", "--decisions", tmp_path / "bad.tsv")
    assert "expected the decision accepted or rejected" in ended.errors[0]


def test_the_shift_of_log_odds_is_that_of_highest_likelihood() -> None:
    shares, right = [0.9, 0.2, 0.6, 0.4], [True, False, False, True]
    found = [
        FoundTerm(str(i), [TermTranslation("x", share, 1)], 1, 0, 0, 0) for i, share in enumerate(shares)
    ]
    accepted, rejected = ([(str(i), "x") for i in range(4) if right[i] == wanted] for wanted in (True, False))
    shift = Decisions(accepted, rejected).shift(found)
    odds = np.log(np.array(shares) / (1 - np.array(shares)))

    def loss(by: float) -> float:
        share = 1 / (1 + np.exp(-odds - by))
        return float(by**2 / 2 - np.log(np.where(right, share, 1 - share)).sum())

    assert shift == pytest.approx(scipy.optimize.minimize_scalar(loss).x, abs=1e-5)
    assert Decisions().shift(found) == 0


def test_other_programs_files_are_read_back(tmp_path: Path) -> None:
    example = Example("A <b> & c.", ((2, 5),), "a&b.txt", 3)
    rows = [
        GlossaryRow("a <b>", "c & d", 1, 0.9, False, "", 7, 3, 1.0, 0.5, 2.0, (example,), (example,)),
        GlossaryRow("a <b>", "e", 2, 0.1, True, "", 7, 3, 1.0, 0.5, 2.0),
        GlossaryRow("f", "g", 1, 0.2, True, "", 7, 3, math.nan, math.nan, math.nan),
    ]
    for name, form in (("a.tbx", "tbx"), ("a.martif", "martif"), ("a.txt", "omegat"), ("a.anki.txt", "anki")):
        assert check_glossary(tmp_path / name, None) == form
        write_glossary(tmp_path / name, form, rows, ("fr", "en"), Decisions())
    for name in ("a.tbx", "a.martif"):
        assert read_lexicon(tmp_path / name, languages=("fr", "en")).pairs == (("a <b>", "c & d"), ("f", "g"))
    first, second = (tmp_path / "a.txt").read_text().splitlines()
    assert (first, second) == ("a <b>\tc & d\t90 %; A <b> & c.", "f\tg\t20 %, unsure")
    *_, first, second = (tmp_path / "a.anki.txt").read_text().splitlines()
    assert (
        first
        == "a &lt;b&gt;\tc &amp; d\tA <mark>&lt;b&gt;</mark> &amp; c.\tA <mark>&lt;b&gt;</mark> &amp; c.\t"
    )
    assert second.endswith("\tunsure")


@pytest.mark.slow  # fastText learns
def test_texts_that_are_too_short_to_learn_from_are_refused(
    muse: Command, world: Path, tmp_path: Path
) -> None:
    texts = "--src", "aa", "--src-text", world / "aa", "--tgt", "bb", "--tgt-text", world / "bb"
    ended = muse("terms", *texts, "--out", tmp_path / "a.tsv", "--threads", "1")
    assert (ended.code, "at least 500 words are needed" in ended.errors[0]) == (1, True)
    assert not (tmp_path / "a.tsv").exists()
    refused = muse("terms", *texts, "--no-learn", "--out", tmp_path / "b.tsv")
    assert (refused.code, "Without a SPACE" in refused.err) == (2, True)


def test_what_cannot_be_written_is_told_first(muse: Command, world: Path, tmp_path: Path) -> None:
    given = [
        "terms",
        world / "space",
        "--no-learn",
        "--src-text",
        world / "aa",
        "--tgt-text",
        world / "missing",
    ]
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
    model = learned(values, right)
    of_units, of_words = model.weights.reshape(2, -1)
    np.testing.assert_allclose([of_units[0], of_units[1]], [0, -1], atol=0.15)
    np.testing.assert_allclose([of_words[0], of_words[1]], [2, 0], atol=0.15)
    assert model.probabilities(values).mean() == pytest.approx(right.mean(), abs=1e-4)
    assert model.weights.shape == TermModel.shipped().weights.shape
