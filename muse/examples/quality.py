"""Quality: how good a sentence is as an example of its words, by the rules of GDEX (Kilgarriff et al., 2008).

A good one is whole, has 5 to 20 words, all of them frequent, and is understood by itself: few pronouns, and
none of the words that point to the sentence before as its first; few names, numbers and signs.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from muse.languages import capitalises_nouns, language_code

SHORTEST, LONGEST = 5, 20  # words
FREQUENT = 20_000  # the most frequent words are no obstacle to a reader
MOST_WORDS = 60  # of what is no sentence any more: a longer one is cut
_BEST = 11  # words; of the lengths between the bounds the middle is best
# The factors of a sentence for each thing that it should not have. Chosen by reading what came first in
# English and French novels.
_UNFINISHED, _RARE, _POINTS_BACK, _PRONOUN, _NAME, _SIGN = 0.3, 0.75, 0.6, 0.93, 0.85, 0.85
_CASED = re.compile(r"[^\W\d_]")
_ENDS = re.compile("[.!?…。！？।؟۔](?:[»”’\"')」』）\\]]|\\s»)*$")
_SIGNS = re.compile(r"[\d\[\]{}<>|@#*=/\\_:;]|--|[—–](?=\S)|\.\.\.|…")
_PAIRS = ('"', "«»", "“”„", "()", "「」")  # marks of which a whole sentence has an even number
_PARTS = re.compile("['’‑-]")
_QUOTES = (("«", "»"), ("[“„]", "[”“]"), ("[‘`']", "[’']"), ('"', '"'))  # patterns of what opens and closes
_CACHED = 1 << 19  # words
_EDGES = re.compile(r"^\W+|\W+$")
_PRONOUNS = {
    "de": "er sie es ihn ihm ihr ihnen dies diese dieser dieses jener jene jenes sein seine seinen seiner",
    "en": "he she it they him her them his hers its their theirs this that these those one ones such",
    "es": "él ella ellos ellas lo la los las le les esto eso esta este ese esa aquel aquella su sus ello",
    "fr": "il elle ils elles le la les lui leur leurs ce cela ça celui celle ceux celles en y son sa ses",
    "it": "egli lui lei essi esse loro lo la li le gli ciò questo questa quello quella suo sua suoi ne",
    "nl": "hij zij ze het hem haar hen hun dit dat deze die zijn",
    "pt": "ele ela eles elas o a os as lhe lhes isto isso este esta esse essa aquele aquela seu sua",
    "ru": "он она оно они его её ее их ему ей им это этот эта эти тот та те то такой",
}
# Articles, in languages whose pronouns are spelled like them: these count as a first word alone.
_ARTICLES = frozenset("le la les lo los las li gli o a os as het die".split())
_POINTING_BACK = {
    "de": "und aber denn doch oder also da dann so auch darum deshalb",
    "en": "and but for so or nor then yet thus therefore however also too",
    "es": "y pero pues porque o así entonces también",
    "fr": "et mais car donc or ni puis ainsi alors aussi pourtant",
    "it": "e ma perché o dunque così poi anche",
    "nl": "en maar want dus of toen ook",
    "pt": "e mas pois porque ou assim então também",
    "ru": "и а но да или потому так тогда же",
}


class Judge:
    """Says how good the sentences of a language are; `rank` is that of a word by frequency, from 0, or None.

    >>> judge = Judge("en", {word: 0 for word in "the old dog slept by fire it and".split()}.get)
    >>> judge("The old dog slept by the fire.") > judge("And it slept by the fire; 12 dogs")
    True
    """

    def __init__(self, language: str, rank: Callable[[str], int | None]) -> None:
        code = language_code(language)
        self._rank, self._nouns = rank, capitalises_nouns(language)
        self._pronouns = frozenset(_PRONOUNS.get(code, "").split())
        self._back = frozenset(_POINTING_BACK.get(code, "").split()) | self._pronouns - _ARTICLES
        self._known: dict[str, bool] = {}

    def __call__(self, text: str, words: Sequence[str] | None = None) -> float:
        """The quality of a sentence, from 0 to 1; its `words` are those between spaces, if not given."""
        words = [*words_of(text)] if words is None else words
        count = len(words)
        if not count:
            return 0.0
        found = 1 - 0.02 * abs(min(max(count, SHORTEST), LONGEST) - _BEST)
        found *= min(1.0, (count / SHORTEST) ** 2, (LONGEST / count) ** 2)
        if not is_whole(text):
            found *= _UNFINISHED
        lower = [word.lower() for word in words]
        if lower[0] in self._back:
            found *= _POINTS_BACK
        found *= _PRONOUN ** sum(word in self._pronouns and word not in _ARTICLES for word in lower)
        found *= _RARE ** sum(not self._is_frequent(word) for word in words)
        names = 0 if self._nouns else sum(word[0].isupper() and len(word) > 1 for word in words[1:])
        return float(found * _NAME**names * _SIGN ** len(_SIGNS.findall(text)))

    def _is_frequent(self, word: str) -> bool:
        if word not in self._known:
            if len(self._known) >= _CACHED:
                self._known.clear()
            parts = [part for part in _PARTS.split(word) if len(part) > 1]  # l'eau, porte-clés
            self._known[word] = self._has(word) or (parts not in ([], [word]) and all(map(self._has, parts)))
        return self._known[word]

    def _has(self, word: str) -> bool:
        ranks = (self._rank(form) for form in (word, word.lower()))
        return any(rank is not None and rank < FREQUENT for rank in ranks)


def words_of(text: str) -> Iterator[str]:
    """What stands between spaces in a text, without signs around it."""
    return (word for part in text.split() if (word := _EDGES.sub("", part)))


def is_whole(text: str) -> bool:
    """Whether a sentence begins with a capital, or a letter that has none, and ends with its sign.

    >>> [is_whole(text) for text in ("« Où est-il ? »", "où est-il ?", "Où est", "(Il est là.", "猫がいる。")]
    [True, False, False, False, True]
    """
    first = _CASED.search(text)
    if first is None or first[0].islower() or not is_ended(text):
        return False
    return all(sum(map(text.count, marks)) % 2 == 0 for marks in _PAIRS)


def is_ended(text: str) -> bool:
    """Whether a text ends with the sign that ends a sentence, and what closes after it."""
    return _ENDS.search(text) is not None


def unquoted(text: str) -> str:
    """A sentence without the quotation mark that opens or closes a quotation of several sentences.

    >>> unquoted("“Go home."), unquoted("He said, “Go.”"), unquoted("‘I'm here.")
    ('Go home.', 'He said, “Go.”', "I'm here.")
    """
    for opening, closing in _QUOTES:
        if re.match(opening, text) and not re.search(rf"{closing}(?!\w)", text[1:]):
            text = text[1:].lstrip()
        elif re.search(rf"{closing}$", text) and not re.search(rf"(?<!\w){opening}", text[:-1]):
            text = text[:-1].rstrip()
    return text
