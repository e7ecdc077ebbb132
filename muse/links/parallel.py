"""Parallel text: pairs of sentences, line by line, from two files, a table or a TMX, and their tokens."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import Literal, NamedTuple

from muse.errors import BadFile, Mismatch
from muse.files.detect import open_beginning
from muse.files.dictionary_format import DictionaryFile
from muse.files.lexicons import formats
from muse.files.plain_text import read_lines
from muse.files.tables import TableColumns, read_columns
from muse.links.labels import LabelForm, Place, Span
from muse.links.linker import MOST_WORDS, Linker, blocks
from muse.links.links import Links, TokenPair
from muse.links.pair import places_of
from muse.space import Space
from muse.text.segmentation import unspaced_language
from muse.text.tokens import Tokeniser
from muse.text.written import written_tokens

log = logging.getLogger(__name__)

Words = Literal["auto", "spaced", "ours"]
LONGEST = 20_000  # characters of a sentence
SAMPLE = 200  # sentences that tell whether text is tokenised
_BARS = " ||| "  # between the sentences of a line, as fast_align has it
_TABLE = TableColumns(
    {"source": ("source", "src"), "target": ("target", "tgt", "translation")},
    advice="put a tab between two sentences, keep two columns with cut -f1,2, or give --source and --target",
)
_GLUED, _ALONE = re.compile(r"\w[,;:!?]$"), re.compile(r"[,;:!?]$")
_NUMBER = re.compile(r"nan|-?\d*\.?\d+(?:e[-+]?\d+)?", re.ASCII)
_LONG_WORD = 6  # letters on average, of text whose words have no spaces between them


class Sentence(NamedTuple):
    """A sentence, its words as they are looked up, and as they are written, which contractions are not.

    `spans` are those that are labelled in it.
    """

    text: str
    tokens: tuple[str, ...]
    written: tuple[str, ...]
    spans: tuple[Span, ...] = ()

    @property
    def places(self) -> list[Place]:
        """From which character to which each word is."""
        return places_of(self.written, self.text)


@dataclass(frozen=True)
class ParallelFiles:
    """Pairs of sentences in two files, aligned by line, or in one, a table of two columns or a TMX.

    A table of `muse mine` has scores before both. If the source is `labelled`, then in this form.
    """

    files: tuple[Path, ...]
    languages: tuple[str, str]
    labelled: LabelForm | None = None

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        """Yields where each pair stands, and its sentences; a pair may be empty."""
        path = self.files[0]
        name = path.name.lower().removesuffix(".gz")
        if len(self.files) == 2:
            yield from self._lines()
        elif name.endswith((".tmx", ".xml")):
            with open_beginning(path) as beginning:
                pairs = formats()["tmx"].read(DictionaryFile(beginning, self.languages, "sentences"))
                for place, line in enumerate(pairs, 1):
                    yield f"{path}, pair {place}", *line.pair
        elif name.endswith((".csv", ".xlsx", ".parquet", ".jsonl")):
            for where, (one, two) in read_columns(path, _TABLE):
                yield where, one, two
        else:
            yield from self._table()

    def _lines(self) -> Iterator[tuple[str, str, str]]:
        source, target = self.files
        read = self.labelled.sentences if self.labelled else read_lines
        both = zip_longest(read(source), read_lines(target))
        for number, (one, two) in enumerate(both, 1):
            if one is None or two is None:
                shorter, longer = (source, target) if one is None else (target, source)
                raise Mismatch(
                    f"files aligned by line must have the same number of lines, got {number - 1} in "
                    f"{shorter} and more in {longer}; use the files as they were aligned"
                )
            yield f"{source}:{number}", one, two

    def _table(self) -> Iterator[tuple[str, str, str]]:
        named = 0  # columns that the first line names, as in what muse align-texts writes
        for number, line in enumerate(read_lines(self.files[0]), 1):
            where = f"{self.files[0]}:{number}"
            cells = line.split(_BARS) if _BARS in line else line.split("\t")
            if number == 1 and cells[:2] == [*_TABLE.names]:
                named = len(cells)
                continue
            if len(cells) == named:
                cells = cells[:2]
            elif len(cells) == 3 and _NUMBER.fullmatch(cells[0]):  # the score of a mined pair
                cells = cells[1:]
            if len(cells) != 2 and line.strip():
                raise BadFile(
                    f"{where}: expected two sentences, with a tab or{_BARS}between them, got {len(cells)} "
                    f"({line[:60]!r}); {_TABLE.advice}"
                )
            yield where, *(cells if len(cells) == 2 else ("", ""))


def tokenised(
    pairs: Iterable[tuple[str, str, str]], split: Sequence[Splitter], *, skip: bool = False
) -> Iterator[tuple[Sentence, Sentence]]:
    """Yields both sentences of each pair with their words; BadFile for one too long, unless to `skip` it."""
    for where, *texts in pairs:
        try:
            one, two = (_checked(text, where, own) for text, own in zip(texts, split, strict=True))
        except BadFile as error:
            if not skip:
                raise
            log.warning("%s; the pair is left out", error)
        else:
            yield one, two


def _checked(text: str, where: str, split: Splitter) -> Sentence:
    try:
        sentence = split(text) if len(text) <= LONGEST else None
    except ValueError as error:  # its labels are damaged
        raise BadFile(f"{where}: {error}; correct it, or give its --format") from error
    if sentence is not None and len(sentence.tokens) <= MOST_WORDS:
        return sentence
    got = f"{len(text):,} characters" if sentence is None else f"{len(sentence.tokens):,} words"
    raise BadFile(
        f"{where}: expected a sentence of at most {LONGEST:,} characters and {MOST_WORDS:,} words, got "
        f"{got}; split the text into sentences"
    )


Splitter = Callable[[str], Sentence]


def splitters(pairs: ParallelFiles, words: Words, space: Space) -> list[Splitter]:
    """What splits the sentences of each language into words: at spaces if the text is tokenised."""
    sample = [texts for _, *texts in islice(pairs, SAMPLE)] if words == "auto" else []
    found: list[Splitter] = []
    for side, language in enumerate(pairs.languages):
        form = None if side else pairs.labelled
        lines = [texts[side] if form is None else form.plain(texts[side]) for texts in sample]
        spaced = (
            words == "spaced"
            or (form is not None and form.sentences is not read_lines)  # a word is a line
            or (words == "auto" and is_tokenised(lines, language))
        )
        log.info("%s: words are %s", language, "those between spaces" if spaced else "found by tokenising")
        split: Splitter = at_spaces if spaced else Tokenised(language, space.vectors(language).index)
        found.append(split if form is None else _unlabelled(form, split))
    return found


def _unlabelled(form: LabelForm, split: Splitter) -> Splitter:
    """What splits sentences that are labelled in a form; ValueError for one that is damaged."""

    def found(sentence: str) -> Sentence:
        text, spans = form.read(sentence)
        return split(text)._replace(spans=spans)

    return found


def linked_text(space: Space, direction: tuple[str, str], path: Path) -> Iterator[tuple[TokenPair, Links]]:
    """Yields the tokens of each pair of sentences in a file, and their links by the space and the text.

    What is too long for a sentence is left out.
    """
    pairs, linker = ParallelFiles((path,), direction), Linker(space, direction)
    text = tokenised(pairs, splitters(pairs, "ours", space), skip=True)
    found: list[TokenPair] = [(one.tokens, two.tokens) for one, two in text]
    linker.learn(lambda: found, rounds=1)
    for some in blocks(found, lambda pair: pair):
        yield from zip(some, linker.link(some), strict=True)


def is_tokenised(lines: Sequence[str], language: str) -> bool:
    """Whether signs stand apart from words; without signs, it is taken to be so where words have spaces.

    >>> is_tokenised(["Yes , sir ."], "en"), is_tokenised(["Yes, sir."], "en")
    (True, False)
    """
    parts = [part for line in lines for part in line.split()]
    if unspaced_language(language) and sum(map(len, parts)) > _LONG_WORD * len(parts):
        return False
    glued = sum(_GLUED.search(part) is not None for part in parts)
    last = sum(len(line.split()[-1]) > 1 and line.rstrip()[-1] in ".。।" for line in lines if line.strip())
    alone = sum(_ALONE.fullmatch(part) is not None for part in parts)
    return 10 * glued <= alone and 2 * last <= len(lines)


def at_spaces(text: str) -> Sentence:
    """The sentence with the words between its spaces."""
    words = tuple(text.split())
    return Sentence(text, words, words)


class Tokenised:
    """Splits the sentences of a language as muse translate does, with contractions written out.

    >>> Tokenised("fr")("L'eau, là.").places
    [(0, 2), (2, 5), (5, 6), (7, 9), (9, 10)]
    """

    def __init__(self, language: str, known: Container[str] | None = None) -> None:
        self._tokeniser = Tokeniser(language, known)

    def __call__(self, text: str) -> Sentence:
        """The sentence with its words."""
        found = written_tokens(self._tokeniser, text)
        return Sentence(text, tuple(token.text for token in found), tuple(token.written for token in found))
