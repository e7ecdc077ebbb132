"""Surface: how text writes the words of a vocabulary: apostrophes, elision, capitals, expressions.

Vocabularies are often in lower case and split words at apostrophes; text has l'homme, it's, Paris. Several
tokens may be one word in all but spelling, such as French aujourd'hui.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

from muse.languages import capitalises_nouns, language_code
from muse.orthography import composed, lowercase

# By language, as tokens. Each was tried in translating held-out training text and lowers no BLEU there;
# hyphenated words in general are better translated word by word.
_EXPRESSIONS = {
    "fr": (
        "aujourd' hui", "d' accord", "parce que", "petit déjeuner", "presqu' île", "quelqu' un",
        "quelqu' une", "s' il te plaît", "s' il vous plaît",
    ),
}  # fmt: skip
_VOWELS = frozenset("aeiouyh")
# The elided form of French words before a vowel, and their full form before a consonant.
_ELIDED = {
    "c'": "ce", "d'": "de", "j'": "je", "jusqu'": "jusque", "l'": "le", "lorsqu'": "lorsque", "m'": "me",
    "n'": "ne", "puisqu'": "puisque", "qu'": "que", "s'": "se", "t'": "te",
}  # fmt: skip
_FULL = _ELIDED | {"c'": "cela"}  # c'est is "it is", where ce is mostly "this"


def grouped(tokens: Sequence[str], language: str) -> Iterator[Sequence[str]]:
    """The tokens in order: all of an expression together, every other by itself.

    >>> list(grouped(["Quelqu'", "un", "vient"], "fr"))
    [["Quelqu'", 'un'], ['vient']]
    """
    expressions, place = [one.split() for one in _EXPRESSIONS.get(language_code(language), ())], 0
    while place < len(tokens):
        length = 1
        for expression in expressions:
            if [token.lower() for token in tokens[place : place + len(expression)]] == expression:
                length = len(expression)
        yield tokens[place : place + length]
        place += length


def joined(tokens: Sequence[str], between: str = " ") -> str:
    """An expression as it is written: no space follows an apostrophe.

    >>> joined(["s'", "il", "vous", "plaît"]), joined(["parce", "que"], "_")
    ("s'il vous plaît", 'parce_que')
    """
    return between.join(tokens).replace(f"'{between}", "'")


# What may stand before an apostrophe and is a word of its own: l'amour is amour, dell'arte is arte.
_BEFORE = {
    "fr": frozenset(elided[:-1] for elided in _ELIDED) | {"quoiqu"},
    "it": frozenset("all anch bell c coll com d dall dell dov gl l m n nell nessun quell quest".split())
    | frozenset("s sant sull t tutt un v".split()),
    "ca": frozenset("l d s m t n".split()),
}
_ELISIONS = {full: elided for elided, full in _ELIDED.items() if full != "ce"} | {"la": "l'"}
# Parts of words in a vocabulary, and in text.
_PARTS = {
    "fr": {elided[:-1]: elided for elided in _ELIDED},
    "en": {"i": "I", "s": "'s", "t": "'t", "d": "'d", "m": "am", "re": "are", "ve": "have", "ll": "will"},
}


def in_text(word: str, language: str) -> str:
    """The form in text of a word of the vocabulary: l' for l in French, are for re in English, é in one."""
    return _PARTS.get(language_code(language), {}).get(word, composed(word))


def forms(token: str, language: str) -> list[str]:
    """The forms in which a vocabulary may contain a token of a text, the best first.

    An elided word is best looked up in full: the vector of a part is mostly about the words that it precedes.

    >>> forms("L'", "fr"), forms("dogs'", "en")
    (['le', "L'", "l'", 'L', 'l'], ["dogs'", 'dogs'])
    """
    bare = token.strip("'")
    full = _FULL.get(token.lower(), "") if language_code(language) == "fr" else ""
    found = (form for one in (token, bare) for form in (one, lowercase(one, language), one.lower()))
    return list(dict.fromkeys(form for form in (full, *found) if form))


