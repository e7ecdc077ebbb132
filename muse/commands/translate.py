"""muse translate: words, ids of unlabelled vectors, or text, in another language.

Translations of words are printed as lines for people, or as JSON, or written as a table.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.command import command
from muse.commands.inputs import translate_stdin, warn_if_unknown
from muse.commands.options import MOST_BEAM, choose_direction, given, open_space
from muse.commands.outputs import is_terminal, safe_on_terminal, show
from muse.commands.word_tables import TableOptions, asked_words, check_one_source, write_table
from muse.optional import load
from muse.options import (
    Answered,
    Common,
    Device,
    Languages,
    OptionSet,
    OwnTranslations,
    Retrieved,
    Seed,
    Threads,
    option,
)

if TYPE_CHECKING:
    from muse.commands.word_tables import TablePlace
    from muse.files.tables import Row
    from muse.lexicon import Lexicon
    from muse.ranking.translations import Translation, Translations
    from muse.search.retrieval import Retrieval
    from muse.space import Space
    from muse.space.new_words import NewWords
    from muse.text.language_model import LanguageModel
    from muse.translate.glossary import Glossary
    from muse.translate.text import Translator
    from muse.vectors import Vectors

log = logging.getLogger(__name__)

AT_ONCE = 512  # words of a list
COLUMNS = {
    "source": str, "target": str, "rank": int, "probability": float, "mutual": bool, "grade": str,
    "score": float, "form": str, "frequency_rank": int, "reason": str,
}  # fmt: skip
TEXTS = {"source_text": str, "target_text": str}  # of unlabelled vectors, whose words are ids
MODEL = "Instead of a space"


class ModelOptions(OptionSet):
    """A model of sentences in place of a space, and the beam of a search for sentences."""

    translator: Path | None = option(
        None, section=MODEL, flags=("--model",), metavar="FOLDER", package="sentences",
        help="Instead of a SPACE, a translation model of muse train-translator, or a bgt of muse train.",
    )  # fmt: skip
    batch: int | None = option(
        None, section=MODEL, metavar="N", least=1, package="sentences",
        help="--model: number of sentences translated at once.  [default: 32]",
    )  # fmt: skip
    style: str | None = option(
        None, section=MODEL, metavar="SENTENCE", package="sentences",
        help="--model, a bgt: write in the style of this sentence of --tgt; --src and --tgt may be the same.",
    )  # fmt: skip
    sample: bool = option(
        False, section=MODEL, package="sentences",
        help="--model, a bgt: vary the wording at random, by --seed.",
    )  # fmt: skip
    lm_weight: float | None = option(
        None, section="Advanced", least=0, help="Weight of the language model.  [default: 0.06]"
    )
    beam: int | None = option(
        None, section="Advanced", metavar="N", least=1, most=MOST_BEAM,
        help="Beam size.  [default: 10 with --lm, 4 with --model]",
    )  # fmt: skip


class TranslateOptions(
    Languages, TableOptions, ModelOptions, Answered, OwnTranslations, Retrieved, Seed, Device, Threads, Common
):
    space: Path | None = option(None, argument=True)
    words: tuple[str, ...] = option((), argument=True, metavar="[WORD]...")
    reference: Path | None = option(
        None, section="Input", help="Reference translations of the text, to report BLEU and chrF."
    )
    top: int = option(
        10, section="What it does", metavar="N", least=1,
        help="Number of translations of each WORD, or word of --words; of text with --lm, number of "
        "candidates to choose from.",
    )  # fmt: skip
    vectors: Path | None = option(
        None, section="What it does", help="Vectors for unknown words; a fastText .bin is best."
    )
    fit: bool = option(
        False, section="What it does",
        help="--vectors come from another model: fit them to the space first.",
    )  # fmt: skip
    ngrams: bool = option(
        False, section="What it does",
        help="Make vectors for unknown words from forms of them that the space has, or else from n-grams.",
    )  # fmt: skip
    lm: Path | None = option(
        None, section="What it does",
        help="Language model of the target language, to choose the words of a text.",
    )  # fmt: skip
    min_probability: float | None = option(
        None, section="What it does", metavar="P", least=0, most=1,
        help="Drop less probable translations; in text, leave a word as it is rather than wrong.",
    )  # fmt: skip
    examples: bool = option(
        False, section="What it does", package="examples",
        help="Show sentences with each WORD and its translation, from texts of muse index-text.",
    )  # fmt: skip
    phrases: Path | None = option(
        None, section="What it does", metavar="TABLE",
        help="Moses phrase table, to translate the words and phrases that it has in a text.",
    )  # fmt: skip


@command(
    "muse translate embeddings/aligned/fr-en maison roi",
    "muse translate SPACE --words words.txt --top 3 --out words.csv",
)
def translate(options: TranslateOptions) -> None:
    """Translate each WORD, or the text on stdin (< FILE).

    Words are printed with several translations, their scores and, with CSLS, their probabilities. A sentence
    in quotes is text. Text keeps its punctuation, numbers, names and capitals; a word without a vector is
    copied, unless --vectors or --ngrams supplies one. --lm (from muse train-lm, or any ARPA file) picks, from
    each word's --top candidates, the sequence that reads best. --model, without a SPACE, translates whole
    sentences.
    """
    if options.translator is not None:
        load("sentences.commands.translate").translate_with_model(options)
        return
    if options.space is None:
        raise click.UsageError("Missing argument 'SPACE', or --model FOLDER.")
    check_one_source(options.words, options)
    for conflict in _conflicts(options):
        raise click.UsageError(conflict)
    words, table = asked_words(options)
    asked = _Asked.of(options, options.space)
    if options.examples and (table is not None or not words):
        raise click.UsageError("--examples is for WORDs on the command line; leave it out.")
    if table is not None:
        _write_words(asked, words, table)
    elif words:
        _show_words(asked, words)
    else:
        _translate_text(asked)


def _conflicts(options: TranslateOptions) -> Iterator[str]:
    """Yields what is wrong with options that conflict, or of which one has no effect."""
    words = bool(options.words) or options.listed is not None
    a_text = options.listed is None and any(len(word.split()) > 1 for word in options.words)
    of_lm, without_lm = given("lm_weight", "beam"), options.lm is None
    for flag in () if words else given("out", "form"):
        yield f"{flag} is for a table of words; give WORDs, or a list of them as --words."
    for flag in given("lm", "phrases") if words and not a_text else ():
        yield f"{flag} needs text on stdin, got words to translate; leave one of them out."
    if options.fit and options.vectors is None:
        yield "--fit needs --vectors FILE, got none; add it or leave --fit out."
    if options.ngrams and options.vectors is not None:
        yield "--ngrams and --vectors exclude each other, got both; leave one of them out."
    for flag in [*([] if a_text else of_lm), *given("reference")] if words else ():
        yield f"{flag} needs text on stdin, got words to translate; leave it out."
    for flag in given("batch", "style", "sample"):
        yield f"{flag} is for --model; leave it out."
    needed = "needs --lm to translate text, got none; leave it out"
    for flag in given("top") if without_lm and not words else ():
        yield f"{flag} {needed} (for several translations of each word of a list: --words -)."
    for flag in of_lm if without_lm and not words else ():
        yield f"{flag} {needed}."
    for flag in of_lm if a_text and without_lm else ():
        yield f"{flag} needs --lm, got none; leave it out."


@dataclass(frozen=True, eq=False)
class _Asked:
    """A space that was asked for, in one direction, and what is translated with it."""

    options: TranslateOptions
    space: Space
    source: Vectors
    target: Vectors
    new_words: NewWords | None
    retrieval: Retrieval
    model: LanguageModel | None
    lexicon: Lexicon | None

    @classmethod
    def of(cls, options: TranslateOptions, folder: Path) -> _Asked:
        from muse.files import read_lexicon
        from muse.search.retrieval import Retrieval
        from muse.space.new_words import load_new_words, own_new_words
        from muse.text.arpa import read_arpa

        # The language model is read first, so that a broken one is reported before a large space is loaded.
        model = None if options.lm is None else read_arpa(options.lm)
        space = open_space(folder, options.device, options.quiet, answers=options.answers)
        source, target = choose_direction(space, options.src, options.tgt)
        new_words = None
        if options.ngrams:
            new_words = own_new_words(space, source, progress=space.progress)
        elif options.vectors is not None:
            new_words = load_new_words(space, source, options.vectors, fit=options.fit)
        retrieval = Retrieval(options.retrieval, backend=options.backend)
        lexicon = None
        if options.glossary is not None:
            lexicon = read_lexicon(options.glossary, languages=(source, target))
        return cls(
            options, space, space.vectors(source), space.vectors(target), new_words, retrieval, model, lexicon
        )

    @cached_property
    def glossary(self) -> Glossary | None:
        """The user's own translations."""
        from muse.translate.glossary import Glossary

        if self.lexicon is None:
            return None
        return Glossary(self.lexicon, self.source.language, self.source.index)

    def words(self, words: Sequence[str]) -> list[Translations]:
        """The translations of words."""
        from muse.ranking.ranker import translate_words
        from muse.translate.glossary import with_probable

        found = translate_words(
            self.space, words, source=self.source.language, target=self.target.language,
            top=self.options.top, retrieval=self.retrieval, new_words=self.new_words,
        )  # fmt: skip
        found = [with_probable(one, self.options.min_probability or 0.0) for one in found]
        return found if self.glossary is None else [self.glossary.preferred(one) for one in found]

    def translator(self) -> Translator:
        """The translator of text."""
        from muse.text.phrase_table import read_phrase_table
        from muse.translate.text import TextConfig, Translator

        options = self.options
        phrases = None if options.phrases is None else read_phrase_table(options.phrases, top=options.top)
        given = {
            "weight": options.lm_weight, "beam": options.beam, "min_probability": options.min_probability,
        }  # fmt: skip
        more: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        config = TextConfig(self.retrieval, top=options.top, glossary=self.lexicon, **more)
        return Translator(
            self.space, source=self.source.language, target=self.target.language, model=self.model,
            new_words=self.new_words, phrases=phrases, config=config,
        )  # fmt: skip

    def with_examples(self, known: Sequence[Translations]) -> dict[str, Any]:
        """The examples of words, a `muse.examples.lookup.WordExamples` each, if they are wanted."""
        if not self.options.examples:
            return {}
        find, way = load("examples.lookup").find_examples, (self.source.language, self.target.language)
        return {
            one.word: find(self.space, way, one.form, one.best.target if one.best else None) for one in known
        }

    def is_text(self, word: str) -> bool:
        """Whether a word is several that are nowhere an entry."""
        from muse.ranking.lookup import is_term

        return (
            is_term(word, self.source)
            and not (self.glossary is not None and self.glossary.term(word).translations)
            and not (self.new_words is not None and self.new_words.has(word))
        )


