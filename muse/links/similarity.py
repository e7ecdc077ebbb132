"""Similarities: how much more probable two words are beside each other, by a space, than by chance.

A word e of the source is translated by f with probability p(f) exp(CSLS(e, f) / T) / Z(e), where p(f) is how
frequent f is: by its rank in the space, as Zipf's law has it, and by the text. Z(e) is a sum over frequent
words f. Words that the space lacks are composed (`muse.space.new_words`); of others nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import scipy
import torch

from muse.errors import Mismatch
from muse.orthography import casefolded
from muse.ranking.lookup import lookup_entry
from muse.search.exact import nearest
from muse.space import Space
from muse.space.new_words import NewWords, own_new_words
from muse.vectors import Doubles, Matrix, Numbers

REFERENCE = 2_000  # the most probable words, over which Z is a sum
NGRAM_WORDS = 10_000  # the most frequent, whose n-grams make up for words that the space lacks
ZIPF = 20.0  # added to ranks
BY_RANK = 1_000.0  # words of text that frequencies by rank count for
HUBNESS_K = 10
SAME_STRING = 0.5  # the probability that words spelled alike are translations
Evidence = list[tuple[int, int, float]]  # a word of each side, by its number, and a probability


class WordNumbers:
    """The words of one language that were seen, by number, and what the space says of each.

    The most frequent words of the space come first. `rows` (n, d) are zeros and `hubness` (n,) is nan for
    what the space says nothing of; `entries` (n,) are rows of the space, -1 for other words; `shares` (n,)
    are frequencies by rank, and `counts` (n,) those in the text.
    """

    def __init__(self, space: Space, language: str, other: str) -> None:
        self._vectors = space.vectors(language)
        # The n-grams are learned when the first word needs them.
        self._new_words: Callable[[], NewWords] = lambda: space.once(
            "words of sentences", (language,), lambda: own_new_words(space, language, most=NGRAM_WORDS)
        )
        self._kept = space.hubness(language, other)  # None: found for the words that are seen
        self._others = space.tensor(other)
        ranks = np.append(np.arange(len(self._vectors)), len(self._vectors))
        self._zipf = 1 / (ranks + ZIPF) / (1 / (ranks + ZIPF)).sum()
        self.numbers, self.folded = dict[str, int](), dict[str, list[int]]()
        self.by_entry, self._new = dict[int, int](), list[str]()
        self.rows = np.zeros((0, self._vectors.dimension), np.float32)
        self.hubness, self.shares, self.counts = np.zeros(0, np.float32), np.zeros(0), np.zeros(0)
        self.entries = np.zeros(0, np.int64)
        self.of(self._vectors.words[:REFERENCE])

    def restart(self, words: Sequence[str]) -> None:
        """Forget all words but these, which are numbered in their order."""
        for known in (self.numbers, self.folded, self.by_entry, self._new):
            known.clear()
        self.rows, self.entries = self.rows[:0], self.entries[:0]
        self.hubness, self.shares, self.counts = self.hubness[:0], self.shares[:0], self.counts[:0]
        self.of(words)

    def of(self, tokens: Sequence[str]) -> list[int]:
        """The numbers of tokens; rows of new ones are found before they are used."""
        found = []
        for token in tokens:
            number = self.numbers.get(token)
            if number is None:
                number = self.numbers[token] = len(self.numbers)
                self._new.append(token)
            found.append(number)
        return found

    def settle(self) -> Numbers:
        """The numbers of the words that are new since the last time, whose rows are known from now on."""
        first, new = len(self.rows), self._new
        if not new:
            return np.zeros(0, np.int64)
        self._new = []
        names = [lookup_entry(word, self._vectors) for word in new]
        entries = np.array([-1 if one is None else self._vectors.index[one] for one in names])
        rows = np.zeros((len(new), self._vectors.dimension), np.float32)
        hubness = np.full(len(new), np.nan, np.float32)
        known = np.flatnonzero(entries >= 0)
        rows[known] = self._vectors.matrix[entries[known]]
        lacking = [place for place in np.flatnonzero(entries < 0).tolist() if _is_word(new[place])]
        composed = [place for place in lacking if self._is_composed(new[place].lower())]
        if composed:
            rows[composed] = self._new_words().rows([new[place].lower() for place in composed])
        asked = np.array([*known, *composed] if self._kept is None else composed, np.int64)
        if self._kept is not None:
            hubness[known] = self._kept[entries[known]].cpu().numpy()
        if len(asked):
            queries = torch.from_numpy(rows[asked]).to(self._others)
            near = nearest(queries, self._others, min(HUBNESS_K, len(self._others)))
            hubness[asked] = near.scores.mean(dim=1).cpu().numpy()
        shares = self._zipf[np.where(entries < 0, len(self._vectors), entries)]
        added = ("rows", rows), ("hubness", hubness), ("entries", entries), ("shares", shares)
        for name, values in (*added, ("counts", np.zeros(len(new)))):
            setattr(self, name, np.concatenate([getattr(self, name), values]))
        for number, (word, entry) in enumerate(zip(new, entries.tolist(), strict=True), first):
            self.folded.setdefault(casefolded(word), []).append(number)
            if entry >= 0:
                self.by_entry.setdefault(entry, number)
        return np.arange(first, len(self.rows))

    def _is_composed(self, word: str) -> bool:
        try:
            return self._new_words().has(word)
        except Mismatch:  # the space has too few words for n-grams
            return False

    def probabilities(self) -> Doubles:
        """How frequent each word is (n,), by its rank and by the text."""
        found = (self.counts + BY_RANK * self.shares) / (self.counts.sum() + BY_RANK)
        return np.asarray(found)


def _is_word(token: str) -> bool:
    return token.isalpha() or any(map(str.isalpha, token)) and not any(map(str.isdigit, token))


class Similarities:
    """Similarities of the words of two languages of a space, in the `direction`, at a `temperature`.

    Pairs of a user's `dictionary` are evidence, as the answers of the space and equal strings are.
    """

    def __init__(
        self, space: Space, direction: tuple[str, str], dictionary: Sequence[tuple[str, str]] = ()
    ) -> None:
        self.sides = WordNumbers(space, *direction), WordNumbers(space, *direction[::-1])
        self.temperature = 0.15  # replaced by the likeliest, where there is text
        self._answers = _answers(space, direction)
        self._pairs: tuple[dict[str, list[str]], dict[str, list[str]]] = ({}, {})
        for pair in dictionary:
            one, two = map(casefolded, pair)
            self._pairs[0].setdefault(one, []).append(two)
            self._pairs[1].setdefault(two, []).append(one)
        self._z = [np.zeros(0), np.zeros(0)]
        self._reference: list[tuple[Matrix, Matrix, Doubles]] = []

    def settle(self) -> tuple[Evidence, Evidence]:
        """What is said of pairs of which one word is new: by the space or strings, and by the user."""
        new = [side.settle() for side in self.sides]
        said, given = Evidence(), Evidence()
        before = [
            int(numbers[0]) if len(numbers) else len(side.rows)
            for numbers, side in zip(new, self.sides, strict=True)
        ]
        names = [
            list(side.numbers) if len(numbers) else [] for numbers, side in zip(new, self.sides, strict=True)
        ]
        for side, numbers in enumerate(new):
            other = self.sides[1 - side]
            for number in numbers.tolist():
                # A pair of two new words is found from the source.
                limit = before[0] if side else len(other.rows)
                folded = casefolded(names[side][number])
                found = {two: SAME_STRING for two in other.folded.get(folded, ())}
                entry = int(self.sides[side].entries[number])
                if entry >= 0 and self._answers is not None:
                    table = self._answers[side]
                    row = slice(*table.indptr[entry : entry + 2].tolist())
                    listed = zip(table.indices[row].tolist(), table.data[row].tolist(), strict=True)
                    for target, share in listed:
                        if (two := other.by_entry.get(target)) is not None:
                            found[two] = max(share, found.get(two, 0))
                said += _pairs_below(limit, number, found, side)
                meant = (
                    two for name in self._pairs[side].get(folded, ()) for two in other.folded.get(name, ())
                )
                given += _pairs_below(limit, number, dict.fromkeys(meant, 1.0), side)
        return said, given

    def refer(self) -> None:
        """Take the words that are now the most frequent for Z."""
        self._reference = []
        for side in self.sides:
            shares, known = side.probabilities(), np.flatnonzero(~np.isnan(side.hubness))
            most = known[np.argsort(-shares[known], kind="stable")[:REFERENCE]]
            self._reference.append((side.rows[most], side.hubness[most], shares[most] / shares[most].sum()))
        self._z = [np.zeros(0), np.zeros(0)]

    def csls(self, source: Numbers, target: Numbers) -> Matrix:
        """The CSLS (s, t) of words by their numbers (s,) and (t,); nan where a word is unknown."""
        one, two = self.sides
        found = 2 * (one.rows[source] @ two.rows[target].T)
        return np.asarray(found - one.hubness[source, None] - two.hubness[target])

    def log_sums(self, side: int) -> Doubles:
        """The log of Z (n,) of all words of a side, at this temperature."""
        if not self._reference:
            self.refer()
        own, (rows, hubness, shares) = self.sides[side], self._reference[1 - side]
        first = len(self._z[side])
        found = [self._z[side]]
        for begin in range(first, len(own.rows), REFERENCE):
            near = 2 * (own.rows[begin : begin + REFERENCE] @ rows.T) - hubness
            near -= own.hubness[begin : begin + REFERENCE, None]
            found.append(np.log(np.exp(near / self.temperature) @ shares))
        self._z[side] = np.concatenate(found)
        return self._z[side]

    def at(self, temperature: float) -> None:
        """Use another temperature from now on."""
        self.temperature, self._z = temperature, [np.zeros(0), np.zeros(0)]


def _pairs_below(limit: int, number: int, found: Mapping[int, float], side: int) -> Evidence:
    """The pairs of a word of a `side` and words of the other one below the limit, the source first."""
    kept = ((two, share) for two, share in found.items() if two < limit)
    return [(two, number, share) if side else (number, two, share) for two, share in kept]


def _answers(space: Space, direction: tuple[str, str]) -> tuple[scipy.sparse.csr_matrix, ...] | None:
    """The probabilities (n, m) of the answers of both directions, the higher one, and the same (m, n)."""
    counts = [len(space.vectors(language)) for language in direction]
    found = scipy.sparse.csr_matrix(tuple(counts), dtype=np.float32)
    for way in (direction, direction[::-1]):
        if (table := space.answers(*way)) is None:
            return None
        shape = len(table), counts[1] if way == direction else counts[0]
        made = scipy.sparse.csr_matrix((table.probability, table.columns, table.pointers), shape)
        found = found.maximum(made if way == direction else made.T.tocsr())
    return found.tocsr(), found.T.tocsr()
