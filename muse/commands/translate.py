"""muse translate: words, or text, in another language."""

from __future__ import annotations

import json
import logging
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from muse.commands.numbers import Finite
from muse.commands.options import common, direction, given, open_space
from muse.commands.word_answers import show_words

if TYPE_CHECKING:
    from muse.files.plain_text import Stream
    from muse.search.retrieval import Retrieval
    from muse.space import AlignedSpace
    from muse.space.new_words import NewWords
    from muse.text.language_model import LanguageModel
    from muse.translate import Translator

log = logging.getLogger(__name__)

STDIN = "standard input"


@click.command()
@click.argument("space", type=Path)
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option(
    "--top",
    default=10,
    show_default=True,
    type=click.IntRange(1),
    metavar="N",
    help="Number of translations of each word; with --lm, number of candidates to choose from.",
)
@click.option(
    "--lm",
    type=Path,
    metavar="FILE",
    help="Language model of the target language, to choose the words of a text.",
)
@click.option(
    "--lm-weight",
    type=Finite(0),
    metavar="X",
    help="Weight of the language model.  [default: 0.06]",
)
@click.option(
    "--beam", default=10, show_default=True, type=click.IntRange(1), metavar="N", help="Beam size with --lm."
)
@click.option(
    "--vectors", type=Path, metavar="FILE", help="Vectors for unknown words; a fastText .bin is best."
)
@click.option(
    "--ngrams",
    is_flag=True,
    help="Make vectors for unknown words from n-grams learned from the space itself.",
)
@click.option("--fit", is_flag=True, help="Fit --vectors from another model to those of the space first.")
@click.option(
    "--reference",
    type=Path,
    metavar="FILE",
    help="Reference translations of the text, to report BLEU and chrF.",
)
@direction
@common
def translate(space: Path, words: tuple[str, ...], method: str, as_json: bool, **options: Any) -> None:
    """Translate each WORD, or the text on stdin word by word.

    Words are printed with several translations, their scores and, with CSLS, their probabilities. Text keeps
    its punctuation, numbers, names and capitals; a word without a vector is copied, unless --vectors or
    --ngrams supplies one. --lm (from muse train-lm, or any ARPA file) picks, from each word's --top
    candidates, the sequence that reads best.
    """
    from muse.search.retrieval import Retrieval
    from muse.space.new_words import load_new_words, own_new_words
    from muse.text.arpa import read_arpa

    _check_options(words, options)
    # The language model is read first, so that a broken one is reported before a large space is loaded.
    model = None if options["lm"] is None else read_arpa(options["lm"])
    loaded = open_space(space, options["device"], options["quiet"])
    options["source"], options["target"] = loaded.direction(options["source"], options["target"])
    new_words = None
    if options["ngrams"]:
        new_words = own_new_words(loaded, options["source"], progress=loaded.progress)
    elif options["vectors"] is not None:
        new_words = load_new_words(loaded, options["source"], options["vectors"], fit=options["fit"])
    retrieval = Retrieval(method, backend=options["backend"])
    if words:
        show_words(loaded, words, new_words, retrieval, as_json=as_json, **options)
    else:
        _translate_text(loaded, model, new_words, retrieval, as_json=as_json, **options)


def _check_options(words: tuple[str, ...], options: dict[str, Any]) -> None:
    """Raise BadSetting or UsageError if options conflict or one has no effect."""
    from muse.errors import BadSetting

    if words and options["lm"] is not None:
        raise BadSetting("--lm needs text on stdin, got words to translate; leave one of them out")
    if options["fit"] and options["vectors"] is None:
        raise BadSetting("--fit needs --vectors FILE, got none; add it or leave --fit out")
    if options["ngrams"] and options["vectors"] is not None:
        raise BadSetting("--ngrams and --vectors exclude each other, got both; leave one of them out")
    if words and (idle := given("lm_weight", "beam", "reference")):
        raise click.UsageError(f"{idle[0]} needs text on stdin, got words to translate; leave it out.")
    if not words and options["lm"] is None and (idle := given("top", "lm_weight", "beam")):
        raise click.UsageError(f"{idle[0]} needs --lm to translate text, got none; leave it out.")


def _translate_text(
    space: AlignedSpace,
    model: LanguageModel | None,
    new_words: NewWords | None,
    retrieval: Retrieval,
    *,
    as_json: bool,
    **options: Any,
) -> None:
    from muse.errors import BadFile
    from muse.files.plain_text import read_blocks
    from muse.translate import TextConfig, Translator, quality

    weight = {} if options["lm_weight"] is None else {"weight": options["lm_weight"]}
    config = TextConfig(retrieval, top=options["top"], beam=options["beam"], **weight)
    translator = Translator(
        space, source=options["source"], target=options["target"],
        model=model, new_words=new_words, config=config,
    )  # fmt: skip
    references = None if options["reference"] is None else _references(options["reference"])
    lines: list[str] = []
    count = 0
    for block in read_blocks(cast("Stream", sys.stdin.buffer), STDIN):
        translated = translator.translate(block)
        count += len(block)
        if as_json or references is not None:
            lines += translated
        if not as_json:
            click.echo("\n".join(translated))  # flushes, since the sender may be waiting for the answer
    if not count:
        raise BadFile(
            f"{STDIN}: expected text to translate, got nothing; give words as arguments, or send text"
        )
    scores = [] if references is None else quality(lines, references, made=_made(translator, options["lm"]))
    for score in scores:
        log.info("%s", score)
    if as_json:
        counts = translator.counts
        fields: dict[str, Any] = {"lines": lines, "words": counts.words, "copied": counts.copied}
        fields |= {score.name.lower(): asdict(score) for score in scores}
        click.echo(json.dumps(fields, ensure_ascii=False))


def _references(path: Path) -> list[str]:
    from muse.files.plain_text import read_lines
    from muse.translate.scores import require_sacrebleu

    require_sacrebleu()  # report a missing package before the work, not after it
    return list(read_lines(path))


def _made(translator: Translator, lm: Path | None) -> str:
    config = translator.config
    parts = [str(config.retrieval), f"{translator.source}-{translator.target}"]
    if lm is not None:
        parts += [f"lm:{lm.name}", f"weight:{config.weight:g}", f"top:{config.top}", f"beam:{config.beam}"]
    return " | ".join(parts)
