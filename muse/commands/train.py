"""muse train: a sentence encoder from parallel text, or a sentence system from what it needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.options import common
from muse.commands.systems import PRESETS, SYSTEMS
from muse.commands.systems import train as train_system

if TYPE_CHECKING:
    from muse.evaluation.score import Score
    from muse.training.run import Trained, Training

ENCODERS = ("x-cbow", "projection", "cvm-add")
LOSSES = ("align", "rank", "hinge", "hardest", "squared", "softmax")


@click.command()
@click.argument("space", type=Path)
@click.option("--encoder", default="x-cbow", show_default=True, type=click.Choice((*ENCODERS, *SYSTEMS)))
@click.option("--lang", required=True, metavar="LANG", help="The language to train, beside the pivot.")
@click.option("--parallel", type=Path, metavar="FILE", help="Lines pivot<TAB>sentence, .gz too.")
@click.option("--source", type=Path, metavar="FILE", help="Instead: the sentences of --lang, a line each,")
@click.option("--target", type=Path, metavar="FILE", help="and their translations into the pivot.")
@click.option("--out", required=True, type=Path, metavar="DIR", help="The folder for the encoder.")
@click.option("--loss", type=click.Choice(LOSSES), help="[default: the encoder's own]")
@click.option("--margin", type=float, help="Of all losses but align.  [default: the loss' own]")
@click.option("--lambda", "weight", type=float, help="Weight of the negatives in align.  [default: 0.25]")
@click.option("--scale", type=float, help="Of softmax.  [default: 20]")
@click.option("--epochs", type=click.IntRange(0), help="At most.  [default: the encoder's own]")
@click.option("--batch", type=click.IntRange(2), help="Pairs a step.")
@click.option("--rate", type=float, help="Learning rate of the optimiser.")
@click.option(
    "--patience", type=click.IntRange(1), help="Epochs without a better held-out score before it ends."
)
@click.option("--preset", default="small", show_default=True, type=click.Choice(PRESETS), help="Of systems.")
@click.option("--core", type=Path, metavar="FOLDER", help="A Hugging Face encoder for the space's words.")
@click.option("--nli", type=Path, metavar="FILE", help="Columns as in SICK.txt or SNLI.")
@click.option("--text", "texts", multiple=True, metavar="LANG=FILE", help="Text of a language; may repeat.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A system's setting; may repeat.")
@click.option("--powers", metavar="P,P", help="Power means of the trained words, such as -inf,1,inf.")
@click.option("--resume", is_flag=True, help="Go on where a killed run of the same settings stopped.")
@common
def train(space: Path, quiet: bool, as_json: bool, **options: Any) -> None:
    """Train a sentence encoder of SPACE on parallel text, or a sentence system (lens, ...) on what it needs.

    A part of the text is held out: P@1 there, or what a system tells of itself, ends the training and
    chooses the epoch. Losses: align (Conneau, 2019), rank (his ranking loss), hinge (cosine, random
    negative), hardest (cosine, hardest negative of the batch), squared (CVM-add's), softmax (additive
    margin).
    """
    if options["encoder"] in SYSTEMS:
        train_system(space, _parallel(options), as_json, quiet, options)
        return
    _check_no_system(options)

    from muse.evaluation.score import gold_name
    from muse.progress import Progress
    from muse.run.runtime import Runtime, pick_device
    from muse.training.run import train_encoder

    runtime = Runtime(pick_device(options["device"]), Progress(quiet=quiet))
    request = _request(space, options)
    gold = "+".join(gold_name(path) for path in request.parallel)  # the files may be gone when it is done
    trained = train_encoder(request, runtime)
    score = _score(request, trained, gold)
    if as_json:
        click.echo(json.dumps(_fields(request, trained, score)))
        return
    click.echo(score)
    click.echo(
        f"before training {trained.epochs[0].score:.1f}; epoch {trained.best.number} of "
        f"{len(trained.epochs) - 1}; {trained.pairs} pairs, {trained.skipped} skipped; "
        f"{trained.seconds['total']:.1f} s; {request.out}"
    )


_WHICH = "give --parallel FILE, or both --source FILE and --target FILE"


def _parallel(options: dict[str, Any]) -> tuple[Path, ...]:
    """The files of parallel text, if any: one, or the pivot's and the other."""
    single, files = options["parallel"], (options["target"], options["source"])
    two = tuple(path for path in files if path is not None)
    if len(two) == 1 or (two and single is not None):
        raise click.UsageError(_WHICH)
    return two if single is None else (single,)


def _check_no_system(options: dict[str, Any]) -> None:
    for name, option in (("core", "core"), ("nli", "nli"), ("texts", "text"), ("settings", "set")):
        if options[name]:
            raise click.UsageError(f"--{option} goes with {', '.join(SYSTEMS)}; leave it out")


def _request(space: Path, options: dict[str, Any]) -> Training:
    from muse.space import load_space
    from muse.training.kinds import LossChoice
    from muse.training.run import Training

    parallel = _parallel(options)
    if not parallel:
        raise click.UsageError(_WHICH)
    config = {name: options[name] for name in ("epochs", "batch", "rate", "patience")}
    return Training(
        load_space(space),
        options["lang"],
        parallel,
        options["out"],
        options["encoder"],
        LossChoice(*(options[name] for name in ("loss", "margin", "weight", "scale"))),
        {name: value for name, value in config.items() if value is not None},
        _powers(options["powers"]),
        options["seed"],
        options["resume"],
    )


def _powers(listed: str | None) -> tuple[float, ...]:
    try:
        return tuple(float(p) for p in (listed or "1").split(","))
    except ValueError:
        raise click.UsageError(f"--powers takes numbers with commas between, got {listed!r}") from None


def _score(request: Training, trained: Trained, gold: str) -> Score:
    """P@1 of the held-out pairs at the epoch kept, with how it was obtained."""
    import numpy as np

    from muse.evaluation.score import Score, bootstrap_interval, space_signature

    hits = np.arange(trained.held_out) < round(trained.best.score * trained.held_out / 100)
    signature = space_signature(
        request.space,
        request.language,
        request.space.pivot,
        retrieval="nn",
        gold=gold,
        more=(f"encoder:{trained.encoder.name}", f"held-out:{trained.held_out}", f"split:{request.seed}"),
    )
    interval = bootstrap_interval(hits, np.random.default_rng(request.seed))
    return Score("P@1", trained.best.score, interval, signature)


def _fields(request: Training, trained: Trained, score: Score) -> dict[str, Any]:
    """What --json prints; lists by epoch begin before training, the loss with the first epoch."""
    return {
        "out": str(request.out),
        "encoder": trained.encoder.name,
        "language": request.language,
        "pivot": request.space.pivot,
        "pairs": trained.pairs,
        "held_out": trained.held_out,
        "skipped": trained.skipped,
        "epochs": len(trained.epochs) - 1,
        "best_epoch": trained.best.number,
        "p_at_1": score.value,
        "ci95": score.ci95,
        "p_at_1_by_epoch": [epoch.score for epoch in trained.epochs],
        "loss_curve": [epoch.loss for epoch in trained.epochs[1:]],
        "seconds": trained.seconds,
        "signature": str(score.signature),
    }