def _show_words(asked: _Asked, words: Sequence[str]) -> None:
    """Print the translations; unknown and doubtful words are named on stderr. BadSetting if none is known.

    Several words in one argument that are no entry are a text, whose translation is printed.
    """
    from muse.errors import BadSetting

    source, target = asked.source, asked.target
    texts = [word for word in words if asked.is_text(word)]
    found = asked.words([word for word in words if word not in texts])
    problems = [_problem(one) for one in found if one.form is None]
    known = [one for one in found if one.form is not None]
    if not known and not texts:
        raise BadSetting("; ".join(problems))
    examples = asked.with_examples(known)
    translated: dict[str, str] = {}
    if texts:
        translator = asked.translator()
        translated = dict(zip(texts, translator.translate(texts), strict=True))
        warn_if_unknown(translator.counts.unknown, translator.counts.words, translator.source, texts)
    if asked.options.as_json:
        more: dict[str, Any] = {"sentences": translated} if texts else {}
        more |= {"examples": {word: one.as_json() for word, one in examples.items()}} if examples else {}
        more["verdict"] = asked.space.manifest.verdict_on(source.language, target.language).label
        show(asked.options, {**_fields(found, known, source, target), **more}, ())
    else:
        lines = {word: safe_on_terminal(line) for word, line in translated.items()}
        lines |= {
            one.word: "\n".join([_lines(one, source, target), *_example_lines(examples.get(one.word))])
            for one in known
        }
        for word in words:
            if word in lines:
                click.echo(lines[word], color=True)  # escaped where it must be
    for problem in problems:
        log.warning("%s", problem)
    wanted = "translation" if source.frequency_ordered else "match"
    for one in known:
        if one.grade == "weak":
            advice = f"; {one.reason}" if one.reason else ""
            if one.languages:
                advice += f"; it is more frequent in {' and '.join(one.languages)}; check --src and --tgt"
            log.warning("%s: no %s to trust, the best has %s%s", one.word, wanted, one[0].percent, advice)


