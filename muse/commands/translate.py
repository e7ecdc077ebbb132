"""muse translate: words, or text, in another language."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.numbers import MOST_BEAM, Finite
from muse.commands.options import choose_direction, common, direction, given, open_space
from muse.commands.translate_stdin import translate_stdin
from muse.commands.unknown_words import warn_if_unknown
from muse.commands.word_answers import show_words

if TYPE_CHECKING:
    from muse.search.retrieval import Retrieval
    from muse.space import AlignedSpace
    from muse.space.new_words import NewWords
    from muse.text.language_model import LanguageModel
    from muse.translate import Translator


@click.command()
@click.argument("space", type=Path, required=False)
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
    "--beam", type=click.IntRange(1, MOST_BEAM), metavar="N",
    help="Beam size.  [default: 10 with --lm, 4 with --model]",
)  # fmt: skip
@click.option(
    "--model", "translator", type=Path, metavar="FOLDER",
    help="Instead of a SPACE, a translation model of muse train-translator, or a bgt of muse train.",
)  # fmt: skip
@click.option(
    "--style", metavar="SENTENCE",
    help="--model, a bgt: write in the style of this sentence of --tgt; --src and --tgt may be the same.",
)  # fmt: skip
@click.option(
    "--sample", is_flag=True,
    help="--model, a bgt: draw how each sentence is worded at random; another --seed, another wording.",
)  # fmt: skip
@click.option(
    "--batch", type=click.IntRange(1), metavar="N",
    help="--model: number of sentences translated at once.  [default: 32]",
)  # fmt: skip
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
def translate(space: Path | None, words: tuple[str, ...], method: str, as_json: bool, **options: Any) -> None:
    """Translate each WORD, or the text on stdin (< FILE).

    Words are printed with several translations, their scores and, with CSLS, their probabilities. Text keeps
    its punctuation, numbers, names and capitals; a word without a vector is copied, unless --vectors or
    --ngrams supplies one. --lm (from muse train-lm, or any ARPA file) picks, from each word's --top
    candidates, the sequence that reads best. --model, without a SPACE, translates whole sentences.
    """
    if options["translator"] is not None:
        from muse.commands.translate_model import translate_with_model

        translate_with_model(space, options, as_json=as_json)
        return
    if space is None:
        raise click.UsageError("Missing argument 'SPACE', or --model FOLDER.")
    _translate_in_space(space, words, method, as_json=as_json, **options)


def _translate_in_space(
    space: Path, words: tuple[str, ...], method: str, *, as_json: bool, **options: Any
) -> None:
    from muse.search.retrieval import Retrieval
    from muse.space.new_words import load_new_words, own_new_words
    from muse.text.arpa import read_arpa

    _check_options(words, options)
    # The language model is read first, so that a broken one is reported before a large space is loaded.
    model = None if options["lm"] is None else read_arpa(options["lm"])
    loaded = open_space(space, options["device"], options["quiet"])
    options["source"], options["target"] = choose_direction(loaded, options["source"], options["target"])
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
    """Raise UsageError if options conflict or one has no effect."""
    if words and options["lm"] is not None:
        raise click.UsageError("--lm needs text on stdin, got words to translate; leave one of them out.")
    if options["fit"] and options["vectors"] is None:
        raise click.UsageError("--fit needs --vectors FILE, got none; add it or leave --fit out.")
    if options["ngrams"] and options["vectors"] is not None:
        raise click.UsageError("--ngrams and --vectors exclude each other, got both; leave one of them out.")
    if words and (idle := given("lm_weight", "beam", "reference")):
        raise click.UsageError(f"{idle[0]} needs text on stdin, got words to translate; leave it out.")
    if idle := given("batch", "style", "sample"):
        raise click.UsageError(f"{idle[0]} is for --model; leave it out.")
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
    from muse.errors import BadSetting
    from muse.translate import TextConfig, Translator

    if not space.vectors(options["source"]).ranked:
        raise BadSetting(
            f"text is translated by the words of a space, got rows without words for {options['source']}; "
            "give their ids as arguments, or a space of words"
        )
    weight = {} if options["lm_weight"] is None else {"weight": options["lm_weight"]}
    beam = {} if options["beam"] is None else {"beam": options["beam"]}
    translator = Translator(
        space, source=options["source"], target=options["target"], model=model, new_words=new_words,
        config=TextConfig(retrieval, top=options["top"], **beam, **weight),
    )  # fmt: skip
    sample = translate_stdin(
        translator,
        lambda: {"words": translator.counts.words, "copied": translator.counts.copied},
        language=translator.target,
        made=_made(translator, options["lm"]),
        reference=options["reference"],
        as_json=as_json,
    )
    warn_if_unknown(translator.counts.unknown, translator.counts.words, translator.source, sample)


def _made(translator: Translator, lm: Path | None) -> str:
    config = translator.config
    parts = [str(config.retrieval), f"{translator.source}-{translator.target}"]
    if lm is not None:
        parts += [f"lm:{lm.name}", f"weight:{config.weight:g}", f"top:{config.top}", f"beam:{config.beam}"]
    return " | ".join(parts)
