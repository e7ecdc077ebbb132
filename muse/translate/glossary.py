"""Glossary: the translations that a user requires, of words and terms, which win over those of a space.

Of a term with several translations each is allowed, and the first preferred. Where terms overlap, the one
that begins first wins, and of those the longest. A term in lower case is found whatever the case of the text;
one with capitals, as US or May, only as it is written, or in capitals.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, eq=False)
class Glossary:
    """The translations of terms, by the tokens of each, and in capitals too, joined as by `of`.

    `longest` has the number of tokens (or, without spaces, of letters) of the longest term, by the first
    letter.
    """

    terms: Mapping[str, tuple[str, ...]]
    capitals: Mapping[str, tuple[str, ...]]
    longest: Mapping[str, int]
    tokeniser: Tokeniser
    language: str

    @classmethod
    def of(cls, lexicon: Lexicon, language: str, known: Container[str] | None = None) -> "Glossary":
        """The glossary with the pairs of a lexicon, whose first words are of the language.

        The tokeniser that reads them is that of a text, with the words that are `known`.

        >>> made = Glossary.of(Lexicon((("pomme de terre", "potato"), ("pomme", "apple"))), "fr")
        >>> made.at(["Pomme", "de", "terre"], 0)
        Term(tokens=3, translations=('potato',), as_given=False)
        """
        terms, capitals, longest = (
            dict[str, tuple[str, ...]](),
            dict[str, tuple[str, ...]](),
            dict[str, int](),
        )
        made = cls(terms, capitals, longest, Tokeniser(language, known), language)
        shares = lexicon.weights or [0.0] * len(lexicon)
        for (source, target), _ in sorted(
            zip(lexicon.pairs, shares, strict=True), key=lambda one: -one[1]
        ):  # of equals in the order of the file
            tokens = [token.text for token in written_tokens(made.tokeniser, source)]
            key = made._key(tokens)
            terms[key] = (*terms.get(key, ()), target)
            capitals[key.upper()] = (*capitals.get(key.upper(), ()), target)
            size = len(key) if made._unspaced else len(tokens)
            longest[key[:1].lower()] = max(size, longest.get(key[:1].lower(), 0))
        return made

    @property
    def _unspaced(self) -> bool:
        return unspaced_language(self.language) is not None

    def _key(self, tokens: Sequence[str]) -> str:
        # Without spaces, what is segmented in another way in a text is the same term.
        return ("" if self._unspaced else " ").join(tokens)

    def at(self, tokens: Sequence[str], place: int) -> Term:
        """The longest term that begins at a place among tokens."""
        most = self.longest.get(tokens[place][:1].lower(), 0)
        for count in range(min(most, len(tokens) - place), 0, -1):
            key = self._key(tokens[place : place + count])
            if (found := self.terms.get(key)) is not None:
                return Term(count, found, as_given=True)
            found = self.terms.get(lowercase(key, self.language))
            if found is None and key.isupper():
                found = self.capitals.get(key)
            if found is not None:
                return Term(count, found)
        return Term()

    def has(self, word: str) -> bool:
        """Whether a word, or several, are a term."""
        return bool(self._whole(word).translations)

    def _whole(self, word: str) -> Term:
        tokens = [token.text for token in written_tokens(self.tokeniser, word)]
        term = self.at(tokens, 0) if tokens else Term()
        return term if term.tokens == len(tokens) else Term()

    def preferred(self, found: Translations) -> Translations:
        """The translations of a word, with those of the glossary before them."""
        if not (term := self._whole(found.word)).translations:
            return found
        others = (one for one in found if one.target not in term.translations)
        every = enumerate((*term.as_translations, *others), 1)
        ranked = (Translation(*one, one.probability, mutual=one.mutual, rank=rank) for rank, one in every)
        return Translations(found.word, found.form or found.word, ranked)


def probable_ones(found: Sequence[Translation], least: float) -> list[Translation]:
    """Those of at least this probability; BadSetting if probabilities are needed and not known."""
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
