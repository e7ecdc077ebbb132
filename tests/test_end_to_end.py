"""The whole way on the sample vectors: align, evaluate, induce, translate, kill and resume."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.files import read_lexicon, read_vectors
from muse.normalise import normalise
from muse.space import load_space
from tests.command import SCORE_FIELDS, Command, align_arguments
from tests.conftest import ROOT

SAMPLE = ROOT / "embeddings" / "sample"
GOLD = ROOT / "dictionaries" / "fr-en.sample.txt"
WORDS = 5_000
FIELDS = {
    "space",
    "init",
    "criterion",
    "verdict",
    "confidence",
    "seconds",
    "candidates",
    "words",
    "peak_memory_mb",
    "signature",
}


def sample(out: Path, *more: object) -> list[object]:
    files = SAMPLE / "fr.vec.gz", SAMPLE / "en.vec.gz"
    return align_arguments(*files, out, "--max-vocab", WORDS, "--json", *more)


@pytest.fixture(scope="module")
def aligned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """The sample vectors aligned by Gromov-Wasserstein, and what the command said."""
    out = tmp_path_factory.mktemp("sample") / "space"
    command = [sys.executable, "-m", "muse", *map(str, sample(out, "--init", "gromov"))]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr
    return out, json.loads(ended.stdout)


def test_the_fields_and_the_verdict(aligned: tuple[Path, Any]) -> None:
    out, fields = aligned
    assert fields.keys() >= FIELDS
    assert fields["space"] == str(out)
    assert (fields["init"], fields["verdict"]) == ("gromov", "aligned")
    assert 0.8 <= fields["confidence"] <= 1
    assert fields["seconds"].keys() >= {"load", "init", "refine", "save", "total"}
    assert fields["words"] == {"fr": WORDS, "en": WORDS}
    assert [candidate["init"] for candidate in fields["candidates"]][0] == "gromov"
    assert [path.name for path in out.parent.iterdir()] == ["space"]


def test_rows_are_the_normalised_ones_mapped_by_what_is_stored(aligned: tuple[Path, Any]) -> None:
    space = load_space(aligned[0])
    for language in ("fr", "en"):
        raw = read_vectors(SAMPLE / f"{language}.vec.gz", language=language, max_vocab=WORDS)
        rows, _ = normalise(raw.matrix)
        mapped, _ = normalise(rows @ space.side(language).mapping.T, ["unit"])
        np.testing.assert_allclose(space.vectors(language).matrix, mapped, atol=1e-5)


def test_new_words_are_mapped_as_those_of_the_space(aligned: tuple[Path, Any]) -> None:
    space = load_space(aligned[0])
    french = read_vectors(SAMPLE / "fr.vec.gz", language="fr", max_vocab=9)
    np.testing.assert_allclose(
        space.map_words("fr", french.matrix), space.vectors("fr").matrix[:9], atol=1e-5
    )


def test_it_translates(muse: Command, aligned: tuple[Path, Any]) -> None:
    score = muse("evaluate", aligned[0], "--dictionary", GOLD, "--json").json
    assert score.keys() >= set(SCORE_FIELDS)
    assert score["p_at_1"] > 45
    assert score["p_at_1"] < score["p_at_5"] < score["p_at_10"]
    assert score["ci95"][0] < score["p_at_1"] < score["ci95"][1]
    found = muse("translate", aligned[0], "maison", "--json").json["translations"]["maison"]
    assert "house" in [word for word, _ in found[:3]]


@pytest.mark.parametrize("form", ["muse", "tsv", "jsonl"])
def test_induced_dictionaries_read_back(
    muse: Command, aligned: tuple[Path, Any], tmp_path: Path, form: str
) -> None:
    out = tmp_path / "induced"
    options = ["--mutual", "--max-vocab", 2_000, "--format", form, "--json"]
    said = muse("induce", aligned[0], "--out", out, *options).json
    assert said["out"] == str(out)
    lexicon = read_lexicon(out)
    assert len(lexicon) == said["pairs"]
    assert (lexicon.scores is None) == (form == "muse")
    assert 500 < said["pairs"] <= 2_000
    assert "house" in out.read_text(encoding="utf-8")


def test_probabilities_hold_on_the_gold_list(
    muse: Command, aligned: tuple[Path, Any], tmp_path: Path
) -> None:
    out = tmp_path / "induced"
    muse("induce", aligned[0], "--out", out, "--format", "jsonl")
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").split("\n") if line]
    gold, words = read_lexicon(GOLD).translations(), set(load_space(aligned[0]).vectors("en").words)
    covered = [line for line in lines if words & gold.get(line["source"], frozenset())]
    sure = np.array([line["probability"] for line in covered])
    right = np.array([line["target"] in gold[line["source"]] for line in covered])
    # Never too sure. On the doubtful side there is room: on MUSE's lists, which leave out right translations
    # that this one has, the same probabilities are exact (benchmarks/RESULTS.md).
    assert -0.13 < sure.mean() - right.mean() < 0.05
    assert right[sure > 0.8].mean() > right[sure < 0.4].mean() + 0.3


@pytest.mark.parametrize("init", ["identical", "similarity", "dictionary"])
def test_other_ways_in_run(muse: Command, tmp_path: Path, init: str) -> None:
    more = ["--dictionary", GOLD] if init == "dictionary" else []
    ended = muse(*sample(tmp_path / "s", "--init", init, "--no-refine", "--max-vocab", 2_000, *more))
    assert ended.code in (0, 3), ended.err
    assert ended.json["init"] == init
    assert "no-refine" in ended.json["signature"]
    assert load_space(tmp_path / "s").languages == ("fr", "en")


def toy(folder: Path, out: str, *more: object) -> list[object]:
    return align_arguments(folder / "fr.vec", folder / "en.vec", folder / out, "--json", *more)


def mapping(space: Path) -> bytes:
    return (space / "fr" / "mapping.npy").read_bytes()


def test_one_seed_one_result(muse: Command, files: Path) -> None:
    for out in ("a", "b"):
        assert muse(*toy(files, out, "--init", "gromov", "--seed", 5)).json["verdict"] == "aligned"
    assert mapping(files / "a") == mapping(files / "b")


# The command line with a game of seconds, long enough to be killed in.
SMALL_GAME = """
from muse.learn import auto
from muse import cli
from muse.learn.initialise.adversarial import AdversarialConfig
small = AdversarialConfig(restarts=2, survivors=1, epochs=30, patience=30, steps=20, hidden=50)
auto.AdversarialConfig = lambda: small
cli.main()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")
def test_killed_and_resumed(files: Path) -> None:
    def start(out: str, *more: str) -> subprocess.Popen[str]:
        arguments = toy(files, out, "--init", "adversarial", "--no-refine", *more)
        command = [sys.executable, "-c", SMALL_GAME, *map(str, arguments)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    kept = files / ".killed.checkpoint" / "adversarial.npz"
    killed = start("killed")
    deadline = time.monotonic() + 120
    while not kept.exists() and killed.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    assert kept.exists()
    assert not (files / "killed").exists()
    resumed, whole = start("killed", "--resume"), start("whole")
    for run in (resumed, whole):
        errors = run.communicate(timeout=300)[1]
        assert run.returncode in (0, 3), errors
    assert mapping(files / "killed") == mapping(files / "whole")
    assert not kept.parent.exists()


@pytest.mark.shared
def test_the_vectors_of_zhang(muse: Command, shared: Path, tmp_path: Path) -> None:
    folder = next(shared.glob("**/zhang2017/es-en"))
    inputs = ["--src-emb", folder / "es.vec.gz", "--tgt-emb", folder / "en.vec.gz"]
    ended = muse("align", "--src", "es", "--tgt", "en", *inputs, "--out", tmp_path / "s", "--json")
    assert ended.json["verdict"] == "aligned"
    score = muse("evaluate", tmp_path / "s", "--dictionary", folder / "gold.txt", "--json").json
    assert score["p_at_1"] >= 76
