"""Words: their best translations, looked up in an aligned space."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import torch
from torch import Tensor

from muse.errors import BadSetting
from muse.search.neighbours import nearest
from muse.search.retrieval import Retrieval
from muse.space import AlignedSpace
from muse.space.new_words import NewWords
from muse.vectors import Vectors

Translation = tuple[str, float]

SUGGESTIONS = 3
ALIKE = 0.7  # the least difflib ratio of a suggestion: 0.83 for maisno and maison, 0.75 for chta and chat
LENGTH_APART = 2  # letters by which a suggestion may be longer or shorter
CANDIDATES = 20_000  # the most frequent words that difflib compares one by one: about 0.2 s


def translate_words(
    space: AlignedSpace,
    words: Sequence[str],
    *,
    source: str | None = None,
    target: str | None = None,
    top: int = 10,
    retrieval: Retrieval | None = None,
    new_words: NewWords | None = None,
) -> dict[str, list[Translation]]:
    """Each word with its `top` best translations and their scores, best first.

    Raise BadSetting, with the nearest spellings, for a word in neither the space nor `new_words`.

    >>> import numpy as np
    >>> from muse.normalise import Normalisation
    >>> from muse.space import Side
    >>> rows, steps = np.eye(2, dtype=np.float32), Normalisation(("unit",), ())
    >>> sides = {"fr": Side(Vectors("fr", ["chat", "chien"], rows), rows, steps)}
    >>> sides["en"] = Side(Vectors("en", ["cat", "dog"], rows), rows, steps)
    >>> translate_words(AlignedSpace(sides, "en"), ["chien"], top=1, retrieval=Retrieval("nn"))
    {'chien': [('dog', 1.0)]}
    """
    source, target = space.direction(source, target)
    if top < 1:
        raise BadSetting(f"--top must be at least 1, got {top}")
    words = list(dict.fromkeys(words))
    rows = rows_of(space, source, words, new_words)
    unknown = [word for word in words if word not in rows]
    if unknown:
        raise BadSetting(_unknown(unknown, space.vectors(source)))
    if not words:
        return {}
    queries = torch.stack([rows[word] for word in words])  # (q, d)
    found = space.look_up(queries, (source, target), top=top, retrieval=retrieval or Retrieval())
    return dict(zip(words, found, strict=True))


def rows_of(
    space: AlignedSpace, language: str, words: Sequence[str], new_words: NewWords | None
) -> dict[str, Tensor]:
    """The row (d,) in the shared space of each word that the space or else `new_words` contains."""
    index, tensor = space.vectors(language).index, space.tensor(language)
    rows = {word: tensor[index[word]] for word in words if word in index}
    new = [word for word in words if word not in index and new_words is not None and new_words.has(word)]
    if new and new_words is not None:
        rows.update(zip(new, torch.from_numpy(new_words.rows(new)).to(tensor.device), strict=True))
    return rows


def neighbours(
    space: AlignedSpace, language: str, word: str, *, among: Sequence[str], top: int = 10
) -> dict[str, list[Translation]]:
    """For each language of `among`, the `top` words of highest cosine to a word, without the word itself.

    >>> import numpy as np
    >>> from muse.normalise import Normalisation
    >>> from muse.space import Side
    >>> rows, steps = np.eye(2, dtype=np.float32), Normalisation(("unit",), ())
    >>> sides = {name: Side(Vectors(name, ["a", "b"], rows), rows, steps) for name in ("fr", "en")}
    >>> neighbours(AlignedSpace(sides, "en"), "fr", "a", among=["fr", "en"], top=1)
    {'fr': [('b', 0.0)], 'en': [('a', 1.0)]}
    """
    row = space.vectors(language).index.get(word)
    if row is None:
        raise BadSetting(_unknown([word], space.vectors(language)))
    query, found = space.tensor(language)[row][None], {}  # (1, d)
    for other in among:
        same = other == language
        best = nearest(query, space.tensor(other), top + same)
        pairs = zip(best.indices[0].tolist(), best.scores[0].tolist(), strict=True)
        words = space.vectors(other).words
        found[other] = [(words[j], score) for j, score in pairs if not (same and j == row)][:top]
    return found


def spellings(word: str, vectors: Vectors) -> list[str]:
    """Words of `vectors` that may be the intended spelling of `word`, the likeliest first.

    >>> spellings("Maisno", Vectors("fr", ["maison", "raison", "eau"], torch.zeros(3, 1).numpy()))
    ['maison']
    """
    folded = word.casefold()
    forms = [form for form in (word.lower(), word.capitalize(), word.upper()) if form in vectors.index]
    close = difflib.get_close_matches(folded, _candidates(folded, vectors), n=SUGGESTIONS, cutoff=ALIKE)
    return list(dict.fromkeys([*forms, *close]))[:SUGGESTIONS]


def _candidates(word: str, vectors: Vectors) -> list[str]:
    # difflib takes 10 us a word: compare only words of similar length with the same first or last letter.
    first, last = word[:1], word[-1:]
    near = range(len(word) - LENGTH_APART, len(word) + LENGTH_APART + 1)
    found = []
    for candidate in vectors.words:
        if len(candidate) in near and (candidate[:1] == first or candidate[-1:] == last):
            found.append(candidate)
            if len(found) == CANDIDATES:
                break
    return found


def _unknown(words: Sequence[str], vectors: Vectors) -> str:
    others = f" (nor are {len(words) - 1} others)" if len(words) > 1 else ""
    close = spellings(words[0], vectors)
    advice = f"did you mean {', '.join(close)}?" if close else "check its spelling and its language"
    return f"{words[0]!r} is not among the {len(vectors)} words of {vectors.language}{others}; {advice}"
