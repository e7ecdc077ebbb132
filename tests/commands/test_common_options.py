"""Options that all commands accept: a command shows those that it uses, and takes the others silently."""

from __future__ import annotations

import ast
import inspect
from dataclasses import fields
from pathlib import Path

import click
import pytest

from muse import commands
from muse.learn.settings import AlignConfig
from tests.support.command import Command, every_command
from tests.support.spaces import saved

COMMON = ("--json", "--seed", "--device", "--threads", "--quiet", "--verbose", "--version")
PACKAGE = Path(commands.__file__).parent
# The common options without an effect, by command. Sentences are encoded on the CPU.
UNUSED = {
    "demo": {"--seed", "--device", "--threads"},
    "doctor": {"--seed", "--device"},
    "embed": {"--device"},
    "encode": {"--seed", "--device"},
    "fetch": {"--seed", "--device", "--threads"},
    "map": {"--seed", "--device"},
    "neighbours": {"--seed"},
    "train-lm": {"--seed", "--device", "--threads"},
    **{f"evaluate {task}": {"--device"} for task in ("sts", "relatedness", "nli", "transfer", "probe")},
}


def common_options(name: str) -> dict[str, click.Option]:
    options = [one for one in every_command()[name].params if isinstance(one, click.Option)]
    return {shown: one for one in options for shown in COMMON if shown in one.opts}


@pytest.mark.parametrize("name", every_command())
def test_every_command_accepts_all_and_shows_those_it_uses(name: str) -> None:
    found = common_options(name)
    assert set(found) == set(COMMON)
    assert {shown for shown, one in found.items() if one.hidden} == UNUSED.get(name, set())
    # A command is not even given what it does not show.
    assert all(one.hidden != one.expose_value or shown == "--version" for shown, one in found.items())


@pytest.mark.parametrize("option", ["seed", "device"])
@pytest.mark.parametrize("name", every_command())
def test_what_is_shown_is_used(name: str, option: str) -> None:
    callback = every_command()[name].callback
    assert callback is not None
    function = inspect.unwrap(callback)
    used = _mentions(inspect.getsourcefile(function) or "", function.__name__)
    if name == "align":  # its options are fields of its settings, read by name
        used |= {field.name for field in fields(AlignConfig)}
    assert (option in used) == (not common_options(name)[f"--{option}"].hidden)


def _mentions(file: str, start: str) -> set[str]:
    """The parameters and keys in the function `start`, and in those it calls of muse.commands."""
    functions = _functions(Path(file))
    found, reached, left = set[str](), set[str](), [start]
    while left:
        name = left.pop()
        if name in reached or name not in functions:
            continue
        reached.add(name)
        for node in ast.walk(functions[name]):
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                found.add(str(node.slice.value))
            elif isinstance(node, ast.arg | ast.Attribute):
                found.add(node.arg if isinstance(node, ast.arg) else node.attr)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                left.append(node.func.id)
    return found


def _functions(file: Path) -> dict[str, ast.FunctionDef]:
    """The functions of a module, and of the modules it loads or imports; options.py has what all share."""
    module = ast.parse(file.read_text(encoding="utf-8"))
    found: dict[str, ast.FunctionDef] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("muse.commands."):
            name = str(node.module).rpartition(".")[2]
            found |= {} if name == "options" else _functions(PACKAGE / f"{name}.py")
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "load":  # of an optional package
            path = str(ast.literal_eval(node.args[0])).replace(".", "/")
            found |= _functions(PACKAGE.parent / f"{path}.py")
    return found | {one.name: one for one in module.body if isinstance(one, ast.FunctionDef)}


def test_a_script_may_give_them_to_every_command(muse: Command, tmp_path: Path) -> None:
    saved(tmp_path / "space")
    (tmp_path / "text").write_text("fr20 fr21\n")
    lines = [
        f"encode {tmp_path}/space --lang fr --input {tmp_path}/text --out {tmp_path}/a.npy",
        f"train-lm {tmp_path}/text --lang fr --out {tmp_path}/a.arpa",
        "fetch --list",
    ]
    for line in lines:
        plain = muse(*line.split(), "--json")
        given = muse(*line.split(), "--seed", 3, "--device", "cuda", "--threads", 1, "--json")
        assert (plain.code, given.code) == (0, 0)
        assert (plain.err, given.err) == ("", "")
        assert muse(*line.split(), "--seed", "many").code == 2
