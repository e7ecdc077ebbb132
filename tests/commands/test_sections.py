"""Help: commands and options under headings, whole sentences, and examples that are right."""

import re
import shlex

import click
import pytest
from click.testing import CliRunner

from muse.cli import SECTIONS, commands
from muse.commands.sections import SectionedCommand, SectionedGroup
from tests.support.command import every_command


def shown(columns: int) -> str:
    return CliRunner().invoke(commands, ["--help"], terminal_width=columns, prog_name="muse").output


def test_the_order_of_work() -> None:
    text = shown(80)
    places = [text.index(f"\n{heading}:\n") for heading in SECTIONS]
    assert places == sorted(places)
    listed = re.findall(r"^  ([a-z][-a-z]+)  ", text[places[0] :], re.MULTILINE)
    assert listed == [command.name for section in SECTIONS.values() for command in section]
    assert set(listed) == set(commands.commands)
    assert listed.index("align") < listed.index("report") < listed.index("translate")


@pytest.mark.parametrize("columns", [80, 60])
def test_summaries_are_whole_sentences_that_fit(columns: int) -> None:
    text = shown(columns)
    assert "..." not in text.partition("Options:")[2]
    assert max(map(len, text.splitlines())) <= columns
    joined = " ".join(text.split())
    for command in commands.commands.values():
        summary = " ".join((command.help or "").partition("\n\n")[0].split())
        assert re.fullmatch(r"[A-Z][^.]+\.", summary), command.name
        assert f" {summary}" in joined


def test_in_80_columns_a_command_takes_a_line() -> None:
    lines = [line for line in shown(80).splitlines() if re.match(r" +[a-z][-a-z]+  ", line)]
    assert len(lines) == len(commands.commands)
    assert all(line.endswith(".") for line in lines)


@pytest.mark.parametrize(
    ("typed", "meant"), [(["algin"], "'align'"), (["align", "--scr", "fr"], "'--src'")], ids=" ".join
)
def test_what_was_meant(typed: list[str], meant: str) -> None:
    ended = CliRunner().invoke(commands, typed)
    assert ended.exit_code == 2
    assert "id you mean" in ended.output
    assert meant in ended.output


def test_help_as_a_command_is_help() -> None:
    assert CliRunner().invoke(commands, ["help"], terminal_width=80, prog_name="muse").output == shown(80)
    of_align = CliRunner().invoke(commands, ["align", "--help"])
    asked = CliRunner().invoke(commands, ["help", "align"])
    assert (asked.exit_code, asked.output) == (0, of_align.output)


@pytest.mark.parametrize("name", every_command())
def test_every_option_stands_under_one_heading(name: str) -> None:
    command = every_command()[name]
    assert isinstance(command, SectionedCommand)
    ended = CliRunner().invoke(commands, [*name.split(), "--help"], terminal_width=80, prog_name="muse")
    assert ended.exit_code == 0
    assert max(map(len, ended.output.splitlines())) <= 110
    headings = re.findall(r"^(\w.*):$", ended.output, re.MULTILINE)
    sections = [
        getattr(one, "section", "Common") for one in command.params if not getattr(one, "hidden", True)
    ]
    own = [one for one in dict.fromkeys(sections) if one != "Common"]
    assert headings[-len(own) - 2 :] == [*own, "Common", "Examples"]
    options = ended.output.partition(f"{headings[0]}:\n")[2]
    listed = re.findall(r"^  (-\S+?)[ ,\n]", options, re.MULTILINE)
    assert not re.search(r"^  \[?[A-Z]", options, re.MULTILINE)  # no argument among them
    shown = [one.opts[0] for one in command.params if isinstance(one, click.Option) and not one.hidden]
    assert sorted({*listed} - {"-h", "--help"}) == sorted(shown)


EXAMPLES = [
    (name, line)
    for name, command in [*every_command().items(), ("evaluate", commands.commands["evaluate"])]
    if isinstance(command, SectionedCommand | SectionedGroup)
    for line in command.examples
]


def test_every_command_has_two_examples() -> None:
    named = [name for name, _ in EXAMPLES]
    assert all(named.count(name) == 2 for name in (*every_command(), "evaluate"))


@pytest.mark.parametrize(("name", "line"), EXAMPLES, ids=str)
def test_an_example_is_a_command_line_of_its_command(name: str, line: str) -> None:
    assert len(line) <= 100
    words = shlex.split(line.rpartition("muse ")[2].partition("<")[0])
    called = next(one for one in every_command() if words[: one.count(" ") + 1] == one.split())
    assert called.startswith(name)
    every_command()[called].make_context(called, words[called.count(" ") + 1 :])
