"""muse translate: words, ids of unlabelled vectors, or text, in another language.

Answers to words are printed as lines for people, or as JSON; for text see `muse.commands.translate_text`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.options import (
    MOST_BEAM,
    Finite,
    answers,
    choose_direction,
    common,
    direction,
    given,
    open_space,
)
from muse.commands.sections import SectionedCommand
from muse.commands.translate_text import translate_stdin
from muse.commands.unknown_words import warn_if_unknown

if TYPE_CHECKING:
    from muse.answers.translations import Answer, WordAnswer
    from muse.search.retrieval import Retrieval
    from muse.space import AlignedSpace
    from muse.space.new_words import NewWords
    from muse.text.language_model import LanguageModel
    from muse.translate.text import Translator
    from muse.vectors import Vectors

log = logging.getLogger(__name__)


def show_words(
    space: AlignedSpace,
    words: Sequence[str],
    new_words: NewWords | None,
    retrieval: Retrieval,
    *,
    as_json: bool,
    **options: Any,
) -> None:
    """Print the answers; unknown and doubtful words are named on stderr. BadSetting if no word is known."""
    from muse.answers.translations import answer_words, find_probabilities
    from muse.errors import BadSetting
    from muse.space.forms import find_form

    direction = options["source"], options["target"]
    source = space.vectors(direction[0])
    find_probabilities(space, (find_form(word, source) or word for word in words), direction, retrieval)
    found = answer_words(
        space, words, source=direction[0], target=direction[1],
        top=options["top"], retrieval=retrieval, new_words=new_words,
    )  # fmt: skip
    problems = [_not_found(space, direction[0], one.word) for one in found if one.form is None]
    known = [one for one in found if one.form is not None]
    if not known:
        raise BadSetting("; ".join(problems))
    if as_json:
        click.echo(json.dumps(_fields(found, *map(space.vectors, direction)), ensure_ascii=False))
    for one in known if not as_json else ():
        click.echo(_lines(one, *map(space.vectors, direction)))
    for problem in problems:
        log.warning("%s", problem)
    wanted = "translation" if space.vectors(direction[0]).ranked else "match"
    for one in known:
        if one.grade == "weak":
            advice = f"; it is more frequent in {' and '.join(one.languages)}; check --src and --tgt"
            log.warning(
                "%s: no %s to trust, the best has %s%s",
                one.word, wanted, _percent(one.answers[0]), advice if one.languages else "",
            )  # fmt: skip


def _not_found(space: AlignedSpace, language: str, word: str) -> str:
    from muse.answers.lookup import not_found

    with suppress(OSError):  # a name that is too long is none
        if Path(word).is_file():
            return f"{word}: expected a word, got a file; to translate its text, give it on stdin: < {word}"
    return not_found(space, language, word)


def _fields(found: Sequence[WordAnswer], source: Vectors, target: Vectors) -> dict[str, Any]:
    known = [one for one in found if one.form is not None]
    asked = {one.word: source.text_of(one.form) for one in known if one.form}
    return {
        "translations": {one.word: [[a.target, a.score] for a in one.answers] for one in known},
        "answers": {one.word: [_answer(a, target) for a in one.answers] for one in known},
        "forms": {one.word: one.form for one in known},
        "languages": {one.word: one.languages for one in known if one.languages},
        "unknown": {
            one.word: {"suggestions": one.suggestions, "languages": one.languages}
            for one in found
            if one.form is None
        },
        **({} if source.texts is None else {"texts": asked}),
    }


def _answer(answer: Answer, target: Vectors) -> dict[str, Any]:
    text = {} if target.texts is None else {"text": target.text_of(answer.target)}
    return {**asdict(answer), "grade": answer.grade, **text}


def _lines(found: WordAnswer, source: Vectors, target: Vectors) -> str:
    """A line with all answers or, if texts are known, a line for the row's text and one for each answer."""
    if source.texts is None and target.texts is None:
        return f"{found.word}\t" + "  ".join(map(_shown, found.answers))
    lines = [f"{found.word}\t{source.text_of(found.form or '') or ''}"]
    lines += [f"  {_shown(answer)}\t{target.text_of(answer.target) or ''}" for answer in found.answers]
    return "\n".join(line.rstrip() for line in lines)


def _shown(answer: Answer) -> str:
    text = f"{answer.target} {answer.score:.3f}"
    if answer.probability is not None:
        text += f" ({_percent(answer)})"
    return click.style(text, dim=True) if answer.grade == "weak" else text


def _percent(answer: Answer) -> str:
    return f"{100 * (answer.probability or 0):.0f} %"


@click.command(
    cls=SectionedCommand,
    sections={
        "Input": ("--src", "--tgt", "--reference"),
        "What it does": ("--top", "--vectors", "--fit", "--ngrams", "--lm"),
        "Instead of a space": ("--model", "--batch", "--style", "--sample"),
        "Advanced": ("--answers", "--retrieval", "--backend", "--lm-weight", "--beam"),
    },
    examples=(
        "muse translate embeddings/aligned/fr-en maison roi",
        "muse translate SPACE --src fr --tgt en --lm en.arpa < text.fr",
    ),
)
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
    help="--model, a bgt: vary the wording at random, by --seed.",
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
@click.option("--fit", is_flag=True, help="--vectors come from another model: fit them to the space first.")
@click.option(
    "--reference",
    type=Path,
    metavar="FILE",
    help="Reference translations of the text, to report BLEU and chrF.",
)
@direction
@answers
@common
def translate(space: Path | None, words: tuple[str, ...], method: str, as_json: bool, **options: Any) -> None:
    """Translate each WORD, or the text on stdin (< FILE).

    Words are printed with several translations, their scores and, with CSLS, their probabilities. Text keeps
    its punctuation, numbers, names and capitals; a word without a vector is copied, unless --vectors or
    --ngrams supplies one. --lm (from muse train-lm, or any ARPA file) picks, from each word's --top
    candidates, the sequence that reads best. --model, without a SPACE, translates whole sentences.
    """
    if options["translator"] is not None:
        from muse.commands.translate_text import translate_with_model

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
    loaded = open_space(space, options["device"], options["quiet"], answers=options["answers"])
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
    from muse.translate.text import TextConfig, Translator

    if not space.vectors(options["source"]).ranked:
        raise BadSetting(
            f"text is translated by the words of a space, got unlabelled vectors for {options['source']}; "
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
