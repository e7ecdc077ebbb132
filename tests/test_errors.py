"""Errors: the name that was meant is guessed only where it is close; settings are named as they are typed."""

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import fields

import pytest

import muse
from muse.errors import BadSetting, did_you_mean, in_python, named_as_in_python
from tests.support.command import Command, every_command
from tests.test_architecture import package, trees


@pytest.mark.parametrize(
    ("found", "meant"),
    [
        ("fra", "fr"), ("FR", "fr"), ("fr_FR", "fr"), ("french", "fr"), ("fra_latn", "fra_Latn"),
        ("en_fr", "en-fr"), ("power", "power-mean"), ("xx", ""), ("", ""), ("x", ""),
    ],
)  # fmt: skip
def test_the_closest_known_name(found: str, meant: str) -> None:
    known = ["en", "fr", "fra_Latn", "en-fr", "power-mean", "x-bilstm"]
    assert did_you_mean(found, known) == (f"; did you mean {meant}?" if meant else "")
    assert did_you_mean(found, []) == ""


@pytest.mark.parametrize("quoted", ["x" * 100_000, "roi " * 30_000, "\n" * 9_999, "é" * 299])
def test_a_message_is_short_whatever_it_quotes(muse: Command, quoted: str) -> None:
    found = str(BadSetting(f"a.txt:1: expected a word, got {quoted!r}; check the file"))
    assert len(found) <= 1_000
    assert found.startswith("a.txt:1: expected a word") and found.endswith("; check the file")
    ended = muse("translate", f"none{quoted[:200]}", quoted)
    assert ended.code and len(ended.err) <= 1_000


OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
# Named in messages below the commands, and those of other programs.
OTHERS = {
    "--output",
    "--help",
    "--headless",
    "--convert-to",
    "--surface",
    "--tune",
    "--inplace",
    "--xinclude",
    "--wrap",
}


def named_options() -> Iterator[tuple[str, str]]:
    """The options that the strings of each module name, but those of the command line itself."""
    for module, tree in trees().items():
        if package(module) in ("commands", "cli", "__main__"):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from ((module, option) for option in OPTION.findall(node.value))


def test_a_setting_is_named_as_an_option_that_there_is() -> None:
    options = [option for command in every_command().values() for option in command.params]
    known = {name for option in options for name in (*option.opts, *option.secondary_opts)}
    assert {(module, name) for module, name in named_options() if name not in known | OTHERS} == set()


def test_python_is_told_names_that_it_takes() -> None:
    taken = {one.name for one in fields(muse.AlignConfig)} | set(inspect.signature(muse.align).parameters)
    taken |= {"src_text", "tgt_text", "no_identical"}
    own = {"json", "threads", "version", "help"}
    for option in every_command()["align"].params:
        name = next((one for one in option.opts if one.startswith("--")), "--json")  # former names come later
        for one in (name, *option.secondary_opts):
            if one[2:] not in own:
                assert in_python(one).partition("=")[0] in taken, one


def test_only_what_is_called_in_python_renames_options() -> None:
    @named_as_in_python()
    def called() -> None:
        raise BadSetting(
            "--src-emb needs --src LANG, got 'a--b'; leave out --no-refine, or run muse map --fit"
        )

    with pytest.raises(BadSetting) as error:
        called()
    expected = "src_emb needs src=LANG, got 'a--b'; leave out refine=False, or run muse map --fit"
    assert str(error.value) == expected
