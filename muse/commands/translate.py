"""muse translate: words, ids of unlabelled vectors, or text, in another language.

Answers to words are printed as lines for people, or as JSON; for text see `muse.commands.translate_text`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.inputs import warn_if_unknown
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
from muse.commands.outputs import echo, is_terminal, safe_on_terminal
from muse.commands.sections import PackageOption, SectionedCommand
from muse.commands.translate_text import translate_stdin
from muse.commands.word_tables import (
    TableCounts,
    check_one_source,
    read_words,
    table_options,
    wanted_table,
    written,
)
from muse.optional import load

if TYPE_CHECKING:
    from muse.commands.word_tables import TablePlace
    from muse.files.tables import Row
    from muse.ranking.translations import Translation, Translations
    from muse.search.retrieval import Retrieval
    from muse.space import Space
    from muse.space.new_words import NewWords
    from muse.text.language_model import LanguageModel
    from muse.translate.text import Translator
    from muse.vectors import Vectors

log = logging.getLogger(__name__)

AT_ONCE = 512  # words of a list
COLUMNS = {
    "source": str, "target": str, "rank": int, "probability": float, "mutual": bool, "grade": str,
    "score": float, "form": str, "reason": str,
}  # fmt: skip
TEXTS = {"source_text": str, "target_text": str}  # of unlabelled vectors, whose words are ids


def show_words(
    space: Space,
    words: Sequence[str],
    new_words: NewWords | None,
    retrieval: Retrieval,
    *,
    as_json: bool,
    **options: Any,
) -> None:
    """Print the answers; unknown and doubtful words are named on stderr. BadSetting if no word is known.

    Several words in one argument that are no entry are a text, whose translation is printed.
    """
    from muse.errors import BadSetting

    source, target = space.vectors(options["source"]), space.vectors(options["target"])
    texts = _texts(words, source, new_words)
    found = _found(space, [word for word in words if word not in texts], new_words, retrieval, options)
    problems = [_problem(one) for one in found if one.form is None]
    known = [one for one in found if one.form is not None]
    if not known and not texts:
        raise BadSetting("; ".join(problems))
    translated = _translated(space, texts, new_words, retrieval, options)
    if as_json:
        sentences = {"sentences": translated} if texts else {}
        echo(json.dumps({**_fields(found, source, target), **sentences}, ensure_ascii=False))
    else:
        lines = {word: safe_on_terminal(line) for word, line in translated.items()}
        lines |= {one.word: _lines(one, source, target) for one in known}
        for word in words:
            if word in lines:
                click.echo(lines[word], color=True)  # escaped where it must be
    for problem in problems:
        log.warning("%s", problem)
    wanted = "translation" if source.frequency_ordered else "match"
    for one in known:
        if one.grade == "weak":
            advice = f"; it is more frequent in {' and '.join(one.languages)}; check --src and --tgt"
            log.warning(
                "%s: no %s to trust, the best has %s%s",
                one.word, wanted, one[0].percent, advice if one.languages else "",
            )  # fmt: skip


def _texts(words: Sequence[str], source: Vectors, new_words: NewWords | None) -> list[str]:
    # Those of the arguments that are sentences; ids of unlabelled vectors are none.
    from muse.space.forms import find_form

    return [
        word
        for word in words
        if len(word.split()) > 1
        and source.frequency_ordered
        and find_form(word, source) is None
        and not (new_words is not None and new_words.has(word))
    ]


def _translated(
    space: Space,
    texts: Sequence[str],
    new_words: NewWords | None,
    retrieval: Retrieval,
    options: dict[str, Any],
) -> dict[str, str]:
    if not texts:
        return {}
    translator = _translator(space, options["model"], new_words, retrieval, options)
    found = dict(zip(texts, translator.translate(texts), strict=True))
    warn_if_unknown(translator.counts.unknown, translator.counts.words, translator.source, texts)
    return found


def _found(
    space: Space,
    words: Sequence[str],
    new_words: NewWords | None,
    retrieval: Retrieval,
    options: dict[str, Any],
) -> list[Translations]:
    from muse.ranking.ranker import translate_words

    return translate_words(
        space, words, source=options["source"], target=options["target"],
        top=options["top"], retrieval=retrieval, new_words=new_words,
    )  # fmt: skip


def write_words(
    space: Space,
    words: Sequence[str],
    table: TablePlace,
    new_words: NewWords | None,
    retrieval: Retrieval,
    *,
    as_json: bool,
    **options: Any,
) -> None:
    """Write the table of the answers, a row for each; an unknown word has one too, with the reason."""
    source, target = space.vectors(options["source"]), space.vectors(options["target"])
    if table.out is not None:
        from muse.files.tables import check_rows

        check_rows(table.out, table.form, len(words))
    columns = {**COLUMNS, **({} if source.texts is None and target.texts is None else TEXTS)}
    counts = TableCounts(words=len(words))
    with written(table, columns) as write, space.progress.stage("translate", len(words), "words") as tick:
        for begin in range(0, len(words), AT_ONCE):
            some = words[begin : begin + AT_ONCE]
            for one in _found(space, some, new_words, retrieval, options):
                counts.unknown += one.form is None
                for row in _rows(one, source, target):
                    write(row[: len(columns)])
                    counts.rows += 1
            tick(begin + len(some))
    counts.show(table, as_json=as_json)


def _rows(found: Translations, source: Vectors, target: Vectors) -> Iterator[Row]:
    if not found:
        yield (found.word, *[None] * 6, found.form, found.reason, None, None)
    asked = source.text_of(found.form or "")
    for one in found:
        yield (
            found.word, one.target, one.rank, one.probability, one.mutual, one.grade, one.score, found.form,
            None, asked, target.text_of(one.target),
        )  # fmt: skip


def _problem(unknown: Translations) -> str:
    word = unknown.word
    with suppress(OSError):  # a name that is too long is none
        if Path(word).is_file():
            advice = f"to translate its text, give it on stdin: < {word}; for a list of words: --words {word}"
            return f"{word}: expected a word, got a file; {advice}"
    return f"{word!r} is {unknown.reason}"


def _fields(found: Sequence[Translations], source: Vectors, target: Vectors) -> dict[str, Any]:
    known = [one for one in found if one.form is not None]
    asked = {one.word: source.text_of(one.form) for one in known if one.form}
    return {
        "translations": {one.word: one for one in known},
        "answers": {one.word: [_answer(translation, target) for translation in one] for one in known},
        "forms": {one.word: one.form for one in known},
        "languages": {one.word: one.languages for one in known if one.languages},
        "unknown": {
            one.word: {"suggestions": one.suggestions, "languages": one.languages}
            for one in found
            if one.form is None
        },
        **({} if source.texts is None else {"texts": asked}),
    }


def _answer(translation: Translation, target: Vectors) -> dict[str, Any]:
    text = {} if target.texts is None else {"text": target.text_of(translation.target)}
    return {**translation.as_json(), **text}


def _lines(found: Translations, source: Vectors, target: Vectors) -> str:
    """A line with all translations or, if texts are known, one for the row's text and one for each."""
    word = safe_on_terminal(found.word)
    if source.texts is None and target.texts is None:
        return f"{word}\t" + "  ".join(map(_styled, found))
    lines = [f"{word}\t{safe_on_terminal(source.text_of(found.form or '') or '')}"]
    for one in found:
        lines.append(f"  {_styled(one)}\t{safe_on_terminal(target.text_of(one.target) or '')}")
    return "\n".join(line.rstrip() for line in lines)


