"""A command made of its options: what it takes, help in sections, and what happens around its own work.

    @command("muse demo")
    def demo(options: DemoOptions) -> Report:
        \"\"\"Align French and English, and translate a dozen words.\"\"\"

click reads the command line. What rich-click adds, boxes and colours, is of no use to a pipe, and it would
load rich for every help.
"""

import inspect
import logging
import math
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, final, get_type_hints

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from muse.commands.completion import completed
from muse.commands.outputs import FAILED, Report, show
from muse.commands.paths import checked
from muse.commands.sections import SectionedCommand
from muse.errors import BadFile, Contradiction
from muse.installation import __version__
from muse.optional import has
from muse.options import (
    FLAG,
    LARGEST,
    NUMBER,
    REQUIRED,
    WHOLE,
    Common,
    Declaration,
    Device,
    Seed,
    Threads,
    options_of,
)
from muse.progress import AboveTheLine
from muse.run.memory import fit_threads

T = TypeVar("T", bound=Common)
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
        """The value; a usage error for a number that is not finite, or several values where one is taken."""
        value = super().process_value(ctx, value)
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, float) and not abs(one) <= LARGEST:  # click takes nan for any range
                must = f"at most {LARGEST:g}" if math.isfinite(one) else "a finite number"
                raise click.BadParameter(f"expected {must}, got {one:g}.", ctx, self)
        if not self.declared.once:
            return value
        if len(value) > 1:
            got = f"takes one value, got {', '.join(map(str, value))}"
            raise click.UsageError(f"{self.declared.flag} {got}; leave one.", ctx)
        return value[0] if value else None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What the shell offers."""
        return completed(self, ctx, incomplete) or super().shell_complete(ctx, incomplete)


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

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What the shell offers."""
        return completed(self, ctx, incomplete) or super().shell_complete(ctx, incomplete)


def command(
    *examples: str, name: str | None = None, **more: Any
) -> Callable[[Callable[[T], Report | int | None]], click.Command]:
    """A command that calls the decorated function with its `options`, of the class that annotates them.

    The docstring is its help, which ends with the examples. It prints the report that is returned; where its
    fields say that it has not `passed`, the exit code is that of a mapping that failed. `more` is for click.
    """

    def made(run: Callable[[T], Report | int | None]) -> click.Command:
        options: type[T] = get_type_hints(run)["options"]

        def parameters() -> list[click.Parameter]:
            declared = options_of(options)
            found = [one for option in declared.values() for one in _parameters(option)]
            for unused, option in EVERYWHERE.items():
                if unused not in declared:
                    found += _parameters(option, hidden=True, expose_value=False)
            holder = click.version_option(__version__, prog_name="muse")(click.Command("version"))
            return [*found, *holder.params]

        def callback(**values: Any) -> int | None:
            with _prepared(values, with_torch="threads" in options_of(options)):
                given = options(**_given(checked(values)))
                found = run(given)
                if not isinstance(found, tuple):
                    return found
                show(given, *found)
                return 0 if found[0].get("passed", True) else FAILED

        return SectionedCommand(
            name or run.__name__.replace("_", "-"), parameters=parameters, callback=callback,
            help=inspect.cleandoc(run.__doc__ or ""), examples=examples, **more,
        )  # fmt: skip

    return made


@contextmanager
def _prepared(values: dict[str, Any], *, with_torch: bool) -> Iterator[None]:
    """What is around the work of every command: messages, threads, the library that searches, two errors."""
    try:
        os.getcwd()  # noqa: PTH109 - libraries of the processor end the process without one
    except OSError as error:
        raise BadFile(
            f"expected a working folder, got none ({error.strerror}): it was removed; change to another"
        ) from error
    # OpenMP's threads spin for milliseconds, and take the core that the one they wait for needs: beside
    # another busy process `muse align` took 20 times as long. With this few turns it is as fast on a free
    # machine. It counts if torch is not loaded yet.
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    level = logging.ERROR if values["quiet"] else logging.DEBUG if values["verbose"] else logging.INFO
    logging.basicConfig(level=max(level, logging.WARNING), handlers=[AboveTheLine()], force=True)
    ours = logging.getLogger("muse")
    before = ours.level
    ours.setLevel(level)
    try:
        threads = fit_threads(values.get("threads"), torch=with_torch)
        searching: AbstractContextManager[None] = nullcontext()
        if threads is not None and with_torch:
            from muse.search.exact import set_threads

            set_threads(threads)
        if (backend := values.get("backend", "auto")) != "auto":  # else without loading torch
            from muse.search.exact import searching_by

            searching = searching_by(backend)
        with searching:  # those searches too that a command knows nothing of
            yield
    except Contradiction as error:
        raise click.UsageError(f"{error}.") from error
    except BrokenPipeError:  # caught here, since click would exit with 1
        # The reader has gone (| head): stay silent, even when Python flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    finally:
        ours.setLevel(before)


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
    if one.kind not in (WHOLE, NUMBER):
        return _path if one.kind.typed is Path else one.kind.typed
    if low is None and high is None:
        return click.INT if one.kind is WHOLE else click.FLOAT
    if one.kind is NUMBER:
        return click.FloatRange(low, high, min_open=one.above is not None, max_open=one.below is not None)
    ranged = click.IntRange(None if low is None else int(low), None if high is None else int(high))
    ranged.name = "whole number"  # in messages, in place of "integer range"
    return ranged


def _path(value: str | Path) -> Path:
    if re.match(r"\w+://", str(value)):
        raise click.BadParameter(f"a file on this machine is needed, got {value!r}; download it first.")
    return Path(value)