def without_elision(word: str, language: str) -> str:
    """The word without an elided article or pronoun before it or, in English, without a final 's.

    >>> [without_elision(word, "fr") for word in ("l'amour", "aujourd'hui")]
    ['amour', "aujourd'hui"]
    """
    before, apostrophe, after = word.partition("'")
    code = language_code(language)
    if code == "en":
        return word.removesuffix("'s") or word
    return after if apostrophe and after and before.lower() in _BEFORE.get(code, ()) else word


def is_elided(word: str, language: str) -> bool:
    """Whether a word without its apostrophe is one that is written before another: l, qu, dell.

    >>> is_elided("L", "fr"), is_elided("dell", "it"), is_elided("s", "en")
    (True, True, False)
    """
    return word.lower() in _BEFORE.get(language_code(language), ())


def elide(words: Sequence[str], language: str) -> list[str]:
    """The words, with French elision before vowels; unchanged in other languages.

    >>> elide(["la", "eau", "de", "l'", "mer"], "fr")
    ["l'", 'eau', 'de', 'le', 'mer']
    """
    if language_code(language) != "fr" or not words:
        return list(words)
    return [_elided(word, following) for word, following in zip(words, [*words[1:], ""], strict=True)]


def _elided(word: str, following: str) -> str:
    first = unicodedata.normalize("NFD", following[:1].lower())[:1]
    if word in _ELIDED and first not in _VOWELS:
        return _ELIDED[word]
    # Whether an h is silent depends on the word: a full form is kept before h.
    return _ELISIONS.get(word, word) if first and first in _VOWELS - {"h"} else word


def with_capitals(word: str, token: str, *, all_caps: bool) -> str:
    """The word with the capitals of the token it translates; `all_caps`: the whole line is in capitals.

    >>> with_capitals("cat", "Chat", all_caps=False), with_capitals("cat", "CHAT", all_caps=False)
    ('Cat', 'CAT')
    """
    letters = [letter for letter in token if letter.isalpha()]
    if not letters or not letters[0].isupper():
        return word
    if all(letter.isupper() for letter in letters) and (len(letters) > 1 or all_caps):
        return word.upper()
    return word[:1].upper() + word[1:]


def with_usual_capitals(sentences: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    """Yields the tokens in lower case, but for words that have capitals more often where no sentence begins.

    >>> list(with_usual_capitals([["Der", "Hund"], ["Ein", "Hund", "und", "der", "Mann"], ["Hunde"]]))
    [['der', 'Hund'], ['ein', 'Hund', 'und', 'der', 'Mann'], ['hunde']]
    """
    forms = Counter(token for sentence in sentences for token in sentence[1:])
    words = Counter[str]()
    for form, count in forms.items():
        words[form.lower()] += count
    usual = {form.lower(): form for form, count in forms.items() if 2 * count > words[form.lower()]}
    for sentence in sentences:
        yield [usual.get(token.lower(), token.lower()) for token in sentence]


def is_always_capital(token: str, language: str) -> bool:
    """Whether the token is capitalised everywhere, like the English I."""
    return token == "I" and language_code(language) == "en"


def is_own_capital(token: str, source: str, target: str) -> bool:
    """Whether a capital inside a sentence is the source language's own: the English I, a German noun."""
    of_noun = capitalises_nouns(source) and not capitalises_nouns(target) and not token.isupper()
    return of_noun or is_always_capital(token, source)


def has_name_capital(token: str, language: str) -> bool:
    """Whether the capital of a token inside a sentence indicates a name: Tom, but not TOM or I."""
    if capitalises_nouns(language) or is_always_capital(token, language):
        return False
    return token[0].isupper() and not token.isupper()


def is_all_caps(tokens: Sequence[str]) -> bool:
    """Whether a line is all in capitals, ignoring single letters such as I."""
    words = [token for token in tokens if len(token) > 1 and any(map(str.isalpha, token))]
    return bool(words) and all(word.isupper() for word in words)
