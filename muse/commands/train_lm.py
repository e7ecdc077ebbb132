"""muse train-lm: train a language model on plain text, for muse translate --lm."""

from __future__ import annotations

import json
from pathlib import Path

import click

from muse.commands.options import common_without
from muse.commands.outputs import echo
from muse.commands.sections import SectionedCommand


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
