"""muse train: from options to the request of a sentence encoder, which is trained, saved and reported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.options import common
from muse.commands.train_report import WORD_ENCODERS, report

if TYPE_CHECKING:
    from muse.systems.system import TrainingRequest

SYSTEMS = ("lens", "infersent", "x-bilstm", "cmlm", "bgt", "xlm")
PRESETS = ("small", "paper")
LOSSES = ("align", "rank", "hinge", "hardest", "squared", "softmax")


@click.command()
@click.argument("space", type=Path)
@click.option("--encoder", default="x-cbow", show_default=True, type=click.Choice((*WORD_ENCODERS, *SYSTEMS)))
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
    from muse.progress import Progress
    from muse.run.processes import joined
    from muse.run.runtime import Runtime, pick_device
    from muse.systems.registry import train_system

    device = pick_device(options["device"])
    with joined(device) as processes:
        progress = Progress(quiet=quiet or not processes.first)
        request = _request(space, options)
        trained = train_system(options["encoder"], request, Runtime(device, progress, processes=processes))
        if processes.first:
            report(request, trained, as_json=as_json)


def _request(space: Path, options: dict[str, Any]) -> TrainingRequest:
    from muse.space import load_space
    from muse.systems.system import CALLED_OTHERWISE, TrainingRequest

    parallel = _parallel(options)
    named = _word_options(options, parallel) if options["encoder"] in WORD_ENCODERS else _options(options)
    return TrainingRequest(
        load_space(space),
        options["lang"],
        options["out"],
        options["preset"],
        parallel,
        trainer={name: options[name] for name in CALLED_OTHERWISE if options[name] is not None},
        seed=options["seed"],
        resume=options["resume"],
        **named,
    )


_WHICH = "give --parallel FILE, or both --source FILE and --target FILE"


def _parallel(options: dict[str, Any]) -> tuple[Path, ...]:
    """The files of parallel text, if any: one, or the pivot's and the other."""
    single, files = options["parallel"], (options["target"], options["source"])
    two = tuple(path for path in files if path is not None)
    if len(two) == 1 or (two and single is not None):
        raise click.UsageError(_WHICH)
    return two if single is None else (single,)


def _word_options(options: dict[str, Any], parallel: tuple[Path, ...]) -> dict[str, Any]:
    """What the options of encoders of words are in a request; a usage error for another system's."""
    from muse.training.loss_choice import LossChoice

    for name, option in (("core", "core"), ("nli", "nli"), ("texts", "text"), ("settings", "set")):
        if options[name]:
            raise click.UsageError(f"--{option} goes with {', '.join(SYSTEMS)}; leave it out")
    if not parallel:
        raise click.UsageError(_WHICH)
    chosen = LossChoice(*(options[name] for name in ("loss", "margin", "weight", "scale")))
    return {"config": {"chosen": chosen, "powers": _powers(options["powers"])}}


def _options(options: dict[str, Any]) -> dict[str, Any]:
    """What the options of other systems are in a request; a usage error for those of encoders of words."""
    for name in ("loss", "margin", "weight", "scale", "powers"):
        if options[name] is not None:
            option = "lambda" if name == "weight" else name
            raise click.UsageError(
                f"--{option} goes with other encoders than {options['encoder']}, whose settings take --set"
            )
    return {
        "nli": options["nli"],
        "texts": {language: Path(name) for language, name in named_values(options["texts"]).items()},
        "core": options["core"],
        "settings": named_values(options["settings"]),
    }


def named_values(texts: Sequence[str]) -> dict[str, str]:
    """What options NAME=VALUE say; a usage error where one has no =."""
    pairs = [text.partition("=") for text in texts]
    for key, equals, value in pairs:
        if not (key and equals and value):
            given = key + equals + value
            raise click.UsageError(f"--set and --text expect NAME=VALUE, got {given!r}")
    return {key: value for key, _, value in pairs}


def _powers(listed: str | None) -> tuple[float, ...]:
    try:
        return tuple(float(p) for p in (listed or "1").split(","))
    except ValueError:
        raise click.UsageError(f"--powers takes numbers with commas between, got {listed!r}") from None
