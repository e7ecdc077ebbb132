"""A dash for a file: what stands on standard input is read, and nothing is called - by mistake."""

from pathlib import Path

import numpy as np
import pytest

from muse.commands import paths
from tests.support.command import Command, refused, refused_leaving
from tests.support.spaces import saved
from tests.support.streams import piped


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    saved(tmp_path / "space", plain=True)
    (tmp_path / "text").write_text("fr20 fr21\nfr22\n")
    return tmp_path


def test_a_dash_is_standard_input(muse: Command, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["encode", "space", "--lang", "fr", "--encoder", "mean"]
    assert muse(*arguments, "--input", "text", "--out", "a.npy").code == 0
    with piped((here / "text").read_bytes()) as stdin:
        monkeypatch.setattr(paths, "STDIN_PATH", stdin)
        assert muse(*arguments, "--input", "-", "--out", "b.npy").code == 0
    assert np.load("b.npy").any()
    np.testing.assert_array_equal(np.load("a.npy"), np.load("b.npy"))


@pytest.mark.parametrize(
    "line",
    [
        "mine space --src-lang fr --tgt-lang en --source text --target text --out pairs.tsv --fit fr=-",
        "encode space --lang fr --input text --out x.npy --fit -",
    ],
)
def test_a_dash_where_a_language_may_be_named(
    muse: Command, here: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    with piped(b"fr20\n\xe9\n") as stdin:
        monkeypatch.setattr(paths, "STDIN_PATH", stdin)
        refused(muse(*line.split(), "--encoder", "sif"), f"{stdin}:2: expected UTF-8")


def test_a_word_may_be_a_dash(muse: Command, here: Path) -> None:
    refused(muse("translate", "space", "-"), "'-' is not among the 39 words of fr")


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("induce space --out -", ["--out must have a name", "got -; choose a name (or the full path"]),
        ("encode space --lang fr --out -", ["--out must", "choose a name, or leave it out to print (or"]),
        ("embed text --lang fr --out x.vec --model -", ["--model must have a name"]),
        ("report space --out -", ["--out must have a name"]),
        ("encode - --lang fr", ["SPACE must be a folder, got -; give its name"]),
        ("evaluate space --dictionary text --against -", ["--against must be a folder"]),
    ],
)
def test_where_a_dash_can_be_nothing(muse: Command, here: Path, line: str, parts: list[str]) -> None:
    refused_leaving(here, muse, [*line.split()], *parts)


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("train-lm - - --lang fr --out x.arpa", ["only one file can be standard input, got - for TEXT and"]),
        ("mine space --src-lang fr --tgt-lang en --source - --target - --out x", ["--source and --target;"]),
        ("encode space --lang fr --input - --out x --ray local", ["--ray needs files", "got - for --input"]),
    ],
)
def test_what_a_dash_excludes_is_wrong_usage(muse: Command, here: Path, line: str, parts: list[str]) -> None:
    refused_leaving(here, muse, [*line.split()], *parts, code=2)
