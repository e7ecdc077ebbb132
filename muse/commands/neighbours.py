"""muse neighbours: the nearest words of words within their own language."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.command import command
from muse.commands.options import open_space
from muse.commands.outputs import show
from muse.commands.word_tables import TableOptions, asked_words, check_one_source, write_table
from muse.options import Backend, Common, Device, Threads, option

if TYPE_CHECKING:
    from muse.files.tables import Row
    from muse.space import Space

log = logging.getLogger(__name__)

COLUMNS = {
    "word": str, "language": str, "rank": int, "neighbour": str, "cosine": float, "form": str, "reason": str,
}  # fmt: skip
Near = list[tuple[str, float]]  # words and their cosines, nearest first


@dataclass(frozen=True)
class NearWords:
    """A word with its entry and its nearest words in each language that has it; with none, the reason."""

    word: str
    forms: dict[str, str]
    near: dict[str, Near]
    suggestions: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    reason: str = ""


class NeighboursOptions(TableOptions, Backend, Device, Threads, Common):
    space: Path = option(argument=True)
    words: tuple[str, ...] = option((), argument=True, metavar="[WORD]...")
    lang: str | None = option(
        None, section="Input", metavar="LANG", more_flags=("--src",),
        help="Language of the words and of their neighbours.  [default: each language that has the word]",
    )  # fmt: skip
    top: int = option(
        10, section="What it does", metavar="N", least=1, help="Number of neighbours of each word."
    )


@command(
    "muse neighbours embeddings/aligned/fr-en roi reine",
    "muse neighbours SPACE --lang en --words words.txt --top 5 --out near.csv",
)
def neighbours(options: NeighboursOptions) -> None:
    """Print the nearest words of each WORD in its own language.

    They are the words with the highest cosine, without the word itself. A word that several languages of the
    SPACE have gets a line for each of them.
    """
    check_one_source(options.words, options)
    if not options.words and options.listed is None:
        raise click.UsageError("Missing argument 'WORD', or a list of words as --words FILE.")
    asked, table = asked_words(options)
    loaded = open_space(options.space, options.device, options.quiet)
    if options.lang is not None:
        loaded.side(options.lang)  # an unknown language is an error
    found = _found(loaded, asked, options.lang, options.top)
    if table is None:
        _show(loaded, list(found), options)
    else:
        rows = map(_table_rows, found)
        write_table(table, COLUMNS, rows, len(asked), "neighbours", options, loaded.progress)


def _found(space: Space, words: Sequence[str], language: str | None, top: int) -> Iterator[NearWords]:
    from muse.ranking.lookup import entries_of_word, lookup_entry, neighbours

    for word in words:
        forms = entries_of_word(space, word) if language is None else {}
        if language is not None and (form := lookup_entry(word, space.vectors(language))) is not None:
            forms = {language: form}
        near = {
            name: neighbours(space, name, form, among=[name], top=top)[name] for name, form in forms.items()
        }
        yield NearWords(word, forms, near) if near else _unknown(space, word, language)


def _unknown(space: Space, word: str, language: str | None) -> NearWords:
    from muse.ranking.lookup import languages_with, reason_unknown, spellings

    if language is not None:
        vectors = space.vectors(language)
        close = spellings(word, vectors)
        others = languages_with(space, word, besides=language)
        reason = reason_unknown(vectors, others, close, "--lang")
        return NearWords(word, {}, {}, tuple(close), tuple(others), reason)
    near = [one for name in space.languages for one in spellings(word, space.vectors(name))]
    close = list(dict.fromkeys(near))
    advice = f"did you mean {', '.join(close)}?" if close else "check its spelling"
    reason = f"not among the words of {' or '.join(space.languages)}; {advice}"
    return NearWords(word, {}, {}, tuple(close), (), reason)


def _show(space: Space, found: Sequence[NearWords], options: NeighboursOptions) -> None:
    """Print the neighbours; unknown words are named on stderr. BadSetting if no word is known."""
    from muse.errors import BadSetting

    known, unknown = [one for one in found if one.forms], [one for one in found if not one.forms]
    if not known:
        raise BadSetting("; ".join(f"{one.word!r} is {one.reason}" for one in unknown))
    lines = (_lines(space, one, language, near) for one in known for language, near in one.near.items())
    show(options, _fields(space, known, unknown), lines)
    for one in unknown:
        log.warning("%r is %s", one.word, one.reason)


def _fields(space: Space, known: Sequence[NearWords], unknown: Sequence[NearWords]) -> dict[str, Any]:
    texts = {
        language: {word: space.vectors(language).text_of(word) for word, _ in near}
        for one in known
        for language, near in one.near.items()
        if space.vectors(language).texts is not None
    }
    return {
        "verdict": space.manifest.verdict.label,
        "neighbours": {one.word: one.near for one in known},
        "forms": {one.word: one.forms for one in known},
        "unknown": {
            one.word: {"suggestions": one.suggestions, "languages": one.languages} for one in unknown
        },
        **({"texts": texts} if texts else {}),
    }


def _lines(space: Space, found: NearWords, language: str, near: Near) -> str:
    # One line or, where rows have texts, one for the row that was asked for and for each of its neighbours.
    vectors, head = space.vectors(language), f"{found.word} ({language})"
    if vectors.texts is None:
        return f"{head}\t" + "  ".join(f"{word} {cosine:.3f}" for word, cosine in near)
    lines = [f"{head}\t{vectors.text_of(found.forms[language]) or ''}"]
    lines += [f"  {word} {cosine:.3f}\t{vectors.text_of(word) or ''}" for word, cosine in near]
    return "\n".join(line.rstrip() for line in lines)


def _table_rows(found: NearWords) -> Sequence[Row]:
    if not found.forms:
        return [(found.word, *[None] * 5, found.reason)]
    rows: list[Row] = []
    for language, near in found.near.items():
        form = found.forms[language]
        rows += [
            (found.word, language, rank, word, cosine, form, None)
            for rank, (word, cosine) in enumerate(near, 1)
        ] or [(found.word, language, None, None, None, form, "its vector is of zeros")]
    return rows
