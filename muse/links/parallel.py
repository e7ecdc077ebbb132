"""Parallel text: pairs of sentences, line by line, from two files, a table or a TMX, and their tokens."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import Literal

from muse.errors import BadFile, Mismatch
from muse.files.detect import open_beginning
from muse.files.dictionary_format import DictionaryFile
from muse.files.lexicons import formats
from muse.files.plain_text import read_lines
from muse.files.tables import TableColumns, read_columns
from muse.links.labels import LabelForm
from muse.links.linker import Linker, blocks
from muse.links.links import Links, TokenPair
from muse.links.sentence import Sentence, Tokenised, is_tokenised
from muse.space import Space

log = logging.getLogger(__name__)

Words = Literal["auto", "spaced", "ours"]
SAMPLE = 200  # sentences that tell whether text is tokenised
_BARS = " ||| "  # between the sentences of a line, as fast_align has it
_TABLE = TableColumns(
    {"source": ("source", "src"), "target": ("target", "tgt", "translation")},
    advice="put a tab between two sentences, keep two columns with cut -f1,2, or give --source and --target",
)
_NUMBER = re.compile(r"nan|-?\d*\.?\d+(?:e[-+]?\d+)?", re.ASCII)


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
        found = []
        for text, place, own in zip(texts, (where, f"{where}, its translation"), split, strict=True):
            try:
                found.append(own(text))
            except ValueError as error:
                if not skip:
                    raise BadFile(f"{place}: {error}") from error
                log.warning("%s: %s; the pair is left out", place, error)
        if len(found) == 2:
            yield found[0], found[1]


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
        split = Tokenised(language, space.vectors(language).index, spaced=spaced)
        found.append(split if form is None else _unlabelled(form, split))
    return found


def _unlabelled(form: LabelForm, split: Splitter) -> Splitter:
    """What splits sentences that are labelled in a form; ValueError for one that is damaged."""

    def found(sentence: str) -> Sentence:
        try:
            text, spans = form.read(sentence)
        except ValueError as error:
            raise ValueError(f"{error}; correct it, or give its --format") from error
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
