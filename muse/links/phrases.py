"""Phrase pairs extracted from linked sentences (Koehn, Och & Marcu, 2003, section 3).

Two phrases are a pair if a link joins them, and no word of either is linked with a word outside the other.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from muse.export.phrases import NO_WORD, PhraseCounts
from muse.files.tables import BARS
from muse.links.links import Links, TokenPair
from muse.links.parallel import linked_text
from muse.space import Space
from muse.text.phrase_table import escaped
from muse.vectors import Vectors

LONGEST = 5  # words of a phrase
Span = tuple[int, int, int, int]  # begin and end of the source phrase, and of the target phrase


def consistent_spans(links: Links, lengths: tuple[int, int], longest: int = LONGEST) -> Iterator[Span]:
    """The phrase pairs of sentences of these lengths, of at most `longest` words a side.

    >>> list(consistent_spans(Links.of_shares({(0, 1): 1, (1, 0): 1}), (2, 2)))
    [(0, 1, 1, 2), (0, 2, 0, 2), (1, 2, 0, 1)]
    """
    (there, back), (s, t) = _partners(links, lengths), lengths
    for begin in range(s):
        low, high = t, -1  # the target words that are linked with the source phrase
        for end in range(begin + 1, min(s, begin + longest) + 1):
            low, high = min((low, *there[end - 1])), max((high, *there[end - 1]))
            if high - low >= longest:
                break
            linked = [place for word in range(low, high + 1) for place in back[word]]
            if not linked or min(linked) < begin or max(linked) >= end:
                continue
            # Words without a link beside the target phrase may belong to it.
            first = low
            while first >= 0 and high - first < longest and (first == low or not back[first]):
                last = high
                while last < t and last - first < longest and (last == high or not back[last]):
                    yield begin, end, first, last + 1
                    last += 1
                first -= 1


def count_phrases(
    texts: Iterable[tuple[TokenPair, Links]], vectors: tuple[Vectors, Vectors], longest: int = LONGEST
) -> PhraseCounts:
    """The phrases and links of tokenised sentences, in words as the vocabularies and Moses have them."""
    counted = PhraseCounts()
    for tokens, links in texts:
        source, target = (_words(side, of) for side, of in zip(tokens, vectors, strict=True))
        there, back = _partners(links, (len(source), len(target)))
        pairs = []
        for begin, end, first, last in consistent_spans(links, (len(source), len(target)), longest):
            inside = ((i, j) for i in range(begin, end) for j in there[i])
            alignment = " ".join(f"{i - begin}-{j - first}" for i, j in inside)
            pairs.append(BARS.join((" ".join(source[begin:end]), " ".join(target[first:last]), alignment)))
        words = [(source[i], target[j]) for i, j, _ in links]
        words += [(word, NO_WORD) for word, own in zip(source, there, strict=True) if not own]
        words += [(NO_WORD, word) for word, own in zip(target, back, strict=True) if not own]
        counted.add(pairs, words)
    return counted


def _partners(links: Links, lengths: tuple[int, int]) -> tuple[list[list[int]], list[list[int]]]:
    """The places that each word of either sentence is linked with."""
    there, back = ([list[int]() for _ in range(length)] for length in lengths)
    for i, j, _ in links:
        there[i].append(j)
        back[j].append(i)
    return there, back


def _words(tokens: Sequence[str], vectors: Vectors) -> list[str]:
    """The tokens as the vocabulary has them or, the first of a line, in lower case, escaped."""
    index, found = vectors.index, []
    for place, token in enumerate(tokens):
        known = sorted((one for one in {token, token.lower()} if one in index), key=index.__getitem__)
        if place:  # a capital inside a sentence is the word's own
            known.sort(key=token.__ne__)
        word = escaped(known[0] if known else token if place else token.lower())
        found.append(word.replace(" ", "_"))  # a tag may have spaces
    return found


def count_text(
    space: Space, direction: tuple[str, str], path: Path, *, longest: int = LONGEST
) -> PhraseCounts:
    """The phrases of the sentence pairs in a file, whose words are linked by the space."""
    vectors = space.vectors(direction[0]), space.vectors(direction[1])
    return count_phrases(linked_text(space, direction, path), vectors, longest)
