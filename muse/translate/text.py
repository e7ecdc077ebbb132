"""Text: translated word by word.

It is read as pieces: words, fixed expressions and, copied, numbers, units and signs (`TextReader`).
Punctuation, numbers and capitals are kept; a word without a vector is copied. With a language model, a beam
search picks, among the translations of each word, those that form the most probable sentence (`best_path`).
The phrases of a phrase table are translated whole, and words that it has by its probabilities. The terms of a
glossary (`muse.translate.glossary`) are translated as it says, whatever else is known of them.
Text in another script than the vocabulary is refused, since all of it would be copied (`check_script`).
"""

import logging
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from typing import NamedTuple

import numpy as np

from muse.errors import BadSetting
from muse.lexicon import Lexicon
from muse.orthography import plain
from muse.ranking.lookup import is_term, known_entries, lookup_entry, rows_of, with_entries
from muse.ranking.ranker import Ranker, ranker_for
from muse.ranking.translations import Translation
from muse.search.retrieval import Retrieval
from muse.space import Space
from muse.space.new_words import NewWords
from muse.text import surface
from muse.text.language_model import END, Ids, LanguageModel, Logs, Step
from muse.text.markup import OpenSpan, is_markup
from muse.text.phrase_table import PhraseOptions
from muse.text.segmentation import TITLES, Phrases, unit_parts
from muse.text.strings import all_strings
from muse.text.tokens import Tokeniser
from muse.text.written import TranslatedToken, WrittenToken, joined_line, written_line, written_tokens
from muse.translate.glossary import Glossary, Term, probable_ones
from muse.vectors import Vectors

