"""Help in sections: the options of a command, and the commands of a group, under headings; then examples.

click has no sections of its own, and rich-click would load rich for every help; this is what is left to do.
"""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import click
from click.core import ParameterSource

from muse.options import COMMON

WIDEST = 30  # characters of a name that click still puts beside its text


class _Exemplified(click.Command):
    """A command whose help ends with examples of its use, each on a line of its own."""

    examples: Sequence[str]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the examples."""
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}{line}\n")


class SectionedCommand(_Exemplified):
    """A command whose help has its options under headings, COMMON last.

    SPACE may be left out where muse align has written exactly one.
    """

    def __init__(
        self, *args: Any, parameters: Callable[[], list[click.Parameter]], examples: Sequence[str],
        **more: Any,
    ) -> None:  # fmt: skip
        super().__init__(*args, **more)
        del self.params  # they are made when they are asked for: of twenty commands, one is run
        self._parameters, self.examples = parameters, examples

    @cached_property
    def params(self) -> list[click.Parameter]:  # type: ignore[override]
        """The options and arguments."""
        return self._parameters()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads the arguments, and finds the space if there is none among them."""
        rest = super().parse_args(ctx, args)
        if "space" in ctx.params and not ctx.resilient_parsing:
            _find_space(ctx)
        return rest

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the sections; hidden options are in none."""
        sections = dict[str, list[tuple[str, str]]]()
        for one in self.get_params(ctx):
            if isinstance(one, click.Option) and (record := one.get_help_record(ctx)) is not None:
                sections.setdefault(getattr(one, "section", COMMON), []).append(record)
        width = min(WIDEST, max(len(name) for records in sections.values() for name, _ in records))
        for heading in sorted(sections, key=lambda heading: heading == COMMON):
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), text) for name, text in sections[heading]])


def _find_space(ctx: click.Context) -> None:
    # The only space where muse align writes them, for a SPACE that was left out; a UsageError without one.
    space, words = ctx.params["space"], ctx.params.get("words")
    # Several parts, or a folder that is there: a typing error in it must not be taken for a word.
    a_word = isinstance(words, tuple) and space is not None and len(space.parts) == 1 and not space.is_dir()
    if not (a_word or space is None) or any(
        ctx.params.get(name) is not None for name in ("translator", "links")
    ):
        return
    # Not above: numpy needs more address space than there may be, which is checked later.
    from muse.errors import BadFile
    from muse.files.space_manifest import ALIGNED, spaces_in

    found = spaces_in(ALIGNED)
    if len(found) == 1:
        # A mistyped SPACE must not be translated.
        if a_word and get_close_matches(space.name, [found[0].name], cutoff=0.75):
            raise BadFile(
                f"{space}: expected a space or a word, found no such space; did you mean {found[0]}? For the "
                f"word, name the space before it: {found[0]} {space}"
            )
        ctx.params["space"] = found[0]
        ctx.set_parameter_source("space", ParameterSource.DEFAULT_MAP)  # given, and not typed
        if a_word:
            ctx.params["words"] = (str(space), *ctx.params["words"])
            ctx.set_parameter_source("words", ParameterSource.COMMANDLINE)
    elif space is None:
        has = "has none; name one, or make one with muse align."
        if found:
            has = f"has several, {', '.join(map(str, found[:-1]))} and {found[-1]}; name one."
        raise click.UsageError(f"Missing argument 'SPACE': {ALIGNED} {has}", ctx)


class SectionedGroup(_Exemplified, click.Group):
    """A group whose help lists its commands by section, each with its whole summary, and examples if any.

    A section is a heading with its commands. click would sort the commands, and cut long summaries.
    """

    def __init__(
        self, *args: Any, sections: Mapping[str, Sequence[click.Command]], examples: Sequence[str] = (),
        **more: Any,
    ) -> None:  # fmt: skip
        super().__init__(*args, **more)
        self.sections, self.examples = sections, examples
        self.commands = {str(one.name): one for commands in sections.values() for one in commands}

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
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the sections: each command with the first paragraph of its help."""
        longest = max(map(len, self.commands))
        for heading, commands in self.sections.items():
            if commands:
                summaries = (" ".join((one.help or "").split("\n\n")[0].split()) for one in commands)
                names = (str(one.name).ljust(longest) for one in commands)
                with formatter.section(heading):
                    formatter.write_dl(list(zip(names, summaries, strict=True)))
