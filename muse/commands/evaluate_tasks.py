"""What the tasks of muse evaluate share: options, how they are called in messages, and printing scores."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from muse.commands.command import command
from muse.commands.outputs import echo
from muse.commands.sections import RenamedOption
from muse.options import Common

Report = tuple[dict[str, Any], list[str]]  # the fields of --json, and the lines to print without
FAILED = 3  # the exit code of what is too bad
METHODS = ("csls", "nn", "isf")
FILE: dict[str, Any] = {"type": Path, "metavar": "FILE"}
BY_OPTION = "muse.evaluate.task"  # in the context: the task was named by --task
F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T", bound=Common)


def prints_scores(run: Callable[[Path, dict[str, Any]], Report]) -> Callable[..., int]:
    """The callback of a command that prints what `run` makes of a space and the other options.

    Where the fields say that it has not `passed`, the exit code is that of a mapping that failed.
    """

    @wraps(run)
    def callback(space: Path, as_json: bool, **options: Any) -> int:
        fields, lines = run(space, options)
        echo(json.dumps(fields, ensure_ascii=False) if as_json else "\n".join(lines))
        return 0 if fields.get("passed", True) else FAILED

    return callback


def task(options: type[T], *, examples: Sequence[str]) -> Callable[[Callable[[T], Report]], click.Command]:
    """A command that prints what the decorated function makes of its options, as `prints_scores` does."""

    def made(run: Callable[[T], Report]) -> click.Command:
        @wraps(run)
        def printed(given: T) -> int:
            fields, lines = run(given)
            echo(json.dumps(fields, ensure_ascii=False) if given.as_json else "\n".join(lines))
            return 0 if fields.get("passed", True) else FAILED

        return command(options, examples=examples)(printed)

    return made


def named(*tasks: str) -> str:
    """Tasks as they were called on the command line: `evaluate words`, or `--task words`."""
    called = "--task" if click.get_current_context().meta.get(BY_OPTION) else "evaluate"
    first, last = ", ".join(tasks[:-1]), tasks[-1]
    return f"{called} {first} or {last}" if first else f"{called} {last}"


def this_task() -> str:
    """The current task as it was called."""
    return named(str(click.get_current_context().info_name))


def require(options: dict[str, Any], *needed: str) -> None:
    """Raise UsageError if one of these options, each written with what it takes, has no value."""
    parameters = {one.opts[0]: str(one.name) for one in click.get_current_context().command.params}
    for option in needed:
        if not options[parameters[option.partition(" ")[0]]]:
            raise click.UsageError(f"{this_task()} needs {option}.")


def single(_: click.Context, parameter: click.Parameter, values: Sequence[Any]) -> Any:
    """The value of an option that has two names, None without one; a usage error if both are given."""
    if len(values) > 1:
        raise click.UsageError(f"{' and '.join(parameter.opts)} are the same; leave one.")
    return next(iter(values), None)


def language_option(text: str, *names: str) -> Callable[[F], F]:
    """The option for the one language of a task, with this help; `names`, if not --lang and --src."""
    return click.option(
        *(names or ("--lang", "--src")), "source", cls=RenamedOption, multiple=True, callback=single,
        metavar="LANG", help=text,
    )  # fmt: skip


def retrieval_methods(command: F) -> F:
    """The option for how words or rows are looked up; margin, which it does not take, is of sentences."""
    return click.option(
        "--retrieval", "methods", default=("csls",), multiple=True, show_default=True,
        type=click.Choice([*METHODS, "margin"]), metavar=f"[{'|'.join(METHODS)}]", callback=_no_margin,
        help="Search by CSLS, nearest neighbour or inverted softmax; may be repeated.",
    )(command)  # fmt: skip


def _no_margin(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    if "margin" in values:
        raise click.UsageError(f"--retrieval margin is for {named('sentences')}.")
    return values
