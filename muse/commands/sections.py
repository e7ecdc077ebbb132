"""The list of commands in `muse --help`: in the order of work, under headings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import click

from muse.commands.completion import complete


@final
class SectionedGroup(click.Group):
    """A group whose help lists its commands by section, each with its whole summary.

    A section is a heading with its commands. click would sort the commands, and cut long summaries. The
    values of their parameters are completed in the shell.
    """

    def __init__(self, *args: Any, sections: Mapping[str, Sequence[click.Command]], **more: Any) -> None:
        super().__init__(*args, **more)
        self.sections = sections
        for commands in sections.values():
            for command in commands:
                complete(command)
                self.add_command(command)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the sections."""
        return [str(command.name) for commands in self.sections.values() for command in commands]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the sections; a summary is the first paragraph of the command's help."""
        longest = max(map(len, self.list_commands(ctx)))
        for heading, commands in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl([(str(one.name).ljust(longest), _summary(one)) for one in commands])


def _summary(command: click.Command) -> str:
    return " ".join((command.help or "").partition("\n\n")[0].split())
