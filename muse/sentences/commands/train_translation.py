"""muse train-lm and train-translator: models that translate, learned from text that need not be parallel.

A language model, for muse translate --lm, and a translation model of whole sentences, for --model.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.options import common, common_without
from muse.commands.outputs import echo
from muse.commands.sections import SectionedCommand
from muse.sentences.commands.encoders import by_language
from muse.sentences.commands.train import changed_settings, report, trainer_options

if TYPE_CHECKING:
    from muse.sentences.systems.system import TrainingRequest


@click.command(
    "train-lm",
    cls=SectionedCommand,
    sections={
        "Input": ("--lang",),
        "Learning": ("--order",),
        "Output": ("--out",),
    },
    examples=(
        "muse train-lm text.en --lang en --out en.arpa",
        "muse train-lm a.en b.en.gz --lang en --order 4 --out en.arpa.gz",
    ),
)
@click.argument("texts", nargs=-1, required=True, type=Path, metavar="TEXT...")
@click.option("--lang", required=True, metavar="LANG", help="Language of the text.")
@click.option("--out", required=True, type=Path, metavar="FILE", help="Model to write, .arpa or .arpa.gz.")
@click.option(
    "--order", default=3, show_default=True, type=click.IntRange(1, 6), metavar="N",
    help="Length of the longest n-grams.",
)  # fmt: skip
@common_without("seed", "device", "threads")
def train_lm(texts: tuple[Path, ...], lang: str, out: Path, order: int, quiet: bool, as_json: bool) -> None:
    """Train an n-gram language model on TEXT files.

    Each line is a sentence. The model uses the same lowercase tokens as muse translate, is smoothed by
    interpolated modified Kneser-Ney, and is written in the ARPA format.
    """
    from muse.files.plain_text import read_lines
    from muse.files.writing import check_place, check_text_name
    from muse.progress import Progress
    from muse.text.arpa import write_arpa
    from muse.text.language_model import learn_language_model
    from muse.text.tokens import Tokeniser

    check_text_name(out, "n-grams", ".arpa or .arpa.gz")
    check_place(out)
    lines = [line for path in texts for line in read_lines(path)]
    tokeniser = Tokeniser(lang)
    sentences = []
    with Progress(quiet=quiet).stage("reading text", len(lines), "lines") as tick:
        for done, line in enumerate(lines, 1):
            sentences.append([token.lower() for token in tokeniser.tokens(line)])
            tick(done)
    model = learn_language_model(sentences, order=order)
    write_arpa(out, model)
    counts, learned = [len(level) for level in model.levels], sum(map(bool, sentences))
    if as_json:
        fields = {"out": str(out), "order": order, "lines": learned, "empty": len(lines) - learned}
        echo(json.dumps({**fields, "ngrams": counts}))
    else:
        echo(f"{' + '.join(map(str, counts))} n-grams of {learned} lines in {out}")


@click.command(
    "train-translator",
    cls=SectionedCommand,
    sections={
        "Input": ("--text", "--parallel"),
        "Learning": ("--preset", "--epochs", "--patience", "--encoder", "--decoder"),
        "Output": ("--out", "--resume"),
        "Advanced": ("--batch", "--rate", "--set"),
    },
    examples=(
        "muse train-translator SPACE --text fr=a.fr --text en=b.en --out models/fr-en",
        "muse train-translator SPACE --text fr=a.fr --text en=b.en --encoder encoders/xlm --out models/x",
    ),
)
@click.argument("space", type=Path, required=False)
@click.option(
    "--text", "texts", multiple=True, required=True, metavar="LANG=FILE",
    help="Text in a language, a sentence on each line; repeat it for the pivot and each other language.",
)  # fmt: skip
@click.option(
    "--parallel", multiple=True, metavar="LANG=FILE",
    help="Parallel text to learn from too, pivot<TAB>sentence on each line; may be repeated.",
)  # fmt: skip
@click.option("--out", required=True, type=Path, metavar="FOLDER", help="Folder for the model.")
@click.option(
    "--encoder", default="space", show_default=True, metavar="random|space|FOLDER",
    help="Initial encoder: random, the vectors of the space, or a saved xlm.",
)  # fmt: skip
@click.option(
    "--decoder", default="space", show_default=True, metavar="random|space|FOLDER",
    help="Initial decoder: random, the vectors of the space, or a saved xlm.",
)  # fmt: skip
@trainer_options("the preset's", click.IntRange(1), "sentences of each language")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE",
    help="A setting; may be repeated. A wrong KEY lists all.",
)  # fmt: skip
@common
def train_translator(space: Path, quiet: bool, as_json: bool, **options: Any) -> None:
    """Train a translation model without parallel text.

    It translates between the languages of a SPACE that --text names. An encoder and a decoder learn to
    restore sentences from noise, and to translate back what they have translated themselves. Part of the text
    is held out: how well it is predicted from the model's own translation of it decides when training stops
    and which epoch is kept. Use the model with muse translate --model.
    """
    from muse.progress import Progress
    from muse.run.processes import joined
    from muse.run.runtime import Runtime, pick_device
    from muse.sentences.systems.registry import train_system

    device = pick_device(options["device"])
    with joined(device) as processes:
        progress = Progress(quiet=quiet or not processes.first)
        request = _request(space, options)
        trained = train_system("translator", request, Runtime(device, progress, processes=processes))
        if processes.first:
            report(request, trained, as_json=as_json)


def _request(space: Path, options: dict[str, Any]) -> TrainingRequest:
    from muse.sentences.systems.system import CALLED_OTHERWISE, TrainingRequest
    from muse.space import load_space

    loaded = load_space(space)
    texts = dict(by_language(options["texts"], "--text"))
    pairs = dict(by_language(options["parallel"], "--parallel"))
    language = next((name for name in texts if name != loaded.pivot), loaded.pivot)
    own = pairs.pop(language, None)
    return TrainingRequest(
        loaded,
        language,
        options["out"],
        options["preset"],
        () if own is None else (own,),
        pairs,
        texts=texts,
        settings=changed_settings(options["settings"]),
        config={part: options[part] for part in ("encoder", "decoder")},
        trainer={name: options[name] for name in CALLED_OTHERWISE if options[name] is not None},
        seed=options["seed"],
        resume=options["resume"],
    )
