"""What muse train prints: the held-out score of a trained encoder, and the fields of --json."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muse.evaluation.score import Score
    from muse.systems.registry import TrainedSystem
    from muse.systems.system import TrainingRequest

log = logging.getLogger(__name__)

WORD_ENCODERS = ("x-cbow", "projection", "cvm-add")


def report(request: TrainingRequest, trained: TrainedSystem, *, as_json: bool) -> None:
    """Prints the held-out score and how training went."""
    score, fitted = held_out_score(request, trained), trained.fitted
    if not trained.best.number and len(fitted.epochs) > 1:
        log.warning("no epoch was better than the untrained encoder, which is kept; try another --rate")
    if as_json:
        click.echo(json.dumps(_fields(request, trained, score)))
        return
    click.echo(score)
    counts = ", ".join(f"{count} {name}" for name, count in fitted.counts.items())
    click.echo(
        f"before training {fitted.epochs[0].score:.1f}; epoch {trained.best.number} of "
        f"{len(fitted.epochs) - 1}; {counts}; {trained.seconds['total']:.1f} s; {request.out}"
    )


def held_out_score(request: TrainingRequest, trained: TrainedSystem) -> Score:
    """The held-out score at the epoch kept, with how it was obtained."""
    import numpy as np

    from muse.evaluation.score import Score, bootstrap_count, space_signature

    fitted, interval = trained.fitted, None
    if fitted.hits is not None:
        rng = np.random.default_rng(request.seed)
        interval = bootstrap_count(fitted.hits, fitted.held_out, rng)
    presets = (f"preset:{request.preset}",) if len(trained.system.presets) > 1 else ()
    signature = space_signature(
        request.space,
        request.language,
        request.space.pivot,
        retrieval="nn" if fitted.metric == "P@1" else "",
        gold=_texts(request, trained),
        more=(
            f"encoder:{fitted.encoder.name}",
            *presets,
            *_folders(request, trained),
            f"held-out:{fitted.held_out}",
            f"split:{request.seed}",
        ),
    )
    direction = f"{_languages(request, fitted.scored)}-{request.space.pivot}"
    signature = replace(signature, direction=direction)
    return Score(fitted.metric, trained.best.score, interval, signature)


def _texts(request: TrainingRequest, trained: TrainedSystem) -> str:
    """The files of text, with the first digits of their checksums."""
    from muse.files.space_folder import with_checksum

    texts = trained.inputs[: len(request.files)]
    return "+".join(with_checksum(Path(path).name, digest) for path, digest in texts)


def _folders(request: TrainingRequest, trained: TrainedSystem) -> list[str]:
    """The folders that training began with, by setting, with the first digits of their weights' checksum."""
    from muse.files.space_folder import with_checksum

    config = request.chosen_preset(trained.system).config
    named = {name: Path(getattr(config, name)).resolve().name for name in trained.contents}
    # encoder: is what was trained.
    keys = {name: f"pretrained-{name}" for name in ("encoder", "decoder")}
    return [
        f"{keys.get(name, name)}:{with_checksum(named[name], digests.split()[-1])}"
        for name, digests in trained.contents.items()
    ]


def _languages(request: TrainingRequest, scored: Sequence[str]) -> str:
    """The languages beside the pivot that the held-out score is of, such as fr, or fr+de; by default all."""
    trained = (request.language, *request.further, *request.texts, *request.translated_nli)
    named = dict.fromkeys(scored or trained)
    return "+".join(name for name in named if name != request.space.pivot) or request.space.pivot


def _fields(request: TrainingRequest, trained: TrainedSystem, score: Score) -> dict[str, Any]:
    """The fields of --json; scores by epoch begin with that before training, losses with epoch 1."""
    fitted, by_epoch = trained.fitted, [epoch.score for epoch in trained.fitted.epochs]
    fields = {
        "out": str(request.out),
        "encoder": fitted.encoder.name,
        "preset": request.preset,
        "language": request.language,
        "pivot": request.space.pivot,
        **fitted.counts,
        **_parameters(trained),
        "held_out": fitted.held_out,
        "epochs": len(fitted.epochs) - 1,
        "best_epoch": trained.best.number,
        "metric": fitted.metric,
        "score": score.value,
        "ci95": score.ci95,
        "score_by_epoch": by_epoch,
        "loss_curve": [epoch.loss for epoch in fitted.epochs[1:]],
        "seconds": trained.seconds,
        "signature": str(score.signature),
    }
    if trained.system.name in WORD_ENCODERS:  # kept for programs that read the older field names
        fields |= {"p_at_1": score.value, "p_at_1_by_epoch": by_epoch}
    return fields


def _parameters(trained: TrainedSystem) -> dict[str, int]:
    from muse.systems.network_encoder import NetworkEncoder

    if not isinstance(trained.encoder, NetworkEncoder):
        return {}
    return {"parameters": sum(p.numel() for p in trained.encoder.network.parameters())}
