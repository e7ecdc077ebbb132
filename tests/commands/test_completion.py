"""Completion with the tab key: what the shell is given, and without waiting for torch."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from muse.cli import commands
from muse.files.vectors import locate
from tests.support.command import every_command
from tests.support.spaces import saved


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a space in the usual place, one beside it, and vectors of fr and sw."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(locate, "SAMPLE", tmp_path / "none")
    monkeypatch.delenv("MUSE_EMBEDDINGS", raising=False)
    (tmp_path / "embeddings" / "aligned").mkdir(parents=True)
    saved(tmp_path / "embeddings" / "aligned" / "fr-en")
    saved(tmp_path / "mine")
    (tmp_path / "notes").mkdir()
    for name in ("cc.fr.300.vec.gz", "sw.vec", "README.md"):
        (tmp_path / "embeddings" / name).touch()
    return tmp_path


def completed(*words: str) -> list[str]:
    """What is offered for the last word; for paths, the kind that the shell is to look for."""
    found = ShellComplete(commands, {}, "muse", "_MUSE_COMPLETE").get_completions(list(words[:-1]), words[-1])
    return [one.value if one.type == "plain" else f"<{one.type}>" for one in found]


def test_commands_in_the_order_of_work() -> None:
    assert completed("")[:3] == ["fetch", "embed", "align"]
    assert completed("tr") == ["translate", "train", "train-translator", "train-lm"]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["report", ""], ["embeddings/aligned/fr-en", "mine"]),
        (["report", "m"], ["mine"]),
        (["report", "embeddings/aligned/"], ["embeddings/aligned/fr-en"]),
        (["report", "n"], ["<dir>"]),
        (["align", "--src", "fr", "--into", "m"], ["mine"]),
        (["evaluate", "mine", "--against", "e"], ["embeddings/aligned/fr-en"]),
        (["evaluate", "words", "m"], ["mine"]),
        (["evaluate", "words", "mine", "--src", ""], ["en", "fr"]),
        (["evaluate", "s"], ["similarity", "sentences", "sts"]),
        (["evaluate", "m"], ["mining", "mine"]),
        (["evaluate", "mine", "--task", "similarity", "--p"], ["--pairs"]),
        (["doctor", "--s"], []),
        (["align", "--src-emb", "emb"], ["<file>"]),
        (["align", "--out", ""], ["<dir>"]),
        (["embed", "te"], ["<file>"]),
        (["encode", "mine", "--encoder", ""], ["<dir>"]),
        (["align", "--src", ""], ["fr", "sw"]),
        (["align", "--src", "fr", "--via", "s"], ["sw"]),
        (["translate", "mine", "--src", ""], ["en", "fr"]),
        (["translate", "nosuch", "--src", ""], []),
        (["translate", "--src", ""], ["en", "fr"]),
        (["neighbours", "--lang", "f"], ["fr"]),
        (["encode", "mine", "--lang", "e"], ["en"]),
        (["fetch", "v"], ["vectors"]),
        (["fetch", "vectors", "fr"], ["fr", "frr"]),
        (["fetch", "dictionary", "fr-e"], ["fr-en", "fr-es"]),
        (["align", "--init", "g"], ["gromov"]),
    ],
    ids=" ".join,
)  # fmt: skip
def test_values(words: list[str], offered: list[str]) -> None:
    assert completed(*words) == offered


def test_every_path_and_language_is_completed() -> None:
    for command in every_command().values():
        for parameter in command.params:
            if isinstance(parameter.type, click.types.FuncParamType) and not getattr(
                parameter, "hidden", False
            ):
                offered = parameter.shell_complete(click.Context(command), "x")
                assert [one.type for one in offered] in (["file"], ["dir"]), (command.name, parameter.name)


@pytest.mark.parametrize("words", ["report ", "align --src ", "translate mine --src ", "fetch vectors f"])
def test_without_torch(here: Path, words: str) -> None:
    code = "import sys, atexit; atexit.register(lambda: print('torch' in sys.modules, file=sys.stderr)); "
    shell = {"COMP_WORDS": f"muse {words}", "COMP_CWORD": str(len(f"muse {words}".split(" ")) - 1)}
    ended = subprocess.run(
        [sys.executable, "-c", f"{code}from muse.cli import main; main()"],
        env={**os.environ, **shell, "_MUSE_COMPLETE": "bash_complete"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.stdout.startswith("plain,")
    assert ended.stderr.strip() == "False"


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_shells_get_their_script(shell: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "muse"],
        env={**os.environ, "_MUSE_COMPLETE": f"{shell}_source"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "_MUSE_COMPLETE" in ended.stdout
