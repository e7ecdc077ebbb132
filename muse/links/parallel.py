"""Parallel text: pairs of sentences, line by line, from two files, a table or a TMX, and their tokens."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal, Self

from muse.errors import BadFile
from muse.files.columns import Layout
from muse.files.plain_text import read_lines
from muse.links.labels import LabelForm
from muse.links.linker import Linker, blocks
from muse.links.links import Links, TokenPair
from muse.links.sentence import Sentence, Tokenised, is_tokenised
from muse.space import Space
from muse.text.parallel import aligned_lines, fits_of, parallel_layout, parallel_text

log = logging.getLogger(__name__)

Words = Literal["auto", "spaced", "ours"]
SAMPLE = 200  # sentences that tell whether text is tokenised


@dataclass(frozen=True)
class ParallelFiles:
    """Pairs of sentences in two files, aligned by line, or in one (`muse.text.parallel`).

    The `layout` is that of a table. If the source is `labelled`, then in this form.
    """

    files: tuple[Path, ...]
    languages: tuple[str, str]
    labelled: LabelForm | None = None
    layout: Layout | None = None

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        """Yields where each pair stands, and its sentences; a pair may be empty."""
        if len(self.files) == 2:
            read = self.labelled.sentences if self.labelled else read_lines
            return aligned_lines(*self.files, read)
        return parallel_text(self.files[0], self.languages, layout=self.layout)

    def chosen(self, space: Space) -> Self:
        """The pairs, of a table in the columns whose words are those of the languages."""
        if len(self.files) == 2:
            return self
        fits = fits_of(space.vectors, self.languages)
        return replace(self, layout=parallel_layout(self.files[0], self.languages, fits))


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
    pairs, linker = ParallelFiles((path,), direction).chosen(space), Linker(space, direction)
    text = tokenised(pairs, splitters(pairs, "ours", space), skip=True)
    found: list[TokenPair] = [(one.tokens, two.tokens) for one, two in text]
    linker.learn(lambda: found, rounds=1)
    for some in blocks(found, lambda pair: pair):
        yield from zip(some, linker.link(some), strict=True)
