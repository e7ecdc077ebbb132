"""Help in sections: the options of a command, and the commands of a group, under headings; then examples.

click has no sections of its own, and rich-click would load rich for every help; this is what is left to do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from muse.commands.completion import complete

REST = "Common"  # the heading of the options that no section names, which nearly all commands have
WIDEST = 30  # characters of a name that click still puts beside its text


class SectionedCommand(click.Command):
    """A command whose help has its options under headings, and ends with examples of its use.

    A section is a heading with the options it shows, by their first names and in this order. SPACE may be
    left out where muse align has written exactly one.
    """

    def __init__(
        self, *args: Any, sections: Mapping[str, Sequence[str]], examples: Sequence[str], **more: Any
    ) -> None:
        super().__init__(*args, **more)
        self.sections, self.examples = sections, examples

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads the arguments, and finds the space if there is none among them."""
        rest = super().parse_args(ctx, args)
        if "space" in ctx.params and not ctx.resilient_parsing:
            _find_space(ctx)
        return rest

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the sections; hidden options are in none."""
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        records = {one.opts[0]: one.get_help_record(ctx) for one in options}
        shown = {name: record for name, record in records.items() if record is not None}
        named = {name for names in self.sections.values() for name in names}
        *rest, of_help = (name for name in shown if name not in named)
        width = min(WIDEST, max(len(record[0]) for record in shown.values()))
        for heading, names in {**self.sections, REST: [*rest, of_help]}.items():
            there = [shown[name] for name in names if name in shown]
            if there:
                with formatter.section(heading):
                    formatter.write_dl([(name.ljust(width), text) for name, text in there])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the examples."""
        _write_examples(self.examples, formatter)


def _find_space(ctx: click.Context) -> None:
    # The only space where muse align writes them, for a SPACE that was left out; a UsageError without one.
    space = ctx.params["space"]
    a_word = (
        isinstance(ctx.params.get("words"), tuple) and space is not None and not _looks_like_a_path(space)
    )
    if not (a_word or space is None) or ctx.params.get("translator") is not None:
        return
    # Not above: numpy needs more address space than there may be, which is checked later.
    from muse.files.space_manifest import ALIGNED, aligned_spaces

    found = aligned_spaces()
    if len(found) == 1:
        if a_word:
            _check_no_space_is_meant(space, found[0])
        ctx.params["space"] = found[0]
        ctx.set_parameter_source("space", ParameterSource.DEFAULT_MAP)  # given, and not typed
        if a_word:
            ctx.params["words"] = (str(space), *ctx.params["words"])
            ctx.set_parameter_source("words", ParameterSource.COMMANDLINE)
    elif space is None and found:
        named = f"{', '.join(map(str, found[:-1]))} and {found[-1]}"
        raise click.UsageError(f"Missing argument 'SPACE': {ALIGNED} has several, {named}; name one.", ctx)
    elif space is None:
        advice = "name one, or make one with muse align"
        raise click.UsageError(f"Missing argument 'SPACE': {ALIGNED} has none; {advice}.", ctx)


def _check_no_space_is_meant(word: Path, space: Path) -> None:
    # A mistyped SPACE must not be translated.
    from muse.errors import BadFile

    if get_close_matches(word.name, [space.name], cutoff=0.75):
        raise BadFile(
            f"{word}: expected a space or a word, found no such space; did you mean {space}? For the word, "
            f"name the space before it: {space} {word}"
        )


def _looks_like_a_path(space: Path) -> bool:
    # Several parts, or a folder that is there: a typing error in it must not be taken for a word.
    return len(space.parts) != 1 or space.is_dir()


class SectionedGroup(click.Group):
    """A group whose help lists its commands by section, each with its whole summary, and examples if any.

    A section is a heading with its commands. click would sort the commands, and cut long summaries. The
    values of their parameters are completed in the shell.
    """

    def __init__(
        self,
        *args: Any,
        sections: Mapping[str, Sequence[click.Command]],
        examples: Sequence[str] = (),
        **more: Any,
    ) -> None:
        super().__init__(*args, **more)
        self.sections, self.examples = sections, examples
        for commands in sections.values():
            for command in commands:
                complete(command)
                self.add_command(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command named first; `help`, as in other programs, is the help of that behind it, or ours."""
        if args[0] == "help":
            if len(args) == 1:
                click.echo(ctx.get_help(), color=ctx.color)
                ctx.exit()
            args = [args[1], "--help"]
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the sections."""
        return [str(command.name) for commands in self.sections.values() for command in commands]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the sections."""
        longest = max(map(len, self.list_commands(ctx)))
        for heading, commands in self.sections.items():
            if commands:
                with formatter.section(heading):
                    formatter.write_dl([(str(one.name).ljust(longest), _summary(one)) for one in commands])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the examples."""
        _write_examples(self.examples, formatter)


def _summary(command: click.Command) -> str:
    # The first paragraph of its help.
    return " ".join((command.help or "").partition("\n\n")[0].split())


def _write_examples(examples: Sequence[str], formatter: click.HelpFormatter) -> None:
    # Each on a line of its own, however wide the terminal is.
    if examples:
        with formatter.section("Examples"):
            for line in examples:
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")
