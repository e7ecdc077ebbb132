"""`muse evaluate sentences --suite`: the tasks of SentEval, SICK and STS for an encoder, with a picture."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.options import open_space
from muse.commands.outputs import Report
from muse.options import OptionSet, is_given, option, options_of
from muse.progress import printable
from muse.sentences.commands.encoders import open_encoder

if TYPE_CHECKING:
    from muse.sentences.evaluation.suite import TaskScore

SECTION = "Tasks of one language"
ALONE = ("source", "target", "parallel", "retrieval", "both_ways", "neighbours", "tgt", "backend")
_LEFT, _WIDE, _LINE, _TOP = 84, 420, 26, 54  # of the picture: pixels


class SuiteOptions(OptionSet):
    """The options of a suite."""

    suite: Path | None = option(
        None, section=SECTION, metavar="FOLDER", of_any_files=True,
        help="Instead of retrieval: the test sets of SentEval, SICK and STS in a folder, in --src (en).",
    )  # fmt: skip
    tasks: str | None = option(
        None, section=SECTION, metavar="NAME,NAME", needs="suite",
        help="Tasks of --suite, such as MR,TREC,STS-B.  [default: all]",
    )  # fmt: skip
    folds: int = option(
        10, section=SECTION, metavar="N", least=3, most=100, needs="suite",
        help="Folds of the cross-validation of --suite.",
    )  # fmt: skip
    picture: Path | None = option(
        None, section=SECTION, metavar="FILE.svg", written=True, needs="suite",
        help="Also draw the scores of --suite.",
    )  # fmt: skip


def check_suite_options(options: OptionSet) -> None:
    """Raise UsageError for options of retrieval beside --suite."""
    for name in ALONE:
        if is_given(options, name):
            flag = options_of(type(options))[name].flag
            raise click.UsageError(f"{flag} is for retrieval; leave it out, or leave out --suite.")


def suite_report(options: Any, suite: Path) -> Report:
    """The figures of every task of the folder, and the lines to print; writes the picture.

    `options` are those of `muse evaluate sentences`.
    """
    from muse.evaluation.score import gold_name
    from muse.files.space_folder import with_checksum
    from muse.files.writing import check_place, replaced
    from muse.sentences.evaluation.suite import SuiteConfig, check_tasks, evaluate_suite, means
    from muse.sentences.files.suite_folder import ENGLISH, TASKS, read_suite, tasks_of

    if options.picture is not None:
        if options.picture.suffix.lower() != ".svg":
            raise click.UsageError(
                f"--picture is an SVG: its name must end in .svg, got {options.picture.name!r}."
            )
        check_place(options.picture)
    names, language = _names(options.tasks, TASKS), options.src or ENGLISH
    tasks = read_suite(suite, language, names)
    config = SuiteConfig(folds=options.folds, seed=options.seed)
    check_tasks(tasks, config)  # before the space is read, which may take long
    space = open_space(options.space, options.device, options.quiet)
    opened = open_encoder(options, language, space=space)
    read = "+".join(gold_name(path) for task in tasks for part in task.files.values() for path in part)
    gold = with_checksum(suite.resolve().name, hashlib.sha256(read.encode()).hexdigest())
    signature = str(
        opened.signature([language], "suite", gold, f"folds:{options.folds}", f"drawn:{options.seed}")
    )
    scores = evaluate_suite(tasks, lambda sentences: opened.rows(sentences, language), config, space.progress)
    if options.picture is not None:
        with replaced(options.picture) as stream:
            stream.write(drawn(scores, signature).encode("utf-8", "replace"))
    found, possible = means(scores), tasks_of(language)
    missing = [name for name in names or possible if name not in {task.name for task in tasks}]
    alone = [name for name in TASKS if name not in possible]
    fields = {
        "tasks": {score.name: score.as_json() for score in scores}, "means": found, "missing": missing,
        "language": language, "folds": options.folds, "signature": signature,
    }  # fmt: skip
    lines = [str(score) for score in scores]
    lines += [f"mean {measure} = {value:.1f}" for measure, value in found.items()]
    lines += [f"not in the folder: {', '.join(missing)}"] if missing else []
    lines += [f"in English alone: {', '.join(alone)}"] if alone else []
    return fields, [*lines, signature]


def _names(text: str | None, known: Sequence[str]) -> list[str] | None:
    """The tasks of a list with commas, in the order of all, None without one; UsageError for another name."""
    if text is None:
        return None
    asked = {name.strip().casefold() for name in text.split(",")}
    if unknown := asked - {name.casefold() for name in known}:
        raise click.UsageError(
            f"--tasks must be some of {', '.join(known)}; got {', '.join(map(repr, sorted(unknown)))}."
        )
    return [name for name in known if name.casefold() in asked]


def drawn(scores: Sequence[TaskScore], title: str) -> str:
    """A picture in SVG: a bar a task from 0 to 100, with its interval and its figure."""
    base = _TOP + _LINE * len(scores)
    bars = (_bar(score, _TOP + _LINE * place) for place, score in enumerate(scores))
    axis = (
        f'<text x="{_x(tick):.1f}" y="{base + 18}" fill="#555" text-anchor="middle">{tick}</text>'
        f'<line x1="{_x(tick):.1f}" x2="{_x(tick):.1f}" y1="{_TOP}" y2="{base}" stroke="#0002"/>'
        for tick in range(0, 101, 25)
    )
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 {base + 30}" \
font-family="sans-serif" font-size="13" role="img">
<title>{_plain(", ".join(f"{one.name} {one.value:.1f}" for one in scores))}</title>
<rect width="640" height="{base + 30}" fill="#fff"/>
<text x="12" y="22" font-size="10" textLength="616" lengthAdjust="spacingAndGlyphs">{_plain(title)}</text>
<text x="12" y="42" fill="#555">accuracy (blue) and Pearson’s correlation (green), × 100, with 95 % \
intervals</text>
{"".join(f"{part}{chr(10)}" for part in (*bars, *axis))}</svg>
"""


def _bar(score: TaskScore, top: int) -> str:
    middle, (low, high) = top + _LINE / 2, score.ci95
    colour = "#2b6cb0" if score.measure == "accuracy" else "#2f855a"
    return f"""<text x="{_LEFT - 8}" y="{middle + 4:.1f}" text-anchor="end">{_plain(score.name)}</text>
<rect x="{_LEFT}" y="{top + 4}" width="{_x(score.value) - _LEFT:.1f}" height="{_LINE - 8}" fill="{colour}" \
fill-opacity=".75"/>
<line x1="{_x(low):.1f}" x2="{_x(high):.1f}" y1="{middle:.1f}" y2="{middle:.1f}" stroke="#111" \
stroke-width="2"/>
<text x="{_x(100) + 12:.1f}" y="{middle + 4:.1f}">{score.value:.1f} [{low:.1f}, {high:.1f}]</text>"""


def _x(value: float) -> float:
    return _LEFT + _WIDE * min(max(value, 0.0), 100.0) / 100


def _plain(text: str) -> str:
    return escape(printable(text))
