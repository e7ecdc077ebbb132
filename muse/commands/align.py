"""muse align: learn one space, save it, print the verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from muse.commands.options import common

FAILED = 3  # the exit code of an alignment judged failed
OF_WORDS = " (not unsupervised)"
INITS = ("auto", "gromov", "adversarial", "similarity", "identical", "dictionary")


@click.command()
@click.option("--src", "source", required=True, metavar="LANG", help="The language to map.")
@click.option(
    "--tgt", "target", required=True, metavar="LANG", help="The language to map into; it stays put."
)
@click.option(
    "--src-emb", type=Path, metavar="FILE", help="Vectors of --src.  [default: looked up in embeddings/]"
)
@click.option(
    "--tgt-emb", type=Path, metavar="FILE", help="Vectors of --tgt.  [default: looked up in embeddings/]"
)
@click.option("--init", default="auto", show_default=True, type=click.Choice(INITS), help="The way in.")
@click.option(
    "--dictionary", type=Path, metavar="FILE", help="Translations to learn from: --init dictionary."
)
@click.option("--no-identical", is_flag=True, help="Keep auto from falling back on identical strings.")
@click.option("--max-vocab", type=click.IntRange(1), metavar="N", help="Read the N most frequent words only.")
@click.option("--lower", is_flag=True, help="Lower all words; the first spelling of a word wins.")
@click.option("--normalise", default="unit,centre,unit", show_default=True, metavar="STEPS")
@click.option(
    "--refine/--no-refine", default=True, show_default=True, help="Procrustes on induced pairs, repeated."
)
@click.option(
    "--reweight/--no-reweight",
    default=True,
    show_default=True,
    help="Stress shared directions at the end, where it pays; moves the target too.",
)
@click.option("--out", type=Path, metavar="DIR", help="The space.  [default: embeddings/aligned/SRC-TGT]")
@click.option("--resume", is_flag=True, help="Go on where a killed run of the same settings stopped.")
@common
def align(**options: Any) -> int:
    """Learn one space for two languages, from vectors alone.

    Ends with a verdict that needs no dictionary; the exit code is 3 where it is "failed".
    """
    from muse.api import run
    from muse.progress import Progress

    report = run(_request(options), device=options["device"], progress=Progress(quiet=options["quiet"]))
    fields = report.as_json()
    if options["as_json"]:
        click.echo(json.dumps(fields, ensure_ascii=False))
    else:
        click.echo(f"space       {fields['space']}")
        click.echo(
            f"way in      {report.learned.alignment.method}{'' if fields['unsupervised'] else OF_WORDS}"
        )
        click.echo(f"criterion   {fields['criterion']}")
        click.echo(f"verdict     {fields['verdict']} (confidence {fields['confidence']:.2f})")
        click.echo(f"time        {fields['seconds']['total']:.1f} s, {fields['peak_memory_mb'] or 0:.0f} MB")
        click.echo(f"signature   {fields['signature']}")
    return FAILED if fields["verdict"] == "failed" else 0


def _request(options: dict[str, Any]) -> Any:
    from muse.align import AlignConfig
    from muse.api import Request
    from muse.auto import Plan, check_init
    from muse.refine import RefineConfig
    from muse.self_learning import SelfLearningConfig

    init = "dictionary" if options["dictionary"] and options["init"] == "auto" else options["init"]
    check_init(init, options["dictionary"] is not None)
    refined = options["refine"]
    plan = Plan(
        "auto" if init == "dictionary" else init,
        identical=not options["no_identical"],
        self_learning=SelfLearningConfig() if refined and init != "dictionary" else None,
    )
    config = AlignConfig(
        plan,
        steps=tuple(step.strip() for step in options["normalise"].split(",")),
        refine=RefineConfig() if refined else None,
        reweight=options["reweight"],
        seed=options["seed"],
    )
    return Request(
        options["source"], options["target"], options["src_emb"], options["tgt_emb"], options["dictionary"],
        options["out"], options["max_vocab"], options["lower"], options["resume"], config,
    )  # fmt: skip
