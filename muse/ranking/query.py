"""A query: the language of its words, the direction in which they are translated, and words to try."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Literal

from muse.errors import BadSetting, UnknownWord
from muse.orthography import casefolded
from muse.ranking.lookup import entries_of_word, lookup_entry, spellings
from muse.ranking.ranker import RANKS_APART, SMOOTHING
from muse.ranking.translations import TRUSTED
from muse.space import Space

log = logging.getLogger(__name__)

# How a language is named in Python: by src= or lang=, in brackets, or in a pair.
Choice = Literal["src", "lang", "key", "pair"]
NAMED = 3  # words that a message lists
PASSED_OVER, LOOKED_AT = 200, 2_000  # words to try are common ones, but no grammar
SHORTEST, SHORTEST_WITHOUT_CASE = 4, 2  # letters: of scripts without case, words are shorter


def language_of(space: Space, words: Sequence[str], *, but: str | None = None, choice: Choice = "src") -> str:
    """The only language, `but` one, that has all of the words that any has.

    A word that one language has at a rank ten times as high is taken to be of that one, and a warning says
    so. Raise UnknownWord if none has any of them, BadSetting if several languages have all, or none has all;
    the message says how to choose.
    """
    every = {word: [one for one in entries_of_word(space, word) if one != but] for word in words}
    known = {word: found for word, found in every.items() if found}
    if not known:
        raise UnknownWord(_nowhere(space, words))
    likely = {word: _likely(space, word, found) for word, found in known.items()}
    common = [one for one in space.languages if all(one in found for found in likely.values())]
    if len(common) == 1:
        _say_which(space, common[0], known, choice)
        return common[0]
    first = next(iter(likely))
    if not common:
        other = next(word for word in likely if not set(likely[word]) & set(likely[first]))
        raise BadSetting(
            f"words must be of one language, got {first!r} of {likely[first][0]} and {other!r} of "
            f"{likely[other][0]}; give those of each language apart, or choose one: "
            f"{_chosen(likely[first][0], [first, other], choice)}"
        )
    what = f"{first!r} is a word" if len(known) == 1 else f"all of {_some(list(known))} are words"
    best = min(common, key=lambda language: space.vectors(language).index.get(first, 0))
    raise BadSetting(f"{what} of {' and of '.join(common)}; choose one: {_chosen(best, list(known), choice)}")


def _likely(space: Space, word: str, languages: list[str]) -> list[str]:
    """The language, of several that have a word, in which it is far more frequent; all of them if none is."""
    if len(languages) < 2 or not all(space.vectors(language).frequency_ordered for language in languages):
        return languages
    ranks = {language: _rank(space, language, word) + SMOOTHING for language in languages}
    best, second = sorted(ranks, key=lambda language: ranks[language])[:2]
    return [best] if ranks[second] > RANKS_APART * ranks[best] else languages


def _rank(space: Space, language: str, word: str) -> int:
    """The place of a word in a vocabulary, from 1."""
    vectors = space.vectors(language)
    return vectors.index[lookup_entry(word, vectors) or word] + 1


def _say_which(space: Space, language: str, known: Mapping[str, list[str]], choice: Choice) -> None:
    """Warns, once of a word, that another language has it too, if no other word told them apart."""
    both = [one for one in space.languages if one != language and all(one in of for of in known.values())]
    word = next(iter(known))
    warned: set[str] = space.once("words whose language was taken", (), set)
    if both and word not in warned:
        warned.add(word)
        log.warning(
            "%r is taken as a word of %s, where it has rank %d, not of %s (rank %d); for that use %s",
            word, language, _rank(space, language, word), both[0], _rank(space, both[0], word),
            _chosen(both[0], list(known), choice),
        )  # fmt: skip


def _chosen(language: str, words: Sequence[str], choice: Choice) -> str:
    """The code that chooses a language."""
    if choice in ("src", "lang"):
        return f'{choice}="{language}"'
    key = f'"{language}", "{words[0]}"' if len(words) == 1 else f'"{language}", words'
    return f"space[{key}]" if choice == "key" else f"({key})"


def _nowhere(space: Space, words: Sequence[str]) -> str:
    close = [
        f"{spelled} ({language})"
        for language in space.languages
        for spelled in spellings(words[0], space.vectors(language))
    ]
    advice = "for several words, give a list of them" if " " in words[0].strip() else "check its spelling"
    if close:
        advice = f"did you mean {', '.join(close[:NAMED])}?"
    return f"{_some(words)} is in no language of this space ({', '.join(space.languages)}); {advice}"


def _some(words: Sequence[str]) -> str:
    return ", ".join(map(repr, islice(words, NAMED))) + (" ..." if len(words) > NAMED else "")


def direction_of(space: Space, src: str | None, tgt: str | None) -> tuple[str, str]:
    """The two languages; BadSetting where the space has more, and it does not follow which are meant.

    Into which language is known of all but the pivot: into that.
    """
    several = len(space.languages) > 2
    unknown = {"src": src is None and several, "tgt": tgt is None and several and src == space.pivot}
    for name, language, other in (("src", src, tgt), ("tgt", tgt, src)):
        if not isinstance(language, str | None):
            raise BadSetting(f"{name} must be a language, got {language!r}")
        if unknown[name]:
            names, best = ", ".join(space.languages), next(one for one in space.languages if one != other)
            raise BadSetting(f'the languages of this space are {names}; choose one: {name}="{best}"')
    return space.direction(src, tgt)


def example_words(space: Space, language: str, least: int) -> list[str]:
    """Words to try: common ones of a language, no grammar, that no other language has.

    They are those whose best answer is trusted and another string if at least so many are.
    """
    others = [other for other in space.languages if other != language]
    words, indices = space.vectors(language).words, [space.vectors(other).index for other in others]
    rows = [
        row for row, word in enumerate(words[PASSED_OVER:LOOKED_AT], PASSED_OVER)
        if word.isalpha() and word == word.lower()
        and len(word) >= (SHORTEST if word.islower() else SHORTEST_WITHOUT_CASE)
        and not any(word in index for index in indices)
    ]  # fmt: skip
    target = space.pivot if language != space.pivot or not others else others[0]
    if target in others and (table := space.answers(language, target)) is not None:
        first, other = table.first(), space.vectors(target).words
        trusted = [
            row for row in rows
            if first[row] >= 0 and table.probability[table.pointers[row]] >= TRUSTED
            and casefolded(other[first[row]]) != casefolded(words[row])
        ]  # fmt: skip
        rows = trusted if len(trusted) >= least else rows
    return [words[row] for row in rows]
