"""Word translation: how often one of the best targets of a word is a translation by a gold dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from muse.errors import Mismatch
from muse.evaluation.score import (
    Hits,
    Interval,
    Score,
    Signature,
    bootstrap_interval,
    lexicon_name,
    space_signature,
)
from muse.lexicon import Lexicon
from muse.neighbours import nearest
from muse.retrieval import Retrieval
from muse.space import AlignedSpace

TOP = 10


@dataclass(frozen=True)
class WordScore:
    """P@1, P@5 and P@10 in percent over the covered queries, with the 95 % interval of P@1.

    A query is a source word of the gold dictionary; it is covered if it and at least one of its
    translations are in the vocabularies. In `p_at_1_all` the others count as wrong.
    """

    p_at_1: float
    p_at_5: float
    p_at_10: float
    ci95: Interval
    queries: int
    covered: int
    coverage: float
    p_at_1_all: float
    signature: Signature

    @property
    def score(self) -> Score:
        """P@1 as one line to print."""
        return Score("P@1", self.p_at_1, self.ci95, self.signature)

    def as_json(self) -> dict[str, Any]:
        """All fields as JSON can hold them."""
        return {**vars(self), "ci95": list(self.ci95), "signature": str(self.signature)}


def evaluate_words(
    space: AlignedSpace,
    lexicon: Lexicon,
    *,
    rng: np.random.Generator,
    source: str | None = None,
    target: str | None = None,
    retrieval: Retrieval | None = None,
    gold: str | None = None,
) -> WordScore:
    """The precision of the space's translations of the source words of `lexicon`.

    `rng` draws the bootstrap. `gold` names the dictionary in the signature. (The convention of
    Conneau et al., 2018, section 4.1: any of a word's gold translations is right.)
    """
    source, target = space.direction(source, target)
    retrieval = retrieval or Retrieval()
    queries = len({word for word, _ in lexicon.pairs})
    covered = _covered(space, lexicon, source, target)
    if not covered:
        raise Mismatch(_nothing_covered(space, lexicon, source, target))
    hits = _hits(space, covered, source, target, retrieval)  # (q, k)
    p_at_1, p_at_5, p_at_10 = (100 * float(hits[:, :k].any(axis=1).mean()) for k in (1, 5, TOP))
    coverage = len(covered) / queries
    signature = space_signature(
        space,
        source,
        target,
        retrieval=str(retrieval),
        gold=gold or lexicon_name(lexicon),
        coverage=coverage,
    )
    return WordScore(
        p_at_1,
        p_at_5,
        p_at_10,
        bootstrap_interval(hits[:, 0], rng),
        queries,
        len(covered),
        coverage,
        p_at_1 * coverage,
        signature,
    )


def _covered(space: AlignedSpace, lexicon: Lexicon, source: str, target: str) -> dict[int, list[int]]:
    # The rows of the covered queries, each with the rows of its translations.
    pairs = lexicon.indices(space.vectors(source).index, space.vectors(target).index)
    rows: dict[int, list[int]] = {}
    for query, translation in pairs.tolist():
        rows.setdefault(query, []).append(translation)
    return rows


def _hits(
    space: AlignedSpace, covered: Mapping[int, list[int]], source: str, target: str, retrieval: Retrieval
) -> Hits:
    # (q, k): whether the k-th best target of a query is one of its translations.
    rows = torch.tensor(list(covered), device=space.device)
    bias = space.bias(source, target, retrieval)
    # Only the order counts, so the part of CSLS that is the same for all targets is left out.
    found = nearest(
        space.tensor(source)[rows], space.tensor(target), TOP, bias=bias, backend=retrieval.backend
    )
    best = found.indices.cpu().numpy()  # (q, k)
    hits = np.zeros(best.shape, bool)
    for query, translations in enumerate(covered.values()):
        hits[query] = np.isin(best[query], translations)
    return hits


def _nothing_covered(space: AlignedSpace, lexicon: Lexicon, source: str, target: str) -> str:
    message = (
        f"at least one word of the dictionary and a translation of it must be among the words of {source} "
        f"and {target}, got none of {len(lexicon)} pairs"
    )
    if _covered(space, lexicon.reversed(), source, target):
        return f"{message}; it reads from {target} to {source}: exchange --src and --tgt"
    sources, targets = (_folded(space.vectors(language).words) for language in (source, target))
    if any(x.casefold() in sources and y.casefold() in targets for x, y in lexicon.pairs):
        return f"{message}; they differ in upper and lower case: bring the dictionary to that of the words"
    return f"{message}; check that the dictionary is of these languages and in this direction"


def _folded(words: Iterable[str]) -> set[str]:
    return {word.casefold() for word in words}
