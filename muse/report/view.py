"""View: the facts of a report as its templates show them: rows of tables, paths, what is to be explained."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from muse.evaluation.groups import GroupScore
from muse.report.facts import Accuracy, Facts
from muse.report.measured import Measured
from muse.report.next_steps import PAIRS
from muse.report.places import command_line
from muse.report.record import Stage, stages_of
from muse.report.settings import settings

WRONG = 15  # answers shown of a direction
GOOD = 20.0  # the P@1 in percent above which no alignment has failed, and below which none is good
PARTS = {
    "identical": "the list has the word itself",
    "different": "the list has other words",
    "number": "numbers",
    "capitalised": "capitalised",
    "plain": "all others",
}
Mark = tuple[float | None, tuple[float, float] | None, str]  # a figure in percent, its interval, its style


def view(facts: Facts) -> dict[str, Any]:
    """What the templates show, beside the drawings."""
    base, folder = facts.config.base, facts.folder
    marks = {facts.source: "one", facts.target: "two"}
    report = ["muse", "report", str(folder)]
    return {
        "facts": facts,
        "marks": marks,
        "tables": [] if facts.accuracy is None else tables(facts.accuracy, marks),
        "disagreement": disagreement(facts),
        "settings": settings(facts.space.manifest),
        "files": {name: _files(facts, name) for name in (facts.source, facts.target)},
        "inputs": _names(facts.space.manifest.get("inputs")),
        "stages": stage_rows(facts),
        "shown": WRONG,
        "pairs": PAIRS,
        "where": (
            f"the folder that contains {folder.name}"
            if folder.parent == base.resolve()
            else "the folder that muse report was run in"
        ),
        "created": next((record.created for record in facts.records if record.created), ""),
        "commands": {record.language: command_line(record.command, base) for record in facts.records},
        "other_direction": command_line([*report, "--src", "LANG", "--tgt", "LANG"], base),
        "other_list": command_line(
            [*report, "--src", facts.target, "--tgt", facts.source, "--dictionary", PAIRS], base
        ),
    }


def tables(
    accuracy: Accuracy, marks: Mapping[str, str]
) -> list[tuple[str, list[tuple[str, str, list[Mark]]]]]:
    """The parts of the table of accuracy, each with its title and rows: what is measured, a remark, the marks."""
    measured = (accuracy.forward, accuracy.backward)
    meanings = {baseline.found.name: baseline.meaning for baseline in accuracy.forward.baselines}
    parts: list[tuple[str, Callable[[Measured], Sequence[GroupScore]], Callable[[str], tuple[str, str]]]] = [
        ("By frequency rank", lambda one: one.score.bands, lambda name: (_ranks(name), "")),
        ("By kind of word", _parts, lambda name: (PARTS[name], "")),
        (
            "For comparison: simple methods on the same words",
            lambda one: [baseline.found for baseline in one.baselines],
            lambda name: (name, meanings[name]),
        ),
    ]
    styles = [marks[one.source] for one in measured]
    asked = " and ".join(f"{one.score.covered:,}" for one in measured)
    whole: list[Mark] = [
        (one.score.p_at_1, one.score.ci95, style) for one, style in zip(measured, styles, strict=True)
    ]
    found = [("", [("all words", f"{asked} words", whole)])]
    for title, groups_of, called in parts:
        groups = [{group.name: group for group in groups_of(one)} for one in measured]
        names = dict.fromkeys(name for of in groups for name in sorted(of, key=_first_rank))
        rows = []
        for name in sorted(names, key=_first_rank):
            text, remark = called(name)
            own = [of.get(name) for of in groups]
            counts = " and ".join(f"{group.queries if group else 0:,}" for group in own)
            row = [_mark(group, style) for group, style in zip(own, styles, strict=True)]
            rows.append((text, remark or f"{counts} words", row))
        found.append((title, rows))
    return found


def _parts(measured: Measured) -> Sequence[GroupScore]:
    """The scores by kind of word, without "plain" where that is all words."""
    parts, covered = measured.score.parts, measured.score.covered
    return [part for part in parts if part.name != "plain" or part.queries < covered]


def _mark(group: GroupScore | None, style: str) -> Mark:
    return (None, None, style) if group is None else (group.p_at_1, group.ci95, style)


def _first_rank(name: str) -> int:
    first = name.partition("-")[0]
    return int(first) if first.isdigit() else 0


def _ranks(name: str) -> str:
    first, _, last = name.partition("-")
    return f"ranks {int(first):,} to {int(last):,}"


def disagreement(facts: Facts) -> str:
    """What to believe where the verdict and the gold list contradict one another; empty if they do not."""
    if facts.accuracy is None:
        return ""
    found = facts.accuracy.forward.score.p_at_1
    if facts.label == "aligned" and found < GOOD:
        return (
            "The verdict and the list disagree: an alignment that is right usually does better. Believe the list, "
            "if it is of these languages; it is direct evidence."
        )
    if facts.label == "failed" and found > GOOD:
        return (
            "The verdict and the list disagree: an alignment that failed does not do so well. Believe the list; it "
            "is direct evidence."
        )
    return ""


def _files(facts: Facts, language: str) -> list[tuple[str, str]]:
    languages = facts.space.manifest.get("languages")
    entry = languages.get(language) if isinstance(languages, Mapping) else None
    return _names(entry.get("files")) if isinstance(entry, Mapping) else []


def _names(files: object) -> list[tuple[str, str]]:
    # Names without folders, which are of no use to others, and checksums.
    found = files if isinstance(files, list) else []
    return [
        (PurePath(str(file.get("path", "")).replace("\\", "/")).name, str(file.get("sha256") or ""))
        for file in found
        if isinstance(file, Mapping)
    ]


def stage_rows(facts: Facts) -> Sequence[Stage]:
    """The stages of the run: those for all languages, then those of each language."""
    rows = stages_of(facts.space.manifest)
    for record in facts.records:
        prefix = f"{record.language}: " if len(facts.records) > 1 else ""
        rows += [(prefix + stage, seconds, memory) for stage, seconds, memory in record.stages]
    return rows
