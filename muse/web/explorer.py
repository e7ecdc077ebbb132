"""Explorer: queries to a space, answered one at a time: words, sentences, the map, and suggestions.

Suggestions are the most frequent words of a language that start with some letters, as one types, or the rows
whose texts contain some words.
"""

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from muse.errors import BadSetting
from muse.lexicon import Lexicon
from muse.optional import has, load
from muse.orthography import casefolded, typed
from muse.ranking.lookup import Near, languages_with, lookup_entry, neighbours, spellings
from muse.ranking.probability import find_calibration
from muse.ranking.query import example_words
from muse.ranking.ranker import translate_words
from muse.ranking.reasons import Reasons, reasons_of
from muse.ranking.translations import Translations
from muse.search.retrieval import Retrieval
from muse.space import Space
from muse.space.derived import AnswersBy
from muse.translate.text import Choice, TextConfig, Translator
from muse.web.pictures import Background, Direction, Located, Pictures, lower_thread_priority

LONGEST = 300  # characters of a text that are indexed
WORDS = 500_000  # the most frequent, which are indexed
_SIGNS = re.compile(r"^[^\w]+|[^\w]+$")
AT_ONCE = 10_000 * 10_000  # up to this many pairs of words, hubness takes about a second
EXAMPLES = 6
ALTERNATIVES = 8  # of a word in a sentence


class Suggestions:
    """The words of a language, most frequent first, found by their first letters; rows by their texts too.

    Both are long strings, since a search of them takes milliseconds, an index of all words gigabytes.
    """

    def __init__(self, words: Sequence[str], texts: Iterable[str] = ()) -> None:
        self._words = words
        self._spellings = _LineIndex(_as_typed(word) for word in islice(words, WORDS))
        self._texts = _LineIndex(_spaced(text[:LONGEST]) for text in islice(texts, WORDS))

    def best(self, prefix: str, top: int) -> list[tuple[str, int]]:
        """The `top` most frequent words with this prefix and their frequency ranks, which start at 1.

        Words that have its accents, if it has any, come first; last, those whose texts have it.

        >>> words = Suggestions(["de", "etc", "été", "Etna", "eau"])
        >>> words.best("et", 2), words.best("ét", 2)
        ([('etc', 2), ('été', 3)], [('été', 3), ('etc', 2)])
        >>> Suggestions(["pomme", "pomme_de_terre"]).best("Pomme de", 2)
        [('pomme_de_terre', 2)]
        >>> Suggestions(["a", "b", "c"], ["A dog runs.", "Two dogs", "Hotdog"]).best("DOG", 5)
        [('a', 1), ('b', 2)]
        """
        start, spaced, exactly = _as_typed(prefix), _spaced(prefix), casefolded(prefix).replace(" ", "_")
        first, others = list[int](), list[int]()
        for row in self._spellings.having(f"\n{start}") if start.strip() else ():
            if prefix.isascii() or casefolded(self._words[row]).replace(" ", "_").startswith(exactly):
                first.append(row)
            else:
                others.append(row)
            if len(first) == top:
                break
        rows = dict.fromkeys((*first, *others)[:top])
        if len(rows) < top and spaced:
            rows |= dict.fromkeys(islice(self._texts.having(spaced), top))
        return [(self._words[row], row + 1) for row in islice(rows, top)]


def _as_typed(word: str) -> str:
    """A word, or a unit of several with either sign between, as it is typed."""
    return typed(word).replace("_", " ")


class _LineIndex:
    """Lines as one string, each after the sign of a new one."""

    def __init__(self, lines: Iterable[str]) -> None:
        begun = [f"\n{line}" for line in lines]
        self._all = "".join(begun)
        self._ends = np.cumsum([len(line) for line in begun], dtype=np.int64)  # (n,)

    def having(self, text: str) -> Iterator[int]:
        """Yields the lines that have this text, from the first one on."""
        at = self._all.find(text)
        while at >= 0:
            row = int(np.searchsorted(self._ends, at, side="right"))
            yield row
            at = self._all.find(text, int(self._ends[row]))


def _spaced(text: str) -> str:
    """The folded words of a text, with a space before each."""
    return "".join(f" {word}" for word in re.findall(r"\w+", typed(text)))


class Unknown(BadSetting):
    """A word that is not in the space, with similar spellings, and the other languages that have it."""

    def __init__(self, message: str, suggestions: list[str], languages: list[str]) -> None:
        super().__init__(message)
        self.suggestions, self.languages = suggestions, languages


