"""Glossary: the translations that a user requires, of words and terms, which win over those of a space.

Of a term with several translations each is allowed, and the first preferred. Where terms overlap, the one
that begins first wins, and of those the longest. A term in lower case is found whatever the case of the text;
one with capitals, as US or May, only as it is written.
"""

from collections.abc import Container, Sequence
from typing import NamedTuple

from muse.errors import BadSetting
from muse.lexicon import Lexicon
from muse.orthography import lowercase
from muse.ranking.translations import Translation, Translations
from muse.text.segmentation import unspaced_language
from muse.text.tokens import Tokeniser
from muse.text.written import written_tokens


class Term(NamedTuple):
    """The translations that a glossary has for some tokens, and whether they are written as they are there.

    There are none, and one token, where no term begins.
    """

    tokens: int = 1
    translations: tuple[str, ...] = ()
    as_given: bool = False

    @property
    def as_translations(self) -> list[Translation]:
        """The translations, certain and of score 1."""
        return [Translation(one, 1.0, 1.0, rank=rank) for rank, one in enumerate(self.translations, 1)]


class Glossary:
    """The translations of the terms of a lexicon, whose first words are of a language.

    Terms are tokenised as a text is whose vocabulary has the words that are `known`.

    >>> made = Glossary(Lexicon((("pomme de terre", "potato"), ("pomme", "apple"))), "fr")
    >>> made.at(["Pomme", "de", "terre"], 0)
    Term(tokens=3, translations=('potato',), as_given=False)
    """

    def __init__(self, lexicon: Lexicon, language: str, known: Container[str] | None = None) -> None:
        self._language, self._tokeniser = language, Tokeniser(language, known)
        # Without spaces, what is segmented in another way in a text is the same term.
        self._between = " " if unspaced_language(language) is None else ""
        self._terms = dict[str, tuple[str, ...]]()
        self._longest = dict[str, int]()  # tokens of a term, or letters, by its first letter
        shares = lexicon.weights or [0.0] * len(lexicon)
        surest = sorted(zip(lexicon.pairs, shares, strict=True), key=lambda one: -one[1])
        for source, target in (pair for pair, _ in surest):
            tokens = self._tokens(source)
            key = self._between.join(tokens)
            self._terms[key] = (*self._terms.get(key, ()), target)
            first, size = key[:1].lower(), len(tokens if self._between else key)
            self._longest[first] = max(size, self._longest.get(first, 0))

    def _tokens(self, text: str) -> list[str]:
        return [token.text for token in written_tokens(self._tokeniser, text)]

    def at(self, tokens: Sequence[str], place: int) -> Term:
        """The longest term that begins at a place among tokens."""
        most = self._longest.get(tokens[place][:1].lower(), 0)
        for count in range(min(most, len(tokens) - place), 0, -1):
            key = self._between.join(tokens[place : place + count])
            if (found := self._terms.get(key)) is not None:
                return Term(count, found, as_given=True)
            if (found := self._terms.get(lowercase(key, self._language))) is not None:
                return Term(count, found)
        return Term()

    def term(self, word: str) -> Term:
        """The term that a word, or several, are."""
        tokens = self._tokens(word)
        term = self.at(tokens, 0) if tokens else Term()
        return term if term.tokens == len(tokens) else Term()

    def preferred(self, found: Translations) -> Translations:
        """The translations of a word, with those of the glossary before them."""
        if not (term := self.term(found.word)).translations:
            return found
        others = (one for one in found if one.target not in term.translations)
        every = enumerate((*term.as_translations, *others), 1)
        ranked = (Translation(*one, one.probability, mutual=one.mutual, rank=rank) for rank, one in every)
        return Translations(found.word, found.form or found.word, ranked)


def probable_ones(found: Sequence[Translation], least: float) -> list[Translation]:
    """The translations of at least this probability; BadSetting if probabilities are needed and not known."""
    if least and any(one.probability is None for one in found):
        raise BadSetting(
            "--min-probability needs probabilities, got none: they need CSLS, and a space that is not too "
            "small; leave it out"
        )
    return [one for one in found if not least or (one.probability or 0.0) >= least]


def with_probable(found: Translations, least: float) -> Translations:
    """A word with its translations of at least this probability, and a reason if none is left."""
    kept = probable_ones(found, least)
    if len(kept) == len(found):
        return found
    reason = found.reason if kept else f"no translation has a probability of {least:g} (best: {found[0]!r})"
    return Translations(found.word, found.form, kept, languages=found.languages, reason=reason)
