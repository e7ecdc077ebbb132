"""A command made of its options: what it takes, help in sections, and what happens before its own work.

    @command(DemoOptions, examples=("muse demo",))
    def demo(options: DemoOptions) -> None:
        \"\"\"Align French and English, and translate a dozen words.\"\"\"

click reads the command line. What rich-click adds, boxes and colours, is of no use to a pipe, and it would
load rich for every help.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar, final

import click
from click.core import ParameterSource

from muse.commands.options import Finite, prepared
from muse.commands.sections import SectionedCommand
from muse.installation import __version__
from muse.optional import has
from muse.options import (
    FLAG,
    NUMBER,
    REQUIRED,
    WHOLE,
    Declaration,
    Device,
    OptionSet,
    Seed,
    Threads,
    options_of,
)

T = TypeVar("T", bound=OptionSet)
# What the command line of every command accepts, for scripts; help shows it where it is used.
EVERYWHERE = {**options_of(Seed), **options_of(Device), **options_of(Threads)}
OFF = "without_"  # before the name of an option: the parameter that takes it back


@final
class DeclaredOption(click.Option):
    """An option of the command line, as it was declared."""

    def __init__(self, declared: Declaration, **more: Any) -> None:
        names = [*(declared.flags or (declared.flag,)), *declared.more_flags]
        if declared.off is not None and declared.kind is FLAG:
            names[0] += f"/{declared.off}"
        super().__init__([*names, declared.name], help=declared.help, **more)
        self.declared, self.section = declared, declared.section

    def get_error_hint(self, ctx: click.Context | None) -> str:
        """The name for messages."""
        return f"'{self.declared.flag}'"

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The names that are shown, and the help."""
        every, self.opts = self.opts, [one for one in self.opts if one not in self.declared.more_flags]
        try:
            return super().get_help_record(ctx)
        finally:
            self.opts = every

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """The value; a usage error where only one is taken, and several were given."""
        value = super().process_value(ctx, value)
        if not self.declared.once:
            return value
        if len(value) > 1:
            if self.declared.more_flags:
                raise click.UsageError(f"{' and '.join(self.opts)} are the same; leave one.", ctx)
            raise click.UsageError(
                f"{self.declared.flag} takes one value, got {', '.join(map(str, value))}; leave one.", ctx
            )
        return value[0] if value else None


@final
class DeclaredArgument(click.Argument):
    """An argument, as it was declared. A space that is left out is looked for."""

    def __init__(self, declared: Declaration) -> None:
        super().__init__(
            [declared.name], type=_click_type(declared), metavar=declared.metavar,
            required=declared.default is REQUIRED and declared.name != "space",
            nargs=-1 if declared.multiple else 1,
        )  # fmt: skip
        self.declared = declared


def command(
    options: type[T], *, name: str | None = None, examples: Sequence[str], **more: Any
) -> Callable[[Callable[[T], int | None]], click.Command]:
    """A command that calls the decorated function with its options; the docstring is its help.

    `more` is for click.
    """

    def made(run: Callable[[T], int | None]) -> click.Command:
        declared = options_of(options)
        parameters = [one for option in declared.values() for one in _parameters(option)]
        for unused, option in EVERYWHERE.items():
            if unused not in declared:
                parameters += _parameters(option, hidden=True, expose_value=False)
        holder = click.version_option(__version__, prog_name="muse")(click.Command("version"))

        @wraps(run)
        def callback(**values: Any) -> int | None:
            given = _given(values)
            return run(options(**{name: value for name, value in given.items() if name in declared}))

        return SectionedCommand(
            name or run.__name__.replace("_", "-"), params=[*parameters, *holder.params],
            callback=prepared(callback, with_torch="threads" in declared),
            help=inspect.cleandoc(run.__doc__ or ""), examples=examples, **more,
        )  # fmt: skip

    return made


def _given(values: dict[str, Any]) -> dict[str, Any]:
    """The values that were given, by the names of their options."""
    source = click.get_current_context().get_parameter_source
    given = {name: value for name, value in values.items() if source(name) is not ParameterSource.DEFAULT}
    for off in [name for name in given if name.startswith(OFF)]:
        name = off.removeprefix(OFF)
        if name in given:
            raise click.UsageError(f"--{name} and --no-{name} exclude each other; leave one of them out.")
        given[name] = not given.pop(off)
    return given


def _parameters(one: Declaration, **use: Any) -> Iterator[click.Parameter]:
    """Yields the parameter of the command line of an option, and that of the flag that takes it back."""
    use.setdefault("hidden", one.hidden or not (one.package == "" or has(one.package)))
    if one.argument:
        yield DeclaredArgument(one)
        return
    if one.kind is FLAG:
        yield DeclaredOption(one, **use, is_flag=True, default=one.default)
        return
    more: dict[str, Any] = {} if one.bare is None else {"is_flag": False, "flag_value": one.bare}
    if one.default not in (None, (), REQUIRED):
        shown = one.kind.shown(one.default) if one.kind.listed or one.kind is NUMBER else one.default
        more |= {"default": [shown] if one.once else shown, "show_default": True}
    yield DeclaredOption(
        one, **use, type=_click_type(one), multiple=one.multiple or one.once,
        metavar=one.shown_value or None,
        required=one.default is REQUIRED, **more,
    )  # fmt: skip
    if one.off is not None:
        yield DeclaredOption(
            replace(one, name=f"{OFF}{one.name}", flags=(one.off,), help=f"Leave --{one.name} out."),
            **use, is_flag=True,
        )  # fmt: skip


def _click_type(one: Declaration) -> Any:
    """What click reads a value by; with its ranges, which help shows."""
    if one.choices and not one.kind.listed:
        return click.Choice(one.choices)
    low = one.least if one.above is None else one.above
    high = one.most if one.below is None else one.below
    if one.kind is WHOLE and (low is not None or high is not None):
        return click.IntRange(None if low is None else int(low), None if high is None else int(high))
    if one.kind is NUMBER:
        return Finite(low, high, min_open=one.above is not None, max_open=one.below is not None)
    return click.INT if one.kind is WHOLE else one.kind.typed
