"""`muse --help`: every command under a heading, in the order of work, with a whole sentence."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from muse.cli import SECTIONS, commands


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
