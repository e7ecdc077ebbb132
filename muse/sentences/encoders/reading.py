"""Reading: sentences to ids, with counts of unknown tokens and truncated sentences.

It handles truncation, the marking of unknown tokens and the joining of blocks, for words and pieces alike.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from threading import Lock
from typing import Protocol
from unicodedata import normalize

import numpy as np
import torch
from numpy.typing import NDArray

from muse.orthography import lowercase
from muse.sentences.encoders.ragged import Ragged
from muse.text.segmentation import Phrases
from muse.text.strings import check_each, check_strings
from muse.text.tokens import Tokeniser, next_part_kind

Ids = NDArray[np.int64]

SENTENCES = "sentences"
WORD, PIECE = "word", "word piece"  # what a token is
BLOCK = 2_048  # sentences read and pooled at once: their rows stay in the cache
REMEMBERED = 1 << 19  # parts of lines whose words are cached: about 100 MB


@dataclass(frozen=True, eq=False)
class Reading:
    """Sentences as the ids of their tokens, with counts of all tokens, unknown ones and truncated sentences.

    `unknown` tokens are left out, or keep their place with a special id. A token is a `unit`.
    """

    sentences: Ragged
    tokens: int
    unknown: int = 0
    truncated: int = 0
    unit: str = WORD

    @classmethod
    def of(cls, sequences: Sequence[Sequence[int]], unit: str = WORD) -> "Reading":
        """Sentences whose tokens all have an id."""
        sentences = Ragged.of(sequences)
        return cls(sentences, len(sentences.ids), unit=unit)

    @classmethod
    def joined(cls, parts: "Sequence[Reading]") -> "Reading":
        """The sentences of all parts (at least one), in order, with the sums of their counts."""
        sentences = Ragged.joined([part.sentences for part in parts])
        counts = [(part.tokens, part.unknown, part.truncated) for part in parts]
        tokens, unknown, truncated = map(sum, zip(*counts, strict=True))
        return cls(sentences, tokens, unknown, truncated, parts[0].unit)

    def __len__(self) -> int:
        return len(self.sentences)

    @property
    def known(self) -> int:
        """The number of tokens in the vocabulary."""
        return self.tokens - self.unknown

    @property
    def empty(self) -> int:
        """The number of sentences without a known token."""
        return int((self.sentences.lengths == 0).sum())

    def cut(self, longest: int) -> "Reading":
        """The sentences cut to at most their first `longest` ids; those cut count as truncated."""
        long = int((self.sentences.lengths > longest).sum())
        return replace(self, sentences=self.sentences.cut(longest), truncated=long) if long else self

    def without(self, unknown: int) -> "Reading":
        """The sentences without the id `unknown`, which is counted."""
        known = self.sentences.ids != unknown  # (t,)
        kept = self.sentences.keep(known)
        return replace(self, sentences=kept, unknown=len(known) - len(kept.ids))

    def marking(self, unknown: int) -> "Reading":
        """The sentences with the id `unknown` counted but kept in its place."""
        return replace(self, unknown=int((self.sentences.ids == unknown).sum()))


def blocks(sentences: Iterable[str]) -> Iterator[list[str]]:
    """The sentences, BLOCK at a time; BadSetting if they are no sentences, or one of them is no str."""
    check_sentences(sentences)
    rest = iter(sentences)
    done = 0
    while block := list(islice(rest, BLOCK)):
        check_each(block, SENTENCES, done)
        done += len(block)
        yield block


def all_sentences(sentences: Iterable[str]) -> list[str]:
    """All sentences, to be read more than once; BadSetting if one is no str (see blocks)."""
    return list(chain.from_iterable(blocks(sentences)))


def check_sentences(sentences: object) -> None:
    """Raise BadSetting unless these can be sentences; each is checked as it is read, by blocks."""
    check_strings(sentences, SENTENCES)


class Reader(Protocol):
    """A reader turns sentences of one language into ids."""

    def read(self, sentences: Iterable[str]) -> Reading:
        """The sentences as ids, in order."""


@dataclass(frozen=True, eq=False)
class Limited(Reader):
    """A reader that keeps at most the first `longest` tokens of a sentence."""

    reader: Reader
    longest: int

    def read(self, sentences: Iterable[str]) -> Reading:
        """The sentences as ids, in order, cut to `longest` tokens."""
        return self.reader.read(sentences).cut(self.longest)


class Vocabulary(Reader):
    """Reads the words of one language: tokens by Moses' rules, as written or else in lower case.

    The id of a word is its index in `index` plus `first`. Words without spaces between them, and entries of
    several words, are found by the vocabulary (`muse.text.segmentation`). `fallback` may give an id to a
    token that `index` lacks in both forms; `forget` is called once those ids are no longer needed.

    >>> reading = Vocabulary("en", {"cat": 0, "sat": 1}).read(["The cat sat.", ""])
    >>> reading.sentences.ids.tolist(), reading.sentences.offsets.tolist(), reading.unknown
    ([0, 1], [0, 2, 2], 2)
    """

    def __init__(
        self,
        language: str,
        index: Mapping[str, int],
        fallback: Callable[[str], int | None] | None = None,
        forget: Callable[[], None] | None = None,
        *,
        first: int = 0,
    ) -> None:
        self._index, self._first, self._fallback, self._forget = index, first, fallback, forget
        self._tokeniser, self._phrases, self._parts = (
            Tokeniser(language, index),
            Phrases(index),
            _Parts(self._ids),
        )
        self._lock = Lock()  # the threads of a server share one vocabulary

    def read(self, sentences: Iterable[str]) -> Reading:
        """The sentences as ids, in order."""
        lines = [sentence.split() for sentence in sentences]
        if self._phrases:
            lines = [self._phrases.joined(line) for line in lines]
        parts = list(chain.from_iterable(lines))
        sizes = np.fromiter(map(len, lines), np.int64, len(lines))
        with self._lock:
            if len(self._parts) > REMEMBERED:
                self._parts.forget()
                if self._forget is not None:
                    self._forget()
            numbers = np.fromiter(map(self._parts.__getitem__, parts), np.int64, len(parts))
            # How a full stop inside a line is tokenised depends on the next part: see Tokeniser.
            stops, ends = np.frombuffer(self._parts.stop or b"", np.bool_)[numbers], np.cumsum(sizes)
            stops[ends[ends > 0] - 1] = False
            for place in np.flatnonzero(stops).tolist():
                part = parts[place]
                numbers[place] = self._parts[f"{part} {next_part_kind(part, parts[place + 1])}"]
            return self._parts.reading(numbers, sizes)

    def _ids(self, part: str) -> list[int | None]:
        alone, _, follows = part.partition(" ")
        entry = self._phrases.entries.get(alone)
        return list(map(self._id, self._tokeniser.part_tokens(alone, follows) if entry is None else [entry]))

    def _id(self, token: str) -> int | None:
        row = self._index.get(token)
        if row is None:
            row = self._index.get(lowercase(token, self._tokeniser.language))
        if row is None:  # of a vocabulary in lower case as in English
            row = self._index.get(token.lower())
        if row is None and self._fallback is not None:
            row = self._fallback(normalize("NFC", token))  # one row for a word, whatever its form
        return None if row is None else row + self._first


class _Parts(dict[str, int]):
    """A cache of the parts of lines between spaces: the number of each part, and the ids of its words.

    The key of a part that ends in a full stop inside a line also holds the kind of the next part, after a
    space, which no part contains. Not a tuple: where all keys are str, reading is a fifth faster.
    """

    def __init__(self, ids: Callable[[str], list[int | None]]) -> None:
        super().__init__()
        self._ids = ids
        self.forget()

    def forget(self) -> None:
        """Empties the cache."""
        self.clear()
        self._rows = array("q")  # the ids of the words of all parts, end to end
        self._ends = array("q", [0])  # the ids of part i are _rows[_ends[i] : _ends[i + 1]]
        self._unknown = array("q")  # the number of tokens of each part that have no id
        self.stop = array("b")  # whether each part ends in a full stop

    def __missing__(self, part: str) -> int:
        ids = self._ids(part)
        known = [one for one in ids if one is not None]
        self._rows.extend(known)
        self._ends.append(len(self._rows))
        self._unknown.append(len(ids) - len(known))
        self.stop.append(part.partition(" ")[0].endswith("."))
        self[part] = number = len(self.stop) - 1
        return number

    def reading(self, numbers: Ids, sizes: Ids) -> Reading:
        """The ids of s sentences, made of the parts with these numbers (p,), `sizes` (s,) of them each."""
        offsets = np.zeros(len(sizes) + 1, np.int64)
        if not len(numbers):
            return Reading(Ragged(torch.zeros(0, dtype=torch.long), torch.from_numpy(offsets)), 0)
        rows, ends = (np.frombuffer(numbers, np.int64) for numbers in (self._rows, self._ends))
        counts = (ends[1:] - ends[:-1])[numbers]  # (p,)
        after = np.cumsum(counts)  # (p,)
        # The positions in `rows` of the ids of all parts, as one array of consecutive runs.
        places = np.repeat(ends[numbers] - (after - counts), counts) + np.arange(after[-1])
        offsets[1:] = np.insert(after, 0, 0)[np.cumsum(sizes)]
        sentences = Ragged(torch.from_numpy(rows[places]), torch.from_numpy(offsets))
        unknown = int(np.frombuffer(self._unknown, np.int64)[numbers].sum())
        return Reading(sentences, len(sentences.ids) + unknown, unknown)
