"""muse align: learn an aligned space, save it, print the verdict."""

from __future__ import annotations

import json
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.align_advice import advice
from muse.commands.align_text import check_texts, embed_texts, text_options
from muse.commands.options import common, typed
from muse.learn.initialise import INITIALISATIONS

if TYPE_CHECKING:
    from muse.api.outcome import Report
    from muse.api.request import Request

FAILED = 3  # the exit code of an alignment judged failed
OF_WORDS = " (not unsupervised)"


@click.command(context_settings={"allow_extra_args": True})
@click.option(
    "--src",
    "sources",
    multiple=True,
    metavar="LANG",
    help="Language to map; repeat it to map several into one space.",
)
@click.option(
    "--tgt",
    "target",
    metavar="LANG",
    help="Language to map into, the pivot: its vectors are normalised and, by default, re-weighted, never "
    "rotated.",
)
@click.option(
    "--into",
    type=Path,
    metavar="SPACE",
    help="Instead of --tgt: add --src to this saved space, without changing the languages in it.",
)
@click.option(
    "--src-emb",
    type=Path,
    multiple=True,
    metavar="FILE",
    help="Word vectors of --src, in the same order: a file, or a spaCy pipeline's name, folder or wheel.  "
    "[default: found in embeddings/]",
)
@click.option(
    "--via",
    multiple=True,
    metavar="LANG",
    help="Language for detours only: a --src that fails into --tgt directly is tried over it, as it is over "
    "the other languages of --src and --into. Repeatable.",
)
@click.option(
    "--via-emb",
    type=Path,
    multiple=True,
    metavar="FILE",
    help="Word vectors of --via, in the same order.  [default: found in embeddings/]",
)
@click.option(
    "--tgt-emb", type=Path, metavar="FILE", help="Word vectors of --tgt.  [default: found in embeddings/]"
)
@click.option(
    "--src-words", type=Path, metavar="FILE",
    help="Words of --src, most frequent first, for vectors that are composed of n-grams: of a spaCy pipeline "
    "in mode floret, or a fastText .bin.",
)  # fmt: skip
@click.option("--tgt-words", type=Path, metavar="FILE", help="The same for --tgt.")
@click.option(
    "--src-texts", type=Path, metavar="FILE",
    help="Texts of the rows of --src, if these have no words: one a line, in their order, to be shown beside "
    "their ids.  [default: the column text or sentence of a .parquet]",
)  # fmt: skip
@click.option("--tgt-texts", type=Path, metavar="FILE", help="The same for --tgt.")
@text_options
@click.option(
    "--init", default="auto", show_default=True, type=click.Choice(INITIALISATIONS),
    help="Initialisation. auto tries gromov, features, identical strings and similarity until one is judged "
    "aligned; with a --dictionary of 2,000 source words or more, none. adversarial is slow and depends on "
    "--seed. clusters is for rows without words.",
)  # fmt: skip
@click.option(
    "--dictionary",
    type=Path,
    metavar="FILE",
    help="Translations to learn from; --init dictionary skips the initialisations that need none.",
)
@click.option("--no-identical", is_flag=True, help="Do not let auto fall back on identical strings.")
@click.option("--max-vocab", type=click.IntRange(1), metavar="N", help="Read only the N most frequent words.")
@click.option("--lower", is_flag=True, help="Lowercase words; of words that become equal, keep the first.")
@click.option(
    "--normalise", default="unit,centre,unit", show_default=True, metavar="STEPS",
    help="Steps that normalise the vectors, in order: unit (length 1) and centre (mean 0); the last is unit.",
)  # fmt: skip
@click.option(
    "--refine/--no-refine", default=True, show_default=True, help="Repeat Procrustes on induced word pairs."
)
@click.option(
    "--reweight/--no-reweight",
    default=None,
    help="Finally weight directions by canonical correlation if it helps; this changes the target "
    "too, so not with several --src or --into.  [default: reweight if possible]",
)
@click.option(
    "--joint",
    is_flag=True,
    help="With several --src: refine all mappings jointly, if no pair of languages gets worse.",
)
@click.option(
    "--out",
    type=Path,
    metavar="FOLDER",
    help="Folder for the space.  [default: embeddings/aligned/SRC-TGT, or --into]",
)
@click.option("--resume", is_flag=True, help="Resume an interrupted run with the same settings.")
@common
def align(**options: Any) -> int:
    """Align word vectors of two or more languages in one space.

    No parallel data is needed. Each alignment gets a verdict, which needs no dictionary either; if one is
    "failed", the exit code is 3.
    """
    if unexpected := click.get_current_context().args:
        raise click.UsageError(
            f"Languages are options, such as --src fr --tgt en; got {shlex.join(unexpected)} without one."
        )
    if not options["sources"]:
        raise click.UsageError("Missing option '--src'.")
    if options["target"] is None and options["into"] is None:
        raise click.UsageError("Missing option '--tgt', or '--into SPACE' in its place.")
    from muse.api.request import Untrained
    from muse.api.run import run
    from muse.progress import Progress, message
    from muse.run.memory import keep_freed_memory

    request = _request(options)
    keep_freed_memory()
    quiet, texts = options["quiet"], check_texts(options)
    untrained = Untrained(texts, partial(embed_texts, texts, seed=options["seed"], quiet=quiet))
    report = run(request, device=options["device"], progress=Progress(quiet=quiet), untrained=untrained)
    fields = report.as_json()
    shown = json.dumps(fields, ensure_ascii=False) if options["as_json"] else "\n".join(_lines(report))
    click.echo(shown)
    if not (options["as_json"] or quiet):
        click.echo(message("\n".join(advice(report, options))), err=True)
    return FAILED if fields["verdict"] == "failed" else 0


def _lines(report: Report) -> list[str]:
    """The lines printed without --json: those of each mapped language, then those of the whole run."""
    fields = report.as_json()
    lines = [_row("space", fields["space"])]
    for language, learned in report.learned.items():
        own = report.fields(language)
        lines += ["", _row("language", language)] * (len(report.learned) > 1) + [
            _row("initialisation", f"{learned.alignment.method}{'' if own['unsupervised'] else OF_WORDS}"),
            _row("criterion", own["criterion"]),
            *([] if learned.supervision is None else [_row("held out", learned.supervision)]),
            _row("verdict", f"{own['verdict']} (confidence {own['confidence']:.2f})"),
            _row("signature", own["signature"]),
        ]
    if report.joint is not None:
        lines += ["", _row("joint", report.joint)]
    took = _row("time", f"{fields['seconds']['total']:.1f} s, {fields['peak_memory_mb'] or 0:.0f} MB")
    return [*lines[:-1], took, lines[-1]] if len(report.learned) == 1 else [*lines, took]


def _row(name: str, value: object) -> str:
    return f"{name:15} {value}"


def _request(options: dict[str, Any]) -> Request:
    from muse.api.options import KNOWN, request_of

    given = {name: value for name, value in options.items() if name in KNOWN and value != ()}
    return request_of(options["sources"], options["target"], given | {"command": typed()})
