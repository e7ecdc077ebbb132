"""Explorer: queries to a space, answered one at a time."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from muse.errors import BadSetting
from muse.picture import is_readable
from muse.search.retrieval import Retrieval
from muse.space import AlignedSpace
from muse.translate import TextConfig, Translator, neighbours, spellings
from muse.web.background import Background
from muse.web.pictures import Direction, Drawn, Pictures
from muse.web.standin import WordAnswer, answer_words, known_form
from muse.web.suggestions import Prefixes

AT_ONCE = 10_000 * 10_000  # up to this many pairs of words, hubness takes about a second
LATER = 50_000 * 50_000  # up to this many, it is computed in the background within minutes
SKIPPED = 300  # the most frequent words, which are poor examples
EXAMPLES = 6
ALTERNATIVES = 8  # of a word in a sentence


class Unknown(BadSetting):
    """A word that is not in the space, with suggested spellings, and other languages that have it."""

    def __init__(self, message: str, suggestions: list[str], languages: list[str]) -> None:
        super().__init__(message)
        self.suggestions, self.languages = suggestions, languages


@dataclass
class Explorer:
    """A space with cached results; `seed` is the random seed of the pictures.

    One query is answered at a time: several at once would only compete for the cores.
    """

    space: AlignedSpace
    name: str
    seed: int = 0
    pictures: Pictures = field(init=False, repr=False)
    _background: Background = field(default_factory=Background, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _translators: dict[tuple[Direction, Retrieval], Translator] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.pictures = Pictures(self.space, self.seed, self._background)

    def warm(self) -> None:
        """Fill the caches with a first query; BadSetting if the space has a single language."""
        direction = self.direction(None, None)
        self.translations(direction, self.space.vectors(direction[0]).words[0], 1)
        for language in self.space.languages:
            self._prefixes(language)

    def direction(self, source: str | None, target: str | None) -> Direction:
        """Source and target language; the default is the pivot, or the first other language."""
        if source is None and target is None:
            source = next((name for name in self.space.languages if name != self.space.pivot), None)
        return self.space.direction(source, target)

    def translations(self, direction: Direction, word: str, top: int) -> tuple[Retrieval, WordAnswer]:
        """The retrieval method, and the best translations of a word by it."""
        retrieval = self.retrieval(direction)
        with self._lock:
            (found,) = answer_words(
                self.space, [word], source=direction[0], target=direction[1], top=top, retrieval=retrieval
            )
        if found.form is None:
            raise self._unknown(direction[0], word)
        return retrieval, found

    def neighbours(self, direction: Direction, word: str, top: int) -> tuple[str, Mapping[str, list[Any]]]:
        """The form of a word that is known, and its nearest neighbours in both languages."""
        form = self._form(direction[0], word)
        with self._lock:
            return form, neighbours(self.space, direction[0], form, among=direction, top=top)

    def sentence(self, direction: Direction, text: str) -> tuple[Retrieval, str, list[Any]]:
        """The retrieval method, the text translated word by word, and its tokens with alternatives."""
        retrieval = self.retrieval(direction)
        with self._lock:
            translator = self._translator(direction, retrieval)
            line = " ".join(text.split())
            choices = translator.choices(line)
            rated = [answer_words(self.space,[c.token],source=direction[0],target=direction[1],top=ALTERNATIVES,retrieval=retrieval)[0] if c.options else None for c in choices]
            return retrieval, translator.translate([line])[0], list(zip(choices, rated, strict=True))

    def suggestions(self, language: str, prefix: str, top: int) -> list[tuple[str, int]]:
        """The `top` most frequent words of a language with a prefix, with their frequency ranks."""
        self.space.side(language)
        return self._prefixes(language).result().starting_with(prefix, top)

    def examples(self, language: str) -> list[str]:
        """A few example words of a language."""
        words = self.space.vectors(language).words
        found = [
            word for word in islice(words, SKIPPED, SKIPPED + 200) if is_readable(word) and len(word) > 3
        ]
        return found[:: max(1, len(found) // EXAMPLES)][:EXAMPLES] or list(words[:EXAMPLES])

    def retrieval(self, direction: Direction) -> Retrieval:
        """CSLS if its hubness is known or quick to compute; plain neighbours until then.

        The hubness of large spaces, unless it is on disk, is not computed: it would take an hour.
        """
        source, target = direction
        pairs = len(self.space.vectors(source)) * len(self.space.vectors(target))
        if pairs <= AT_ONCE or self.space.hubness(target, source) is not None:
            return Retrieval("csls")
        if pairs <= LATER:
            self._background.once(("hubness", *direction), lambda: self.space.bias(*direction, Retrieval()))
        return Retrieval("nn")

    def picture(self, direction: Direction) -> Drawn | None:
        """The picture of the frequent words; None while it is being drawn, which the first call starts."""
        return self.pictures.get(direction)

    def place(self, direction: Direction, word: str) -> tuple[str, tuple[float, float], bool, list[int]] | None:
        """The known form of a word of the source language, its place in the picture, whether that is exact,
        and the points near it; None until the picture is drawn."""
        language = direction[0]
        form = self._form(language, word)
        drawn = self.pictures.get(direction)
        if drawn is None:
            return None
        with self._lock:
            row = self.space.tensor(language)[self.space.vectors(language).index[form]]
            number, near = drawn.number(language, form), drawn.near(language, form, row)
            place = drawn.picture.place(row) if number is None else tuple(drawn.picture.places[number].tolist())
        return form, place, number is not None, near

    def _form(self, language: str, word: str) -> str:
        form = known_form(self.space.vectors(language), word)
        if form is None:
            raise self._unknown(language, word)
        return str(form)

    def _unknown(self, language: str, word: str) -> Unknown:
        vectors = self.space.vectors(language)
        message = f"{word!r} is not among the {len(vectors)} words of {language}"
        others = [name for name in self.space.languages if name != language]
        having = [name for name in others if known_form(self.space.vectors(name), word) is not None]
        return Unknown(message, spellings(word, vectors), having)

    def _prefixes(self, language: str) -> Any:
        words = self.space.vectors(language).words
        return self._background.once(("prefixes", language), lambda: Prefixes(words))

    def _translator(self, direction: Direction, retrieval: Retrieval) -> Translator:
        # One for each direction and retrieval, since it caches words.
        key = (direction, retrieval)
        if key not in self._translators:
            config = TextConfig(retrieval, top=ALTERNATIVES, alternatives=True)
            self._translators[key] = Translator(
                self.space, source=direction[0], target=direction[1], config=config
            )
        return self._translators[key]
