"""What the tasks of muse evaluate share: options, how they are called in messages, and printing scores."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

import click

from muse.commands.command import command
from muse.commands.outputs import echo
from muse.options import Common

Report = tuple[dict[str, Any], list[str]]  # the fields of --json, and the lines to print without
FAILED = 3  # the exit code of what is too bad
BY_OPTION = "muse.evaluate.task"  # in the context: the task was named by --task
T = TypeVar("T", bound=Common)


def task(options: type[T], *, examples: Sequence[str]) -> Callable[[Callable[[T], Report]], click.Command]:
    """A command that prints what the decorated function makes of its options.

    Where the fields say that it has not `passed`, the exit code is that of a mapping that failed.
    """

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
