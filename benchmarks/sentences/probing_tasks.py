"""The ten probing tasks of probing_text.py: what parsed sentences are asked.

sentlen    six classes of length in tokens
wc         which of 100 words is in it
depth      whether its tree is deeper than that of half of the sentences of the same length
top        the relations below the root, the 20 most frequent sequences
bshift     whether two neighbouring words were swapped
tense      whether the main verb is in the present or a past tense
subjnum    whether the subject is in the singular or in the plural
objnum     the same of the direct object
somo       whether a noun or verb was replaced by one that is as frequent beside its neighbours
coordinv   whether two coordinate clauses were exchanged
"""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from muse.sentences.evaluation.probing import content_probe, length_probe, order_probe

SEQUENCES = 20
FEWEST = 100  # sentences of a sequence of relations
CLOSE = 1.0  # natural logarithms of bigram counts differ by at most this
Sentence = Any  # of spaCy
Labelled = tuple[str, str, str]  # the sentence, its class, and what stands in one part only, if anything


class Parsed(NamedTuple):
    """Parsed sentences, and how often words and pairs of neighbours occur in all of the text."""

    sentences: Sequence[Sentence]
    after: dict[str, Counter[str]]
    before: dict[str, Counter[str]]


def text_of(sentence: Sentence) -> str:
    """The tokens of a sentence, with a space between."""
    return " ".join(token.text for token in sentence if not token.is_space)


def _drawn(make: Callable[..., Any], parsed: Parsed, drawn: random.Random) -> Iterator[Labelled]:
    rng = np.random.default_rng(drawn.getrandbits(32))
    probe = make([text_of(one) for one in parsed.sentences], "fr", 10**6, rng)
    for text, label in zip(probe.sentences, probe.labels, strict=True):
        yield text, str(label), ""


def _length(parsed: Parsed, drawn: random.Random) -> Iterator[Labelled]:
    return _drawn(length_probe, parsed, drawn)


def _content(parsed: Parsed, drawn: random.Random) -> Iterator[Labelled]:
    return _drawn(content_probe, parsed, drawn)


def _order(parsed: Parsed, drawn: random.Random) -> Iterator[Labelled]:
    return _drawn(order_probe, parsed, drawn)


