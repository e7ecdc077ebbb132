"""The table of accuracy: all words, frequency bands, kinds of words and baselines, in both directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from muse.evaluation.groups import GroupScore
from muse.evaluation.score import Interval
from muse.report.facts import Accuracy
from muse.report.measured import Measured

Mark = tuple[float | None, Interval | None, str]  # a figure in percent, its interval, its style
Groups = Sequence[GroupScore]
KINDS = {
    "identical": "the list has the word itself",
    "different": "the list has other words",
    "number": "numbers",
    "capitalised": "capitalised",
    "plain": "all others",
}


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
    """The parts of the table; `styles` has that of the marks for each language that is asked.

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
    """The scores by kind of word, without "plain" where that is all words."""
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
