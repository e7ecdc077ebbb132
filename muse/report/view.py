"""View: the facts of a report as its templates show them: tables, settings, files, remarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from muse.evaluation.score import Interval
from muse.evaluation.words import GroupScore
from muse.files.space_record import InputFile, Stage
from muse.report.facts import Accuracy, Facts, why_chosen
from muse.report.measured import Measured
from muse.report.next_steps import PAIRS, command_line

Mark = tuple[float | None, Interval | None, str]  # a figure in percent, its interval, its style
Groups = Sequence[GroupScore]
KINDS = {
    "identical": "the list has the word itself",
    "different": "the list has other words",
    "number": "numbers",
    "capitalised": "capitalised",
    "plain": "all others",
}
WRONG = 15  # answers shown of a direction
GOOD = 20.0  # the P@1 in percent above which no alignment has failed, and below which none is good


def view(facts: Facts) -> dict[str, Any]:
    """What the templates show, beside the drawings."""
    base, folder = facts.config.base, facts.folder
    marks = {facts.source: "one", facts.target: "two"}
    report = ["muse", "report", str(folder)]
    return {
        "facts": facts,
        "marks": marks,
        "table": () if facts.accuracy is None else accuracy_table(facts.accuracy, marks, ranked=facts.ranked),
        "disagreement": disagreement(facts),
        "settings": settings(facts.made.settings),
        "files": {name: _names(facts.made.language(name).files) for name in (facts.source, facts.target)},
        "inputs": _names(facts.made.inputs),
        "reasons": {record.language: why_chosen(record) for record in facts.records},
        "stages": stage_rows(facts),
        "shown": WRONG,
        "pairs": PAIRS,
        "beside": folder.parent == base.resolve(),
        "created": next((record.created for record in facts.records if record.created), ""),
        "commands": {record.language: command_line(record.command, base) for record in facts.records},
        "other_direction": command_line([*report, "--src", "LANG", "--tgt", "LANG"], base),
        "other_list": command_line(
            [*report, "--src", facts.target, "--tgt", facts.source, "--dictionary", PAIRS], base
        ),
    }


def disagreement(facts: Facts) -> str:
    """What to believe where the verdict and the gold list contradict one another; empty if they do not."""
    if facts.accuracy is None:
        return ""
    found = facts.accuracy.forward.score.p_at_1
    if facts.label == "aligned" and found < GOOD:
        return (
            "The verdict and the list disagree: an alignment that is right usually does better. Believe the "
            "list, if it is of these languages; it is direct evidence."
        )
    if facts.label == "failed" and found > GOOD:
        return (
            "The verdict and the list disagree: an alignment that failed does not do so well. Believe the "
            "list; it is direct evidence."
        )
    return ""


def _names(files: Sequence[InputFile]) -> list[tuple[str, str]]:
    return [(file.name, file.sha256 or "") for file in files]


def stage_rows(facts: Facts) -> Sequence[Stage]:
    """The stages of the run: first those shared by all languages, then each language's own."""
    rows = list(facts.made.stages)
    for record in facts.records:
        prefix = f"{record.language}: " if len(facts.records) > 1 else ""
        rows += [(prefix + stage, seconds, memory) for stage, seconds, memory in record.stages]
    return rows


@dataclass(frozen=True)
class TableRow:
    """What is measured, a remark on it, and a mark for each direction."""

    name: str
    remark: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class TablePart:
    """Rows with a title, which the first part does not need."""

    title: str
    rows: tuple[TableRow, ...]


def accuracy_table(
    accuracy: Accuracy, styles: Mapping[str, str], *, ranked: bool = True
) -> tuple[TablePart, ...]:
    """The parts of the table; `styles` has the style of the marks for each source language.

    Rows that are not `ranked` have neither a frequency nor a kind.
    """
    noun = "words" if ranked else "rows"
    measured = (accuracy.forward, accuracy.backward)
    used = tuple(styles[one.source] for one in measured)
    whole = tuple(
        (one.score.p_at_1, one.score.ci95, style) for one, style in zip(measured, used, strict=True)
    )
    asked = " and ".join(f"{one.score.covered:,}" for one in measured)
    simple = [[baseline.found for baseline in one.baselines] for one in measured]
    groups = (
        TablePart("By frequency rank", tuple(_rows([one.score.bands for one in measured], used))),
        TablePart("By kind of word", tuple(_rows([_kinds(one) for one in measured], used))),
    )
    return (
        TablePart("", (TableRow(f"all {noun}", f"{asked} {noun}", whole),)),
        *(groups if ranked else ()),
        TablePart(
            f"For comparison: simple methods on the same {noun}",
            tuple(
                TableRow(row.name, baseline.meaning, row.marks)
                for row, baseline in zip(_rows(simple, used), accuracy.forward.baselines, strict=True)
            ),
        ),
    )


def _kinds(measured: Measured) -> Groups:
    """The scores by kind of word, without "plain" if all words are."""
    covered = measured.score.covered
    return [part for part in measured.score.parts if part.name != "plain" or part.queries < covered]


def _rows(found: Sequence[Groups], styles: Sequence[str]) -> list[TableRow]:
    """A row for each group that a direction has."""
    by_name = [{_called(group): group for group in groups} for groups in found]
    first = {name: _first_rank(group) for groups in by_name for name, group in groups.items()}
    rows = []
    for name in sorted(first, key=lambda name: first[name]):
        groups = [named.get(name) for named in by_name]
        counts = " and ".join(f"{group.queries if group else 0:,}" for group in groups)
        marks = tuple(_mark(group, style) for group, style in zip(groups, styles, strict=True))
        rows.append(TableRow(name, f"{counts} words", marks))
    return rows


def _called(group: GroupScore) -> str:
    if _first_rank(group):
        first, last = group.name.split("-")
        return f"ranks {int(first):,} to {int(last):,}"
    return KINDS.get(group.name, group.name)


def _first_rank(group: GroupScore) -> int:
    # Of a band; 0 of other groups.
    first = group.name.partition("-")[0]
    return int(first) if first.isdigit() else 0


def _mark(group: GroupScore | None, style: str) -> Mark:
    return (None, None, style) if group is None else (group.p_at_1, group.ci95, style)


def settings(recorded: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The settings of a run by name."""
    return [(str(name).replace("_", " "), as_text(value)) for name, value in recorded.items()]


def as_text(value: Any) -> str:
    """A value in words; what repeats is counted.

    >>> as_text({"cutoffs": [4000, 10000], "share": 0.75}), as_text([{"k": 1}, {"k": 2}, {"k": 2}])
    ('cutoffs 4000, 10000; share 0.75', '(k 1), 2 × (k 2)')
    >>> as_text(None), as_text(True), as_text([])
    ('none', 'yes', 'none')
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "; ".join(f"{str(name).replace('_', ' ')} {_inner(one)}" for name, one in value.items())
    if isinstance(value, list):
        runs = ((text, len(list(same))) for text, same in groupby(map(_inner, value)))
        return ", ".join(text if count == 1 else f"{count} × {text}" for text, count in runs) or "none"
    return str(value)


def _inner(value: Any) -> str:
    return f"({as_text(value)})" if isinstance(value, Mapping) else as_text(value)
