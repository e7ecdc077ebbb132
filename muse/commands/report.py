"""muse report: write a one-page HTML report about a space."""

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
    "--dictionary",
    type=Path,
    metavar="FILE",
    help="Gold translations to measure accuracy with, a pair on each line.",
)
@click.option(
    "--out", type=Path, metavar="FILE",
    help="Page to write, .html; its figures go to a folder beside it.  [default: SPACE.html]",
)  # fmt: skip
@click.option(
    "--max-vocab", default=20_000, show_default=True, type=click.IntRange(1), metavar="N",
    help="Look for hubs and sample words among the N most frequent words.",
)  # fmt: skip
@languages
@common
def report(space: Path, out: Path | None, as_json: bool, **options: Any) -> None:
    """Write a one-page HTML report about a SPACE.

    It shows how the space was learned, what the verdict rests on, and how good the space is. The page is
    self-contained; its figures are also written as PNG files.
    """
    from muse.report import check_page, gather_facts, require_report, supervision_json, write_report

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
        fields |= supervision_json(facts.records)
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