HYPHEN = "@-@"  # Moses' token for a hyphen between two tokens
_ENDS = frozenset(".!?…")  # tokens after which a sentence begins, as after several dots
# What follows a number and is written alike in every language.
UNITS = frozenset(
    "nm mm cm dm m km ha mg g kg t ml cl dl l ms s min h Hz kHz MHz GHz W kW MW GW kWh V kV mA Ah J kJ kcal "
    "cal N Pa hPa bar dB b B kb kB Mb MB Gb GB TB ko Mo Go To px dpi ft yd mi mph kph lb lbs oz C F K L mL "
    "cL dL hl hL µm µg µl µL kPa MPa mbar kJ MJ mV kVA VA mAh MWh Mbit Gbit kbit Mbps Gbps rpm".split()
)
# What ASCII has that a vocabulary may write otherwise.
_SPELLED_OTHERWISE = re.compile("['(]|ss|oe|ae|ij", re.IGNORECASE)
_ROMAN = re.compile("(?=..)M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
# Capitals alone that are no words, but for prepositions that begin a sentence.
_NO_WORDS = frozenset("BCDFGHJKLMNPQRSTVWXZ")
_CURRENCIES = frozenset("€$£¥₽₹")
_OF_QUANTITIES = UNITS | _CURRENCIES | frozenset("/ ° ² ³ °C °F °K".split())  # km/h, 20 °C, 3 €/kg
log = logging.getLogger(__name__)

_FEW_LETTERS = 20  # letters; fewer may be a name that is copied (iPhone 15), and no text in another language
_SCRIPT_WORDS = 2_000  # the most frequent words, which show the scripts of a language
_SCRIPT_SHARE = 0.05  # the least share of their letters in a script of the language: loanwords have less
CACHED = 200_000  # words whose translations are cached: about 300 MB
PROBABLE = 0.5  # the least probability at which a capitalised word is translated and not kept as a name
NAT = 0.12  # points of CSLS that a nat of probability stands for beside a language model: tuned as its weight
LEAST_SHARE = 1e-3  # the least probability of a translation that is among the answers
WORD_BY_WORD = 0.03  # of a term: from .4 to 5.6 % are right (benchmarks/words/units.py, part by part)
_COPIED = np.zeros(1, np.float32)  # the score of a token that is copied


class Piece(NamedTuple):
    """A token of a line, or part of one, or an expression, and the entry to look up; None if it is copied.

    `first` is true at the start of a sentence, `name` for a capital that neither place nor language requires.
    `at`: the token or the expression as the line has it. `term`: what a glossary has for it.
    """

    token: str
    entry: str | None
    first: bool = False
    name: bool = False
    at: WrittenToken = WrittenToken("")
    term: Term = Term()

    @property
    def is_word(self) -> bool:
        """Whether it has a letter and is neither a unit nor markup."""
        return self.token not in UNITS and any(map(str.isalpha, self.token)) and not is_markup(self.token)


_JOINT = Piece(HYPHEN, None, at=WrittenToken(HYPHEN, "", "-"))


class TextReader:
    """Reads the tokens of lines as pieces, with a vocabulary, new words and a glossary."""

    def __init__(
        self,
        vectors: Vectors,
        new_words: NewWords | None = None,
        table: Collection[str] = (),
        glossary: Glossary | None = None,
        phrases: Phrases | None = None,
    ) -> None:
        self._vectors, self._new_words, self._table, self._glossary = vectors, new_words, table, glossary
        self._phrases = Phrases(vectors.words, table) if phrases is None else phrases
        self._respelled: dict[str, str | None] = {}  # of words that are not in the vocabulary

    def read(self, tokens: Sequence[WrittenToken]) -> list[Piece]:
        """The pieces of a line; a name of several words, each of them capitalised, is copied whole."""
        found: list[Piece] = []
        first, quantity, place, last = True, False, 0, ""
        all_caps = surface.is_all_caps([token.text for token in tokens])
        for group, entry, term in self._groups([token.text for token in tokens]):
            at, token = tokens[place], surface.joined(group)
            rest = "".join(one.before + one.written for one in tokens[place + 1 : place + len(group)])
            place += len(group)
            numeral = has_digit(token)
            has_letters = any(map(str.isalpha, token)) and not is_markup(token)
            copied = at.kept or numeral or not has_letters or (quantity and token in UNITS)
            if entry is not None or term.translations:
                at = at._replace(text=token, written=at.written + rest)
                found.append(Piece(token, entry, first, at=at, term=term))
            elif copied or (not (all_caps or first) and is_letter_name(token, last, self._vectors.language)):
                found.append(Piece(token, None, at=at))
            else:
                found += self._word(at, first)
            quantity = numeral or token in _CURRENCIES or (quantity and token in _OF_QUANTITIES)
            last = (token.lower() if first else token) if has_letters else last
            titled = token == "." and not TITLES.isdisjoint((last, last.title()))  # Dr. Roi
            ends = token in _ENDS or not token.strip(".")
            first = (ends and not titled) or (first and not has_letters)
        return list(_long_names_copied(found))

    def _groups(self, tokens: Sequence[str]) -> Iterator[tuple[Sequence[str], str | None, Term]]:
        # The tokens in order: those of a term together, and between terms as `with_entries` has them.
        begin = place = 0
        while self._glossary is not None and place < len(tokens):
            term = self._glossary.at(tokens, place)
            if term.translations:
                yield from self._entries(tokens[begin:place])
                begin = place + term.tokens
                yield tokens[place:begin], None, term
            place += term.tokens
        yield from self._entries(tokens[begin:])

    def _entries(self, tokens: Sequence[str]) -> Iterator[tuple[Sequence[str], str | None, Term]]:
        for group, entry in with_entries(tokens, self._vectors, self._phrases):
            yield group, entry, Term()

    def _word(self, at: WrittenToken, first: bool) -> list[Piece]:
        # The token as one word or, if it is unknown, as the words between its hyphens.
        token, language = at.text, self._vectors.language
        entry, name = self._known(token, first), not first and surface.has_name_capital(token, language)
        if entry is None and "-" in token and (len(token) > 3 or not token.isupper()):  # not A-B
            parts = [
                Piece(part, self._known(part, first), first, name, WrittenToken(part, "", part))
                for part in token.split("-")
            ]
            # Groß-/Kleinschreibung, „ninja“-Datei, and -Oui of a dialogue; but not an option -list.
            opens = token[0] != "-" or not at.before or (first and token[1:2].isupper())
            if opens and all(part.entry or not part.token for part in parts):
                parts[0] = parts[0]._replace(at=parts[0].at._replace(before=at.before))
                return [piece for part in parts for piece in (_JOINT, part)][1:]
        return [Piece(token, self._new(token, first) if entry is None else entry, first, name, at)]

    def _known(self, token: str, first: bool) -> str | None:
        index = self._vectors.index
        found = [form for form in surface.forms(token, self._vectors.language) if form in index]
        # Capitals that the place requires are no evidence: take the more frequent form.
        if first or token.isupper():
            found.sort(key=lambda form: index[form])
        found = found or [form for form in (token, token.lower()) if form in self._table]
        if not found and len(token) > 2 and token.isupper() and (form := self._unaccented.get(plain(token))):
            found = [form]
        if found or (token.isascii() and not _SPELLED_OTHERWISE.search(token)):
            return found[0] if found else None
        if token not in self._respelled:
            rows = [index.lookup_row(form) for form in surface.forms(token, self._vectors.language)]
            self._respelled[token] = next((index.words[row] for row in rows if row is not None), None)
        return self._respelled[token]

    @cached_property
    def _unaccented(self) -> dict[str, str]:
        # Words with accents, which capitals in Greek never have and those in French often lack.
        accented = (word for word in reversed(self._vectors.words) if not word.isascii())
        return {bare: word for word in accented if (bare := plain(word)) != word}

    def _new(self, token: str, first: bool) -> str | None:
        # A capital inside a sentence marks a name, a point an abbreviation: n-grams would make words of them.
        if self._new_words is None or (token[0].isupper() and not first) or "." in token:
            return None
        known = reversed(surface.forms(token, self._vectors.language))
        return next((form for form in known if self._new_words.has(form)), None)


def is_letter_name(token: str, last: str, language: str) -> bool:
    """Whether a token amid a sentence is a letter's name, behind the `last` word, or a Roman number.

    >>> is_letter_name("B", "Plan", "fr"), is_letter_name("A", "le", "fr"), is_letter_name("A", "Of", "en")
    (True, True, False)
    >>> is_letter_name("XIV", "Louis", "fr"), is_letter_name("TOM", "et", "fr")
    (True, False)
    """
    if _ROMAN.fullmatch(token):
        return True
    if len(token) != 1 or not token.isupper() or surface.is_always_capital(token, language):
        return False
    return token in _NO_WORDS or (token.isascii() and last.islower())


def has_digit(token: str) -> bool:
    """Whether a token has a digit: it is a number, a date or a code, and is copied."""
    return any(map(str.isdecimal, token))


def _long_names_copied(pieces: Sequence[Piece]) -> Iterator[Piece]:
    # Red Bull, Star Wars: capitals side by side, whose words are not meant; and M. Roi.
    before = ""
    for name, run in groupby(pieces, key=lambda piece: piece.name):
        several = list(run)
        copied = name and (len(several) > 1 or before.removesuffix(".") in TITLES)
        yield from (piece._replace(entry=None) if copied else piece for piece in several)
        before = next((piece.token for piece in reversed(several) if piece.token != "."), before)


class Options(NamedTuple):
    """The k translations of one word or phrase, best first, and their scores (k,)."""

    words: Sequence[str]
    scores: Logs


def best_path(options: Sequence[Options], model: LanguageModel, *, weight: float, beam: int) -> list[int]:
    """The index of the best option at each place, by beam search.

    They maximise the sum of score(x_i, y_i) + weight log p(y_i | y_1 .. y_i-1) over the sequence y with <s>
    and </s> around it, approximately, with `beam` sequences kept (Kim, Geng & Ney, 2018, section 3.1).
    """
    states, totals = model.start(), np.zeros(1, np.float32)  # (b, n - 1), (b,)
    taken = []
    for option in options:
        step = _steps(model, states, option.words)
        total = (totals[:, None] + option.scores + weight * step.log_p).ravel()  # (b k,)
        kept = np.argsort(-total, kind="stable")[:beam]
        histories, choices = np.divmod(kept, len(option.words))
        taken.append((histories, choices))
        states, totals = step.states[histories, choices], total[kept]
    end = np.full((len(states), 1), model.index[END])
    best = int(np.argmax(totals + weight * model.step(states, end).log_p[:, 0]))
    path = []
    for histories, choices in reversed(taken):
        path.append(int(choices[best]))
        best = int(histories[best])
    return path[::-1]


def _steps(model: LanguageModel, states: Ids, options: Sequence[str]) -> Step:
    """The step of k options, each of one token or of several with spaces, after the states (b, n - 1)."""
    tokens = [option.split(" ") for option in options]
    first = model.ids([of[0] for of in tokens])
    log_p, after = model.step(states, np.broadcast_to(first, (len(states), len(options))))
    for place in range(1, max(map(len, tokens))):
        longer = [number for number, of in enumerate(tokens) if len(of) > place]
        before = after[:, longer].reshape(-1, after.shape[2])
        words = np.tile(model.ids([tokens[number][place] for number in longer]), len(states))
        step = model.step(before, words[:, None])
        log_p[:, longer] += step.log_p.reshape(len(states), -1)
        after[:, longer] = step.states.reshape(len(states), len(longer), -1)
    return Step(log_p, after)


def check_script(lines: Sequence[str], vectors: Vectors) -> bool:
    """Whether any letter of the lines is of a script of the vocabulary; of a few letters that are not, warn.

    Raise BadSetting if many letters are not.

    >>> import numpy as np
    >>> check_script(["Bonjour !"], Vectors("fr", ["chat"], np.zeros((1, 1), np.float32)))
    True
    """
    found = _scripts(lines)
    known = _scripts(vectors.words[:_SCRIPT_WORDS])
    expected = [name for name, count in known.most_common() if count >= _SCRIPT_SHARE * known.total()]
    if found and expected and not set(found) & set(expected):
        message = (
            f"the words of {vectors.language} are in {_joined_names(expected)} script, got text in "
            f"{_joined_names([name for name, _ in found.most_common()])}; check --src"
        )
        if found.total() >= _FEW_LETTERS:
            raise BadSetting(message)
        log.warning("%s", message)
        return False
    return bool(found)


def _scripts(texts: Iterable[str]) -> Counter[str]:
    return Counter(name for text in texts for letter in text if (name := _script(letter)))


@lru_cache(maxsize=1 << 16)
def _script(letter: str) -> str:
    # Python has no property for scripts, but the name of a letter starts with it: LATIN SMALL LETTER A.
    return unicodedata.name(letter, "").split(" ")[0] if letter.isalpha() else ""


def _joined_names(scripts: Sequence[str]) -> str:
    return " and ".join(name.capitalize() for name in scripts[:3])


@dataclass(frozen=True)
class TextConfig:
    """How text is translated.

    With a language model, `top` translations of a word are compared and `beam` sentences kept; a nat of the
    model counts as much as `weight` points of CSLS (default from benchmarks/words/translation.py --tune).
    `Translator.choices` gives `top` translations of a word, with a model or without. Terms are
    translated as the `glossary` says, and a word is copied if no translation has a probability of
    `min_probability`.
    """

    retrieval: Retrieval = Retrieval()
    top: int = 10
    beam: int = 10
    weight: float = 0.06
    min_probability: float = 0.0
    glossary: Lexicon | None = None

    def __post_init__(self) -> None:
        for name, value in (("--top", self.top), ("--beam", self.beam)):
            if value < 1:
                raise BadSetting(f"{name} must be at least 1, got {value}")
        if not 0 <= self.min_probability <= 1:
            raise BadSetting(f"--min-probability must be from 0 to 1, got {self.min_probability}")
        if not 0 <= self.weight < float("inf"):
            raise BadSetting(f"--lm-weight must be a finite number, at least 0, got {self.weight}")


class Choice(NamedTuple):
    """A token of a line, or several, or part of one, the entry looked up (`form`), and its translations.

    `kept`: the text has the token itself, as a name, a number, a sign, or a word without translations.
    """

    token: str
    form: str | None
    kept: bool
    options: tuple[Translation, ...]


@dataclass
class WordCounts:
    """The number of words so far, and of those that were copied: names, and words without a vector.

    `unknown` counts words without a vector that do not look like names, `doubtful` those that were copied
    since no translation was probable enough, and `terms` those of a glossary, each as one word.
    """

    words: int = 0
    copied: int = 0
    unknown: int = 0
    doubtful: int = 0
    terms: int = 0


def sure_units(space: Space, source: str, target: str) -> Sequence[str]:
    """The units of the source whose first answer is at least as probable as those of their words together.

    Where words are ranked by CSLS, whose answers to units have no probabilities of their own, they are all.
    """
    units, vectors, table = space.units(source), space.vectors(source), space.answers(source, target)
    if not units or table is None:
        return units
    first = np.pad(table.padded(np.arange(len(table)))[2], ((0, 0), (0, 1)))[:, 0]  # 0 where there is none

    def together(unit: str) -> float:
        entries = (lookup_entry(word, vectors) for word in unit_parts(unit))
        return math.prod(0.0 if entry is None else float(first[vectors.index[entry]]) for entry in entries)

    return [unit for unit in units if first[vectors.index[unit]] >= together(unit)]


def _of_probabilities(shares: Sequence[float]) -> Logs:
    """The scores (k,) of translations of these probabilities, on the scale of CSLS."""
    return np.asarray(NAT * np.log(np.maximum(shares, LEAST_SHARE)), np.float32)


class Translator:
    """Translates lines of one language into another; caches the translations of words."""

    def __init__(
        self,
        space: Space,
        *,
        source: str | None = None,
        target: str | None = None,
        model: LanguageModel | None = None,
        new_words: NewWords | None = None,
        phrases: PhraseOptions | None = None,
        config: TextConfig | None = None,
    ) -> None:
        self.source, self.target = space.direction(source, target)
        self.counts = WordCounts()
        self._space, self._model, self._new_words = space, model, new_words
        self.config = config or TextConfig()
        known = space.vectors(self.source).index
        self._tokeniser = Tokeniser(self.source, known)
        targets = space.vectors(self.target).words
        self._joiner, self._phrases = Tokeniser(self.target), Phrases(targets, (), space.units(self.target))
        self._table = phrases or {}
        glossary = self.config.glossary
        terms = None if glossary is None else Glossary(glossary, self.source, known)
        own = Phrases(
            space.single_words(self.source).words, self._table, sure_units(space, self.source, self.target)
        )
        self._reader = TextReader(space.vectors(self.source), new_words, self._table, terms, own)
        self._options: dict[str, Options] = {}
        self._doubtful: set[str] = set()  # entries whose best translation is less probable than PROBABLE
        self._untranslated: set[str | None] = set()  # entries without a translation that is probable enough
        self._doubted: list[str] | None = []  # the first lines, until one is in a known script

    def translate(self, lines: Sequence[str], opened: OpenSpan | None = None) -> list[str]:
        """The translated lines of a text, with the white space around them.

        `opened` is what earlier lines of the text leave open, such as code. BadSetting if the first lines are
        in another script, or these are no lines.
        """
        lines = all_strings(lines, "lines")
        opened = OpenSpan() if opened is None else opened
        if self._doubted is not None:
            first = [line for line in (*self._doubted, *lines) if any(map(str.isalpha, line))]
            self._doubted = None if check_script(first, self._space.vectors(self.source)) else first
        written = [written_line(self._tokeniser, line, opened) for line in lines]
        pieces = [self._reader.read(tokens) for tokens, _ in written]
        entries = {piece.entry for line in pieces for piece in line if piece.entry is not None}
        self._look_up(sorted(entries - self._options.keys()))
        for piece in (piece for line in pieces for piece in line if piece.is_word):
            self.counts.words += 1
            self.counts.copied += self._is_kept(piece)
            self.counts.unknown += piece.entry is None and not (piece.name or piece.term.translations)
            self.counts.doubtful += piece.entry in self._untranslated
            self.counts.terms += bool(piece.term.translations)
        return [self._line(line) + end for line, (_, end) in zip(pieces, written, strict=True)]

    def terms(self, terms: Sequence[str]) -> dict[str, Translation]:
        """The terms of which a word is known, translated word by word, with the score of the weakest word."""
        read = {term: self._reader.read(written_tokens(self._tokeniser, term)) for term in terms}
        found = self._look_up(
            sorted({piece.entry for pieces in read.values() for piece in pieces if piece.entry})
        )
        firsts = {
            term: [best[0] for one in pieces if (best := found.get(one.entry or "") or self._listed(one))]
            for term, pieces in read.items()
        }
        known = {term: min(some, key=lambda one: one.score) for term, some in firsts.items() if some}
        made = zip(self.translate([*known]), known.items(), strict=True)
        return {
            term: Translation(line, least.score, None if least.probability is None else WORD_BY_WORD)
            for line, (term, least) in made
        }  # fmt: skip

    def _listed(self, piece: Piece) -> list[Translation]:
        """The best translation of a piece by the phrase table, whose share is its score; none without one."""
        of_table = self._table.get(piece.entry or "", ())
        return [Translation(word, share, share) for word, share in of_table[:1]]

    def alternatives(self, lines: Sequence[str], count: int) -> list[list[str]]:
        """Up to `count` other translations of lines, in which one word is translated otherwise, best first.

        They are ordered by what the other translation is less probable, or scores less where none is known.
        """
        opened, found = OpenSpan(), dict[tuple[str, ...], float]()
        written = [written_line(self._tokeniser, line, opened) for line in lines]
        read = [self._reader.read(tokens) for tokens, _ in written]
        answers = self._look_up(list(dict.fromkeys(one.entry for line in read for one in line if one.entry)))
        whole = [self._line(line) + end for line, (_, end) in zip(read, written, strict=True)]
        for number, line in enumerate(read):
            for place, piece in enumerate(line):
                best = () if self._is_kept(piece) else answers.get(piece.entry or "", ())[: count + 1]
                for other in best[1:]:
                    loss = best[0].score - other.score
                    if best[0].probability is not None and other.probability is not None:
                        loss = best[0].probability - other.probability
                    text = self._line(line, {place: self._in_text(other.target)}) + written[number][1]
                    found.setdefault((*whole[:number], text, *whole[number + 1 :]), loss)
        found.pop(tuple(whole), None)
        return [list(text) for text in sorted(found, key=lambda text: found[text])[:count]]

    def choices(self, line: str) -> list[Choice]:
        """The tokens of a line, each with its alternative translations, capitalised as required."""
        pieces = self._reader.read(written_tokens(self._tokeniser, line))
        entries = list(dict.fromkeys(piece.entry for piece in pieces if piece.entry is not None))
        found = self._look_up(entries, mutual=True)
        all_caps = surface.is_all_caps([piece.token for piece in pieces])
        return [
            self._choice(piece, piece.term.as_translations or found.get(piece.entry or "", ()), all_caps)
            for piece in pieces
        ]

    def _choice(self, piece: Piece, found: Sequence[Translation], all_caps: bool) -> Choice:
        written: dict[str, Translation] = {}
        for one in found:
            word = one.target if piece.term.translations else self._in_text(one.target)
            word = self._cased(word, piece, all_caps)
            written.setdefault(word, one.of_target(word))
        token = "-" if piece.token == HYPHEN else piece.token
        return Choice(token, piece.entry, self._is_kept(piece), tuple(written.values()))

    def _in_text(self, entry: str) -> str:
        word = surface.in_text(self._phrases.in_text(entry), self.target)
        return word if self._model is None else self._model.cased.get(word, word)

    def _look_up(self, entries: Sequence[str], *, mutual: bool = False) -> dict[str, list[Translation]]:
        """The best translations of entries, of which what a text needs is cached."""
        if len(self._options) > CACHED:
            for cache in (self._options, self._doubtful, self._untranslated):
                cache.clear()
        kept, least = 1 if self._model is None else self.config.top, self.config.min_probability
        for entry in entries:
            if entry in self._table:
                words, shares = zip(*self._table[entry][:kept], strict=True)
                known = sum(share >= least for share in shares)  # the most probable ones
                self._cache(entry, Options(words[:known], _of_probabilities(shares[:known])))
                if shares[0] < PROBABLE:
                    self._doubtful.add(entry)
        entries = [entry for entry in entries if entry not in self._table]
        if not entries:
            return {}
        config, direction = self.config, (self.source, self.target)
        ranker = ranker_for(
            self._space, entries, direction, top=config.top, retrieval=config.retrieval,
            new_words=self._new_words,
        )  # fmt: skip
        rows = rows_of(self._space, self.source, entries, self._new_words)
        found = ranker.translations(rows, mutual=mutual)
        for entry, best in found.items():
            if not best:  # a row of zeros: the word is copied
                self._options[entry] = Options([entry], _COPIED)
                continue
            probable = probable_ones(best[:kept], least)
            surfaces = [self._in_text(one.target) for one in probable]
            self._cache(entry, Options(surfaces, self._scores(ranker, entry, probable)))
            if (probability := best[0].probability) is not None and probability < PROBABLE:
                self._doubtful.add(entry)  # whether names are kept depends on it
        return found

    def _cache(self, entry: str, options: Options) -> None:
        if not options.words:
            self._untranslated.add(entry)
        self._options[entry] = options

    def _scores(self, ranker: Ranker, entry: str, best: Sequence[Translation]) -> Logs:
        """The scores (k,) of an entry's translations, on the scale of CSLS, as the beam search adds them."""
        if ranker.table is not None and entry in self._space.vectors(self.source).index:
            return _of_probabilities([one.probability or 0.0 for one in best])
        scale = 1.0 if self.config.retrieval.method == "csls" else 2.0  # CSLS has twice a cosine's scale
        return np.array([scale * one.score for one in best], dtype=np.float32)

    def _is_kept(self, piece: Piece) -> bool:
        # The vectors of names are close to those of other names: a name that the target language knows is
        # copied, and so is one that it does not know if its best translation is doubtful.
        if piece.term.translations or piece.entry is None:
            return not piece.term.translations
        if not piece.name or piece.entry in self._untranslated:
            return piece.entry in self._untranslated
        index = self._space.vectors(self.target).index
        known = piece.token in index or piece.token.lower() in index
        return known or piece.entry in self._doubtful

    def _options_of(self, piece: Piece) -> Options:
        terms = piece.term.translations
        return Options(terms, np.zeros(len(terms), np.float32)) if terms else self._options[piece.entry or ""]

    def _line(self, pieces: Sequence[Piece], chosen_words: Mapping[int, str] | None = None) -> str:
        """The text of a line; `chosen_words` are the translations to take at some places."""
        kept = [self._is_kept(piece) for piece in pieces]
        options = [
            Options([piece.token], _COPIED) if copied else self._options_of(piece)
            for piece, copied in zip(pieces, kept, strict=True)
        ]
        for place, word in (chosen_words or {}).items():
            options[place] = Options([word], _COPIED)
        path = [0] * len(options)
        if self._model is not None:
            path = best_path(options, self._model, weight=self.config.weight, beam=self.config.beam)
        chosen = [option.words[place].split(" ") for option, place in zip(options, path, strict=True)]
        words = iter(surface.elide([word for several in chosen for word in several], self.target))
        all_caps = surface.is_all_caps([piece.token for piece in pieces])
        found = list[TranslatedToken]()
        for piece, copied, several in zip(pieces, kept, chosen, strict=True):
            elided = " ".join([next(words) for _ in several])
            # A copied piece is as it was, and a term as given, whatever elision would make of it.
            word = " ".join(several) if piece.term.translations else elided
            text = piece.at.written if copied else self._cased(word, piece, all_caps)
            for place, word in enumerate([text] if copied else text.split(" ")):
                at = piece.at._replace(before=" ") if place else piece.at
                found.append(TranslatedToken(word, at, copied))
        return joined_line(found, self._joiner, self._tokeniser.language)

    def _cased(self, word: str, piece: Piece, all_caps: bool) -> str:
        alone = not piece.first and surface.is_own_capital(piece.token, self.source, self.target)
        token = piece.token.lower() if alone and not all_caps else piece.token
        if piece.term.as_given:  # the capitals are its own, but for that of a sentence
            token = token[: piece.first]
        return surface.with_capitals(word, token, all_caps=all_caps)


def listed_words(
    space: Space, way: tuple[str, str], words: Sequence[str], retrieval: Retrieval, **advice: str
) -> tuple[frozenset[str], dict[str, Translation]]:
    """The entries of a list of words, and its terms of several words that are none, with their translations.

    A warning, with this `advice`, names an unknown word, UnknownWord is raised if all are (`known_entries`).
    """
    terms = [word for word in words if is_term(word, space.vectors(way[0]))]
    config = TextConfig(retrieval)
    made = Translator(space, source=way[0], target=way[1], config=config).terms(terms) if terms else {}
    others = [word for word in words if word not in made]
    return known_entries(space, way[0], others, **advice) if others else frozenset(), made
