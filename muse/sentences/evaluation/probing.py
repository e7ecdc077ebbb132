"""Probing: which properties of a sentence a classifier can predict from its vector, without a parser.

* length      the number of tokens: one of up to six classes of similar frequency
* content     which one of up to a hundred words of medium frequency is in it
* order       whether two neighbouring words were swapped
* language    the language of the sentence
* first-sign  the first punctuation mark of a sentence
* signs       the number of its punctuation marks, from 1 to 10, or 11 and more
* gender      whether its articles were replaced by those of the other gender

The first three are SentLen, WC and BShift of Conneau et al. (2018, probing), the fourth is language identity
as in Conneau et al.; the last three are of style and language rather than meaning (Wieting et al., 2020,
section 5.2). All classes are equally frequent, so that chance is known. A sum of word vectors has no order.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from muse.errors import BadSetting, Mismatch
from muse.evaluation.score import Hits, Interval, JsonScore, Signature, bootstrap_interval
from muse.languages import language_code
from muse.orthography import is_punctuation
from muse.sentences.evaluation import classifier
from muse.sentences.evaluation.classifier import ClassifierConfig, Labelled, Labels, Parts, accuracy
from muse.text.tokens import Tokeniser

FEWEST_OF_CLASS = 10  # sentences of a class
LENGTHS = 6  # classes of length
WORDS = 100  # classes of content, at most
SENTENCES_A_WORD = 20  # at least, half of them without any other of the words
FREQUENT = 0.05  # words in a larger share of the sentences are not used as content
SIGNS = 11  # the last class of counts of punctuation marks: this number or more
RARE = 50  # a class of punctuation needs at least one sentence in fifty
# Articles of one gender and their counterparts, without those that depend on the next sound (lo, l').
ARTICLES: Mapping[str, Mapping[str, str]] = {
    "es": {"el": "la", "los": "las"},
    "fr": {"le": "la", "un": "une"},
    "it": {"il": "la", "i": "le", "un": "una"},
}


@dataclass(frozen=True)
class Probe:
    """A probing task: sentences (n,), the language and the class of each; the classes are balanced."""

    name: str
    sentences: Sequence[str]
    languages: Sequence[str]
    labels: Sequence[int]


@dataclass(frozen=True)
class ProbeScore(JsonScore):
    """The accuracy of a classifier in percent, its 95 % interval, and chance."""

    name: str
    accuracy: float
    ci95: Interval
    chance: float
    classes: int
    trained: int
    tested: int
    signature: Signature

    def __str__(self) -> str:
        """The line to print."""
        figures = "{} = {:.1f} [{:.1f}, {:.1f}]".format(self.name, self.accuracy, *self.ci95)
        return f"{figures}, chance {self.chance:.1f} of {self.classes} classes | {self.signature}"


def evaluate_probe(
    name: str,
    task: Labelled,
    signature: Signature,
    *,
    config: ClassifierConfig,
    rng: np.random.Generator,
    split: Parts | Labels | None = None,
) -> ProbeScore:
    """The test accuracy of a classifier trained on rows (n, d) of `task`.

    `split` has the parts, by default drawn by `rng`; or the fold (n,) of each row, for nested
    cross-validation, which tests every row once.
    """
    split = classifier.parts(task.labels, rng) if split is None else split
    if isinstance(split, Parts):
        answer = classifier.fitted(task.part(split.train), task.part(split.held_out), config, accuracy)
        test, trained = task.part(split.test), len(split.train)
        hits: Hits = answer(test.rows) == test.labels
    else:
        found = classifier.cross_validated(task, split, config, accuracy)
        hits, trained = found == task.labels, int((split != 0).sum())
    _, counts = np.unique(task.labels, return_counts=True)
    return ProbeScore(
        name, 100 * float(hits.mean()), bootstrap_interval(hits, rng), 100 * counts.max() / counts.sum(),
        len(counts), trained, len(hits), signature,
    )  # fmt: skip


def length_probe(sentences: Sequence[str], language: str, size: int, rng: np.random.Generator) -> Probe:
    """At most `size` sentences in up to six classes of length in tokens."""
    tokenise = Tokeniser(language).tokens
    texts = list(dict.fromkeys(sentences))
    lengths = np.array([len(tokenise(text)) for text in texts])
    edges = np.unique(np.quantile(lengths, np.arange(1, LENGTHS) / LENGTHS)) if texts else np.empty(0)
    labels = np.searchsorted(edges, lengths, side="left")
    # Lengths are integers, so a class may be nearly empty; balancing would then discard most of the others.
    fewest = max(FEWEST_OF_CLASS, len(texts) // (2 * LENGTHS))
    pairs = [(text, language) for text in texts]
    return balanced("length", pairs, labels.tolist(), size, rng, fewest=fewest)


def content_probe(sentences: Sequence[str], language: str, size: int, rng: np.random.Generator) -> Probe:
    """At most `size` sentences, each with exactly one of up to a hundred words."""
    tokenise = Tokeniser(language).tokens
    texts = list(dict.fromkeys(sentences))
    bags = [{token.lower() for token in tokenise(text) if token.isalpha()} for text in texts]
    counts = Counter(token for bag in bags for token in sorted(bag))
    limit = max(FREQUENT * len(texts), 2 * SENTENCES_A_WORD)
    wanted = [word for word, count in counts.most_common() if SENTENCES_A_WORD <= count <= limit][:WORDS]
    place = {word: label for label, word in enumerate(wanted)}
    chosen, labels = [], []
    for text, bag in zip(texts, bags, strict=True):
        found = bag & place.keys()
        if len(found) == 1:
            chosen.append((text, language))
            labels.append(place[next(iter(found))])
    return balanced("content", chosen, labels, size, rng, fewest=SENTENCES_A_WORD // 2)


def order_probe(sentences: Sequence[str], language: str, size: int, rng: np.random.Generator) -> Probe:
    """Original sentences (0), and others with two neighbouring words swapped (1).

    All are tokens joined by spaces, so that they differ in nothing but order.
    """
    tokenise = Tokeniser(language).tokens
    chosen, labels = [], []
    for text in dict.fromkeys(sentences):
        tokens = tokenise(text)
        places = [
            place for place, (one, two) in enumerate(pairwise(tokens))
            if one.isalpha() and two.isalpha() and one.lower() != two.lower()
        ]  # fmt: skip
        if not places:
            continue
        if swap := int(rng.integers(2)):
            place = places[int(rng.integers(len(places)))]
            tokens[place : place + 2] = tokens[place + 1], tokens[place]
        chosen.append((" ".join(tokens), language))
        labels.append(swap)
    return balanced("order", chosen, labels, size, rng)


def language_probe(texts: Mapping[str, Sequence[str]], size: int, rng: np.random.Generator) -> Probe:
    """At most `size` sentences of all languages; a sentence that occurs in two texts is left out."""
    times = Counter(text for sentences in texts.values() for text in set(sentences))
    chosen, labels = [], []
    for label, (language, sentences) in enumerate(texts.items()):
        own = [text for text in dict.fromkeys(sentences) if times[text] == 1 and text.strip()]
        chosen += [(text, language) for text in own]
        labels += [label] * len(own)
    return balanced("language", chosen, labels, size, rng)


OneLanguage = Callable[[Sequence[str], str, int, np.random.Generator], Probe]
ONE_LANGUAGE: Mapping[str, OneLanguage] = {
    "length": length_probe,
    "content": content_probe,
    "order": order_probe,
}


def balanced(
    name: str,
    sentences: Sequence[tuple[str, str]],
    labels: Sequence[int],
    size: int,
    rng: np.random.Generator,
    *,
    fewest: int = FEWEST_OF_CLASS,
) -> Probe:
    """A probe of the same number of sentences, each with its language, of every class: at most `size` in all.

    Classes with fewer than `fewest` are dropped, and the last of more classes than `size` has room for.
    Raise Mismatch if fewer than two are left.
    """
    places: dict[int, list[int]] = defaultdict(list)
    for place, label in enumerate(labels):
        places[label].append(place)
    classes = {label: found for label, found in sorted(places.items()) if len(found) >= fewest}
    if len(classes) < 2:
        raise Mismatch(
            f"the probing task {name} needs at least {fewest} sentences of each of two classes, got "
            f"{len(sentences)} sentences and {len(classes)} such classes; give more text"
        )
    classes = dict(list(classes.items())[: max(2, size // FEWEST_OF_CLASS)])
    each = max(min(*map(len, classes.values()), size // len(classes)), FEWEST_OF_CLASS)
    taken = [rng.permutation(found)[:each] for found in classes.values()]
    chosen = [sentences[place] for part in taken for place in part]
    texts, languages = zip(*chosen, strict=True)
    return Probe(name, texts, languages, np.repeat(np.arange(len(classes)), each).tolist())


def first_sign_probe(sentences: Sequence[str], language: str, size: int, rng: np.random.Generator) -> Probe:
    """At most `size` sentences in classes of their first punctuation mark, without the rarest classes.

    Marks that belong to the spelling of a word, as in l'heure and peut-être, do not count.
    """
    found = dict(_marked(sentences, language))
    usual = [mark for mark, _ in Counter(sorted(marks[0] for marks in found.values())).most_common()]
    labels = {text: usual.index(marks[0]) for text, marks in found.items()}
    return _without_rare("first-sign", labels, language, size, rng)


def sign_count_probe(sentences: Sequence[str], language: str, size: int, rng: np.random.Generator) -> Probe:
    """At most `size` sentences in classes of 1 to 10, and 11 or more, punctuation marks.

    Sentences without any, and classes that are too rare, are left out. Marks count as for the first one.
    """
    labels = {text: min(len(marks), SIGNS) for text, marks in _marked(sentences, language)}
    return _without_rare("signs", labels, language, size, rng)


def gender_probe(sentences: Sequence[str], language: str, size: int, rng: np.random.Generator) -> Probe:
    """Original sentences (0), and others with the gender of every article of ARTICLES changed (1).

    Nothing else is: le chat dort, la chat dort. BadSetting for a language without such articles.
    """
    if not has_genders(language):
        raise BadSetting(
            f"the probing task gender needs text in one of {', '.join(ARTICLES)}, whose articles have two "
            f"genders; got {language}; leave it out"
        )
    pairs = ARTICLES[language_code(language)]
    other = {**pairs, **{feminine: masculine for masculine, feminine in pairs.items()}}
    article = re.compile(rf"(?<![\w'’-])(?:{'|'.join(other)})(?![\w'’-])", re.IGNORECASE)
    chosen, labels = [], []
    for text in dict.fromkeys(sentences):
        if article.search(text):
            labels.append(int(rng.integers(2)))
            changed = article.sub(lambda found: _cased_as(found[0], other[found[0].lower()]), text)
            chosen.append((changed if labels[-1] else text, language))
    return balanced("gender", chosen, labels, size, rng)


def has_genders(language: str) -> bool:
    """Whether the articles that show the gender of a noun are known for a language."""
    return language_code(language) in ARTICLES


STYLE: Mapping[str, OneLanguage] = {
    "first-sign": first_sign_probe,
    "signs": sign_count_probe,
    "gender": gender_probe,
}


def _marked(sentences: Sequence[str], language: str) -> Iterator[tuple[str, str]]:
    # The distinct sentences with punctuation marks, and these: those of tokens without a letter or digit.
    # Those of the paper are ASCII's.
    tokenise = Tokeniser(language).tokens
    for text in dict.fromkeys(sentences):
        others = "".join(token for token in tokenise(text) if not any(map(str.isalnum, token)))
        if marks := "".join(mark for mark in others if is_punctuation(mark)):
            yield text, marks


def _without_rare(
    name: str, labels: Mapping[str, int], language: str, size: int, rng: np.random.Generator
) -> Probe:
    # Balancing would discard most of the other classes for rare ones.
    fewest = max(FEWEST_OF_CLASS, len(labels) // RARE)
    return balanced(name, [(text, language) for text in labels], [*labels.values()], size, rng, fewest=fewest)


def _cased_as(written: str, article: str) -> str:
    if written.isupper() and len(written) > 1:
        return article.upper()
    return article.capitalize() if written[0].isupper() else article
