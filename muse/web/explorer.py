"""Explorer: the questions that can be asked of a space, answered one at a time."""

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

AT_ONCE = 10_000 * 10_000  # pairs of words whose hubness takes about a second
LATER = 50_000 * 50_000  # and those that are worth minutes in the background
PAIRS = 600  # of the picture
SKIPPED = 300  # the most frequent words, which say little as examples
EXAMPLES = 6
ALTERNATIVES = 8  # of a word in a sentence

Direction = tuple[str, str]


class Unknown(BadSetting):
    """A word that the space has not got, with those that may have been meant."""

    def __init__(self, message: str, suggestions: list[str]) -> None:
        super().__init__(message)
        self.suggestions = suggestions


class NotDrawn(MuseError):
    """A picture that could not be drawn, for no reason that a user could mend."""


@dataclass
class Explorer:
    """A space and what was found out about it so far; `seed` is the picture's.

    One question is looked up at a time: several at once would only fight for the cores.
    """

    space: AlignedSpace
    name: str
    seed: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _ready: set[Direction] = field(default_factory=set, repr=False)
    _pictures: dict[Direction, Picture | MuseError] = field(default_factory=dict, repr=False)
    _working: set[tuple[str, Direction]] = field(default_factory=set, repr=False)
    _translators: dict[tuple[Direction, Retrieval], Translator] = field(default_factory=dict, repr=False)

    def warm(self) -> None:
        """Asks the first question: nobody waits for what is done once. BadSetting for a single language."""
        direction = self.direction(None, None)
        self.translations(direction, self.space.vectors(direction[0]).words[0], 1)

    def direction(self, source: str | None, target: str | None) -> Direction:
        """The languages meant; what is not given is the pivot, or the first other one."""
        if source is None and target is None:
            source = next((name for name in self.space.languages if name != self.space.pivot), None)
        return self.space.direction(source, target)

    def translations(self, direction: Direction, word: str, top: int) -> tuple[Retrieval, list[Any]]:
        """The best translations of a word, and how they were looked up."""
        self._check_word(direction[0], word)
        retrieval = self.retrieval(direction)
        with self._lock:
            found = translate_words(
                self.space, [word], source=direction[0], target=direction[1], top=top, retrieval=retrieval
            )
        return retrieval, found[word]

    def neighbours(self, direction: Direction, word: str, top: int) -> Mapping[str, list[Any]]:
        """The nearest words of both languages to a word of the first."""
        self._check_word(direction[0], word)
        with self._lock:
            return neighbours(self.space, direction[0], word, among=direction, top=top)

    def sentence(self, direction: Direction, text: str) -> tuple[Retrieval, str, list[Any]]:
        """The text translated word by word, and each token of it with its alternatives."""
        retrieval = self.retrieval(direction)
        with self._lock:
            translator = self._translator(direction, retrieval)
            line = " ".join(text.split())
            return retrieval, translator.translate([line])[0], translator.choices(line)

    def _translator(self, direction: Direction, retrieval: Retrieval) -> Translator:
        # One for each way of asking: it remembers the words it met.
        key = (direction, retrieval)
        if key not in self._translators:
            config = TextConfig(retrieval, top=ALTERNATIVES, alternatives=True)
            self._translators[key] = Translator(
                self.space, source=direction[0], target=direction[1], config=config
            )
        return self._translators[key]

    def examples(self, language: str) -> list[str]:
        """A few words of a language that one may try."""
        words = self.space.vectors(language).words
        found = [
            word for word in islice(words, SKIPPED, SKIPPED + 200) if is_readable(word) and len(word) > 3
        ]
        return found[:: max(1, len(found) // EXAMPLES)][:EXAMPLES] or list(words[:EXAMPLES])

    def retrieval(self, direction: Direction) -> Retrieval:
        """CSLS where the hubness it needs is known or quick to have, else plain neighbours until it is.

        The hubness of large spaces without one on disk is not computed at all: it would take an hour.
        """
        source, target = direction
        pairs = len(self.space.vectors(source)) * len(self.space.vectors(target))
        stored = source in self.space.side(target).hubness
        if stored or pairs <= AT_ONCE or direction in self._ready:
            return Retrieval("csls")
        if pairs <= LATER:
            self._in_background("hubness", direction, self._find_hubness)
        return Retrieval("nn")

    def picture(self, direction: Direction) -> Picture | None:
        """The picture of the frequent words; None while it is being drawn, which the first call begins."""
        found = self._pictures.get(direction)
        if isinstance(found, MuseError):
            raise found
        if found is None:
            self._in_background("picture", direction, self._draw)
        return found

    def place(self, direction: Direction, language: str, word: str) -> tuple[float, float, bool] | None:
        """Where on the picture a word is, and whether it is one of its own; None before it is drawn."""
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
        self._ready.add(direction)

    def _draw(self, direction: Direction) -> None:
        try:
            chosen = frequent_pairs(self.space, *direction)[:PAIRS]
            self._pictures[direction] = draw_picture(self.space, *direction, chosen, self.seed)
        except MuseError as error:
            self._pictures[direction] = error
        except Exception as error:  # noqa: BLE001 - in a thread nobody would hear of it, and the page would wait
            log.exception("the picture of %s and %s", *direction)
            self._pictures[direction] = NotDrawn(f"the picture cannot be drawn: {error}")

    def _in_background(self, name: str, direction: Direction, work: Callable[[Direction], None]) -> None:
        with self._lock:
            if (name, direction) in self._working:
                return
            self._working.add((name, direction))
        threading.Thread(target=work, args=[direction], name=name, daemon=True).start()
