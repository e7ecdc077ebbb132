"""Glossary: the units of several words in two texts, with their translations by a space.

The texts need not be translations of each other. Each becomes numbers on disk, once; what is kept in memory
depends on the words and units found, and not on the length of the text.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from muse.embedding.corpus import Corpus
from muse.errors import Mismatch
from muse.ranking.lookup import lookup_entry
from muse.ranking.probability import find_calibration
from muse.ranking.ranker import ranker_for, translate_words
from muse.search.retrieval import Retrieval
from muse.space import Space
from muse.space.derived import AnswerTable
from muse.terms import contexts
from muse.terms.evidence import FEATURES, Entries, gather
from muse.terms.model import TermModel
from muse.terms.parts import (
    LONGEST_COMPOSED,
    SHORTEST,
    Sparse,
    compositions,
    compounds,
    rarity_of_ranks,
    word_shares,
)
from muse.terms.sequences import NumberedText, Sequences, count_sequences, number_text
from muse.terms.units import UnitConfig, Units, domain_scores, find_units
from muse.vectors import Doubles, Matrix, Numbers, ShortRepr, Vectors

log = logging.getLogger(__name__)

LEARNED_FROM = 10  # occurrences of a word from whose contexts the map is learned
TRANSLATIONS = 10  # of each part
HALF = 0.5  # occurrences more, of what the text may lack by chance
PROBABLE = 0.02  # the least probability of a translation that a compound may be made of


@dataclass(frozen=True)
class TermConfig:
    """How terms are found: units of `longest` words at most, which stand `least` times or more.

    Of the source they are those of `units`, and they are translated by those of `answers`: a term may be no
    term in the other language. Words whose domain score is at least `domain` are terms too, if there is one.
    `general` has the words of languages by their frequency outside of the field; else they are the space's.
    The `model` says how probable translations are.
    """

    longest: int = 4
    least: int = 5
    units: UnitConfig = field(default_factory=UnitConfig)
    answers: UnitConfig = UnitConfig(edge=50, association=0.2, edge_association=0.3, most=10_000)
    domain: float | None = None
    general: Mapping[str, Vectors] = field(default_factory=dict)
    model: TermModel = field(default_factory=TermModel.shipped)


@dataclass(frozen=True, eq=False, repr=False)
class TermText(ShortRepr):
    """A text, its sequences of words and the units among them.

    `entries` (v,) are the rows in the space of its words, -1 for others, and `ranks` (v,) those in general.
    """

    vectors: Vectors
    text: NumberedText
    entries: Numbers
    ranks: Numbers
    sequences: Sequence[Sequences]
    units: Units

    def having(self, config: UnitConfig) -> TermText:
        """The text with units of another kind."""
        return replace(self, units=find_units(self.sequences, self.ranks, config))

    def with_units(self, names: Iterable[str]) -> TermText:
        """The text with these units too, behind the others; those that stand too seldom are left out."""
        number = {word: place for place, word in enumerate(self.text.words)}
        counts = {
            tuple(words): count
            for some in self.sequences[1:]
            for words, count in zip(some.words.tolist(), some.counts.tolist(), strict=True)
        }
        wanted = dict.fromkeys(tuple(number.get(word, -1) for word in name.split(" ")) for name in names)
        known = {*self.units.words}
        new = [words for words in wanted if words in counts and words not in known]
        return replace(self, units=self.units.extended(new, [counts[words] for words in new]))

    @property
    def names(self) -> list[str]:
        """The units, with spaces between their words."""
        return [" ".join(self.text.words[one] for one in words) for words in self.units.words]

    @property
    def parts(self) -> list[tuple[int, ...]]:
        """The rows in the space of the words of each unit, -1 for others."""
        return [tuple(self.entries[list(words)].tolist()) for words in self.units.words]

    def word_rarity(self) -> Doubles:
        """The rarity (n + 1,) of the words of the space, by their ranks there and in the text."""
        n = len(self.vectors)
        known = self.entries >= 0
        in_text = np.zeros(n, np.int64)
        np.maximum.at(in_text, self.entries[known], np.flatnonzero(known))
        return rarity_of_ranks(np.append(np.maximum(np.arange(n), in_text), n))

    def frequencies(self) -> Doubles:
        """The log of the relative frequency (n + u,) of words of the space and of units."""
        known = self.entries >= 0
        times = np.bincount(self.entries[known], self.text.counts[known], len(self.vectors))
        counts = np.concatenate([times, self.units.counts])
        return np.asarray(np.log((counts + HALF) / self.text.tokens))

    def context_rows(self) -> tuple[Matrix, Matrix]:
        """The rows (n, d) of words of the space and (u, d) of units, by their contexts; zeros if too few.

        Raise Mismatch for a text without frequent words of the space.
        """
        rows = np.asarray(self.vectors.matrix)[np.maximum(self.entries, 0)]
        weights = np.where(self.entries >= 0, contexts.rarity_weights(self.text), 0).astype(np.float32)
        frequent = int((self.text.counts >= LEARNED_FROM).sum())
        index = contexts.UnitIndex.of(self.units.words)
        found = contexts.sum_contexts(self.text, rows, weights, index, frequent)
        means = found.means()
        known = np.flatnonzero(self.entries[:frequent] >= 0)[::-1]  # of several, the most frequent is last
        if not len(known):
            raise Mismatch(
                f"the text of {self.vectors.language}: expected words of the vocabulary that stand at least "
                f"{LEARNED_FROM} times, got none; check the language, or give more text"
            )
        map_ = contexts.learn_context_map(means[known], rows[known], found.counts[known])
        words = np.zeros_like(np.asarray(self.vectors.matrix))
        words[self.entries[known]] = contexts.context_rows(means[known], map_)
        return words, contexts.context_rows(means[frequent:], map_)


def read_term_texts(corpora: Mapping[str, Corpus], space: Space, config: TermConfig) -> dict[str, TermText]:
    """The corpora of some languages of a space, counted, with `config.answers` as units.

    Files for them are made beside their tokens. Raise BadFile for one without words that stand often enough.
    """
    return {one: read_term_text(corpus, space.vectors(one), config) for one, corpus in corpora.items()}


def read_term_text(corpus: Corpus, vectors: Vectors, config: TermConfig) -> TermText:
    """The text in the language of `vectors`, as `read_term_texts` has it."""
    text = number_text(corpus.path, corpus.path.with_suffix(".numbers"), least=config.least)
    sequences = count_sequences(text, corpus.path.parent, longest=config.longest, least=config.least)
    entries, general = _rows_of(text.words, vectors), config.general.get(vectors.language)
    ranks = entries if general is None else _rows_of(text.words, general)
    ranks = np.where(ranks >= 0, ranks, len(vectors if general is None else general))
    return TermText(vectors, text, entries, ranks, sequences, find_units(sequences, ranks, config.answers))


def _rows_of(words: Sequence[str], vectors: Vectors) -> Numbers:
    """The rows (w,) of words in any spelling, -1 for those that are missing."""
    found = (lookup_entry(word, vectors) for word in words)
    return np.array([-1 if entry is None else vectors.index[entry] for entry in found])


def entries_of(space: Space, text: TermText, other: str) -> Entries:
    """The words of the space and the units of a text, to be compared with those of another language."""
    vectors = text.vectors
    hubness = space.find_hubness(vectors.language, other)[0].cpu().numpy()
    names = [*vectors.words, *text.names]
    return Entries(
        names, word_shares(text.parts, text.word_rarity()), np.array([len(name) for name in names]),
        np.asarray(vectors.matrix), *text.context_rows(), text.units.counts, text.frequencies(),
        hubness,
    )  # fmt: skip


def part_translations(space: Space, way: tuple[str, str], words: Numbers) -> Sparse:
    """The probabilities (n, m) of the translations of some words (w,) of a space."""
    ranker = ranker_for(space, [], way, top=TRANSLATIONS, retrieval=Retrieval())
    if ranker.table is None and ranker.calibration is None:
        ranker = replace(ranker, calibration=find_calibration(space, *way))
    shape = len(space.vectors(way[0])), len(space.vectors(way[1]))
    if not len(words):
        return Sparse(shape, dtype=np.float32)
    found = ranker.best(words, fill=False)
    some = (found.scores > -np.inf) & (np.nan_to_num(found.probability) > 0)
    rows = np.repeat(words, found.columns.shape[1]).reshape(some.shape)
    return Sparse((found.probability[some], (rows[some], found.columns[some])), shape)


def options_of(text: TermText, edge: int, translations: Sparse) -> list[list[dict[int, float]]]:
    """The translations of each word of each unit that is no edge word, with their probabilities, if known."""

    def options(row: int) -> dict[int, float]:
        own = slice(translations.indptr[row], translations.indptr[row + 1])
        pairs = zip(translations.indices[own].tolist(), translations.data[own].tolist(), strict=True)
        return {column: share for column, share in pairs if share >= PROBABLE}

    return [[options(row) for row in words if row >= edge] for words in text.parts]


def compounds_of(text: TermText, edge: int, translations: Sparse, targets: Vectors) -> Sparse:
    """The probabilities (u, m) that words of the other language are compounds of a unit's parts."""
    options = options_of(text, edge, translations)
    named = [
        [{targets.words[one]: share for one, share in part.items()} for part in unit] for unit in options
    ]
    found = compounds(named, targets.words)
    places = [place for place, _ in found], [column for _, column in found]
    return Sparse((list(found.values()), places), (len(text.units), len(targets)))


