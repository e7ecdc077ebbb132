"""Options that several commands share, and what every command does before its own work."""

from __future__ import annotations

import logging
import math
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from muse.commands.inputs import without_dashes
from muse.commands.outputs import check_inputs_spared, check_outputs
from muse.errors import Contradiction
from muse.options import LARGEST
from muse.progress import AboveTheLine
from muse.run.memory import fit_threads

if TYPE_CHECKING:
    from muse.search.approximate import Approximation
    from muse.search.retrieval import Retrieval
    from muse.space import Space
    from muse.space.answer_table import AnswersBy

log = logging.getLogger(__name__)

MOST_BEAM = 1_000  # a beam takes memory for each sentence it keeps


class Finite(click.FloatRange):
    """A number up to LARGEST, within a range if one is given; click alone takes nan for any range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; a usage error if it is none, not finite, or out of range."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        if abs(number) > LARGEST:
            self.fail(f"{value} is too large, expected at most {LARGEST:g}.", param, ctx)
        return number

    def _describe_range(self) -> str:
        # Of click, for its help: without bounds it would read "x<=None".
        return "" if self.min is None and self.max is None else super()._describe_range()


def prepared(command: Callable[..., Any], *, with_torch: bool) -> Callable[..., Any]:
    """The command with what every command does before its own work: messages, threads, checks of paths."""

    @wraps(command)
    def run(**options: Any) -> Any:
        # OpenMP's threads spin for milliseconds, and take the core that the one they wait for needs: beside
        # another busy process `muse align` took 20 times as long. With this few turns it is as fast on a free
        # machine. It counts if torch is not loaded yet.
        if "OMP_WAIT_POLICY" not in os.environ:
            os.environ.setdefault("GOMP_SPINCOUNT", "1000")
        level = logging.ERROR if options["quiet"] else logging.DEBUG if options["verbose"] else logging.INFO
        logging.basicConfig(level=max(level, logging.WARNING), handlers=[AboveTheLine()], force=True)
        ours = logging.getLogger("muse")
        before = ours.level
        ours.setLevel(level)
        try:
            threads = fit_threads(options.get("threads"), torch=with_torch)
            if threads is not None and with_torch:
                from muse.search.exact import set_threads

                set_threads(threads)
            options = without_dashes(options)
            check_outputs(options)
            with _searching_by(options.get("backend", "auto")):
                return command(**options)
        except Contradiction as error:
            raise click.UsageError(f"{error}.") from error
        except BrokenPipeError:  # caught here, since click would exit with 1
            # The reader has gone (| head): stay silent, even when Python flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        finally:
            ours.setLevel(before)

    return run


def _searching_by(backend: str) -> AbstractContextManager[None]:
    """A context in which all searches use the backend, those too that a command knows nothing of."""
    if backend == "auto":  # without loading torch
        return nullcontext()
    from muse.search.exact import searching_by

    return searching_by(backend)


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
    return space


def retrievals(methods: Sequence[str], backend: str) -> list[Retrieval]:
    """One retrieval for each named method, without repetition, in the given order."""
    from muse.search.retrieval import Retrieval

    return [Retrieval(method, backend=backend) for method in dict.fromkeys(methods)]