def _styled(translation: Translation) -> str:
    text = safe_on_terminal(translation.shown)
    return click.style(text, dim=True) if translation.grade == "weak" and is_terminal() else text


@click.command(
    cls=SectionedCommand,
    sections={
        "Input": ("--src", "--tgt", "--words", "--reference"),
        "What it does": ("--top", "--vectors", "--fit", "--ngrams", "--lm"),
        "Output": ("--out", "--format"),
        "Instead of a space": ("--model", "--batch", "--style", "--sample"),
        "Advanced": ("--answers", "--retrieval", "--backend", "--lm-weight", "--beam"),
    },
    examples=(
        "muse translate embeddings/aligned/fr-en maison roi",
        "muse translate SPACE --words words.txt --top 3 --out words.csv",
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
    help="Number of translations of each WORD, or word of --words; of text with --lm, number of candidates "
    "to choose from.",
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
    "--model", "translator", cls=PackageOption, package="sentences", type=Path, metavar="FOLDER",
    help="Instead of a SPACE, a translation model of muse train-translator, or a bgt of muse train.",
)  # fmt: skip
@click.option(
    "--style", cls=PackageOption, package="sentences", metavar="SENTENCE",
    help="--model, a bgt: write in the style of this sentence of --tgt; --src and --tgt may be the same.",
)  # fmt: skip
@click.option(
    "--sample", cls=PackageOption, package="sentences", is_flag=True,
    help="--model, a bgt: vary the wording at random, by --seed.",
)  # fmt: skip
@click.option(
    "--batch", cls=PackageOption, package="sentences", type=click.IntRange(1), metavar="N",
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
@table_options
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

    Words are printed with several translations, their scores and, with CSLS, their probabilities. A sentence
    in quotes is text. Text keeps its punctuation, numbers, names and capitals; a word without a vector is
    copied, unless --vectors or --ngrams supplies one. --lm (from muse train-lm, or any ARPA file) picks, from
    each word's --top candidates, the sequence that reads best. --model, without a SPACE, translates whole
    sentences.
    """
    if options["translator"] is not None:
        load("sentences.commands.translate").translate_with_model(space, options, as_json=as_json)
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
    table = wanted_table(options, as_json=as_json)
    asked: Sequence[str] = words
    if options["listed"] is not None:
        asked = read_words(options["listed"], None if table is None else table.form)
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
    options["model"] = model
    if table is not None:
        write_words(loaded, asked, table, new_words, retrieval, as_json=as_json, **options)
    elif asked:
        show_words(loaded, asked, new_words, retrieval, as_json=as_json, **options)
    else:
        _translate_text(loaded, new_words, retrieval, as_json=as_json, **options)


def _check_options(given_words: tuple[str, ...], options: dict[str, Any]) -> None:
    """Raise UsageError if options conflict or one has no effect."""
    check_one_source(given_words, options)
    words = bool(given_words) or options["listed"] is not None
    if not words and (idle := given("out", "form")):
        raise click.UsageError(
            f"{idle[0]} is for a table of words; give WORDs, or a list of them as --words."
        )
    a_text = options["listed"] is None and any(len(word.split()) > 1 for word in given_words)
    if words and not a_text and options["lm"] is not None:
        raise click.UsageError("--lm needs text on stdin, got words to translate; leave one of them out.")
    if options["fit"] and options["vectors"] is None:
        raise click.UsageError("--fit needs --vectors FILE, got none; add it or leave --fit out.")
    if options["ngrams"] and options["vectors"] is not None:
        raise click.UsageError("--ngrams and --vectors exclude each other, got both; leave one of them out.")
    if words and (idle := given(*(() if a_text else ("lm_weight", "beam")), "reference")):
        raise click.UsageError(f"{idle[0]} needs text on stdin, got words to translate; leave it out.")
    if idle := given("batch", "style", "sample"):
        raise click.UsageError(f"{idle[0]} is for --model; leave it out.")
    if not words and options["lm"] is None and (idle := given("top", "lm_weight", "beam")):
        instead = (
            " (for several translations of each word of a list: --words -)" if idle[0] == "--top" else ""
        )
        raise click.UsageError(f"{idle[0]} needs --lm to translate text, got none; leave it out{instead}.")
    if a_text and options["lm"] is None and (idle := given("lm_weight", "beam")):
        raise click.UsageError(f"{idle[0]} needs --lm, got none; leave it out.")


def _translate_text(
    space: Space, new_words: NewWords | None, retrieval: Retrieval, *, as_json: bool, **options: Any
) -> None:
    from muse.errors import BadSetting

    if not space.vectors(options["source"]).frequency_ordered:
        raise BadSetting(
            f"text is translated by the words of a space, got unlabelled vectors for {options['source']}; "
            "give their ids as arguments, or a space of words"
        )
    translator = _translator(space, options["model"], new_words, retrieval, options)
    sample = translate_stdin(
        translator,
        lambda: {"words": translator.counts.words, "copied": translator.counts.copied},
        language=translator.target,
        made=_made(translator, options["lm"]),
        reference=options["reference"],
        as_json=as_json,
    )
    warn_if_unknown(translator.counts.unknown, translator.counts.words, translator.source, sample)


def _translator(
    space: Space,
    model: LanguageModel | None,
    new_words: NewWords | None,
    retrieval: Retrieval,
    options: dict[str, Any],
) -> Translator:
    from muse.translate.text import TextConfig, Translator

    weight = {} if options["lm_weight"] is None else {"weight": options["lm_weight"]}
    beam = {} if options["beam"] is None else {"beam": options["beam"]}
    return Translator(
        space, source=options["source"], target=options["target"], model=model, new_words=new_words,
        config=TextConfig(retrieval, top=options["top"], **beam, **weight),
    )  # fmt: skip


def _made(translator: Translator, lm: Path | None) -> str:
    config = translator.config
    parts = [str(config.retrieval), f"{translator.source}-{translator.target}"]
    if lm is not None:
        parts += [f"lm:{lm.name}", f"weight:{config.weight:g}", f"top:{config.top}", f"beam:{config.beam}"]
    return " | ".join(parts)