def with_compositions(space: Space, source: TermText, target: TermText) -> TermText:
    """The target with the sequences that translations of the words of the source's units make, as units too.

    What is generated counts where the text has it (Grefenstette, 1999), though it be no unit by itself.
    """
    way = source.vectors.language, target.vectors.language
    options = options_of(source, 0, part_translations(space, way, known_parts(source)))
    number = {row: place for place, row in reversed([*enumerate(target.entries.tolist())])}
    numbers = [[[number[one] for one in part if one in number] for part in unit] for unit in options]
    short = target.sequences[1:LONGEST_COMPOSED]
    known = {tuple(words) for some in short for words in some.words.tolist()}
    found = (" ".join(target.text.words[one] for one in words) for words in compositions(numbers, known))
    return target.with_units(sorted(found))


class TermTranslation(NamedTuple):
    """A word or unit of the other language, its probability, and how often it stands in the other text."""

    target: str
    probability: float
    occurrences: int


@dataclass(frozen=True)
class FoundTerm:
    """A unit that stands `count` times in a text, and its translations, best first.

    `association`, `c_value` and `domain` say how much it is a term (`muse.terms.units`).
    """

    term: str
    translations: Sequence[TermTranslation]
    count: int
    association: float
    c_value: float
    domain: float


def find_terms(
    space: Space, texts: tuple[TermText, TermText], *, top: int = 3, config: TermConfig | None = None
) -> list[FoundTerm]:
    """The units in a text, and how they may be translated by words of the space and units of the other text.

    Those whose best translation is most probable come first.
    """
    config = config or TermConfig()
    source, target = texts[0].having(config.units), texts[1]
    target = with_compositions(space, source, target)
    own, other = (
        entries_of(space, one, two.vectors.language) for one, two in ((source, target), (target, source))
    )
    table = unit_answers(space, (source, target), (own, other), config)
    counts = np.rint(np.exp(other.frequency) * target.text.tokens - HALF).astype(np.int64)
    terms = list[FoundTerm]()
    units = source.units
    known = (one.tolist() for one in (units.counts, units.association, units.c_value, units.domain))
    for place, (name, count, *numbers) in enumerate(zip(source.names, *known, strict=True)):
        best = slice(*table.pointers[place : place + 2])
        columns, shares = table.columns[best][:top], table.probability[best][:top].tolist()
        sides = ([other.names[one] for one in columns.tolist()], shares, counts[columns].tolist())
        terms.append(FoundTerm(name, list(map(TermTranslation, *sides)), count, *numbers))
    if config.domain is not None:
        terms += _term_words(space, source, target, top, config.domain)
    return sorted(terms, key=lambda term: -term.translations[0].probability)


