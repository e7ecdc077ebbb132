"""The helpers that commands share: how threads wait for one another, and which languages are taken."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

from muse.files.lexicons import formats
from muse.options import DICTIONARY_FORMS
from muse.search import exact
from tests.support.command import Command, align_arguments, every_command, refused
from tests.support.spaces import saved
from tests.support.toys import raw_pair, write_vec

# The command loads OpenMP, which prints its settings.
SHOW = [sys.executable, "-m", "muse", "translate", "no-space", "word"]


@pytest.mark.slow
@pytest.mark.parametrize(("given", "turns"), [({}, 1_000), ({"GOMP_SPINCOUNT": "7"}, 7)])
def test_waiting_threads_sleep_soon_unless_told_otherwise(given: dict[str, str], turns: int) -> None:
    shown = _openmp(given)
    assert f"GOMP_SPINCOUNT = '{turns}'" in shown


@pytest.mark.slow
def test_a_policy_of_the_user_is_kept() -> None:
    shown = _openmp({"OMP_WAIT_POLICY": "active"})
    assert "OMP_WAIT_POLICY = 'ACTIVE'" in shown
    assert "GOMP_SPINCOUNT = '1000'" not in shown


def _openmp(given: dict[str, str]) -> str:
    named = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    ended = subprocess.run(
        SHOW, env={**named, "OMP_DISPLAY_ENV": "VERBOSE", **given}, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    if "GOMP_SPINCOUNT" not in ended.stderr:
        pytest.skip("this torch uses another OpenMP than libgomp")
    return ended.stderr


TAKEN = "is en, the pivot, since none was given; the languages of this space are en, fr, de"


@pytest.mark.parametrize(
    "line",
    [
        "translate space fr20",
        "induce space --out x.tsv",
        "evaluate space --dictionary gold.txt",
        "evaluate space --task similarity --pairs rated.txt",
        "evaluate space --task sentences --source text --target text",
        "export space --format moses --out table",
    ],
)
def test_a_pivot_that_is_taken_is_named(muse: Command, here: Path, line: str) -> None:
    saved(here / "space", "fr", "de", plain=True)
    Path("gold.txt").write_text("fr20 en20\n")
    Path("rated.txt").write_text("".join(f"fr{i}\ten{i}\t{i % 5}\n" for i in range(9)))
    Path("text").write_text("fr20 en20\n")
    assert f"--tgt {TAKEN}" in muse(*line.split(), "--src", "fr").err
    for both in (["--src", "fr", "--tgt", "en"], ["--src", "fr", "--quiet"]):
        assert "the pivot" not in muse(*line.split(), *both).err
    for ambiguous in ([], ["--src", "en"], ["--tgt", "en"]):
        refused(muse(*line.split(), *ambiguous), "this space has fr, de besides en; choose one with --src or")


def test_a_source_that_is_the_pivot(muse: Command, tmp_path: Path) -> None:
    saved(tmp_path / "three", "fr", "de", plain=True)
    assert f"--src {TAKEN}" in muse("translate", tmp_path / "three", "en20", "--tgt", "de").err
    saved(tmp_path / "two", plain=True)
    assert "the pivot" not in muse("translate", tmp_path / "two", "fr20").err


@pytest.mark.parametrize("name", ["translate", "induce", "evaluate words", "report", "export"])
def test_help_names_the_default(name: str) -> None:
    helps = {one.opts[0]: str(getattr(one, "help", "")) for one in every_command()[name].params}
    assert "pivot" in helps["--src"]
    assert "pivot" in helps["--tgt"]


SEARCHING = {
    *("align", "translate", "neighbours", "induce", "mine", "report", "serve", "export"),
    *(f"evaluate {task}" for task in ("words", "rows", "sentences", "mining")),
}


@pytest.mark.parametrize("name", sorted(SEARCHING))
def test_every_command_that_searches_takes_a_backend(name: str) -> None:
    (found,) = (one for one in every_command()[name].params if one.name == "backend")
    assert isinstance(found, click.Option)
    assert isinstance(found.type, click.Choice)
    assert (found.opts, list(found.type.choices), found.default) == (
        ["--backend"], ["auto", "torch", "faiss"], "auto",
    )  # fmt: skip


@pytest.mark.slow
def test_the_backend_changes_no_result(
    muse: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used, search = list[str](), exact.BACKENDS["faiss"]

    def counting(*given: Any) -> Any:
        used.append("faiss")
        return search(*given)

    monkeypatch.setitem(exact.BACKENDS, "faiss", counting)
    source, target, _ = raw_pair()
    files = [write_vec(tmp_path / f"{side.language}.vec", side) for side in (source, target)]
    options = ["--init", "similarity", "--answers", "csls", "--no-reweight", "--json", "-q"]
    mappings, translated = [], []
    for backend in ("torch", "faiss"):
        used.clear()
        out = tmp_path / backend
        ended = muse(*align_arguments(*files, out, *options, "--backend", backend))
        assert ended.code == 0, ended.err
        mappings.append(np.load(out / "fr" / "mapping.npy"))
        translated.append(muse("translate", out, "fr7", "--json", "--backend", backend).json["answers"])
        assert ("faiss" in used) == (backend == "faiss")
    np.testing.assert_allclose(mappings[1], mappings[0], atol=1e-5)
    first, second = ([one["target"] for one in of["fr7"]] for of in translated)
    assert first == second


# A former name of an option, and its present one, by command.
RENAMED = [
    ("mine", "--src-lang", "--src"), ("mine", "--tgt-lang", "--tgt"), ("evaluate nli", "--src", "--lang"),
    ("evaluate relatedness", "--src", "--lang"), ("evaluate probe", "--src", "--lang"),
    ("evaluate sts", "--lang", "--src"), ("neighbours", "--src", "--lang"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "former", "present"), RENAMED)
def test_a_former_name_still_works_and_is_not_shown(
    muse: Command, name: str, former: str, present: str
) -> None:
    option = next(one for one in every_command()[name].params if former in one.opts)
    assert option.opts[0] == present
    shown = muse(*name.split(), "--help").out
    assert f"  {present} LANG" in shown
    assert former not in shown.replace(present, "")


MAP_ROWS = ("map", "export")


def test_one_option_names_a_language_in_all_commands() -> None:
    # Of one language --lang, of two --src and --tgt; files are --source and --target. Rows are mapped --among
    # those of a language.
    for name, command in every_command().items():
        shown = {one.opts[0] for one in command.params if one.metavar == "LANG"}
        rows = {"--among"} if name in MAP_ROWS else set()
        assert shown <= {"--lang", "--src", "--tgt", "--via"} | rows, name
        assert ("--src" in shown) == ("--tgt" in shown), name


ALIGNED = Path("embeddings", "aligned")


def test_the_space_may_be_left_out_where_there_is_one(muse: Command, here: Path) -> None:
    saved(ALIGNED / "fr-en", plain=True)
    (ALIGNED / "notes").mkdir()
    Path("gold.txt").write_text("fr20 en20\n")
    for line in (
        "translate {} fr3 fr5 --json",
        "neighbours {} fr3 --json",
        "evaluate {} --dictionary gold.txt --json",
        "evaluate words {} --dictionary gold.txt --json",
        "induce {} --out d.txt --max-vocab 20",
    ):
        given, left_out = (muse(*line.format(space).split()) for space in (ALIGNED / "fr-en", ""))
        assert (given.code, given.out) == (left_out.code, left_out.out), left_out.err
        assert given.code == 0
    # A text, and a word that could be a folder.
    assert muse("translate", stdin="fr3\n").out == muse("translate", ALIGNED / "fr-en", stdin="fr3\n").out
    refused(muse("translate", "fr3", "--out", ALIGNED / "fr-en" / "x.csv"), "are in one another")
    refused(muse("translate", "embeddings/aligned/fr-de", "fr3"), "fr-de: expected an aligned space")
    refused(muse("translate", ALIGNED, "fr3"), "expected an aligned space, found no manifest.json in it")


def test_several_spaces_are_named(muse: Command, here: Path) -> None:
    refused(muse("report"), "Missing argument 'SPACE': embeddings/aligned has none", "muse align", code=2)
    for name in ("fr-en", "de-en"):
        saved(ALIGNED / name, plain=True)
    several = "has several, embeddings/aligned/de-en and embeddings/aligned/fr-en; name one"
    refused(muse("report"), several, code=2)
    refused(muse("induce", "--out", "d.txt"), several, code=2)
    refused(
        muse("translate", "fr3"), "the spaces here are embeddings/aligned/de-en, embeddings/aligned/fr-en"
    )
    assert muse("report", "--help").code == 0


def test_every_dictionary_has_a_format() -> None:
    assert {*DICTIONARY_FORMS} == {*formats()}
    options = {name: _options(command) for name, command in every_command().items()}
    having = {name for name, known in options.items() if "--dictionary" in known}
    assert having == {"align", "carry-labels", "evaluate links", "evaluate words", "link", "report"}
    assert having == {name for name, known in options.items() if "--dictionary-format" in known}
    assert {"--evidence", "--evidence-format"} <= options["align"]


def _options(command: click.Command) -> set[str]:
    return {option for parameter in command.params for option in parameter.opts}
