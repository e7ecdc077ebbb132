"""Own spelling: a word that the target language spells alike is often its own translation (Paris, opinion).

The softmax of CSLS / T over all m targets (`muse.search.probability`) holds each of them equally likely
before it sees a vector. If a share s of the words that both vocabularies spell alike are translations of each
other, the same spelling is (m - 1) s / (1 - s) times as likely as another target, and the log of that, times
T, is to be added to its CSLS: .53 to .58 for m = 14,000 to 30,000, s = .5 and the T of .056 that is fitted
there. Words with very different ranks, like French tu and its trace in English, are false friends or noise.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from muse.search.retrieval import Retrieval
from muse.space import AlignedSpace
from muse.vectors import Vectors

PRIOR = 0.5  # what is added to the CSLS of a word's own spelling
RANKS_APART = 10.0  # the factor by which the ranks in the two vocabularies may differ
SMOOTHING = 10  # added to both ranks, since among the first words a factor says little

Found = list[tuple[str, float]]  # target words and their scores, best first


def with_own_spelling(
    space: AlignedSpace,
    rows: Mapping[str, Tensor],
    found: list[Found],
    direction: tuple[str, str],
    retrieval: Retrieval,
) -> list[Found]:
    """What each word has `found`, with its own spelling in the target language, raised by PRIOR, in place.

    `rows` has the rows (d,) of the words in the shared space, in the order of `found`.
    """
    source, target = (space.vectors(language) for language in direction)
    own = {
        word: spelled for word in rows
        if (spelled := own_spelling(word, source, target)) is not None
        and target.matrix[target.index[spelled]].any()
    }  # fmt: skip
    if not own:
        return found
    scale = 2.0 if retrieval.method == "csls" else 1.0  # CSLS has twice the scale of a cosine
    places = [place for place, word in enumerate(rows) if word in own]
    queries = torch.stack([rows[word] for word in own])  # (q, d)
    best = _cosines(space, queries, [found[place][0][0] for place in places], direction, retrieval)  # (q,)
    less = scale * (best - _cosines(space, queries, list(own.values()), direction, retrieval))  # (q,)
    raised = list(found)
    for place, spelled, below in zip(places, own.values(), less.tolist(), strict=True):
        score = found[place][0][1] - below + PRIOR * scale / 2
        others = [one for one in found[place] if one[0] != spelled]
        raised[place] = sorted([(spelled, score), *others], key=lambda one: -one[1])[: len(found[place])]
    return raised


def without_prior(
    space: AlignedSpace, word: str, found: Found, direction: tuple[str, str], retrieval: Retrieval
) -> Found:
    """What a word has found by `with_own_spelling`, in that order, its own spelling with its cosine as it is.

    CSLS stays raised: a probability is that of the raised score.
    """
    if retrieval.method == "csls":
        return found
    own = own_spelling(word, *map(space.vectors, direction))
    return [(target, score - PRIOR / 2 * (target == own)) for target, score in found]


def own_spelling(word: str, source: Vectors, target: Vectors) -> str | None:
    """The word of `target` that is spelled like a word of `source`, apart from case, and of similar rank.

    Ids of rows are no spellings: the same row number in two files says nothing.

    >>> import numpy as np
    >>> french = Vectors("fr", ["Paris", "chat"], np.zeros((2, 1), np.float32))
    >>> own_spelling("Paris", french, Vectors("en", ["cat", "paris"], np.zeros((2, 1), np.float32)))
    'paris'
    """
    if not (source.ranked and target.ranked):
        return None
    forms = (word, word.lower(), word.capitalize())
    spelled = next((form for form in forms if form in target.index), None)
    if spelled is None or word not in source.index:
        return None
    ranks = source.index[word] + SMOOTHING, target.index[spelled] + SMOOTHING
    return target.words[target.index[spelled]] if max(ranks) <= RANKS_APART * min(ranks) else None


def _cosines(
    space: AlignedSpace, queries: Tensor, words: list[str], direction: tuple[str, str], retrieval: Retrieval
) -> Tensor:
    # The cosine (q,) of each query (q, d) to one target word, less the bias of that word.
    source, target = direction
    index, bias = space.vectors(target).index, space.bias(source, target, retrieval)
    columns = torch.tensor([index[word] for word in words], device=queries.device)
    cosines = (queries * space.tensor(target)[columns]).sum(dim=1)
    return cosines if bias is None else cosines - bias[columns]
