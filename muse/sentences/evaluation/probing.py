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

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
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
SENTENCES_A_WORD = 2 * FEWEST_OF_CLASS  # at least: in half of them another content word may stand
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


OneLanguage = Callable[[Sequence[str], str, int, np.random.Generator], Probe]
Classed = Iterator[tuple[str, int]]  # sentences, each with its class
Classify = Callable[[list[str], str, np.random.Generator], Classed]


def _probe(name: str, rare: int = 0) -> Callable[[Classify], OneLanguage]:
    """Makes a probe of a language, of at most `size` sentences, of what gives distinct ones their classes.

    With `rare`, a class needs at least one sentence in as many: balancing would discard most of the others.
    """

    def of(classed: Classify) -> OneLanguage:
        @wraps(classed)
        def probe(sentences: Sequence[str], language: str, size: int, rng: np.random.Generator) -> Probe:
            texts = [*dict.fromkeys(sentences)]
            found = [(text, language, label) for text, label in classed(texts, language, rng)]
            fewest = max(FEWEST_OF_CLASS, len(found) // rare if rare else 0)
            return balanced(name, found, size, rng, fewest=fewest)

        return probe

    return of


@_probe("length", rare=2 * LENGTHS)
def length_probe(texts: list[str], language: str, rng: np.random.Generator) -> Classed:
    """Sentences in up to six classes of length in tokens."""
    tokenise = Tokeniser(language).tokens
    lengths = np.array([len(tokenise(text)) for text in texts])
    edges = np.unique(np.quantile(lengths, np.arange(1, LENGTHS) / LENGTHS)) if texts else np.empty(0)
    yield from zip(texts, np.searchsorted(edges, lengths, side="left").tolist(), strict=True)


@_probe("content")
def content_probe(texts: list[str], language: str, rng: np.random.Generator) -> Classed:
    """Sentences, each with exactly one of up to a hundred words."""
    tokenise = Tokeniser(language).tokens
    bags = [{token.lower() for token in tokenise(text) if token.isalpha()} for text in texts]
    counts = Counter(token for bag in bags for token in sorted(bag))
    limit = max(FREQUENT * len(texts), 2 * SENTENCES_A_WORD)
    wanted = [word for word, count in counts.most_common() if SENTENCES_A_WORD <= count <= limit][:WORDS]
    for text, bag in zip(texts, bags, strict=True):
        if len(found := bag.intersection(wanted)) == 1:
            yield text, wanted.index(next(iter(found)))


@_probe("order")
def order_probe(texts: list[str], language: str, rng: np.random.Generator) -> Classed:
    """Original sentences (0), and others with two neighbouring words swapped (1).

    All are tokens joined by spaces, so that they differ in nothing but order.
    """
    tokenise = Tokeniser(language).tokens
    for text in texts:
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
        yield " ".join(tokens), swap


def language_probe(texts: Mapping[str, Sequence[str]], size: int, rng: np.random.Generator) -> Probe:
    """At most `size` sentences of all languages; a sentence that occurs in two texts is left out."""
    times = Counter(text for sentences in texts.values() for text in set(sentences))
    found = [
        (text, language, label)
        for label, (language, sentences) in enumerate(texts.items())
        for text in dict.fromkeys(sentences)
        if times[text] == 1 and text.strip()
    ]
    return balanced("language", found, size, rng)


def balanced(
    name: str, sentences: Sequence[tuple[str, str, int]], size: int, rng: np.random.Generator,
    *, fewest: int = FEWEST_OF_CLASS,
) -> Probe:  # fmt: skip
    """A probe of as many sentences, each with its language and class, of every class: at most `size` in all.

    Classes with fewer than `fewest` are dropped, and the last of more classes than `size` has room for.
    Raise Mismatch if fewer than two are left.
    """
    places: dict[int, list[int]] = defaultdict(list)
    for place, (_, _, label) in enumerate(sentences):
        places[label].append(place)
    classes = [found for _, found in sorted(places.items()) if len(found) >= fewest]
    if len(classes) < 2:
        raise Mismatch(
            f"the probing task {name} needs at least {fewest} sentences of each of two classes, got "
            f"{len(sentences)} sentences and {len(classes)} such classes; give more text"
        )
    classes = classes[: max(2, size // FEWEST_OF_CLASS)]
    each = max(min(*map(len, classes), size // len(classes)), FEWEST_OF_CLASS)
    chosen = [sentences[place] for found in classes for place in rng.permutation(found)[:each]]
    texts, languages, _ = zip(*chosen, strict=True)
    return Probe(name, texts, languages, np.repeat(np.arange(len(classes)), each).tolist())


@_probe("first-sign", rare=RARE)
def first_sign_probe(texts: list[str], language: str, rng: np.random.Generator) -> Classed:
    """Sentences in classes of their first punctuation mark, without the rarest classes.

    Marks that belong to the spelling of a word, as in l'heure and peut-être, do not count.
    """
    found = dict(_marked(texts, language))
    usual = [mark for mark, _ in Counter(sorted(marks[0] for marks in found.values())).most_common()]
    yield from ((text, usual.index(marks[0])) for text, marks in found.items())


@_probe("signs", rare=RARE)
def sign_count_probe(texts: list[str], language: str, rng: np.random.Generator) -> Classed:
    """Sentences in classes of 1 to 10, and 11 or more, punctuation marks, without the rarest classes.

    Sentences without any are left out. Marks count as for the first one.
    """
    yield from ((text, min(len(marks), SIGNS)) for text, marks in _marked(texts, language))


@_probe("gender")
def gender_probe(texts: list[str], language: str, rng: np.random.Generator) -> Classed:
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

    def changed(found: re.Match[str]) -> str:
        written, article = found[0], other[found[0].lower()]
        if written.isupper() and len(written) > 1:
            return article.upper()
        return article.capitalize() if written[0].isupper() else article

    for text in filter(article.search, texts):
        swap = int(rng.integers(2))
        yield article.sub(changed, text) if swap else text, swap


def has_genders(language: str) -> bool:
    """Whether the articles that show the gender of a noun are known for a language."""
    return language_code(language) in ARTICLES


ONE_LANGUAGE: Mapping[str, OneLanguage] = {
    "length": length_probe, "content": content_probe, "order": order_probe,
}  # fmt: skip
STYLE: Mapping[str, OneLanguage] = {
    "first-sign": first_sign_probe, "signs": sign_count_probe, "gender": gender_probe,
}  # fmt: skip


def _marked(texts: Sequence[str], language: str) -> Iterator[tuple[str, str]]:
    # The sentences with punctuation marks, and these: those of tokens without a letter or digit.
    # Those of the paper are ASCII's.
    tokenise = Tokeniser(language).tokens
    for text in texts:
        others = "".join(token for token in tokenise(text) if not any(map(str.isalnum, token)))
        if marks := "".join(mark for mark in others if is_punctuation(mark)):
            yield text, marks
