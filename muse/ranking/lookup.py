"""Looking words up in an aligned space: the entries that are meant, their rows, the nearest words.

An expression is one entry, such as aujourd'hui or parce_que, or else the mean of its words, in which each
word weighs the square root of its rank: the rare one counts most. A word that is not there gets suggestions:
similar spellings, and the other languages that have it.
"""

from __future__ import annotations

import difflib
import logging
import unicodedata
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.errors import BadSetting, UnknownWord, counted
from muse.orthography import casefolded, cases
from muse.search.exact import nearest
from muse.search.retrieval import check_count
from muse.space import Space
from muse.space.new_words import NewWords
from muse.text.segmentation import Phrases
from muse.text.strings import check_word
from muse.text.surface import grouped, joined, without_elision
from muse.vectors import Vectors

log = logging.getLogger(__name__)

Near = list[tuple[str, float]]  # words and their cosines, nearest first
_TYPED = str.maketrans(dict.fromkeys("\u2019\u02bc\u2018\u00b4", "'") | dict.fromkeys("\u2010\u2011", "-"))


def lookup_entry(word: str, vectors: Vectors) -> str | None:
    """The entry of a vocabulary that a typed word stands for, None if there is none.

    It is the word itself if that is there, in whatever Unicode form; otherwise, by the first of these that
    helps, the word with typewriter's apostrophes and hyphens, the most frequent of its cases, the word
    spelled otherwise (`muse.orthography.SPELLINGS`), what follows an elided article or pronoun, and the word
    with its hyphens left out or turned into spaces, or the reverse, or its spaces into underscores.

    >>> import numpy as np
    >>> french = Vectors("fr", ["roi", "amour", "Paris", "porte-clés"], np.zeros((4, 1), np.float32))
    >>> [lookup_entry(word, french) for word in ("Roi", "L\u2019amour", "PARIS", "porte clés", "king")]
    ['roi', 'amour', 'Paris', 'porte-clés', None]
    """
    index, language = vectors.index, vectors.language
    if (entry := index.entry(word)) is not None:
        return entry
    # Composed, since title() begins a new word after an accent that stands apart.
    plain = unicodedata.normalize("NFC", word).translate(_TYPED).strip()
    others = (("-", ""), ("-", " "), (" ", "-"), (" ", "_"), (" ", ""))
    parted = (plain.replace(old, new) for old, new in others if old in plain)
    for spelling in (plain, without_elision(plain, language), plain.strip("'"), *parted):
        if (entry := index.entry(spelling)) is not None:
            return entry
        every = [*cases(spelling, language)]
        for forms in every:
            if rows := [index[form] for form in forms if form in index]:
                return vectors.words[min(rows)]
        if vectors.frequency_ordered:
            if (row := index.lookup_row(spelling)) is not None:
                return vectors.words[row]
            if rows := [row for form in every[0] if (row := index.lookup_row(form)) is not None]:
                return vectors.words[min(rows)]
    return None


def with_entries(
    tokens: Sequence[str], vectors: Vectors, phrases: Phrases
) -> Iterator[tuple[Sequence[str], str | None]]:
    """The tokens in order with None; those of a phrase or expression that `vectors` know, with its entry.

    >>> import numpy as np
    >>> french = Vectors("fr", ["un", "quelqu"], np.zeros((2, 1), np.float32))
    >>> list(with_entries(["Quelqu'", "un", "vient"], french, Phrases(french.words)))
    [(["Quelqu'", 'un'], 'quelqu un'), (['vient'], None)]
    """
    for part, phrase in phrases.split(tokens) if phrases else [(tokens, None)]:
        if phrase is not None:
            yield part, phrase
            continue
        for group in grouped(part, vectors.language):
            entry = expression_entry(group, vectors) if len(group) > 1 else None
            if entry is not None:
                yield group, entry
            else:
                yield from (([token], None) for token in group)


def expression_entry(tokens: Sequence[str], vectors: Vectors) -> str | None:
    """The entry of an expression: as a vocabulary has it, or its words, with spaces; None if unknown."""
    lowered = [token.lower() for token in tokens]
    for form in (joined(lowered), joined(lowered, "_"), joined(lowered, "-")):
        if form in vectors.index:
            return form
    forms = [[form for form in (token, token.strip("'")) if form in vectors.index] for token in lowered]
    return " ".join(known[0] for known in forms) if all(forms) else None


def expression_row(entry: str, vectors: Vectors, rows: Tensor) -> Tensor | None:
    """The row (d,) of several words with spaces, from the `rows` (n, d) of all; None if one is unknown."""
    places = [vectors.index.get(word) for word in entry.split(" ")]
    known = [place for place in places if place is not None]
    if len(known) < max(2, len(places)):
        return None
    weights = torch.tensor(known, dtype=rows.dtype, device=rows.device).add(1).sqrt()  # (w,)
    return normalize(weights @ rows[known], dim=0)


def rows_of(
    space: Space, language: str, words: Sequence[str], new_words: NewWords | None
) -> dict[str, Tensor]:
    """The row (d,) in the shared space of each word that the space or else `new_words` contains.

    Words with spaces between are an expression (`muse.ranking.lookup`), if the space has them all.
    """
    vectors, tensor = space.vectors(language), space.tensor(language)
    index, rows = vectors.index, {}
    for word in words:
        row = tensor[index[word]] if word in index else expression_row(word, vectors, tensor)
        if row is not None:
            rows[word] = row
    new = [word for word in words if word not in rows and new_words is not None and new_words.has(word)]
    if new and new_words is not None:
        rows.update(zip(new, torch.from_numpy(new_words.rows(new)).to(tensor.device), strict=True))
    return rows