def _example_lines(found: Any) -> Iterator[str]:
    """Yields a line for each example: its language, the sentence, its word bold on a terminal, its place."""
    bold = ("\x1b[1m", "\x1b[22m") if is_terminal() else ("", "")
    for language, examples in found.sides if found else ():
        for one in examples:
            shown = one.marked(*bold, safe_on_terminal)
            yield f"  {language}\t{shown}\t{safe_on_terminal(f'{Path(one.file).name}:{one.line}')}"


def _write_words(asked: _Asked, words: Sequence[str], table: TablePlace) -> None:
    """Write the table of the translations, a row for each; an unknown word has one too, with the reason."""
    from muse.translate.glossary import probable_ones

    source, target = asked.source, asked.target
    if table.out is not None:
        from muse.files.tables import check_rows

        check_rows(table.out, table.form, len(words))
    terms = [word for word in words if asked.is_text(word)]
    least, made = asked.options.min_probability or 0.0, asked.translator().terms(terms) if terms else {}
    composed = {term: one for term, one in made.items() if probable_ones([one], least)}

    def rows(found: Translations) -> Sequence[Row]:
        """The rows of a word, or the row of a term of several words."""
        if (one := composed.get(found.word)) is not None:
            made = one.target, one.rank, one.probability, None, one.grade or "weak", one.score
            return [(found.word, *made, found.word, None, "translated word by word", None, None)]
        text = source.text_of(found.form or "")
        known = found.form, source.frequency_rank(source.index.get(found.form or ""))
        return [
            (
                found.word, one.target, one.rank, one.probability, one.mutual, one.grade, one.score,
                *known, None, text, target.text_of(one.target),
            ) for one in found
        ] or [(found.word, *[None] * 6, *known, found.reason, None, None)]  # fmt: skip

    columns = {**COLUMNS, **({} if source.texts is None and target.texts is None else TEXTS)}
    batches = (asked.words(words[begin : begin + AT_ONCE]) for begin in range(0, len(words), AT_ONCE))
    found = (rows(one) for batch in batches for one in batch)
    write_table(table, columns, found, len(words), "translate", asked.options, asked.space.progress)


