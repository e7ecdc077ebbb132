"""Next steps: what a reader is told to do, as commands that can be pasted, with no absolute path."""

import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from muse.cli import main
from muse.files.space_manifest import Manifest
from muse.report.next_steps import NextStep, base_of, command_line, next_steps, shown

HERE: dict[str, Any] = {"measured": True, "words": 14_000, "trusted": 9.0, "languages": ("fr", "en")}
COMMAND = ["muse", "align", "--src", "fr", "--tgt", "en", "--tgt-emb", "/data/en.vec", "--max-vocab", "900",
           "--out", "/work/fr-en", "--quiet", "--dictionary", "few.txt"]  # fmt: skip


def steps(label: str, records: tuple[Any, ...] = (), **changed: Any) -> tuple[NextStep, ...]:
    here = HERE | changed
    space = SimpleNamespace(languages=here["languages"], pivot="en", vectors=lambda _: range(here["words"]))
    facts: Any = SimpleNamespace(
        label=label, records=records, space=space, source="fr", target="en", frequency_ordered=True,
        folder=Path("/work/fr-en"), config=SimpleNamespace(base=Path("/work")),
        accuracy=here["measured"] or None, survey=SimpleNamespace(trusted=here["trusted"]),
    )  # fmt: skip
    return next_steps(facts)


def commands(label: str, changed: dict[str, Any] | None = None, **entry: Any) -> list[str]:
    records = Manifest.of(**{"pivot": "en", "languages": {"fr": entry}}).mapped
    return [step.command for step in steps(label, tuple(records), **(changed or {})) if step.command]


def test_an_aligned_space_is_used() -> None:
    serve, induce, translate = commands("aligned")
    assert serve == "muse serve fr-en"
    assert induce == "muse induce fr-en --mutual --min-probability 0.85 --format tsv --out fr-en.tsv"
    assert translate == "muse translate fr-en < text.fr > text.en"


def test_no_step_would_find_no_pair() -> None:
    for trusted in (0.0, None):
        assert commands("aligned", {"trusted": trusted})[1] == (
            "muse induce fr-en --mutual --format tsv --out fr-en.tsv"
        )


def test_what_was_not_measured_is_to_be() -> None:
    unmeasured = {"measured": False}
    assert "muse report fr-en --dictionary pairs.txt" in commands("aligned", unmeasured)
    assert commands("doubtful", unmeasured)[0] == "muse report fr-en --dictionary pairs.txt"
    assert not [command for command in commands("doubtful") if "report" in command]


def test_a_direction_that_is_not_the_only_one_is_named() -> None:
    several = {"languages": ("fr", "de", "en")}
    assert commands("aligned", several)[2] == "muse translate fr-en --src fr --tgt en < text.fr > text.en"


def test_after_a_failure_the_same_command_is_changed() -> None:
    more, learning, adversarial = commands("failed", {"words": 900}, command=COMMAND)
    same = "muse align --src fr --tgt en --tgt-emb …/en.vec"
    assert learning == f"{same} --max-vocab 900 --out fr-en --dictionary pairs.txt"
    assert more == f"{same} --out fr-en"
    assert adversarial == f"{same} --max-vocab 900 --out fr-en --init adversarial --seed 1"


def test_after_a_failure_the_files_are_to_be_checked() -> None:
    texts = [step.text for step in steps("failed")]
    assert "The words they begin with are below" in texts[1]
    assert steps("failed", words=900)[-1].text == "Use more words: 900 are few."


@pytest.mark.parametrize("command", [[], [*COMMAND, "--src", "de"], [*COMMAND, "--into", "space"]])
def test_without_a_command_for_this_language_alone_a_plain_one_is_offered(command: list[str]) -> None:
    assert commands("failed", command=command)[0] == "muse align --src fr --tgt en --dictionary pairs.txt"


@pytest.mark.parametrize("label", ["aligned", "doubtful", "failed", "unknown", "good enough"])
def test_every_command_is_one_that_muse_has(label: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for command in commands(label, {"measured": False}):
        words = shlex.split(command.partition(" <")[0])
        monkeypatch.setattr("sys.argv", [*words, "--help"])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0, command


def test_paths_are_relative_or_names(tmp_path: Path) -> None:
    assert shown(tmp_path / "a" / "b", tmp_path) == str(Path("a", "b"))
    assert shown("/elsewhere/fr.vec", tmp_path) == "…/fr.vec"
    assert shown("~/fr.vec", tmp_path) == "…/fr.vec"
    assert shown("--out", tmp_path) == "--out"
    assert command_line(["muse", "serve", "/elsewhere/my space"], tmp_path) == "muse serve '…/my space'"


def test_commands_run_where_the_reader_is_or_beside_the_space(tmp_path: Path) -> None:
    space = tmp_path / "spaces" / "fr-en"
    assert base_of(space, tmp_path) == tmp_path
    assert base_of(space, tmp_path / "other") == tmp_path / "spaces"
