"""muse train: train a sentence encoder, save it, and report its held-out score.

`muse train-translator` has the same options (`TrainingOptions`), and runs and reports in the same way.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from muse.commands.command import command
from muse.commands.outputs import Report
from muse.options import Common, Device, OneSpace, Seed, Threads, given_only, option
from muse.sentences.commands.encoders import by_language, by_language_with_default, plain_and_named

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muse.evaluation.score import Score
    from muse.sentences.systems.registry import TrainedSystem
    from muse.sentences.systems.system import TrainingRequest

log = logging.getLogger(__name__)

WORD_ENCODERS = ("x-cbow", "projection", "cvm-add")
SYSTEMS = ("sp", "lens", "infersent", "x-bilstm", "cmlm", "bgt", "xlm")
OF_WORDS, OF_SYSTEMS = ", ".join(WORD_ENCODERS), ", ".join(SYSTEMS)  # what some options are for
_PARALLEL_NEEDED = "give --parallel FILE, or both --source FILE and --target FILE"


class TrainingOptions(Seed, Device, Threads, Common):
    """The options of every training, whose defaults are those of what is trained."""

    epochs: int | None = option(
        None, section="Learning", least=0, help="Maximum number of epochs.  [default: the preset's]"
    )
    patience: int | None = option(
        None, section="Learning", least=1,
        help="Stop after N epochs without a better held-out score.  [default: the preset's]",
    )  # fmt: skip
    preset: Literal["small", "paper"] = option(
        "small", section="Learning", help="Size of the network: small, or as published."
    )
    resume: bool = option(False, section="Output", help="Resume an interrupted run with the same settings.")
    rate: float | None = option(None, section="Advanced", help="Learning rate.  [default: the preset's]")
    set: tuple[str, ...] = option(
        (), section="Advanced", metavar="KEY=VALUE", only=OF_SYSTEMS,
        help="A setting; may be repeated. A wrong KEY lists all.",
    )  # fmt: skip


class TrainOptions(OneSpace, TrainingOptions):
    lang: str = option(
        section="Input", metavar="LANG", help="Language to train on, beside the pivot of the space."
    )
    parallel: tuple[str, ...] = option(
        (), section="Input", metavar="FILE|LANG=FILE",
        help="Parallel text: a table, with pivot<TAB>sentence on each line, a TMX or an archive. sp, xlm, "
        "cmlm, x-bilstm: for several languages, repeat it with LANG=.",
    )  # fmt: skip
    source: Path | None = option(
        None, section="Input",
        help="Instead of --parallel, with --target: sentences of --lang, one on each line.",
    )  # fmt: skip
    target: Path | None = option(
        None, section="Input", help="Their translations into the pivot, line by line."
    )
    text: tuple[str, ...] = option(
        (), section="Input", metavar="LANG=FILE", only=OF_SYSTEMS,
        help="cmlm, xlm: text in a language; may be repeated.",
    )  # fmt: skip
    nli: tuple[str, ...] = option(
        (), section="Input", metavar="FILE|LANG=FILE", only=OF_SYSTEMS,
        help="lens, infersent, cmlm, xlm: pairs labelled with their inference, in the columns of SICK or "
        "SNLI. cmlm: with LANG=, also the same rows in another language.",
    )  # fmt: skip
    encoder: str = option(
        "x-cbow", section="Learning", choices=(*WORD_ENCODERS, *SYSTEMS), help="Encoder to train."
    )
    backbone: Path | None = option(
        None, section="Learning", metavar="FOLDER", more_flags=("--core",), only=OF_SYSTEMS,
        help="lens, infersent: read words with this encoder instead of the space: a Hugging Face folder, or "
        "an xlm of muse train.",
    )  # fmt: skip
    out: Path = option(section="Output", metavar="FOLDER", written=True, help="Folder for the encoder.")
    batch: int | None = option(
        None, section="Advanced", least=2, help="Number of examples in a batch.  [default: the preset's]"
    )
    loss: Literal["align", "rank", "hinge", "hardest", "squared", "softmax"] | None = option(
        None, section="Advanced", only=OF_WORDS,
        help="Loss to minimise; see above.  [default: the encoder's own]",
    )  # fmt: skip
    margin: float | None = option(
        None, section="Advanced", only=OF_WORDS,
        help="Margin of any loss but align.  [default: the loss's own]",
    )  # fmt: skip
    weight: float | None = option(
        None, section="Advanced", flags=("--lambda",), only=OF_WORDS,
        help="align: weight of the negatives.  [default: 0.25]",
    )  # fmt: skip
    scale: float | None = option(
        None, section="Advanced", only=OF_WORDS, help="softmax: factor of the cosines.  [default: 20]"
    )
    powers: str | None = option(
        None, section="Advanced", metavar="P,P", only=OF_WORDS,
        help="x-cbow, projection, cvm-add: power means of the trained words, such as -inf,1,inf.",
    )  # fmt: skip
    dropout: float | None = option(
        None, section="Advanced", least=0, below=1, only=OF_WORDS,
        help="projection: share of the dimensions left out in a step.  [default: 0]",
    )  # fmt: skip


@command(
    "muse train embeddings/aligned/fr-en --lang fr --parallel en-fr.tsv --out encoders/x-cbow",
    "muse train SPACE --encoder xlm --lang fr --text fr=a.fr --text en=b.en --out encoders/xlm",
)
def train(options: TrainOptions) -> Report | None:
    """Train a sentence encoder on a SPACE.

    \b
    x-cbow, projection, cvm-add   on parallel text
    sp                            on parallel text, of several languages too: word pieces
    lens, infersent               on parallel text or NLI
    x-bilstm, bgt                 on parallel text; x-bilstm copies an infersent
    cmlm                          on text, optionally parallel text and NLI
    xlm                           on text, optionally parallel text; with --nli, tunes a trained xlm

    Part of the data is held out. The score on it decides when training stops and which epoch is kept.

    \b
    Losses of x-cbow, projection and cvm-add:
    align     pull translations together, push random negatives apart
    rank      hinge on Euclidean distances, random negatives
    hinge     hinge on cosines, random negatives
    hardest   hinge on cosines, hardest negative of the batch
    squared   hinge on squared distances, random negatives
    softmax   additive-margin softmax over the batch
    """  # noqa: D301 - click reads \b as the character
    return run_training(lambda: _request(options), options.encoder, options)


def run_training(make: Callable[[], TrainingRequest], system: str, options: TrainingOptions) -> Report | None:
    """The report of training, in one process or in the first of those that torchrun started."""
    from muse.progress import Progress
    from muse.run.processes import joined
    from muse.run.runtime import Runtime, pick_device
    from muse.sentences.systems.registry import train_system

    device = pick_device(options.device)
    with joined(device) as processes:
        progress = Progress(quiet=options.quiet or not processes.first)
        request = make()
        trained = train_system(system, request, Runtime(device, progress, processes=processes))
        return _report(request, trained) if processes.first else None


def trainer_settings(options: TrainingOptions) -> dict[str, Any]:
    """The settings of the trainer that were given, by name."""
    from muse.sentences.systems.system import CALLED_OTHERWISE

    given = {name: getattr(options, name) for name in CALLED_OTHERWISE}
    return {name: value for name, value in given.items() if value is not None}


def _request(options: TrainOptions) -> TrainingRequest:
    from muse.sentences.systems.system import TrainingRequest
    from muse.space import load_space

    # The files of parallel text of --lang, if any (one, or the pivot's and the other), and of others.
    further = by_language_with_default(options.lang, options.parallel, "--parallel")
    single = further.pop(options.lang, None)
    two = tuple(path for path in (options.target, options.source) if path is not None)
    if len(two) == 1 or (two and single is not None):
        raise click.UsageError(_PARALLEL_NEEDED)
    parallel = two if single is None else (single,)
    is_system = options.encoder in SYSTEMS
    others = OF_WORDS if is_system else OF_SYSTEMS
    if idle := given_only(options, others):
        advice = "; give settings with --set" if is_system else "; leave it out"
        raise click.UsageError(f"{idle[0]} is for {others}, not for {options.encoder}{advice}")
    more: dict[str, Any] = {}
    if is_system:
        plain, named = plain_and_named(options.nli)
        more = {
            "nli": next(map(Path, plain), None), "translated_nli": dict(by_language(named, "--nli")),
            "texts": dict(by_language(options.text, "--text")), "backbone": options.backbone,
            "settings": changed_settings(options.set),
        }  # fmt: skip
    elif not parallel:
        raise click.UsageError(_PARALLEL_NEEDED)
    else:
        more = {"config": _of_words(options)}
    return TrainingRequest(
        load_space(options.space), options.lang, options.out, options.preset, parallel, further,
        trainer=trainer_settings(options), seed=options.seed, resume=options.resume, **more,
    )  # fmt: skip


def _of_words(options: TrainOptions) -> dict[str, Any]:
    from muse.sentences.encoders.pooling import parsed_power
    from muse.sentences.training.losses import LossChoice

    if options.dropout is not None and options.encoder != "projection":
        raise click.UsageError(f"--dropout is for projection, not for {options.encoder}.")
    try:
        powers = tuple(parsed_power(p) for p in (options.powers or "1").split(","))
    except ValueError:
        raise click.UsageError(
            f"--powers takes numbers separated by commas, such as -inf,1,2s; got {options.powers!r}"
        ) from None
    chosen = LossChoice(options.loss, options.margin, options.weight, options.scale)
    return {"chosen": chosen, "powers": powers, "dropout": options.dropout or 0.0}


def changed_settings(texts: Sequence[str]) -> dict[str, str]:
    """The values of `--set KEY=VALUE` by key, the last of each; a usage error for anything else."""
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (key and equals and value):
            raise click.UsageError(f"--set needs KEY=VALUE, got {text!r}.")
        found[key] = value
    return found


def _report(request: TrainingRequest, trained: TrainedSystem) -> Report:
    """The fields, whose scores by epoch start before training, losses with epoch 1, and the lines."""
    from muse.sentences.systems.network_encoder import NetworkEncoder

    score = held_out_score(request, trained)
    if not trained.best.number and len(trained.epochs) > 1:
        log.warning("no epoch was better than the untrained encoder, which is kept; try another --rate")
    size = {}
    if isinstance(trained.encoder, NetworkEncoder):
        size = {"parameters": sum(one.numel() for one in trained.encoder.network.parameters())}
    fields = {
        "out": str(request.out), "encoder": trained.encoder.name, "preset": request.preset,
        "language": request.language, "pivot": request.space.pivot, **trained.counts, **size,
        "held_out": trained.held_out.cases, "epochs": len(trained.epochs) - 1,
        "best_epoch": trained.best.number, "metric": trained.metric, "score": score.value,
        "ci95": score.ci95, "score_by_epoch": [epoch.score for epoch in trained.epochs],
        "loss_curve": [epoch.loss for epoch in trained.epochs[1:]], "seconds": trained.seconds,
        "signature": str(score.signature),
        **({"p_at_1": score.value} if trained.system.name in WORD_ENCODERS else {}),
    }  # fmt: skip
    counts = ", ".join(f"{count} {name}" for name, count in trained.counts.items())
    return fields, [
        str(score),
        f"before training {trained.epochs[0].score:.1f}; epoch {trained.best.number} of "
        f"{len(trained.epochs) - 1}; {counts}; {trained.seconds['total']:.1f} s; {request.out}",
    ]


def held_out_score(request: TrainingRequest, trained: TrainedSystem) -> Score:
    """The held-out score at the epoch kept, with its signature."""
    import numpy as np

    from muse.evaluation.score import Score, bootstrap_count, space_signature
    from muse.files.space_folder import with_checksum

    held_out, interval = trained.held_out, None
    if held_out.hits is not None:
        interval = bootstrap_count(held_out.hits, held_out.cases, np.random.default_rng(request.seed))
    texts = trained.inputs[: len(request.files)]
    presets = (f"preset:{request.preset}",) if len(trained.system.presets) > 1 else ()
    # The folders of pretrained models by setting; encoder: is what was trained.
    config = request.chosen_preset(trained.system).config
    keys = {name: f"pretrained-{name}" for name in ("encoder", "decoder")}
    pretrained = (
        f"{keys.get(name, name)}:"
        f"{with_checksum(Path(getattr(config, name)).resolve().name, digests.split()[-1])}"
        for name, digests in trained.contents.items()
    )
    signature = space_signature(
        request.space, request.language, request.space.pivot,
        retrieval="nn" if trained.metric == "P@1" else "",
        gold="+".join(with_checksum(Path(path).name, digest) for path, digest in texts),
        more=(
            f"encoder:{trained.encoder.name}", *presets, *pretrained, f"held-out:{held_out.cases}",
            f"split:{request.seed}",
        ),
    )  # fmt: skip
    # The languages of the score beside the pivot, such as fr, or fr+de: by default all.
    scored = trained.scored or (request.language, *request.further, *request.texts, *request.translated_nli)
    pivot = request.space.pivot
    others = "+".join(name for name in dict.fromkeys(scored) if name != pivot) or pivot
    return Score(
        trained.metric, trained.best.score, interval, replace(signature, direction=f"{others}-{pivot}")
    )
