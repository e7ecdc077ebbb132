"""Page: the facts and figures as one self-contained HTML file, and the figures as PNG beside it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muse.errors import BadFile, MissingExtra
from muse.files.atomic import atomic_folder
from muse.files.space_folder import writing
from muse.files.writing import check_place, replaced
from muse.installation import install_extra
from muse.picture import require_picture
from muse.report.facts import Facts
from muse.report.figures import figures, require_matplotlib, stage_rows

TEMPLATE = "page.html"


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
    require_matplotlib()
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
    if folder.exists() and not (folder.is_dir() and all(one.suffix == ".png" for one in folder.iterdir())):
        raise BadFile(
            f"{folder}: expected no folder, or the figures of a report, got other files; choose another --out"
        )


def write_report(facts: Facts, page: Path) -> WrittenReport:
    """The paths of the page and its figures, which are written, replacing those of an earlier report."""
    check_page(page)
    drawn = figures(facts)
    text = render(facts, drawn)
    folder = figures_folder(page)
    with writing(folder), atomic_folder(folder) as partial:
        for name, png in drawn.items():
            (partial / f"{name}.png").write_bytes(png)
    with replaced(page) as stream:
        stream.write(text.encode())
    return WrittenReport(page, {name: folder / f"{name}.png" for name in drawn})


def render(facts: Facts, drawn: Mapping[str, bytes]) -> str:
    """The page as HTML; the template escapes all text."""
    from jinja2 import ChainableUndefined, Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader("muse.report", "."), autoescape=True, undefined=ChainableUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    pictures = {
        name: "data:image/png;base64," + base64.b64encode(png).decode() for name, png in drawn.items()
    }
    return environment.get_template(TEMPLATE).render(facts=facts, figures=pictures, stages=stage_rows(facts))