def neighbours(
    space: Space, language: str, word: str, *, among: Sequence[str], top: int = 10
) -> dict[str, Near]:
    """For each language of `among`, the `top` words of highest cosine to a word, without the word itself.

    The word is looked up in the form that the vocabulary has (`lookup_entry`); BadSetting if
    there is none. `entries_of_word` finds the languages that have it. A row of zeros is near to none.
    """
    check_count("--top", top)
    check_word(word)
    vectors = space.vectors(language)
    if (form := lookup_entry(word, vectors)) is None:
        raise BadSetting(not_found(space, language, word))
    row = vectors.index[form]
    query, found = space.tensor(language)[row][None], {}  # (1, d)
    for other in among:
        same = other == language
        best = nearest(query, space.tensor(other), top + same)
        pairs = zip(best.indices[0].tolist(), best.scores[0].tolist(), strict=True)
        words = space.vectors(other).words
        near = [(words[j], score) for j, score in pairs if not (same and j == row)][:top]
        found[other] = near if query.any() else []
    return found


def entries_of_word(space: Space, word: str) -> dict[str, str]:
    """The languages that have a word, with its entry in each: as it is typed or, if none has that, its form.

    A word that one language spells so and another one with a capital is of the first alone.
    """
    check_word(word)
    every = {language: space.vectors(language) for language in space.languages}
    found = {language: vectors.index.entry(word) for language, vectors in every.items()}
    if not any(one is not None for one in found.values()):
        found = {language: lookup_entry(word, vectors) for language, vectors in every.items()}
    return {language: entry for language, entry in found.items() if entry is not None}


SUGGESTIONS = 3
ALIKE = 0.7  # the least difflib ratio of a suggestion: 0.83 for maisno and maison, 0.75 for chta and chat
LENGTH_APART = 2  # letters by which a suggestion may be longer or shorter
CANDIDATES = 20_000  # the most frequent words that difflib compares one by one: about 0.2 s


def spellings(word: str, vectors: Vectors) -> list[str]:
    """Words of `vectors` that may be the intended spelling of `word`, the likeliest first.

    >>> import numpy as np
    >>> spellings("Maisno", Vectors("fr", ["maison", "raison", "eau"], np.zeros((3, 1), "f")))
    ['maison']
    """
    folded = casefolded(word)
    # The entries by their composed forms: apart, an accent would count as a letter. difflib takes 10 us a
    # word: compare only words of similar length with the same first or last letter.
    near = dict[str, str]()
    for entry in vectors.words:
        spelling = unicodedata.normalize("NFC", entry)
        ends = spelling[:1] == folded[:1] or spelling[-1:] == folded[-1:]
        if ends and abs(len(spelling) - len(folded)) <= LENGTH_APART:
            near.setdefault(spelling, entry)
            if len(near) == CANDIDATES:
                break
    close = difflib.get_close_matches(folded, near, n=SUGGESTIONS, cutoff=ALIKE)
    return [near[spelling] for spelling in close]


def languages_with(space: Space, word: str, *, besides: str, before: int | None = None) -> list[str]:
    """The languages of a space, besides one, that have the word, `before` a rank if that is given.

    Rows in no order have no rank.
    """
    sides = [(one, space.vectors(one)) for one in space.languages if one != besides]
    forms = [(one, vectors, lookup_entry(word, vectors)) for one, vectors in sides]
    return [
        one for one, vectors, form in forms if form is not None
        and (before is None or (vectors.frequency_ordered and vectors.index[form] < before))
    ]  # fmt: skip


def not_found(space: Space, language: str, word: str, options: str = "--src and --tgt") -> str:
    """The message for a word that a language of a space does not have, with advice: `options` to check."""
    vectors = space.vectors(language)
    others = languages_with(space, word, besides=language)
    close = () if others else spellings(word, vectors)
    return f"{word!r} is {reason_unknown(vectors, others, close, options)}"


def is_term(word: str, vectors: Vectors) -> bool:
    """Whether a word is several that are no entry; ids of unlabelled vectors never are."""
    return len(word.split()) > 1 and vectors.frequency_ordered and lookup_entry(word, vectors) is None


def known_entries(
    space: Space, language: str, words: Sequence[str], *, options: str = "--src and --tgt", advice: str = ""
) -> frozenset[str]:
    """The entries of a list of words; a warning names an unknown one, UnknownWord if all are."""
    forms = {word: lookup_entry(word, space.vectors(language)) for word in words}
    unknown = [word for word, form in forms.items() if form is None]
    first = not_found(space, language, unknown[0], options) if unknown else "give at least one"
    if len(unknown) == len(forms):
        raise UnknownWord(f"none of {counted(len(forms), 'word')} is known; {first}")
    if unknown:
        log.warning("left out %s, unknown: %s%s", counted(len(unknown), "word"), first, advice)
    return frozenset(form for form in forms.values() if form is not None)


def reason_unknown(
    vectors: Vectors, others: Sequence[str], close: Sequence[str], options: str = "--src and --tgt"
) -> str:
    """Why a word has no answer, with advice: languages that have it, or else similar spellings."""
    if others:
        advice = f"it is a {vectors.noun[:-1]} of {' and '.join(others)}; check {options}"
    elif close:
        advice = f"did you mean {', '.join(close)}?"
    else:
        advice = f"check its {'spelling' if vectors.frequency_ordered else 'id'} and its language"
    return f"not among the {len(vectors)} {vectors.noun} of {vectors.language}; {advice}"