def _term_words(
    space: Space, source: TermText, target: TermText, top: int, least: float
) -> Iterator[FoundTerm]:
    """The words whose domain score is `least` or more, with the translations that stand in the other text."""
    text, known = target.text, target.entries >= 0
    names = [target.vectors.words[row] for row in target.entries[known].tolist()]
    counts = dict(zip(reversed(names), reversed(text.counts[known].tolist()), strict=True))
    scores = domain_scores(
        [(one,) for one in range(len(source.text.words))], source.text.counts, source.ranks
    )
    some = np.flatnonzero((scores >= least) & (source.entries >= 0))
    words = {word: place for place in some.tolist() if _is_term(word := source.text.words[place])}
    way = source.vectors.language, target.vectors.language
    for found in translate_words(space, [*words], source=way[0], target=way[1], top=TRANSLATIONS):
        best = [one for one in found if one.target in counts and one.probability][:top]
        if best:
            place = words[found.word]
            sides = ((one.target, one.probability or 0.0, counts[one.target]) for one in best)
            numbers = math.nan, math.nan, float(scores[place])
            translations = [TermTranslation(*side) for side in sides]
            yield FoundTerm(found.word, translations, int(source.text.counts[place]), *numbers)


def _is_term(word: str) -> bool:
    """Whether a word may be a term: three letters or more, and no number."""
    return len(word) >= SHORTEST and not any(map(str.isdigit, word))


def unit_answers(
    space: Space, texts: tuple[TermText, TermText], entries: tuple[Entries, Entries], config: TermConfig
) -> AnswerTable:
    """The answers to the units of the first text, among words of the space and units of the second."""
    source, target = texts
    if not len(source.units):
        none = np.zeros(0, np.float32)
        return AnswerTable(np.zeros(1, np.int64), none.astype(np.int64), none, none)
    way = source.vectors.language, target.vectors.language
    both = (source, way), (target, way[::-1])
    forward, back = (part_translations(space, one, known_parts(text)) for text, one in both)
    made_of = compounds_of(source, config.units.edge, forward, target.vectors)
    found = gather(*entries, (forward, back), made_of)
    shares = config.model.probabilities(found.values)
    order = np.lexsort((-shares, found.places))
    bounds = np.searchsorted(found.places[order], np.arange(len(source.units) + 1))
    csls = found.values[order, FEATURES.index("csls mixed")]
    return AnswerTable(bounds, found.columns[order], csls, shares[order].astype(np.float32))


def known_parts(text: TermText) -> Numbers:
    """The rows (w,) of the words of units that the space has."""
    return np.unique([part for parts in text.parts for part in parts if part >= 0]).astype(np.int64)
