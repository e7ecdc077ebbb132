"""What a lookup table is worth as word vectors: dictionary pairs of a space made of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from torch import Tensor
from torch.nn import functional

from muse.evaluation.words import evaluate_words
from muse.lexicon import Lexicon
from muse.normalise import normalise
from muse.search.retrieval import Retrieval
from muse.sentences.systems.pieces import Pieces
from muse.space import Space

PAIR = ("en", "fr")
Rows = Mapping[str, Tensor]


def distance(rows: Rows, space: Space, lexicon: Lexicon) -> float:
    """The mean L2 distance of dictionary pairs, by rows (n, d) of the words of a space."""
    x, y = _pairs(rows, space, lexicon)
    return float((x - y).norm(dim=1).mean())


def cosine(space: Space, lexicon: Lexicon) -> str:
    """The mean cosine of dictionary pairs, and in brackets the same of centred rows."""
    found = []
    for one in (space, centred(space)):
        rows = {language: one.tensor(language) for language in PAIR}
        found.append(float(functional.cosine_similarity(*_pairs(rows, one, lexicon)).mean()))
    return f"{found[0]:.3f} ({found[1]:.3f})"


def p_at_1(space: Space, lexicon: Lexicon) -> str:
    """P@1 by cosine among all words, and in brackets the same of centred rows."""
    rng, how = np.random.default_rng(0), Retrieval("nn")
    found = [
        evaluate_words(one, lexicon, rng=rng, source="fr", target="en", retrieval=how).p_at_1
        for one in (space, centred(space))
    ]
    return f"{found[0]:.1f} ({found[1]:.1f})"


def _pairs(rows: Rows, space: Space, lexicon: Lexicon) -> tuple[Tensor, Tensor]:
    en, fr = (space.vectors(language).index for language in PAIR)
    found = [(fr[x], en[y]) for x, y in lexicon.pairs if x in fr and y in en]
    x, y = (rows[name][[pair[side] for pair in found]] for side, name in enumerate(PAIR[::-1]))
    return x, y


def centred(space: Space) -> Space:
    """The space with its rows as `muse align` normalises them, each language by its own mean."""
    sides = {}
    for language in space.languages:
        side = space.side(language)
        rows, _ = normalise(side.vectors.matrix)
        sides[language] = replace(side, vectors=replace(side.vectors, matrix=rows))
    return Space(sides, space.pivot, space.manifest)


def of_one_piece(lexicon: Lexicon, pieces: Pieces) -> Lexicon:
    """The pairs of words that are one piece each."""
    whole = [{word for word, ids in zip(words, pieces.encode(words), strict=True)
              if len(ids) == 1} for words in zip(*lexicon.pairs, strict=True)]  # fmt: skip
    return Lexicon(tuple(pair for pair in lexicon.pairs if pair[0] in whole[0] and pair[1] in whole[1]))
