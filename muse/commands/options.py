"""What several commands do with their options: spaces, directions, and the command line as it was typed."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from muse.commands.paths import check_inputs_spared
from muse.errors import Contradiction

if TYPE_CHECKING:
    from muse.search.approximate import Approximation
    from muse.space import Space
    from muse.space.derived import AnswersBy

log = logging.getLogger(__name__)

MOST_BEAM = 1_000  # a beam takes memory for each sentence it keeps
BY_OPTION = "muse.evaluate.task"  # in the context: the task was named by --task


def choose_direction(space: Space, source: str | None = None, target: str | None = None) -> tuple[str, str]:
    """`Space.direction`; a pivot that it takes where there are more languages is reported."""
    found = space.direction(source, target)
    if len(space.languages) > 2:
        for option, given_one, taken in zip(("--src", "--tgt"), (source, target), found, strict=True):
            if given_one is None:
                log.info(
                    "%s is %s, the pivot, since none was given; the languages of this space are %s",
                    option, taken, ", ".join(space.languages),
                )  # fmt: skip
    return found


def one_machine_only(*names: str) -> None:
    """Raise Contradiction if one of these options was given beside --ray."""
    for name in given(*names):
        raise Contradiction(f"{name} is for one machine; leave it out, or leave out --ray")


def given(*names: str) -> list[str]:
    """Which of the named parameters the user gave, as typed on the command line: --lm-weight."""
    context = click.get_current_context()
    return [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name in names
        and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    ]


def typed() -> tuple[str, ...]:
    """The current command line as it was typed, without the name that muse was called by."""
    context = click.get_current_context()
    words = ["muse", str(context.info_name)]
    for parameter in context.command.params:
        if context.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE:
            words += as_typed(parameter, context.params[str(parameter.name)])
    return tuple(words)


def as_typed(parameter: click.Parameter, value: Any) -> list[str]:
    """The words of a command line that give a parameter this value; none for None."""
    if value is None:
        return []
    values = value if parameter.multiple else [value]
    if not isinstance(parameter, click.Option):
        return [str(one) for one in values]
    if parameter.is_flag:
        return [(parameter.opts if value else parameter.secondary_opts)[0]]
    return [word for one in values for word in (parameter.opts[0], str(one))]


def open_space(
    folder: Path,
    device: str,
    quiet: bool,
    approximation: Approximation | None = None,
    answers: AnswersBy = "all",
) -> Space:
    """The space in `folder`, on this device; searches in it show their progress unless `quiet`.

    `answers` is the value of --answers.
    """
    from muse.progress import Progress
    from muse.run.runtime import pick_device
    from muse.space import load_space

    progress = Progress(quiet=quiet)
    space = load_space(
        folder, device=pick_device(device), progress=progress, approximation=approximation, answers=answers
    )
    check_inputs_spared(space.manifest)
    for one in space.manifest.mapped:
        if one.label == "failed":
            log.warning(
                "%s: its mapping was judged failed (confidence %.2f): most answers are wrong; %s",
                one.language, one.confidence or 0.0, "muse report says what to try",
            )  # fmt: skip
    return space


def named(*tasks: str) -> str:
    """Tasks of muse evaluate as they were called on the command line: `evaluate words`, or `--task words`."""
    called = "--task" if click.get_current_context().meta.get(BY_OPTION) else "evaluate"
    first, last = ", ".join(tasks[:-1]), tasks[-1]
    return f"{called} {first} or {last}" if first else f"{called} {last}"


def this_task() -> str:
    """The current task as it was called."""
    return named(str(click.get_current_context().info_name))
