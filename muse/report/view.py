"""View: the facts of a report as its templates show them: rows of tables, paths, what is to be explained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from muse.report.accuracy_table import accuracy_table
from muse.report.facts import Facts
from muse.report.next_steps import PAIRS
from muse.report.places import command_line
from muse.report.record import Stage, stages_of
from muse.report.settings import settings

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
        "settings": settings(facts.space.manifest),
        "files": {name: _files(facts, name) for name in (facts.source, facts.target)},
        "inputs": _names(facts.space.manifest.get("inputs")),
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
