"""Page: the facts and charts as one self-contained HTML file, and the charts as SVG files beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from muse.answers.translations import grade_of
from muse.errors import BadFile, MissingExtra
from muse.files.atomic import atomic_folder, writing
from muse.files.language_names import english_name
from muse.files.space_manifest import is_figure
from muse.files.writing import check_place, replaced
from muse.installation import install_extra
from muse.report.charts import Drawing, drawings
from muse.report.facts import Facts
from muse.report.view import view
from muse.report.word_map import require_picture

if TYPE_CHECKING:
    from jinja2 import Environment

T = TypeVar("T")
TEMPLATES = "templates"
PALETTE = ("web", "page", "palette.css")  # the explorer's, so that both look alike
FIGURES = (".svg", ".png")  # PNG: those of an older muse


@dataclass(frozen=True)
class WrittenReport:
    """The page, and the figures by name."""

    page: Path
    figures: Mapping[str, Path]

    def as_json(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return {"out": str(self.page), "figures": {name: str(path) for name, path in self.figures.items()}}


def require_report() -> None:
    """Raise MissingExtra if a package of the extra is not installed."""
    require_picture()
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise MissingExtra(f"a report needs jinja2; run {install_extra('report')}") from None


def figures_folder(page: Path) -> Path:
    """The folder for the figures of a page: fr-en.figures for fr-en.html."""
    return page.with_suffix(".figures")


def check_page(page: Path) -> None:
    """Raise BadFile if page and figures cannot be written, or would replace other files than a report's."""
    check_place(page)
    if page.suffix.lower() not in (".html", ".htm"):
        raise BadFile(f"{page}: expected a name that ends in .html; choose another --out")
    folder = figures_folder(page)
    if folder.exists() and not (folder.is_dir() and all(one.suffix in FIGURES for one in folder.iterdir())):
        raise BadFile(
            f"{folder}: expected no folder, or the figures of a report, got other files; choose another --out"
        )


def write_report(facts: Facts, page: Path) -> WrittenReport:
    """The paths of the page and its figures, which are written, replacing an earlier report."""
    check_page(page)
    environment, drawn = _environment(facts.ranked), drawings(facts)
    text = environment.get_template("page.html").render(
        **view(facts), drawings=drawn, styles=_styles("page.css", "drawing.css")
    )
    figures = {name: _alone(environment, drawing) for name, drawing in drawn.named().items()}
    folder = figures_folder(page)
    with replaced(page) as stream:
        stream.write(text.encode(errors="replace"))  # the name of a folder need not be UTF-8
        stream.flush()  # if there is no room for the page, there are no figures either
        with writing(folder), atomic_folder(folder) as partial:
            for name, svg in figures.items():
                (partial / f"{name}.svg").write_text(svg, encoding="utf-8", errors="replace")
    return WrittenReport(page, {name: folder / f"{name}.svg" for name in figures})


def _environment(ranked: bool) -> Environment:
    """The templates, which escape all text, and what they need to show numbers and languages.

    Where there are rows without words, not `ranked`, their names are no codes of languages.
    """
    from jinja2 import ChainableUndefined, Environment, PackageLoader

    made = Environment(
        loader=PackageLoader("muse.report", TEMPLATES), autoescape=True, undefined=ChainableUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.filters |= {"count": count, "fixed": fixed, "percent": percent, "spread": spread}
    made.filters["name"] = english_name if ranked else str
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
    sheets = [folder.joinpath(*PALETTE), *(folder.joinpath("report", TEMPLATES, name) for name in names)]
    return "\n".join(sheet.read_text(encoding="utf-8").strip() for sheet in sheets)


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
