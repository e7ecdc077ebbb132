"""Page: the facts and charts as one self-contained HTML file, and the charts as SVG files beside it.

`view` is what the templates show of the facts: tables, settings, files, remarks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from muse.api.outcome import PAIRS
from muse.errors import BadFile
from muse.evaluation.score import Interval
from muse.evaluation.words import GroupScore
from muse.files.atomic import atomic_folder, writing
from muse.files.space_manifest import is_figure, stages_of
from muse.files.writing import check_place, replaced
from muse.languages import english_name
from muse.ranking.translations import grade_of
from muse.report.charts import Drawing, drawings
from muse.report.facts import Accuracy, Facts, why_chosen
from muse.report.measured import Measured
from muse.report.next_steps import command_line, next_steps

if TYPE_CHECKING:
    from jinja2 import Environment

T = TypeVar("T")
Mark = tuple[float | None, Interval | None, str]  # a figure in percent, its interval, its style
TEMPLATES = "templates"
FIGURES = ".figures"  # in place of .html: the folder for the figures of a page
TERMS = ".terms.html"  # in place of .html: the page of a glossary
KINDS = {
    "identical": "the list has the word itself",
    "different": "the list has other words",
    "number": "numbers",
    "capitalised": "capitalised",
    "plain": "all others",
}
WRONG = 15  # answers shown of a direction
GOOD = 20.0  # the P@1 in percent above which no alignment has failed, and below which none is good


def check_page(page: Path, terms: bool = False) -> None:
    """Raise BadFile if page and figures cannot be written, or would replace other files than a report's.

    With `terms` a page of a glossary is written too.
    """
    check_place(page)
    if terms:
        check_place(page.with_suffix(TERMS))
    if page.suffix.lower() not in (".html", ".htm"):
        raise BadFile(f"{page}: expected a name that ends in .html; choose another --out")
    folder = page.with_suffix(FIGURES)
    if folder.exists() and not (folder.is_dir() and all(one.suffix == ".svg" for one in folder.iterdir())):
        raise BadFile(
            f"{folder}: expected no folder, or the figures of a report, got other files; choose another --out"
        )


def write_report(facts: Facts, page: Path) -> dict[str, Path]:
    """The figures by name, written beside the page; both replace those of an earlier report."""
    terms = facts.config.terms
    check_page(page, terms is not None)
    environment, drawn = _environment(facts.frequency_ordered), drawings(facts)
    text = environment.get_template("page.html").render(
        **view(facts),
        drawings=drawn,
        terms_page=page.with_suffix(TERMS).name,
        styles=_styles("page.css", "drawing.css"),
    )
    folder = page.with_suffix(FIGURES)
    alone = {f"run-{number}": panel for number, panel in enumerate(drawn.panels, start=1)}
    alone |= {name: one for name in ("reliability", "map") if (one := getattr(drawn, name)) is not None}
    figures = {folder / f"{name}.svg": _alone(environment, drawing) for name, drawing in alone.items()}
    with replaced(page) as stream:
        stream.write(text.encode(errors="replace"))  # the name of a folder need not be UTF-8
        stream.flush()  # if there is no room for the page, there are no figures either
        if terms is not None:
            with replaced(page.with_suffix(TERMS)) as glossary:
                glossary.write("".join(terms.page(served=False)).encode(errors="replace"))
        with writing(folder), atomic_folder(folder) as partial:
            for path, svg in figures.items():
                (partial / path.name).write_text(svg, encoding="utf-8", errors="replace")
    return {path.stem: path for path in figures}


def _environment(frequency_ordered: bool) -> Environment:
    """The templates, which escape all text, and what they need to show numbers and languages.

    Where there are rows without words, not `frequency_ordered`, their names are no codes of languages.
    """
    from jinja2 import ChainableUndefined, Environment, PackageLoader

    made = Environment(
        loader=PackageLoader("muse.report", TEMPLATES), autoescape=True, undefined=ChainableUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.filters |= {"count": count, "fixed": fixed, "percent": percent, "spread": spread}
    made.filters["name"] = english_name if frequency_ordered else str
    made.globals |= {"grade_of": grade_of}
    return made


def count(value: object) -> str:
    """The count with commas; a dash if it is not a number."""
    return f"{value:,.0f}" if is_figure(value) else "–"


def fixed(value: object, decimals: int) -> str:
    """The number with this many decimals; a dash if it is not a number."""
    return f"{value:.{decimals}f}" if is_figure(value) else "–"


def percent(share: float) -> str:
    """A probability as whole percents: nothing is certain, and nothing impossible.

    >>> percent(0.123), percent(0.9951), percent(0.001)
    ('12 %', '>99 %', '<1 %')
    """
    if share > 0.99:
        return ">99 %"
    return "<1 %" if share < 0.01 else f"{100 * share:.0f} %"


def spread(items: Sequence[T], most: int) -> list[T]:
    """`most` of the items, evenly spread from the first to the last; all, if there are no more.

    >>> spread("abcdefghi", 3)
    ['a', 'e', 'i']
    """
    if len(items) <= most:
        return list(items)
    return [items[round(place * (len(items) - 1) / (most - 1))] for place in range(most)]


def _styles(*names: str) -> str:
    folder = files("muse")
    sheets = [folder.joinpath("palette.css"), *(folder.joinpath("report", TEMPLATES, name) for name in names)]
    return "\n".join(sheet.read_text(encoding="utf-8").strip() for sheet in sheets)


def as_svg(drawing: Drawing) -> str:
    """A figure as the text of a file of its own."""
    return _alone(_environment(True), drawing)


def _alone(environment: Environment, drawing: Drawing) -> str:
    """A figure in light colours for other programs: few know the variables of a style sheet."""
    styles = _styles("drawing.css")
    colours: dict[str, str] = {}
    for name, colour in re.findall(r"(--[a-z-]+):\s*(#[0-9a-f]+)", styles):
        colours.setdefault(name, colour)
    rules = re.sub(r"var\((--[a-z-]+)\)", lambda found: colours[found[1]], styles.partition(".drawing")[2])
    return environment.get_template("figure.svg").render(
        of=drawing, styles=".drawing" + rules, surface=colours["--surface"]
    )


def view(facts: Facts) -> dict[str, Any]:
    """What the templates show, beside the drawings."""
    base, folder, made = facts.config.base, facts.folder, facts.space.manifest
    several, marks = len(facts.records) > 1, {facts.source: "one", facts.target: "two"}
    report, back = ["muse", "report", str(folder)], ["--src", facts.target, "--tgt", facts.source]
    table = None if facts.accuracy is None else accuracy_table(
        facts.accuracy, marks, frequency_ordered=facts.frequency_ordered
    )  # fmt: skip
    own = [
        (f"{record.language}: " * several + stage, seconds, memory)
        for record in facts.records for stage, seconds, memory in stages_of(record)
    ]  # fmt: skip
    return {
        "facts": facts,
        "marks": marks,
        "table": table,
        "disagreement": disagreement(facts),
        "next_steps": next_steps(facts),
        "settings": [
            (name.replace("_", " "), "not given" if value is None else as_text(value))
            for name, value in made.settings.items()
        ],
        "files": {name: made.language(name).files for name in (facts.source, facts.target)},
        "inputs": made.inputs,
        "reasons": {record.language: why_chosen(record) for record in facts.records},
        "stages": [*stages_of(made), *own],
        "shown": WRONG,
        "pairs": PAIRS,
        "beside": folder.parent == base.resolve(),
        "created": next((record.created for record in facts.records if record.created), ""),
        "commands": {record.language: command_line(record.command, base) for record in facts.records},
        "other_direction": command_line([*report, "--src", "LANG", "--tgt", "LANG"], base),
        "other_list": command_line([*report, *back, "--dictionary", PAIRS], base),
    }


def disagreement(facts: Facts) -> str:
    """What to believe where the verdict and the gold list contradict one another; empty if they do not."""
    if facts.accuracy is None:
        return ""
    found = facts.accuracy.forward.score.p_at_1
    if facts.label == "aligned" and found < GOOD:
        why = "is right usually does better. Believe the list, if it is of these languages"
    elif facts.label == "failed" and found > GOOD:
        why = "failed does not do so well. Believe the list"
    else:
        return ""
    return f"The verdict and the list disagree: an alignment that {why}; it is direct evidence."


class TableRow(NamedTuple):
    """What is measured, a remark on it, and a mark for each direction."""

    name: str
    remark: str
    marks: tuple[Mark, ...]


class TablePart(NamedTuple):
    """Rows with a title, which the first part does not need."""

    title: str
    rows: list[TableRow]


def accuracy_table(
    accuracy: Accuracy, styles: Mapping[str, str], *, frequency_ordered: bool = True
) -> tuple[TablePart, ...]:
    """The parts of the table; `styles` has the style of the marks for each source language.

    Rows that are not `frequency_ordered` have neither a frequency nor a kind.
    """
    noun, both = "words" if frequency_ordered else "rows", (accuracy.forward, accuracy.backward)

    def rows(groups_of: Callable[[Measured], Iterable[GroupScore]]) -> list[TableRow]:
        """A row for each group that a direction has."""
        named = [{_called(group.name): group for group in groups_of(one)} for one in both]
        found = []
        for key in sorted(dict.fromkeys(key for groups in named for key in groups), key=lambda key: key[0]):
            groups = [(one.source, known.get(key)) for one, known in zip(both, named, strict=True)]
            counts = " and ".join(f"{group.queries if group else 0:,}" for _, group in groups)
            marks: Iterable[Mark] = (
                (group.p_at_1, group.ci95, styles[source]) if group else (None, None, styles[source])
                for source, group in groups
            )
            found.append(TableRow(key[1], f"{counts} {noun}", tuple(marks)))
        return found

    compared = zip(
        rows(lambda one: [simple.found for simple in one.baselines]), accuracy.forward.baselines, strict=True
    )
    parts = [
        TablePart("", rows(lambda one: [
            GroupScore(f"all {noun}", one.score.p_at_1, one.score.ci95, one.score.covered)
        ])),
        TablePart("By frequency rank", rows(lambda one: one.score.bands)),
        # "plain" says nothing where all words are
        TablePart("By kind of word", rows(lambda one: [
            part for part in one.score.parts if part.name != "plain" or part.queries < one.score.covered
        ])),
        TablePart(
            f"For comparison: simple methods on the same {noun}",
            [row._replace(remark=simple.meaning) for row, simple in compared],
        ),
    ]  # fmt: skip
    return tuple(parts if frequency_ordered else (parts[0], parts[-1]))


def _called(name: str) -> tuple[int, str]:
    """The first rank of a band, 0 of other groups, and what it is called."""
    first, _, last = name.partition("-")
    if first.isdigit():
        return int(first), f"ranks {int(first):,} to {int(last):,}"
    return 0, KINDS.get(name, name)


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
