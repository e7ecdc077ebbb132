"""muse report: write a one-page HTML report about a space."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.options import answers, backend, common, dictionary_format, languages, open_space
from muse.commands.outputs import echo
from muse.commands.sections import SectionedCommand

if TYPE_CHECKING:
    from muse.report.facts import ReportConfig
    from muse.space import Space


@click.command(
    cls=SectionedCommand,
    sections={
        "Input": ("--dictionary", "--dictionary-format", "--src", "--tgt"),
        "Output": ("--out",),
        "Advanced": ("--answers", "--max-vocab", "--backend"),
    },
    examples=(
        "muse report embeddings/aligned/fr-en",
        "muse report SPACE --dictionary gold.txt --out report.html",
    ),
)
@click.argument("space", type=Path, required=False)
@click.option(
    "--dictionary",
    type=Path,
    metavar="FILE",
    help="Gold translations to measure accuracy with, a pair on each line.",
)
@dictionary_format
@click.option(
    "--out", type=Path, metavar="FILE",
    help="Page to write, .html; its figures go to a folder beside it.  [default: SPACE.html]",
)  # fmt: skip
@click.option(
    "--max-vocab", default=20_000, show_default=True, type=click.IntRange(1), metavar="N",
    help="Look for hubs, sample words and a baseline among the N most frequent words.",
)  # fmt: skip
@languages
@answers
@backend
@common
def report(space: Path, out: Path | None, as_json: bool, **options: Any) -> None:
    """Write a one-page HTML report about a SPACE.

    It says whether the alignment worked, how good it is, on what evidence, and what to do next. With a
    --dictionary it shows wrong answers, accuracy in both directions, and how reliable the probabilities are.
    With more than two languages it is about the least certain one, unless --src or --tgt names another.
    The page is self-contained; its figures are also written as SVG files.
    """
    from muse.report.facts import gather_facts, supervision_json
    from muse.report.page import check_page, require_report, write_report

    require_report()
    folder = space.resolve()
    page = out or folder.with_name(f"{folder.name}.html")
    check_page(page)
    loaded, config = _load(space, options)
    facts = gather_facts(loaded, config, loaded.progress)
    written = write_report(facts, page)
    if as_json:
        fields = {**written.as_json(), "signature": str(facts.signature), "accuracy": None}
        if facts.accuracy is not None:
            forward, backward = facts.accuracy.forward.score, facts.accuracy.backward.score
            fields |= {"signature": str(forward.signature), "accuracy": forward.as_json()}
            fields["accuracy_backward"] = backward.as_json()
        fields |= supervision_json(facts.records)
        echo(json.dumps(fields, ensure_ascii=False))
        return
    count = len(written.figures)
    echo(f"{written.page}, with {count} {'figure' if count == 1 else 'figures'}")


def _load(space: Path, options: dict[str, Any]) -> tuple[Space, ReportConfig]:
    from muse.evaluation.score import gold_name
    from muse.files import read_lexicon
    from muse.report.facts import ReportConfig, direction_of
    from muse.report.measured import Gold
    from muse.report.next_steps import base_of

    path = options["dictionary"]
    loaded = open_space(space, options["device"], options["quiet"], answers=options["answers"])
    source, target = direction_of(loaded, options["source"], options["target"])
    gold = None
    if path is not None:
        form = options["dictionary_format"]
        gold = Gold(read_lexicon(path, languages=(source, target), form=form), gold_name(path))
    base = base_of(space, Path.cwd())
    return loaded, ReportConfig(source, target, base, gold, options["max_vocab"], options["seed"])
