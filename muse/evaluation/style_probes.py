"""Probing tasks of style and language rather than meaning (Wieting et al., 2020, section 5.2).

* first-sign  the first punctuation mark of a sentence
* signs       the number of its punctuation marks, from 1 to 10, or 11 and more
* gender      whether its articles were replaced by those of the other gender

As in probing, all classes are equally frequent.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from muse.errors import BadSetting
from muse.evaluation.probing import FEWEST, OneLanguage, Probe, balanced
from muse.text.codes import iso_code
from muse.text.punctuation import is_punctuation
from muse.text.tokens import Tokeniser

SIGNS = 11  # the last class of counts of punctuation marks: so many or more
RARE = 50  # a class of punctuation is of at least one in so many sentences

# Articles of one gender and their counterparts; those of which the next sound decides (lo, l') are left out.
ARTICLES: Mapping[str, Mapping[str, str]] = {
    "es": {"el": "la", "los": "las"},
    "fr": {"le": "la", "un": "une"},
    "it": {"il": "la", "i": "le", "un": "una"},
}


def first_sign_probe(sentences: Sequence[str], language: str, size: int, rng: np.random.Generator) -> Probe:
    """At most `size` sentences in classes of their first punctuation mark, the rarest of which are left out.

    Marks that belong to the spelling of a word, as in l'heure and peut-être, do not count.
    """
    firsts = [(text, marks[0]) for text, marks in _marked(sentences, language)]
    usual = [mark for mark, _ in Counter(sorted(mark for _, mark in firsts)).most_common()]
    labels = [usual.index(mark) for _, mark in firsts]
    return _of_signs("first-sign", [text for text, _ in firsts], labels, language, size, rng)


def sign_count_probe(sentences: Sequence[str], language: str, size: int, rng: np.random.Generator) -> Probe:
    """At most `size` sentences in classes of 1 to 10, and 11 or more, punctuation marks.

    Sentences without any, and classes that are too rare, are left out. Marks count as for the first one.
    """
    found = [(text, min(len(marks), SIGNS)) for text, marks in _marked(sentences, language)]
    return _of_signs("signs", [text for text, _ in found], [count for _, count in found], language, size, rng)


def gender_probe(sentences: Sequence[str], language: str, size: int, rng: np.random.Generator) -> Probe:
    """Original sentences (0), and others with the gender of every article of ARTICLES changed (1).

    Nothing else is: le chat dort, la chat dort. BadSetting for a language without such articles.
    """
    if not has_genders(language):
        raise BadSetting(
            f"the probing task gender needs text in one of {', '.join(ARTICLES)}, whose articles have two "
            f"genders; got {language}; leave it out"
        )
    pairs = ARTICLES[iso_code(language)]
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
    """Whether the articles of a language are known that tell the gender of a noun."""
    return iso_code(language) in ARTICLES


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


def _of_signs(
    name: str, texts: Sequence[str], labels: Sequence[int], language: str, size: int, rng: np.random.Generator
) -> Probe:
    # Without rare classes: balancing would discard most of the others for them.
    fewest = max(FEWEST, len(texts) // RARE)
    return balanced(name, [(text, language) for text in texts], labels, size, rng, fewest=fewest)


def _cased_as(written: str, article: str) -> str:
    if written.isupper() and len(written) > 1:
        return article.upper()
    return article.capitalize() if written[0].isupper() else article
