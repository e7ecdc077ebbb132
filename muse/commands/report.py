"""muse report: one page about a space."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.options import common, languages, open_space

if TYPE_CHECKING:
    from muse.report import ReportConfig
    from muse.space import AlignedSpace


@click.command()
@click.argument("space", type=Path)
@click.option(
    "--dictionary", type=Path, metavar="FILE", help="Gold translations, a pair a line, to measure with."
)
@click.option(
    "--out", type=Path, metavar="FILE",
    help="The page, .html; its figures go to FILE with .figures.  [default: SPACE.html, beside it]",
)  # fmt: skip
@click.option(
    "--max-vocab", default=20_000, show_default=True, type=click.IntRange(1), metavar="N",
    help="Hubs and the sample are of the N most frequent words.",
)  # fmt: skip
@languages
@common
def report(space: Path, out: Path | None, as_json: bool, **options: Any) -> None:
    """Write one page about a SPACE: how it was learned, what the verdict rests on, how good it is.

    The page needs nothing but itself; the figures lie beside it as PNG.
    """
    from muse.report import check_page, gather_facts, require_report, write_report

    require_report()
    folder = space.resolve()
    page = out or folder.with_name(f"{folder.name}.html")
    check_page(page)
    loaded, config = _load(space, options)
    facts = gather_facts(loaded, config, loaded.progress)
    written = write_report(facts, page)
    if as_json:
        measured = None if facts.accuracy is None else facts.accuracy.as_json()
        signature = str(facts.signature if facts.accuracy is None else facts.accuracy.signature)
        fields = {**written.as_json(), "signature": signature, "accuracy": measured}
        click.echo(json.dumps(fields, ensure_ascii=False))
        return
    click.echo(f"{written.page}, with {len(written.figures)} figures")


def _load(space: Path, options: dict[str, Any]) -> tuple[AlignedSpace, ReportConfig]:
    from muse.evaluation.score import gold_name
    from muse.files import read_lexicon
    from muse.report import ReportConfig

    path = options["dictionary"]
    lexicon, gold = (None, "") if path is None else (read_lexicon(path), gold_name(path))
    loaded = open_space(space, options["device"], options["quiet"])
    source, target = loaded.direction(options["source"], options["target"])
    return loaded, ReportConfig(source, target, lexicon, gold, options["max_vocab"], options["seed"])
