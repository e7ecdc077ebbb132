"""Sentence systems on the command line: the request of `muse train`, and what it prints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from muse.evaluation.score import Score
    from muse.systems.registry import TrainedSystem
    from muse.systems.system import Request

SYSTEMS = ("lens", "infersent", "x-bilstm", "cmlm", "bgt", "xlm")
PRESETS = ("small", "paper")
_OF_PAIRS = ("loss", "margin", "weight", "scale", "powers")  # of the encoders that are no systems


def train(
    space: Path, parallel: tuple[Path, ...], as_json: bool, quiet: bool, options: dict[str, Any]
) -> None:
    """Trains a sentence system as `muse train` was asked to, and prints its score."""
    from muse.progress import Progress
    from muse.run.processes import joined
    from muse.run.runtime import Runtime, pick_device
    from muse.systems.registry import train_system

    device = pick_device(options["device"])
    with joined(device) as processes:
        progress = Progress(quiet=quiet or not processes.first)
        request = _request(space, parallel, options)
        trained = train_system(options["encoder"], request, Runtime(device, progress, processes=processes))
        if processes.first:
            _tell(request, trained, _score(request, trained), as_json)


def named_texts(texts: Sequence[str]) -> dict[str, str]:
    """What options KEY=VALUE say; a usage error where one has no =."""
    pairs = [text.partition("=") for text in texts]
    for key, equals, value in pairs:
        if not (key and equals and value):
            given = key + equals + value
            raise click.UsageError(f"--set and --text expect NAME=VALUE, got {given!r}")
    return {key: value for key, _, value in pairs}


def _request(space: Path, parallel: tuple[Path, ...], options: dict[str, Any]) -> Request:
    from muse.space import load_space
    from muse.systems.system import CALLED_OTHERWISE, Request

    for name in _OF_PAIRS:
        if options[name] is not None:
            option = "lambda" if name == "weight" else name
            raise click.UsageError(
                f"--{option} goes with other encoders than {options['encoder']}, whose settings take --set"
            )
    return Request(
        load_space(space),
        options["lang"],
        options["out"],
        options["preset"],
        parallel,
        options["nli"],
        {language: Path(name) for language, name in named_texts(options["texts"]).items()},
        options["core"],
        named_texts(options["settings"]),
        {name: options[name] for name in CALLED_OTHERWISE if options[name] is not None},
        options["seed"],
        options["resume"],
    )


def _score(request: Request, trained: TrainedSystem) -> Score:
    """The held-out score at the epoch kept, with how it was obtained."""
    import numpy as np

    from muse.evaluation.score import Score, bootstrap_interval, space_signature

    fitted = trained.fitted
    interval = None
    if fitted.counted:
        hits = np.arange(fitted.held_out) < round(trained.best.score * fitted.held_out / 100)
        interval = bootstrap_interval(hits, np.random.default_rng(request.seed))
    signature = space_signature(
        request.space,
        request.language,
        request.space.pivot,
        retrieval="nn" if fitted.metric == "P@1" else "",
        gold="+".join(f"{Path(path).name}@{found[:4]}" for path, found in trained.inputs),
        more=(
            f"encoder:{fitted.label}",
            f"preset:{request.preset}",
            f"held-out:{fitted.held_out}",
            f"split:{request.seed}",
        ),
    )
    return Score(fitted.metric, trained.best.score, interval, signature)


def _tell(request: Request, trained: TrainedSystem, score: Score, as_json: bool) -> None:
    fitted = trained.fitted
    if as_json:
        click.echo(json.dumps(_fields(request, trained, score)))
        return
    click.echo(score)
    counts = ", ".join(f"{count} {name}" for name, count in fitted.counts.items())
    click.echo(
        f"before training {fitted.epochs[0].score:.1f}; epoch {trained.best.number} of "
        f"{len(fitted.epochs) - 1}; {counts}; {trained.seconds['total']:.1f} s; {request.out}"
    )


def _fields(request: Request, trained: TrainedSystem, score: Score) -> dict[str, Any]:
    """What --json prints; lists by epoch begin before training, the loss with the first epoch."""
    fitted = trained.fitted
    return {
        "out": str(request.out),
        "encoder": fitted.label,
        "preset": request.preset,
        "language": request.language,
        "pivot": request.space.pivot,
        **fitted.counts,
        "parameters": sum(p.numel() for p in fitted.network.parameters()),
        "held_out": fitted.held_out,
        "epochs": len(fitted.epochs) - 1,
        "best_epoch": trained.best.number,
        "metric": fitted.metric,
        "score": score.value,
        "ci95": score.ci95,
        "score_by_epoch": [epoch.score for epoch in fitted.epochs],
        "loss_curve": [epoch.loss for epoch in fitted.epochs[1:]],
        "seconds": trained.seconds,
        "signature": str(score.signature),
    }
