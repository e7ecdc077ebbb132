"""muse train: train a sentence encoder, save it, and report its held-out score.

`muse train-translator` has the same options of a training (`trainer_options`) and reports in the same way
(`report`).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from muse.commands.options import Finite, common
from muse.commands.outputs import echo
from muse.commands.sections import SectionedCommand
from muse.sentences.commands.encoders import by_language, by_language_with_default, plain_and_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muse.evaluation.score import Score
    from muse.sentences.encoders.pooling import Power
    from muse.sentences.systems.registry import TrainedSystem
    from muse.sentences.systems.system import TrainingRequest

log = logging.getLogger(__name__)

F = TypeVar("F", bound=Callable[..., Any])
WORD_ENCODERS = ("x-cbow", "projection", "cvm-add")
SYSTEMS = ("sp", "lens", "infersent", "x-bilstm", "cmlm", "bgt", "xlm")
PRESETS = ("small", "paper")
LOSSES = ("align", "rank", "hinge", "hardest", "squared", "softmax")
_PARALLEL_NEEDED = "give --parallel FILE, or both --source FILE and --target FILE"


def trainer_options(own: str, least: click.IntRange, examples: str) -> Callable[[F], F]:
    """Adds the options of a training, whose default is its `own`, with `least` `examples` in a batch."""
    default = f"[default: {own}]"

    def add(command: F) -> F:
        for option in (
            click.option("--resume", is_flag=True, help="Resume an interrupted run with the same settings."),
            click.option(
                "--preset", default="small", show_default=True, type=click.Choice(PRESETS),
                help="Size of the network: small, or as published.",
            ),
            click.option(
                "--patience", type=click.IntRange(1), metavar="N",
                help=f"Stop after N epochs without a better held-out score.  {default}",
            ),
            click.option("--rate", type=Finite(), metavar="X", help=f"Learning rate.  {default}"),
            click.option(
                "--batch", type=least, metavar="N", help=f"Number of {examples} in a batch.  {default}"
            ),
            click.option(
                "--epochs", type=click.IntRange(0), metavar="N",
                help=f"Maximum number of epochs.  {default}",
            ),
        ):  # fmt: skip
            command = option(command)
        return command

    return add


@click.command(
    cls=SectionedCommand,
    sections={
        "Input": ("--lang", "--parallel", "--source", "--target", "--text", "--nli"),
        "Learning": ("--encoder", "--preset", "--epochs", "--patience", "--backbone"),
        "Output": ("--out", "--resume"),
        "Advanced": (
            "--batch",
            "--rate",
            "--loss",
            "--margin",
            "--lambda",
            "--scale",
            "--powers",
            "--dropout",
            "--set",
        ),
    },
    examples=(
        "muse train embeddings/aligned/fr-en --lang fr --parallel en-fr.tsv --out encoders/x-cbow",
        "muse train SPACE --encoder xlm --lang fr --text fr=a.fr --text en=b.en --out encoders/xlm",
    ),
)
@click.argument("space", type=Path, required=False)
@click.option(
    "--encoder", default="x-cbow", show_default=True, type=click.Choice((*WORD_ENCODERS, *SYSTEMS)),
    help="Encoder to train.",
)  # fmt: skip
@click.option(
    "--lang",
    required=True,
    metavar="LANG",
    help="Language to train on, beside the pivot of the space.",
)
@click.option(
    "--parallel", multiple=True, metavar="FILE|LANG=FILE",
    help="Parallel text, pivot<TAB>sentence on each line; may be a .gz. "
    "sp, xlm, cmlm, x-bilstm: for several languages, repeat it with LANG=.",
)  # fmt: skip
@click.option(
    "--source", type=Path, metavar="FILE",
    help="Instead of --parallel, with --target: sentences of --lang, one on each line.",
)  # fmt: skip
@click.option("--target", type=Path, metavar="FILE", help="Their translations into the pivot, line by line.")
@click.option("--out", required=True, type=Path, metavar="FOLDER", help="Folder for the encoder.")
@click.option(
    "--loss", type=click.Choice(LOSSES), help="Loss to minimise; see above.  [default: the encoder's own]"
)
@click.option(
    "--margin", type=Finite(), metavar="X", help="Margin of any loss but align.  [default: the loss's own]"
)
@click.option(
    "--lambda", "weight", type=Finite(), metavar="X", help="align: weight of the negatives.  [default: 0.25]"
)
@click.option(
    "--scale",
    type=Finite(),
    metavar="X",
    help="softmax: factor of the cosines.  [default: 20]",
)
@trainer_options("the encoder's own", click.IntRange(2), "examples")
@click.option(
    "--backbone", "--core", type=Path, metavar="FOLDER",
    help="lens, infersent: read words with this encoder instead of the space: a Hugging Face folder, or an "
    "xlm of muse train.",
)  # fmt: skip
@click.option(
    "--nli", multiple=True, metavar="FILE|LANG=FILE",
    help="lens, infersent, cmlm, xlm: pairs labelled with their inference, in the columns of SICK or SNLI. "
    "cmlm: with LANG=, also the same rows in another language.",
)  # fmt: skip
@click.option(
    "--text", "texts", multiple=True, metavar="LANG=FILE",
    help="cmlm, xlm: text in a language; may be repeated.",
)  # fmt: skip
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE",
    help="A setting of any encoder but x-cbow, projection and cvm-add; may be repeated. A wrong KEY lists "
    "all.",
)  # fmt: skip
@click.option(
    "--powers", metavar="P,P",
    help="x-cbow, projection, cvm-add: power means of the trained words, such as -inf,1,inf.",
)  # fmt: skip
@click.option(
    "--dropout", type=Finite(0, 1, max_open=True), metavar="X",
    help="projection: share of the dimensions left out in a step.  [default: 0]",
)  # fmt: skip
@common
def train(space: Path, quiet: bool, as_json: bool, **options: Any) -> None:
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
    from muse.progress import Progress
    from muse.run.processes import joined
    from muse.run.runtime import Runtime, pick_device
    from muse.sentences.systems.registry import train_system

    device = pick_device(options["device"])
    with joined(device) as processes:
        progress = Progress(quiet=quiet or not processes.first)
        request = _request(space, options)
        trained = train_system(options["encoder"], request, Runtime(device, progress, processes=processes))
        if processes.first:
            report(request, trained, as_json=as_json)


def _request(space: Path, options: dict[str, Any]) -> TrainingRequest:
    from muse.sentences.systems.system import CALLED_OTHERWISE, TrainingRequest
    from muse.space import load_space

    parallel, further = _parallel(options)
    named = _word_options(options, parallel) if options["encoder"] in WORD_ENCODERS else _options(options)
    return TrainingRequest(
        load_space(space),
        options["lang"],
        options["out"],
        options["preset"],
        parallel,
        further,
        trainer={name: options[name] for name in CALLED_OTHERWISE if options[name] is not None},
        seed=options["seed"],
        resume=options["resume"],
        **named,
    )


def _parallel(options: dict[str, Any]) -> tuple[tuple[Path, ...], dict[str, Path]]:
    """The files of parallel text of --lang, if any (one, or the pivot's and the other), and of others."""
    further = by_language_with_default(options["lang"], options["parallel"], "--parallel")
    single, files = further.pop(options["lang"], None), (options["target"], options["source"])
    two = tuple(path for path in files if path is not None)
    if len(two) == 1 or (two and single is not None):
        raise click.UsageError(_PARALLEL_NEEDED)
    return two if single is None else (single,), further


def _nli(options: dict[str, Any]) -> tuple[Path | None, dict[str, Path]]:
    """The file of inferences, if any, and its translations by language."""
    plain, named = plain_and_named(options["nli"])
    return next(map(Path, plain), None), dict(by_language(named, "--nli"))


def _word_options(options: dict[str, Any], parallel: tuple[Path, ...]) -> dict[str, Any]:
    """The fields of a request for a word encoder; a usage error if an option is for other encoders."""
    from muse.sentences.training.losses import LossChoice

    for name, option in (("backbone", "backbone"), ("nli", "nli"), ("texts", "text"), ("settings", "set")):
        if options[name]:
            raise click.UsageError(f"--{option} is for {', '.join(SYSTEMS)}; leave it out")
    if not parallel:
        raise click.UsageError(_PARALLEL_NEEDED)
    if options["dropout"] is not None and options["encoder"] != "projection":
        raise click.UsageError(f"--dropout is for projection, not for {options['encoder']}.")
    chosen = LossChoice(*(options[name] for name in ("loss", "margin", "weight", "scale")))
    dropout = options["dropout"] or 0.0
    return {"config": {"chosen": chosen, "powers": _powers(options["powers"]), "dropout": dropout}}


def _options(options: dict[str, Any]) -> dict[str, Any]:
    """The fields of a request for any other system; a usage error if an option is for word encoders."""
    for name in ("loss", "margin", "weight", "scale", "powers", "dropout"):
        if options[name] is not None:
            option = "lambda" if name == "weight" else name
            raise click.UsageError(
                f"--{option} is for {', '.join(WORD_ENCODERS)}, not for {options['encoder']}, "
                "whose settings are given with --set"
            )
    nli, translated_nli = _nli(options)
    return {
        "nli": nli,
        "translated_nli": translated_nli,
        "texts": dict(by_language(options["texts"], "--text")),
        "backbone": options["backbone"],
        "settings": changed_settings(options["settings"]),
    }


def changed_settings(texts: Sequence[str]) -> dict[str, str]:
    """The values of `--set KEY=VALUE` by key, the last of each; a usage error for anything else."""
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (key and equals and value):
            raise click.UsageError(f"--set needs KEY=VALUE, got {text!r}.")
        found[key] = value
    return found


def _powers(listed: str | None) -> tuple[Power, ...]:
    from muse.sentences.encoders.pooling import parsed_power

    try:
        return tuple(parsed_power(p) for p in (listed or "1").split(","))
    except ValueError:
        raise click.UsageError(
            f"--powers takes numbers separated by commas, such as -inf,1,2s; got {listed!r}"
        ) from None


def report(request: TrainingRequest, trained: TrainedSystem, *, as_json: bool) -> None:
    """Prints the held-out score and a line about training, or with `as_json` all fields."""
    score, fitted = held_out_score(request, trained), trained.fitted
    if not trained.best.number and len(fitted.epochs) > 1:
        log.warning("no epoch was better than the untrained encoder, which is kept; try another --rate")
    if as_json:
        echo(json.dumps(_fields(request, trained, score)))
        return
    echo(score)
    counts = ", ".join(f"{count} {name}" for name, count in fitted.counts.items())
    echo(
        f"before training {fitted.epochs[0].score:.1f}; epoch {trained.best.number} of "
        f"{len(fitted.epochs) - 1}; {counts}; {trained.seconds['total']:.1f} s; {request.out}"
    )


def held_out_score(request: TrainingRequest, trained: TrainedSystem) -> Score:
    """The held-out score at the epoch kept, with its signature."""
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
    """The folders of pretrained models by setting, with the first digits of their weights' checksum."""
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
    """The languages of the held-out score beside the pivot, such as fr, or fr+de; by default all."""
    trained = (request.language, *request.further, *request.texts, *request.translated_nli)
    named = dict.fromkeys(scored or trained)
    return "+".join(name for name in named if name != request.space.pivot) or request.space.pivot


def _fields(request: TrainingRequest, trained: TrainedSystem, score: Score) -> dict[str, Any]:
    """The fields of --json; scores by epoch start before training, losses with epoch 1."""
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
    if trained.system.name in WORD_ENCODERS:
        fields["p_at_1"] = score.value
    return fields


def _parameters(trained: TrainedSystem) -> dict[str, int]:
    from muse.sentences.systems.network_encoder import NetworkEncoder

    if not isinstance(trained.encoder, NetworkEncoder):
        return {}
    return {"parameters": sum(p.numel() for p in trained.encoder.network.parameters())}