def _problem(unknown: Translations) -> str:
    word = unknown.word
    with suppress(OSError):  # a name that is too long is none
        if Path(word).is_file():
            advice = f"to translate its text, give it on stdin: < {word}; for a list of words: --words {word}"
            return f"{word}: expected a word, got a file; {advice}"
    return f"{word!r} is {unknown.reason}"


def _fields(
    found: Sequence[Translations], known: Sequence[Translations], source: Vectors, target: Vectors
) -> dict[str, Any]:
    def answer(one: Translation) -> dict[str, Any]:
        """A translation, with the text of its row if it is known."""
        return one.as_json() | ({} if target.texts is None else {"text": target.text_of(one.target)})

    unknown = [one for one in found if one.form is None]
    asked = {one.word: source.text_of(one.form) for one in known if one.form}
    return {
        "translations": {one.word: one for one in known},
        "answers": {one.word: [answer(translation) for translation in one] for one in known},
        "forms": {one.word: one.form for one in known},
        "languages": {one.word: one.languages for one in known if one.languages},
        "reasons": {one.word: one.reason for one in known if one.reason},
        "unknown": {
            one.word: {"suggestions": one.suggestions, "languages": one.languages} for one in unknown
        },
        **({} if source.texts is None else {"texts": asked}),
    }


def _lines(found: Translations, source: Vectors, target: Vectors) -> str:
    """A line with all translations or, if texts are known, one for the row's text and one for each."""

    def styled(one: Translation) -> str:
        """The translation, dim if it is not to be trusted."""
        text = safe_on_terminal(one.shown)
        return click.style(text, dim=True) if one.grade == "weak" and is_terminal() else text

    word = safe_on_terminal(found.word)
    if source.texts is None and target.texts is None:
        return f"{word}\t" + "  ".join(map(styled, found))
    lines = [f"{word}\t{safe_on_terminal(source.text_of(found.form or '') or '')}"]
    lines += [f"  {styled(one)}\t{safe_on_terminal(target.text_of(one.target) or '')}" for one in found]
    return "\n".join(line.rstrip() for line in lines)


def _translate_text(asked: _Asked) -> None:
    from muse.errors import BadSetting
    from muse.text.markup import OpenSpan

    source = asked.source
    if not source.frequency_ordered:
        raise BadSetting(
            f"text is translated by the words of a space, got unlabelled vectors for {source.language}; "
            "give their ids as arguments, or a space of words"
        )
    translator, options = asked.translator(), asked.options
    config, counts = translator.config, translator.counts
    shown = ["words", "copied", *(["doubtful"] if options.min_probability is not None else [])]
    shown += ["terms"] if options.glossary is not None else []
    made = f"{asked.retrieval} | {translator.source}-{translator.target}"
    if options.lm is not None:
        made += f" | lm:{options.lm.name} | weight:{config.weight:g} | top:{config.top} | beam:{config.beam}"
    sample = translate_stdin(
        partial(translator.translate, opened=OpenSpan()),
        lambda: {name: vars(counts)[name] for name in shown},
        language=translator.target, made=made, reference=options.reference, options=options,
    )  # fmt: skip
    warn_if_unknown(counts.unknown, counts.words, translator.source, sample)
