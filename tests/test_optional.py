"""Optional packages: each is taken out of a copy of the package, and the rest does what it did."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from muse.optional import PACKAGES
from tests.test_architecture import MODULES, OPTIONAL_IMPORTS, PACKAGE, imported, package, trees

NAMES = [one.name for one in PACKAGES]
SAMPLE = PACKAGE.parent / "embeddings" / "sample"
GOLD = PACKAGE.parent / "dictionaries" / "fr-en.sample.txt"
# What can be loaded once for all: a copy is then imported in a fork.
LIBRARIES = "click, faiss, fastapi, jinja2, numpy, requests, scipy.optimize, scipy.stats, sklearn, torch"
IMPORTS = """
import importlib, json, os, sys
import {libraries}
for folder, modules in json.load(sys.stdin).items():
    if os.fork():
        assert os.wait()[1] == 0, folder
        continue
    sys.path.insert(0, folder)
    for name in modules:
        importlib.import_module(name)
    assert importlib.import_module("muse.optional").__file__.startswith(folder)
    print(folder, *importlib.import_module("muse.cli").commands.commands, flush=True)
    os._exit(0)
"""
HELP = "import sys; from muse.cli import main; sys.argv = ['muse', *sys.argv[1:]]; main()"
# One command after the other, for each folder in a fork; what each prints, as a list.
EACH = """
import contextlib, io, json, os, sys
import {libraries}, xgboost
folders, uses = json.load(sys.stdin)
for folder in folders:
    if os.fork():
        assert os.wait()[1] == 0, folder
        continue
    os.chdir(folder)
    sys.path.insert(0, folder)
    from muse.cli import __file__ as place, commands
    assert place.startswith(folder)
    found = []
    for line in uses:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = commands.main(line.split(), standalone_mode=False)
        assert not code, (line, code)
        found.append(out.getvalue())
    with open("printed.json", "w") as file:
        json.dump(found, file)
    os._exit(0)
"""
USES = (
    "align --src fr --tgt en --max-vocab 1000 --out space --json",
    "translate space maison roi nuit --json",
    "evaluate words space --dictionary gold.txt --json",
    "induce space --max-vocab 500 --mutual --format tsv --out fr-en.tsv",
    "export space --format text --out vectors",
)
RECORDED = ("fr-en.tsv", "vectors/fr.vec", "vectors/en.vec")


def copied(folder: Path, *without: str) -> Path:
    """A folder with the package, but for these packages; what is compiled is copied as well."""
    shutil.copytree(PACKAGE, folder / "muse", ignore=shutil.ignore_patterns("*.pyc.*"))
    for name in without:
        shutil.rmtree(folder / "muse" / name)
    return folder


def run(folder: Path, *words: str, program: str = HELP, given: str = "") -> subprocess.CompletedProcess[str]:
    """A command, or another program, of the package in a folder."""
    return subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=folder,
        input=given,
        env={**os.environ, "PYTHONPATH": str(folder), "MUSE_EMBEDDINGS": str(SAMPLE)},
        capture_output=True,
        text=True,
        check=False,
    )


def lacking(missing: str) -> set[str]:
    """A package and those that need it."""
    return {missing} | {other.name for other in PACKAGES if missing in other.needs}


def importable(missing: str) -> list[str]:
    """The modules that must be there without a package: those of the table that import it may not."""
    gone = lacking(missing)
    others = {name for name, needed in OPTIONAL_IMPORTS.items() if missing in needed}
    bound = {
        name
        for name, tree in trees().items()
        if package(name) in others
        and any(one.startswith(f"muse.{missing}") for node in tree.body for one in imported_at_the_top(node))
    }
    names = [name for name in MODULES if package(name) not in gone and name not in bound]
    return [
        f"muse.{name}" for name in names if name not in ("__init__", "__main__", "embedding.fasttext_process")
    ]


def imported_at_the_top(node: ast.stmt) -> frozenset[str]:
    """What a statement of a module imports when the module is."""
    return imported(node) if isinstance(node, ast.Import | ast.ImportFrom) else frozenset()


def commands_of(missing: str) -> set[str]:
    """The functions that are the commands of a package and of those that need it."""
    return {
        name.rpartition(".")[2].replace("_", "-")
        for one in PACKAGES
        if one.name in lacking(missing)
        for kind, names in one.offers.items()
        if ": " not in kind
        for name in names.split()
    }


@pytest.mark.slow  # each module is imported without each package
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_without_a_package_the_rest_imports_and_help_lists_what_is_left(tmp_path: Path) -> None:
    wanted = {str(copied(tmp_path / "whole")): [f"muse.{name}" for name in ("optional", "cli")]}
    wanted |= {str(copied(tmp_path / name, name)): importable(name) for name in NAMES}
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS.format(libraries=LIBRARIES)],
        cwd=tmp_path, input=json.dumps(wanted), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    listed = {Path(folder).name: set(names) for folder, *names in map(str.split, done.stdout.splitlines())}
    for name in NAMES:
        assert listed[name] == listed["whole"] - commands_of(name), name
    assert all(commands_of(name) for name in NAMES if name != "cluster")


def test_an_option_of_a_missing_package_is_not_shown_and_names_the_package(tmp_path: Path) -> None:
    folder = copied(tmp_path, "cluster")
    assert "--ray ADDRESS" not in run(folder, "induce", "--help").stdout
    told = run(folder, "induce", "space", "--out", "x", "--ray", "local")
    assert told.returncode == 1
    assert told.stderr.startswith("error: --ray ") and "muse.cluster" in told.stderr


def test_a_package_that_is_there_and_broken_is_not_taken_for_a_missing_one(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    (folder / "muse" / "fetch" / "command.py").write_text("import no_such_module\n")
    assert "no_such_module" in run(folder, "--help").stderr


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, object]]:
    """What the package does without each of the optional ones, and the whole."""
    folders = {
        name: copied(tmp_path_factory.mktemp(name), *([name] * (name in NAMES))) for name in ("whole", *NAMES)
    }
    for folder in folders.values():
        shutil.copy(GOLD, folder / "gold.txt")
    given = json.dumps(([*map(str, folders.values())], USES))
    ended = run(folders["whole"], program=EACH.format(libraries=LIBRARIES), given=given)
    assert ended.returncode == 0, ended.stderr
    return {name: results(folder) for name, folder in folders.items()}


def lasting(fields: object) -> object:
    """The fields without those that differ from run to run, however deep."""
    if isinstance(fields, dict):
        changing = ("seconds", "peak_memory_mb", "memory", "space")
        return {name: lasting(one) for name, one in fields.items() if name not in changing}
    return [lasting(one) for one in fields] if isinstance(fields, list) else fields


def results(folder: Path) -> dict[str, object]:
    """What a package printed and wrote for each use, without times and memory."""
    found: dict[str, object] = {}
    for use, printed in zip(USES, json.loads((folder / "printed.json").read_text()), strict=True):
        found[use] = lasting(json.loads(printed)) if "--json" in use else printed
    return found | {name: (folder / name).read_bytes() for name in RECORDED}


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("name", NAMES)
def test_without_a_package_the_core_does_what_it_did(name: str, done: dict[str, dict[str, object]]) -> None:
    assert done[name] == done["whole"]
