"""A word has one first answer and one probability, whoever is asked."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse import load as muse_load
from muse.files import read_lexicon
from muse.normalise import normalise
from muse.ranking.ranker import translate_words
from muse.report.measured import Gold, gold_answers, measure
from muse.space import SideToSave, Space, load_space, save_space
from muse.space.derived import AnswerTable, write_answers
from muse.vectors import Vectors
from tests.support.command import Command
from tests.support.spaces import PROVENANCE, STEPS, derived, raw_rows, saved

COUNT, SHARE = 39, 0.75
REPORT = {"by": "all evidence"}


def shifted(space: Space, source: str, target: str) -> AnswerTable:
    """Answers that no vector gives: row i + 1, which is probable, and then row i + 2, which is not."""
    n, m = len(space.vectors(source)), len(space.vectors(target))
    columns = np.stack([(np.arange(n) + 1) % m, (np.arange(n) + 2) % m], axis=1)
    shares = np.tile(np.array([SHARE, 0.125], np.float32), n)
    csls = np.tile(np.array([0.25, 0.5], np.float32), n)  # the second is better by CSLS
    return AnswerTable(np.arange(n + 1) * 2, columns.ravel(), csls, shares, REPORT)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("answers") / "space"
    space = saved(folder, count=COUNT + 1, plain=True)
    for way in (("fr", "en"), ("en", "fr")):
        write_answers(folder, way, shifted(space, *way))
    derived(folder, lambda _: None)
    (folder.parent / "gold.txt").write_text("fr3 en4\nfr5 en5\n")
    return folder


@pytest.fixture
def space(folder: Path) -> Space:
    return load_space(folder)


def best(space: Space, word: str, top: int) -> list[str]:
    return [one.target for one in translate_words(space, [word], top=top)[0]]


def test_python(space: Space) -> None:
    (found,) = translate_words(space, ["fr3"], top=2)
    assert found == [("en4", 0.25), ("en5", 0.5)]
    assert [(one.probability, one.rank) for one in found] == [(SHARE, 1), (0.125, 2)]
    assert not found[0].mutual  # en4 is answered by fr5


def test_further_answers_are_those_of_csls(space: Space) -> None:
    (found,) = translate_words(space, ["fr3"], top=6)
    assert [one.target for one in found[:2]] == ["en4", "en5"]
    by_csls = best(space.by_csls(), "fr3", 8)
    rest = [target for target in by_csls if target not in ("en4", "en5")][:4]
    assert [one.target for one in found[2:]] == rest
    assert all(one.probability is None for one in found[2:])


def test_translate(folder: Path, muse: Command) -> None:
    found = muse("translate", folder, "fr3", "--top", 1, "--json").json["answers"]["fr3"][0]
    assert (found["target"], found["probability"]) == ("en4", SHARE)
    assert "en4 0.250 (75 %)" in muse("translate", folder, "fr3", "--top", 1).out
    plain = muse("translate", folder, "fr3", "--top", 1, "--answers", "csls", "--json").json
    assert [plain["translations"]["fr3"][0][0]] == best(load_space(folder, answers="csls"), "fr3", 1)


def test_text(tmp_path: Path, muse: Command) -> None:
    # Of letters alone: what has a digit is kept in text.
    sides = {
        name: SideToSave(Vectors(name, [f"{name}{letter}" for letter in "abcdefgh"], rows), fitted, None)
        for name, (rows, fitted) in (
            (name, normalise(raw_rows(seed, 8), STEPS)) for seed, name in enumerate(("fr", "en"))
        )
    }
    save_space(tmp_path / "space", sides, pivot="en", provenance=PROVENANCE)
    space = load_space(tmp_path / "space")
    answers = shifted(space, "fr", "en")
    derived(tmp_path / "space", lambda folder: write_answers(folder, ("fr", "en"), answers))
    assert muse("translate", tmp_path / "space", stdin="frc fre\n").out == "end enf\n"


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_induce(folder: Path, tmp_path: Path, muse: Command) -> None:
    out = tmp_path / "fr-en.jsonl"
    muse("induce", folder, "--out", out)
    found = {one["source"]: one for one in entries(out)}
    assert (found["fr3"]["target"], found["fr3"]["probability"], found["fr3"]["rank"]) == ("en4", SHARE, 1)
    assert len(found) == COUNT


def test_induce_within_limits_and_beyond_what_is_kept(folder: Path, tmp_path: Path, muse: Command) -> None:
    out, space = tmp_path / "fr-en.jsonl", load_space(folder)
    muse("induce", folder, "--out", out, "--tgt-max", 4, "--src-max", 10)
    # fr2 has en3 alone, fr4 nothing within the four words.
    assert [(one["source"], one["target"]) for one in entries(out)] == [
        ("fr0", "en1"), ("fr1", "en2"), ("fr2", "en3"),
    ]  # fmt: skip
    muse("induce", folder, "--out", out, "--top", 12)
    own = [one for one in entries(out) if one["source"] == "fr3"]
    assert [one["target"] for one in own] == best(space, "fr3", 12)
    assert [one["probability"] for one in own] == [SHARE, 0.125, *[None] * 10]


def test_induce_by_csls(folder: Path, tmp_path: Path, muse: Command) -> None:
    out = tmp_path / "fr-en.jsonl"
    muse("induce", folder, "--out", out, "--answers", "csls")
    plain = load_space(folder, answers="csls")
    assert [one["target"] for one in entries(out)] == [
        best(plain, one["source"], 1)[0] for one in entries(out)
    ]


def test_evaluate(folder: Path, muse: Command) -> None:
    gold = folder.parent / "gold.txt"
    fields = muse("evaluate", "words", folder, "--dictionary", gold, "--json").json
    assert (fields["answers"], fields["p_at_1"], fields["covered"]) == ("all", 50.0, 2)
    assert fields["by_csls"]["answers"] == "csls"
    assert "all evidence" in fields["signature"] and "csls:10" in fields["by_csls"]["signature"]
    alone = muse("evaluate", "words", folder, "--dictionary", gold, "--json", "--answers", "csls").json
    assert alone["p_at_1"] == fields["by_csls"]["p_at_1"] and "by_csls" not in alone


def test_report(space: Space, folder: Path) -> None:
    gold = Gold(space, ("fr", "en"), read_lexicon(folder.parent / "gold.txt"), "gold")
    measured = measure(gold, max_vocab=20, rng=np.random.default_rng(0))
    wrong = {one.word: one for one in gold_answers(gold, measured.score.ranks)}
    assert (wrong["fr3"].answer.target, wrong["fr3"].answer.probability) == ("en4", SHARE)
    assert wrong["fr3"].right and not wrong["fr5"].right
    assert wrong["fr5"].answer.target == "en6"


def test_explorer(space: Space) -> None:
    pytest.importorskip("fastapi")
    pytest.importorskip("httpx")
    from muse.web.app import create_app
    from muse.web.explorer import Explorer
    from tests.support.asgi import Client

    client = Client(create_app(Explorer(space, "fr-en"), hosts=("127.0.0.1",)))
    best = client.get("/api/translate?src=fr&tgt=en&word=fr3").json()["translations"][0]
    assert (best["word"], best["probability"]) == ("en4", SHARE)


def test_moses(folder: Path, tmp_path: Path, muse: Command) -> None:
    out = tmp_path / "table.txt"
    muse("export", folder, "--format", "moses", "--src", "fr", "--tgt", "en", "--out", out)
    lines = [line.split(" ||| ") for line in out.read_text().splitlines()]
    own = {
        target: [float(one) for one in scores.split()]
        for source, target, scores, _ in lines
        if source == "fr3"
    }
    best = max(own, key=lambda target: own[target][2])
    assert (best, own[best][2], own[best][3]) == ("en4", SHARE, SHARE)
    assert own["en5"][2] == 0.125
    assert all(scores[2] <= 0.125 for target, scores in own.items() if target not in ("en4", "en5"))
    assert own["en2"][0] == SHARE  # p(s|t): fr3 is the answer to en2
    assert len(own) == 40


def test_all_prefer_a_words_own_spelling_where_there_are_no_answers(tmp_path: Path, muse: Command) -> None:
    """Whoever asks: Python, a command, a dictionary, a measurement, the report."""
    rng, count, way = np.random.default_rng(0), 40, ("--src", "fr", "--tgt", "en")
    words = {
        name: [f"w{row}" if row % 2 else f"{name}{row}" for row in range(count)] for name in ("fr", "en")
    }
    sides = {
        name: SideToSave(Vectors(name, words[name], rows), fitted, None)
        for name in ("fr", "en")
        for rows, fitted in [normalise(rng.normal(size=(count, 12)).astype(np.float32), STEPS)]
    }
    folder, gold = tmp_path / "space", tmp_path / "gold.txt"
    save_space(folder, sides, pivot="en", provenance=PROVENANCE)
    space, asked = load_space(folder), words["fr"]
    expected = {one.word: one[0].target for one in translate_words(space, asked, top=1)}
    plain = {one.word: one[0].target for one in translate_words(space.by_csls(), asked, top=1)}
    assert any(expected[word] == word != plain[word] for word in asked)
    at_the_prompt = muse_load(folder).translate(asked, src="fr")
    assert {word: found[0].target for word, found in at_the_prompt.items()} == expected
    said = muse("translate", folder, *asked, *way, "--json").json["translations"]
    assert {word: found[0][0] for word, found in said.items()} == expected
    muse("induce", folder, *way, "--out", tmp_path / "fr-en.txt")
    lines = [line.split() for line in (tmp_path / "fr-en.txt").read_text().splitlines()]
    assert {line[0]: line[1] for line in lines} == expected
    gold.write_text("".join(f"{word} {target}\n" for word, target in expected.items()))
    measured = muse("evaluate", "words", folder, *way, "--dictionary", gold, "--json").json
    assert measured["p_at_1"] == 100
    listed = Gold(space, ("fr", "en"), read_lexicon(gold), "gold")
    found = gold_answers(listed, dict.fromkeys(asked, 1))
    assert {one.word: one.answer.target for one in found} == expected
