"""Two texts, one a language, that share no sentence pair, cut from parallel text; and pairs held out."""

import gzip
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

Words = tuple[str, ...]
Pair = tuple[Words, Words]


@dataclass(frozen=True)
class Halves:
    """Sentences by language, pairs held out from both texts, and the words of each text."""

    texts: Mapping[str, Sequence[Words]]
    held_out: Sequence[Pair]
    words: Mapping[str, Sequence[str]]


def two_halves(
    path: Path, languages: tuple[str, str], *, longest: int, vocabulary: int, held_out: int,
    rng: np.random.Generator,
) -> Halves:  # fmt: skip
    """The first language's side of one half, the second's of the other, of short sentences of known words.

    A sentence is kept if it has at most `longest` words, all among the `vocabulary` most frequent ones of
    its language in its text. No sentence of one text has a translation, by any pair of the file, in the
    other text, and no held-out sentence occurs in either.
    """
    pairs = [pair for pair in _pairs(path) if all(0 < len(side) <= longest for side in pair)]
    pairs = [pairs[place] for place in rng.permutation(len(pairs))]
    first, second = pairs[: len(pairs) // 2], pairs[len(pairs) // 2 :]
    texts = (dict.fromkeys(x for x, _ in first), dict.fromkeys(y for _, y in second))
    words = [_frequent(text, vocabulary) for text in texts]
    known = [set(found) for found in words]
    kept = [[s for s in text if known[side].issuperset(s)] for side, text in enumerate(texts)]
    chosen = [pair for pair in pairs if all(known[side].issuperset(pair[side]) for side in (0, 1))]
    # Each source once: a sentence with ten translations in the file would count ten times.
    held = list({pair[0]: pair for pair in reversed(chosen)}.values())[-held_out:]
    left = _apart(kept, pairs, held)
    named = dict(zip(languages, left, strict=True))
    return Halves(named, held, dict(zip(languages, words, strict=True)))


def _pairs(path: Path) -> list[Pair]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        sides = (line.rstrip("\n").split("\t")[:2] for line in lines)
        return list(dict.fromkeys((_words(x), _words(y)) for x, y in sides))


def _words(sentence: str) -> Words:
    # As the vectors were made: lower case, no punctuation, l and eau of l'eau apart.
    return tuple(re.findall(r"\w+", sentence.lower()))


def _frequent(text: Iterable[Words], count: int) -> list[str]:
    counted = Counter(word for sentence in text for word in sentence)
    return sorted(counted, key=lambda word: (-counted[word], word))[:count]


def _apart(
    texts: Sequence[Sequence[Words]], pairs: Sequence[Pair], held: Sequence[Pair]
) -> list[list[Words]]:
    # What is held out goes from both texts, then from the second whatever translates the first.
    first = [s for s in texts[0] if s not in {x for x, _ in held}]
    there = set(first)
    banned = {y for _, y in held} | {y for x, y in pairs if x in there}
    return [first, [s for s in texts[1] if s not in banned]]