def _depth(parsed: Parsed, drawn: random.Random) -> Iterator[Labelled]:
    by_length: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for one in parsed.sentences:
        deepest = max(len(list(token.ancestors)) for token in one)
        by_length[len(one)].append((deepest, text_of(one)))
    for found in by_length.values():
        middle = sorted(depth for depth, _ in found)[len(found) // 2]
        sides = [
            [text for depth, text in found if depth < middle],
            [text for depth, text in found if depth > middle],
        ]
        each = min(map(len, sides))
        for label, side in zip(("shallow", "deep"), sides, strict=True):
            yield from ((text, label, "") for text in drawn.sample(side, each))


def _top(parsed: Parsed, drawn: random.Random) -> Iterator[Labelled]:
    found = []
    for one in parsed.sentences:
        relations = [token.dep_ for token in (*one.root.lefts, one.root, *one.root.rights)]
        found.append((text_of(one), "_".join(relations)))
    usual = {
        name for name, count in Counter(name for _, name in found).most_common(SEQUENCES) if count >= FEWEST
    }
    yield from ((text, name, "") for text, name in found if name in usual)


def _tense(parsed: Parsed, drawn: random.Random) -> Iterator[Labelled]:
    for one in parsed.sentences:
        # Of a compound tense the auxiliary alone is finite: such sentences are left out.
        tense = one.root.morph.get("Tense") if "Fin" in one.root.morph.get("VerbForm") else []
        if one.root.pos_ == "VERB" and tense and tense[0] in ("Pres", "Past", "Imp"):
            yield text_of(one), "present" if tense[0] == "Pres" else "past", one.root.lemma_


def _subject(parsed: Parsed, drawn: random.Random) -> Iterator[Labelled]:
    return _number(parsed, "nsubj")


def _object(parsed: Parsed, drawn: random.Random) -> Iterator[Labelled]:
    return _number(parsed, "obj")


def _number(parsed: Parsed, relation: str) -> Iterator[Labelled]:
    for one in parsed.sentences:
        nouns = [token for token in one.root.children if token.dep_ == relation and token.pos_ == "NOUN"]
        if len(nouns) == 1 and (number := nouns[0].morph.get("Number")):
            yield text_of(one), number[0], nouns[0].lemma_


def _odd(parsed: Parsed, drawn: random.Random) -> Iterator[Labelled]:
    """Half of the sentences that have a word to replace are changed."""
    kinds: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for one in parsed.sentences:
        for token in one:
            kinds[token.lower_].add((token.pos_, str(token.morph)))
    for one in parsed.sentences:
        options = list(_replacements(one, parsed, kinds))
        if not options:
            continue
        place, word = options[drawn.randrange(len(options))]
        changed = drawn.random() < 0.5
        words = [word if changed and token.i == place else token.text for token in one if not token.is_space]
        yield " ".join(words), "changed" if changed else "original", ""


def _replacements(
    one: Sentence, parsed: Parsed, kinds: dict[str, set[tuple[str, str]]]
) -> Iterator[tuple[int, str]]:
    tokens = list(one)
    for left, token, right in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if token.pos_ not in ("NOUN", "VERB") or not token.is_lower:
            continue
        follows, precedes = parsed.after[left.lower_], parsed.before[right.lower_]
        known = follows[token.text], precedes[token.text]
        if min(known) < 2:  # noqa: PLR2004  # its own sentence apart, the pair was never seen
            continue
        for word in sorted(follows.keys() & precedes.keys()):
            counts = follows[word], precedes[word]
            alike = (token.pos_, str(token.morph)) in kinds[word] and word != token.text
            if alike and all(abs(math.log(a / b)) <= CLOSE for a, b in zip(counts, known, strict=True)):
                yield token.i, word


def _coordinate(parsed: Parsed, drawn: random.Random) -> Iterator[Labelled]:
    """Two clauses joined by a conjunction, of which half are exchanged."""
    for one in parsed.sentences:
        second = [token for token in one.root.children if token.dep_ == "conj" and token.pos_ == "VERB"]
        if len(second) != 1 or one.root.pos_ != "VERB":
            continue
        clause = sorted(second[0].subtree, key=lambda token: token.i)
        joint, last = clause[0], clause[-1]
        whole = joint.dep_ == "cc" and last.i - joint.i + 1 == len(clause)
        tokens = [token for token in one if not token.is_space]
        if not whole or last.i < tokens[-2].i or not _has_subject(second[0]):
            continue
        first = [token.text for token in tokens if token.i < joint.i]
        other = [token.text for token in clause[1:] if token.text not in ".!?"]
        comma = [first.pop()] if first[-1:] == [","] else []
        if not first or not other:
            continue
        if changed := drawn.random() < 0.5:
            first, other = [other[0].capitalize(), *other[1:]], [first[0].lower(), *first[1:]]
        text = " ".join([*first, *comma, joint.text, *other, tokens[-1].text])
        yield text, "exchanged" if changed else "original", ""


def _has_subject(verb: Any) -> bool:
    return any(token.dep_ == "nsubj" for token in verb.lefts)


TASKS: dict[str, Callable[[Parsed, random.Random], Iterator[Labelled]]] = {
    "sentlen": _length, "wc": _content, "depth": _depth, "top": _top, "bshift": _order, "tense": _tense,
    "subjnum": _subject, "objnum": _object, "somo": _odd, "coordinv": _coordinate,
}  # fmt: skip
TREES = ("depth", "top", "subjnum", "objnum")  # what is read from the tree of a sentence that stays as it is
