"""Lexicon: pairs of words that translate each other."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from textwrap import shorten
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadSetting, Mismatch
from muse.orthography import SEVERAL, casefolded
from muse.progress import printable
from muse.vectors import WordIndex, rows_of_repeated

Pair = tuple[str, str]
Find = Callable[[str], int | None]  # the row of a word, None without one


class Entry(NamedTuple):
    """One line of a dictionary; `rank` is the place among the word's translations, from 1.

    `forms` are the other forms of a word that stands for all of them. `frequency_rank` is the place of the
    source word in its vocabulary, from 1, the most frequent.
    """

    source: str
    target: str
    score: float | None
    rank: int
    probability: float | None = None
    forms: tuple[str, ...] = ()
    frequency_rank: int | None = None


class PairLine(NamedTuple):
    """A pair with its score and its probability, None where the file has none."""

    pair: Pair
    score: float | None = None
    probability: float | None = None


class RowPairs(NamedTuple):
    """Pairs of rows; how many pairs they replace whose ids several rows have, and how many were left out."""

    lexicon: "Lexicon"
    replaced: int = 0
    left_out: int = 0


SHOWN_PAIRS = 3  # pairs of a long dictionary
CASE_SHARE = 0.1  # the share of pairs in another case from which a user is warned
# The share of identical strings from which, and that of known pairs below which, pairs seem to be of other
# languages; of a large dictionary few are known in small vocabularies too, though it covers a share of both.
# Of fewer than LEAST_PAIRS nothing is said.
IDENTICAL_SHARE, KNOWN_SHARE, COVERED_SHARE, LEAST_PAIRS = 0.8, 0.25, 0.2, 20
# How often the translation of a known word is known: the share of the better known side, and for once of any
# word. Of lists of five languages with 1,000 to 30,000 words, these bounds spare all of the right languages
# that have LEAST_PAIRS known pairs, and 8 of 2,590 of others.
TRANSLATED_SHARE, LIKE_WORDS = 0.15, 1.4
# The warning, with what `Lexicon.doubt` says.
OTHER_LANGUAGES = "is the dictionary of %s and %s? %s; check its languages, and --max-vocab"


@dataclass(frozen=True)
class Lexicon:
    """Pairs (source word, target word) in order, either all with a score or none; likewise probabilities.

    A word may occur in several pairs: each is one of its translations.

    >>> lexicon = Lexicon((("cat", "chat"), ("cat", "matou")))
    >>> lexicon.indices({"cat": 7}, {"chat": 3})
    array([[7, 3]])
    """

    pairs: tuple[Pair, ...]
    scores: tuple[float, ...] | None = None
    probabilities: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        for name, numbers in (("score", self.scores), ("probability", self.probabilities)):
            if numbers is not None and len(numbers) != len(self.pairs):
                raise Mismatch(
                    f"a lexicon needs one {name} for each pair or none, got {len(numbers)} for "
                    f"{len(self.pairs)} pairs"
                )

    def __repr__(self) -> str:
        shown = ", ".join(" ".join(pair) for pair in self.pairs[:SHOWN_PAIRS])
        more = ", ..." if len(self) > SHOWN_PAIRS else ""
        return printable(f"Lexicon({len(self):,} pairs: {shown}{more})" if self.pairs else "Lexicon(0 pairs)")

    @property
    def weights(self) -> tuple[float, ...] | None:
        """How much each pair counts, 0 to 1: its probability, or its score if all scores are in that range.

        None if neither is known; CSLS scores are no weights.
        """
        if self.probabilities is not None:
            return self.probabilities
        if self.scores is not None and all(0 <= score <= 1 for score in self.scores):
            return self.scores
        return None

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    def __getitem__(self, place: int) -> Pair:
        return self.pairs[place]

    def indices(self, source_index: Mapping[str, int], target_index: Mapping[str, int]) -> NDArray[np.int64]:
        """The rows (p, 2) of the pairs that both indices cover, in order; `located` finds other spellings."""
        return self._rows_found_by(source_index.get, target_index.get)

    def located(self, source_index: WordIndex, target_index: WordIndex) -> NDArray[np.int64]:
        """The rows (p, 2) of the pairs that both indices have as they are, or spelled otherwise, in order.

        >>> Lexicon((("l'ami", "friend"),)).located(WordIndex(["l\u2019ami"]), WordIndex(["friend"]))
        array([[0, 0]])
        """
        return self._rows_found_by(source_index.lookup_row, target_index.lookup_row)

    def _rows_found_by(self, source: Find, target: Find) -> NDArray[np.int64]:
        covered = [
            (row, column)
            for one, other in self.pairs
            if (row := source(one)) is not None and (column := target(other)) is not None
        ]
        return np.array(covered, np.int64).reshape(-1, 2)

    def pairs_of_rows(self, source_index: WordIndex, target_index: WordIndex) -> RowPairs:
        """The pairs of rows where several rows have an id, such as the chunks of a document.

        If both ids of a pair have as many rows, the first belongs to the first, the second to the second, and
        so on; if not, nobody knows which rows belong together, and the pair is left out.

        >>> chunks = WordIndex(["a", "a #2", "b", "b #2"]), WordIndex(["A", "A #2", "B"])
        >>> Lexicon((("a", "A"), ("b", "B"))).pairs_of_rows(*chunks)
        RowPairs(lexicon=Lexicon(2 pairs: a A, a #2 A #2), replaced=1, left_out=1)
        """
        of_source, of_target = rows_of_repeated(source_index), rows_of_repeated(target_index)
        if not (of_source or of_target):
            return RowPairs(self)
        found, replaced, left_out = list[tuple[int, Pair]](), 0, 0
        for place, (source, target) in enumerate(self.pairs):
            own, other = of_source.get(source), of_target.get(target)
            if source not in source_index or target not in target_index or (own is None and other is None):
                found.append((place, (source, target)))
            elif own is None or other is None or len(own) != len(other):
                left_out += 1
            else:
                rows = zip(own, other, strict=True)
                found += [(place, (source_index.words[one], target_index.words[two])) for one, two in rows]
                replaced += 1
        scores, probabilities = (
            None if numbers is None else tuple(numbers[place] for place, _ in found)
            for numbers in (self.scores, self.probabilities)
        )
        return RowPairs(Lexicon(tuple(pair for _, pair in found), scores, probabilities), replaced, left_out)

    def respelled(self, source_index: WordIndex, target_index: WordIndex) -> Counter[str]:
        """How many pairs are known only in another spelling, by what differs (`muse.orthography.SPELLINGS`).

        >>> lexicon = Lexicon((("l'ami", "friend"), ("pa\u00adpa", "dad"), ("x", "dad")))
        >>> lexicon.respelled(WordIndex(["l\u2019ami", "papa"]), WordIndex(["friend", "dad"]))
        Counter({'apostrophes': 1, 'soft hyphens': 1})
        """
        counts = Counter[str]()
        for pair in self.pairs:
            sides = zip(pair, (source_index, target_index), strict=True)
            found = [index.respelled(word) for word, index in sides if word not in index]
            kinds = {one[1] for one in found if one is not None}
            if found and None not in found:
                counts[kinds.pop() if len(kinds) == 1 else SEVERAL] += 1
        return counts

    def reversed(self) -> "Lexicon":
        """The pairs and scores from target to source."""
        return Lexicon(
            tuple((target, source) for source, target in self.pairs), self.scores, self.probabilities
        )

    def looks_swapped(self, source_words: Container[str], target_words: Container[str]) -> bool:
        """Whether some pairs are known, but more than twice their number with the columns swapped."""
        return 0 < 2 * self.known(source_words, target_words) < self.known(target_words, source_words)

    def known(self, source_words: Container[str], target_words: Container[str]) -> int:
        """How many pairs have their first word among `source_words` and their second among `target_words`."""
        return sum(one in source_words and two in target_words for one, two in self.pairs)

    def known_in_any_case(self, source_words: Iterable[str], target_words: Iterable[str]) -> int:
        """How many pairs are known if words that differ in upper and lower case alone are one.

        >>> Lexicon((("Chat", "cat"), ("chien", "dog"))).known_in_any_case(["chat", "CHIEN"], ["Cat"])
        1
        """
        sources, targets = ({*map(casefolded, words)} for words in (source_words, target_words))
        return sum(casefolded(one) in sources and casefolded(two) in targets for one, two in self.pairs)

    def in_another_case(self, known: int, source_words: Iterable[str], target_words: Iterable[str]) -> int:
        """How many pairs beside the `known` ones differ from words in upper and lower case alone; 0 if few.

        Few are less than CASE_SHARE of all that are known in any case; so are all if less is unknown.
        """
        if len(self) - known < CASE_SHARE * len(self):
            return 0
        more = self.known_in_any_case(source_words, target_words) - known
        return more if more > 0 and more >= CASE_SHARE * (known + more) else 0

    def doubt(self, source_index: WordIndex, target_index: WordIndex) -> str:
        """Why the pairs seem to be of other languages than these two; "" if they do not.

        Nearly all are two identical strings, those without a letter apart; or few are known, though not
        because the vocabularies are small.

        >>> pairs = tuple((f"word{row}", f"word{row}") for row in range(40))
        >>> Lexicon(pairs).doubt(WordIndex(["word1", "mot"]), WordIndex(["word1", "wort"]))
        '100 % of its pairs are two identical strings and 2 % are known'
        """
        if len(self) < LEAST_PAIRS:
            return ""
        same = [casefolded(one) == casefolded(two) for one, two in self.pairs if any(map(str.isalpha, one))]
        identical = sum(same) / len(same) if len(same) >= LEAST_PAIRS else 0.0
        known = len(self.located(source_index, target_index)) / len(self)
        covered = [
            sum(index.lookup_row(word) is not None for word in {pair[side] for pair in self.pairs})
            / len(index)
            for side, index in enumerate((source_index, target_index))
        ]
        few = known < KNOWN_SHARE and min(covered) < COVERED_SHARE
        few = few and not self._is_of_like_words(source_index, target_index)
        if identical < IDENTICAL_SHARE and not few:
            return ""
        shares = f"{100 * identical:.0f} %", f"{100 * known:.0f} %"
        return f"{shares[0]} of its pairs are two identical strings and {shares[1]} are known"

    def _is_of_like_words(self, source_index: WordIndex, target_index: WordIndex) -> bool:
        """Whether the translation of a known word is known far more often than that of any word.

        In a small vocabulary few pairs are known, but words and their translations are about equally
        frequent. In another language the known words are chance. Identical strings are known in any.
        """
        pairs = [pair for pair in self.pairs if casefolded(pair[0]) != casefolded(pair[1])]
        own, other = (
            [pair[side] in index for pair in pairs] for side, index in enumerate((source_index, target_index))
        )
        both = sum(one and two for one, two in zip(own, other, strict=True))
        often = both * len(pairs) > LIKE_WORDS * sum(own) * sum(other)
        return both >= LEAST_PAIRS and both >= TRANSLATED_SHARE * max(sum(own), sum(other)) and often

    def translations(self) -> dict[str, frozenset[str]]:
        """Each source word with all its translations, in the order of first mention."""
        found: dict[str, set[str]] = {}
        for source, target in self.pairs:
            found.setdefault(source, set()).add(target)
        return {source: frozenset(targets) for source, targets in found.items()}


def spelling_note(counts: Counter[str]) -> str:
    """What a user should know of pairs that are known only in another spelling (`Lexicon.respelled`).

    >>> spelling_note(Counter({"vowel signs": 12}))
    '12 pairs differ in vowel signs alone'
    >>> spelling_note(Counter({"vowel signs": 12, "hamza": 1}))
    '13 pairs differ in spelling alone: 12 in vowel signs, 1 in hamza'
    """
    total = counts.total()
    which = next(iter(counts)) if len(counts) == 1 else "spelling"
    parts = ", ".join(f"{count:,} in {name}" for name, count in counts.most_common())
    return f"{total:,} pair{' differs' if total == 1 else 's differ'} in {which} alone" + (
        f": {parts}" if len(counts) > 1 else ""
    )


def lexicon_of(frame: Any) -> Lexicon:
    """The Lexicon in a DataFrame with the columns source and target.

    It has the scores and the probabilities of columns of these names in which none is missing.
    """
    missing = {"source", "target"} - set(frame.columns)
    if missing:
        raise Mismatch(
            f"a dictionary needs the columns source and target, got {list(frame.columns)}; rename them"
        )
    words = [frame[side].tolist() for side in ("source", "target")]
    for column in words:
        if not all(isinstance(word, str) and word for word in column):
            raise Mismatch("a dictionary needs a word in every row, got something else; drop those rows")
    return Lexicon(
        tuple(zip(*words, strict=True)), *(_numbers(frame, one) for one in ("score", "probability"))
    )


def _numbers(frame: Any, column: str) -> tuple[float, ...] | None:
    known = column in frame.columns and len(frame) and frame[column].notna().all()
    return tuple(float(number) for number in frame[column]) if known else None


def held_lexicon(given: Any) -> Lexicon:
    """The pairs in a Lexicon, a DataFrame, a dict, or pairs of words; BadSetting for anything else."""
    if isinstance(given, Lexicon):
        return given
    if hasattr(type(given), "columns"):
        named = {"source", "target"} & {*given.columns}
        unnamed = not named and len(given.columns) == 2 and hasattr(given, "set_axis")
        return lexicon_of(given.set_axis(["source", "target"], axis=1) if unnamed else given)
    listed = given.items() if isinstance(given, Mapping) else given
    pairs = list(listed) if isinstance(listed, Iterable) and not isinstance(listed, str) else []
    if not pairs or not all(
        isinstance(pair, tuple | list) and len(pair) == 2 and all(isinstance(word, str) for word in pair)
        for pair in pairs
    ):
        raise BadSetting(
            "a dictionary must be a file, a Lexicon, a DataFrame or pairs of words, got "
            f"{shorten(repr(given), 60)}; give [(word, translation), ...]"
        )
    return Lexicon(tuple((pair[0], pair[1]) for pair in pairs))
