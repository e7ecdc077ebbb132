"""Explorer: queries to a space, answered one at a time."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from muse.errors import BadSetting, MuseError
from muse.picture import Picture, draw_picture, frequent_pairs, is_readable
from muse.search.retrieval import Retrieval
from muse.space import AlignedSpace
from muse.translate import TextConfig, Translator, neighbours, spellings, translate_words

log = logging.getLogger(__name__)

AT_ONCE = 10_000 * 10_000  # up to this many pairs of words, hubness takes about a second
LATER = 50_000 * 50_000  # up to this many, it is computed in the background within minutes
PAIRS = 600  # in the picture
SKIPPED = 300  # the most frequent words, which are poor examples
EXAMPLES = 6
ALTERNATIVES = 8  # of a word in a sentence

Direction = tuple[str, str]


class Unknown(BadSetting):
    """A word that is not in the space, with suggestions."""

    def __init__(self, message: str, suggestions: list[str]) -> None:
        super().__init__(message)
        self.suggestions = suggestions


class NotDrawn(MuseError):
    """A picture could not be drawn, because of an unexpected error."""


@dataclass
class Explorer:
    """A space with cached results; `seed` is the random seed of the picture.

    One query is answered at a time: several at once would only compete for the cores.
    """

    space: AlignedSpace
    name: str
    seed: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _pictures: dict[Direction, Picture | MuseError] = field(default_factory=dict, repr=False)
    _working: set[tuple[str, Direction]] = field(default_factory=set, repr=False)
    _translators: dict[tuple[Direction, Retrieval], Translator] = field(default_factory=dict, repr=False)

    def warm(self) -> None:
        """Fill the caches with a first query; BadSetting if the space has a single language."""
        direction = self.direction(None, None)
        self.translations(direction, self.space.vectors(direction[0]).words[0], 1)

    def direction(self, source: str | None, target: str | None) -> Direction:
        """Source and target language; the default is the pivot, or the first other language."""
        if source is None and target is None:
            source = next((name for name in self.space.languages if name != self.space.pivot), None)
        return self.space.direction(source, target)

    def translations(self, direction: Direction, word: str, top: int) -> tuple[Retrieval, list[Any]]:
        """The retrieval method, and the best translations of a word by it."""
        self._check_word(direction[0], word)
        retrieval = self.retrieval(direction)
        with self._lock:
            found = translate_words(
                self.space, [word], source=direction[0], target=direction[1], top=top, retrieval=retrieval
            )
        return retrieval, found[word]

    def neighbours(self, direction: Direction, word: str, top: int) -> Mapping[str, list[Any]]:
        """The nearest neighbours, in both languages, of a word of the source language."""
        self._check_word(direction[0], word)
        with self._lock:
            return neighbours(self.space, direction[0], word, among=direction, top=top)

    def sentence(self, direction: Direction, text: str) -> tuple[Retrieval, str, list[Any]]:
        """The retrieval method, the text translated word by word, and its tokens with alternatives."""
        retrieval = self.retrieval(direction)
        with self._lock:
            translator = self._translator(direction, retrieval)
            line = " ".join(text.split())
            return retrieval, translator.translate([line])[0], translator.choices(line)

    def _translator(self, direction: Direction, retrieval: Retrieval) -> Translator:
        # One for each direction and retrieval, since it caches words.
        key = (direction, retrieval)
        if key not in self._translators:
            config = TextConfig(retrieval, top=ALTERNATIVES)
            self._translators[key] = Translator(
                self.space, source=direction[0], target=direction[1], config=config
            )
        return self._translators[key]

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
            self._in_background("hubness", direction, self._find_hubness)
        return Retrieval("nn")

    def picture(self, direction: Direction) -> Picture | None:
        """The picture of the frequent words; None while it is being drawn, which the first call starts."""
        found = self._pictures.get(direction)
        if isinstance(found, MuseError):
            raise found
        if found is None:
            self._in_background("picture", direction, self._draw)
        return found

    def place(self, direction: Direction, language: str, word: str) -> tuple[float, float, bool] | None:
        """The place of a word in the picture, and whether it is exact; None until the picture is drawn."""
        self._check_word(language, word)
        drawn = self.picture(direction)
        if drawn is None:
            return None
        side = direction.index(language)
        own = [pair[side] for pair in drawn.pairs]
        if word in own:
            x, y = drawn.places[own.index(word) + side * len(own)].tolist()
            return x, y, True
        with self._lock:
            row = self.space.tensor(language)[self.space.vectors(language).index[word]]
            return (*drawn.place(row), False)

    def _check_word(self, language: str, word: str) -> None:
        vectors = self.space.vectors(language)
        if word not in vectors.index:
            message = f"{word!r} is not among the {len(vectors)} words of {language}"
            raise Unknown(message, spellings(word, vectors))

    def _find_hubness(self, direction: Direction) -> None:
        self.space.bias(*direction, Retrieval("csls"))

    def _draw(self, direction: Direction) -> None:
        try:
            chosen = frequent_pairs(self.space, *direction)[:PAIRS]
            self._pictures[direction] = draw_picture(self.space, *direction, chosen, self.seed)
        except MuseError as error:
            self._pictures[direction] = error
        except Exception as error:  # noqa: BLE001 - it would be lost in a thread
            log.exception("cannot draw the picture of %s and %s", *direction)
            self._pictures[direction] = NotDrawn(f"the picture cannot be drawn: {error}")

    def _in_background(self, name: str, direction: Direction, work: Callable[[Direction], None]) -> None:
        with self._lock:
            if (name, direction) in self._working:
                return
            self._working.add((name, direction))
        threading.Thread(target=work, args=[direction], name=name, daemon=True).start()
