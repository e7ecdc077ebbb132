"""Baselines: simple methods on the same gold list: identical strings, and Procrustes on the list itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from muse.evaluation.groups import GroupScore, group_score
from muse.evaluation.score import Signature
from muse.evaluation.words import WordScore
from muse.lexicon import Lexicon
from muse.procrustes import cross_fitted
from muse.search.retrieval import Retrieval
from muse.space import AlignedSpace
from muse.vectors import Vectors

FOLDS = 5  # of the words of the list: four fifths are fitted to, one fifth is looked up


@dataclass(frozen=True)
class Baseline:
    """The P@1 of a simple method on the queries of a space's score; its `meaning` follows the figure."""

    found: GroupScore
    meaning: str
    signature: Signature


def identical_strings(
    target: Vectors,
    score: WordScore,
    listed: Mapping[str, Sequence[str]],
    *,
    rng: np.random.Generator,
) -> Baseline:
    """The baseline that answers every word with itself, where the other language has it too."""
    hits = np.array([target.index.entry(word) in listed[word] for word in score.ranks])
    signature = replace(
        score.signature, retrieval="identical strings", normalisation="", method="", seed=None
    )
    return Baseline(group_score("identical strings", hits, rng), "if every word is left as it is", signature)


def procrustes_on_gold(
    space: AlignedSpace,
    lexicon: Lexicon,
    direction: tuple[str, str],
    *,
    score: WordScore,
    max_vocab: int,
    rng: np.random.Generator,
) -> Baseline:
    """The baseline of a rotation fitted to the list itself, each word by one that was not fitted to it.

    It starts from the rows of the space, since a rotation of rotated rows is a rotation; what re-weighting
    did is undone. Its CSLS takes a target's neighbours among the `max_vocab` most frequent sources.
    """
    source, target = direction
    pairs = lexicon.indices(space.vectors(source).index, space.vectors(target).index)  # (p, 2)
    most = max(max_vocab, int(pairs[:, 0].max()) + 1)
    x, y = space.unweighted(source, most), space.unweighted(target, len(space.vectors(target)))
    folds = torch.from_numpy(rng.integers(FOLDS, size=len(x))).to(x.device)
    mapped = cross_fitted(x, y, torch.from_numpy(np.unique(pairs, axis=0)).to(x.device), folds)  # (n, d)
    rows = np.unique(pairs[:, 0])  # (q,)
    retrieval = Retrieval()
    bias = retrieval.bias(mapped[:max_vocab], y)  # (m,)
    best = retrieval.translate(mapped[torch.from_numpy(rows)], y, 1, bias=bias).indices[:, 0].tolist()
    listed = set(map(tuple, pairs.tolist()))
    hits = np.array([pair in listed for pair in zip(rows.tolist(), best, strict=True)])
    signature = replace(
        score.signature, method=f"procrustes on the list, {FOLDS} folds", seed=None,
        more=(f"hubs:{min(max_vocab, len(x))}",),
    )  # fmt: skip
    meaning = f"by a rotation learned from {FOLDS - 1} in {FOLDS} words of the list for the others"
    return Baseline(group_score("Procrustes", hits, rng), meaning, signature)