@dataclass
class Explorer:
    """A space with cached results; `seed` is the random seed of the pictures.

    `terms` is a `muse.terms.kept.KeptGlossary`, or None; `own_translations` gives the translations by which
    text is translated from one language into another before all others.
    One query is answered at a time: several at once would only compete for the cores.
    """

    space: Space
    name: str
    seed: int = 0
    terms: Any = None
    own_translations: Callable[[Direction], Lexicon] | None = None
    pictures: Pictures = field(init=False, repr=False)
    _background: Background = field(default_factory=Background, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _translators: dict[tuple[Direction, Retrieval], Translator] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.pictures = Pictures(self.space, self.seed, self._background)

    def fill_caches(self) -> None:
        """Fill the caches with a first query; BadSetting if the space has a single language."""
        direction = self.direction(None, None)
        self.translations(direction, self.space.vectors(direction[0]).words[0], 1)
        for language in self.space.languages:
            self._suggestions(language)

    def direction(self, source: str | None, target: str | None) -> Direction:
        """Source and target language; the default is the pivot, or the first other language."""
        if source is None and target is None:
            source = next((name for name in self.space.languages if name != self.space.pivot), None)
        return self.space.direction(source, target)

    def translations(self, direction: Direction, word: str, top: int) -> tuple[Retrieval, Translations]:
        """The retrieval method, and the best translations of a word by it; Unknown if it is not known."""
        form = self._form(direction[0], word)
        retrieval = self.retrieval(direction)
        with self._lock:
            (found,) = translate_words(
                self.space, [form], source=direction[0], target=direction[1], top=top, retrieval=retrieval,
                calibrate=False,
            )  # fmt: skip
        return retrieval, found

    def reasons(self, direction: Direction, word: str) -> Reasons | None:
        """What spoke for the answer to a word and against the next; None where the answers are by CSLS."""
        form = self._form(direction[0], word)
        with self._lock:
            return reasons_of(self.space, direction, form)

    def neighbours(self, direction: Direction, word: str, top: int) -> tuple[str, Mapping[str, Near]]:
        """The form of a word that is known, and its nearest neighbours in both languages."""
        form = self._form(direction[0], word)
        with self._lock:
            return form, neighbours(self.space, direction[0], form, among=direction, top=top)

    def sentence(self, direction: Direction, text: str) -> tuple[Retrieval, str, list[Choice]]:
        """The retrieval method, the text translated word by word, and its tokens with alternatives."""
        retrieval = self.retrieval(direction)
        if retrieval == Retrieval():
            self._figures(direction).result()  # which names are kept depends on them
        with self._lock:
            translator = self._translator(direction, retrieval)
            line = " ".join(text.split())
            choices = translator.choices(line)  # first: what it looks up, `translate` finds cached
            return retrieval, translator.translate([line])[0], choices

    def text(self, direction: Direction, text: str, alternatives: int = 0) -> tuple[str, list[str]]:
        """A text of several lines translated, and up to so many alternatives, the most probable first."""
        retrieval = self.retrieval(direction)
        if retrieval == Retrieval():
            self._figures(direction).result()
        with self._lock:
            translator, lines = self._translator(direction, retrieval), text.split("\n")
            # First: what they look up, `translate` finds cached.
            others = translator.alternatives(lines, alternatives) if alternatives else []
            return "\n".join(translator.translate(lines)), ["\n".join(other) for other in others]

    def entry(self, language: str, text: str) -> str | None:
        """The unit of several words that a text is, if the space has it."""
        parts = text.split()
        return lookup_entry(" ".join(parts), self.space.vectors(language)) if len(parts) > 1 else None

    def link(self, direction: Direction, texts: tuple[str, str]) -> Any:
        """A sentence and its translation with the links between their words, a `muse.links.pair.LinkedPair`.

        MissingExtra without the package of links.
        """
        one, two = (" ".join(text.split()) for text in texts)
        link_texts = load("links.pair").link_texts
        with self._lock:
            return link_texts(self.space, direction, (one, two))

    @property
    def indexed(self) -> list[str]:
        """The languages of whose texts there are sentences."""
        return list(load("examples.lookup").indexed_languages(self.space)) if has("examples") else []

    def sentences(self, direction: Direction, word: str, answer: str | None) -> Any:
        """Sentences with a word and with its translation, a `muse.examples.lookup.WordExamples`.

        MissingExtra without the package of examples; BadSetting without an index.
        """
        form = self._form(direction[0], word)
        return load("examples.lookup").find_examples(self.space, direction, form, answer)

    @property
    def glossary(self) -> Any:
        """The glossary; Unknown without one."""
        if self.terms is None:
            raise Unknown("a glossary is needed, and none was given; run muse serve --terms FILE", [], [])
        return self.terms

    def decide(self, pair: tuple[str, str], decision: str) -> None:
        """Keep what was decided of a term and its translation; Unknown if the glossary lacks them."""
        if not self.glossary.decide(pair, decision):
            raise Unknown(f"{' – '.join(pair)!r} is not in the glossary", [], [])

    def suggestions(self, language: str, prefix: str, top: int) -> list[tuple[str, int]]:
        """The `top` most frequent words of a language with a prefix, with their frequency ranks.

        Of rows, those whose ids have it, then those with words in their texts that do, with their places.
        """
        return self._suggestions(language).result().best(prefix, top)

    def examples(self, language: str) -> list[str]:
        """A few example words of a language; of rows, ids from all parts of it."""
        vectors = self.space.vectors(language)
        found = example_words(self.space, language, EXAMPLES) if vectors.frequency_ordered else vectors.words
        return list(found[:: max(1, len(found) // EXAMPLES)][:EXAMPLES]) or list(vectors.words[:EXAMPLES])

    def retrieval(self, direction: Direction) -> Retrieval:
        """CSLS if its hubness is known or quick to compute; plain neighbours until then.

        Answers that were chosen when the space was made need neither. The hubness of large spaces and the
        probabilities are found in the background, and kept.
        """
        source, target = direction
        if self.space.answers(source, target) is not None:
            return Retrieval()
        pairs = len(self.space.vectors(source)) * len(self.space.vectors(target))
        known = pairs <= AT_ONCE or self.space.hubness(target, source) is not None
        self._figures(direction)
        return Retrieval("csls" if known else "nn")

    def answers(self, direction: Direction) -> AnswersBy:
        """Whether the translations were chosen by all the evidence, or are ranked by CSLS."""
        return "csls" if self.space.answers(*direction) is None else "all"

    def place(self, direction: Direction, word: str) -> Located | None:
        """Where a word of the source language is in the picture; None if that is empty or not yet drawn."""
        language = direction[0]
        form = self._form(language, word)
        drawn = self.pictures.get(direction)
        if drawn is None or not drawn.picture.pairs:
            return None
        row = self.space.tensor(language)[self.space.vectors(language).index[form]]
        return drawn.locate(language, form, row)

    def _figures(self, direction: Direction) -> Future[None]:
        return self._background.once(("figures", *direction), lambda: self._find_figures(direction))

    def _find_figures(self, direction: Direction) -> None:
        lower_thread_priority()
        if self.space.answers(*direction) is not None:
            return
        self.space.bias(*direction, Retrieval())
        find_calibration(self.space, *direction)

    def _form(self, language: str, word: str) -> str:
        vectors = self.space.vectors(language)
        form = lookup_entry(word, vectors)
        if form is None and vectors.frequency_ordered:  # a word with the sign that follows it: roi,
            form = lookup_entry(_SIGNS.sub("", word), vectors)
        if form is None:
            raise Unknown(
                f"{word!r} is not among the {len(vectors)} {vectors.noun} of {language}",
                spellings(word, vectors) if vectors.frequency_ordered else [],
                languages_with(self.space, word, besides=language),
            )
        return form

    def _suggestions(self, language: str) -> Future[Suggestions]:
        vectors = self.space.vectors(language)
        return self._background.once(
            ("suggestions", language), lambda: Suggestions(vectors.words, vectors.texts or ())
        )

    def _translator(self, direction: Direction, retrieval: Retrieval) -> Translator:
        # One for each direction and retrieval, since it caches words.
        key = (direction, retrieval)
        if key not in self._translators:
            terms = None if self.own_translations is None else self.own_translations(direction)
            indices = [self.space.vectors(language).index for language in direction]
            if terms is not None and terms.known(*indices) < terms.known(*indices[::-1]):
                terms = terms.reversed()
            config = TextConfig(retrieval, top=ALTERNATIVES, glossary=terms)
            self._translators[key] = Translator(
                self.space, source=direction[0], target=direction[1], config=config
            )
        return self._translators[key]
