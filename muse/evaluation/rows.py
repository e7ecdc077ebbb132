"""Rows: how often the counterpart of a row is the nearest row of the other side, and how near it comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from muse.errors import Mismatch
from muse.evaluation.ranks import Ranks, ranks_and_cosines
from muse.evaluation.score import (
    Interval,
    Score,
    Signature,
    bootstrap_interval,
    bootstrap_mean,
    json_fields,
    space_signature,
)
from muse.lexicon import Lexicon
from muse.search.retrieval import Retrieval
from muse.space import AlignedSpace
from muse.vectors import Vectors

DEPTHS = (1, 5, 10)


@dataclass(frozen=True)
class RowsScore:
    """P@1, P@5 and P@10 in percent, mean rank and mean cosine of the counterparts, with 95 % intervals.

    `queries` rows were looked up among `targets`; of several counterparts of a row the nearest counts.
    `missing` pairs named a row that is not there, or an id of several rows that has not as many on the other
    side. Ties with the counterpart count as ahead of it.
    """

    p_at_1: float
    p_at_5: float
    p_at_10: float
    ci95: Interval
    mean_rank: float
    mean_rank_ci95: Interval
    mean_cosine: float
    mean_cosine_ci95: Interval
    queries: int
    targets: int
    missing: int
    signature: Signature

    def as_json(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return json_fields(self)

    def __str__(self) -> str:
        """The lines to print."""
        low, high = self.mean_rank_ci95
        return (
            f"{Score('P@1', self.p_at_1, self.ci95, self.signature)}\n"
            f"P@5 = {self.p_at_5:.1f}, P@10 = {self.p_at_10:.1f}, mean rank {self.mean_rank:.1f} "
            f"[{low:.1f}, {high:.1f}], mean cosine {self.mean_cosine:.3f}; {self.queries} rows looked up "
            f"among {self.targets}"
            + (f", {self.missing} pairs left out: a row is missing" if self.missing else "")
        )


def evaluate_rows(
    space: AlignedSpace,
    sides: tuple[Vectors, Vectors],
    pairs: Lexicon | None,
    *,
    retrieval: Retrieval,
    rng: np.random.Generator,
    gold: str = "",
) -> RowsScore:
    """The score of looking up the rows of the first side among all rows of the second.

    `sides` are in the shared space, rows of unit length, with ids as words; `pairs` of ids say which belong
    together, and without them row i belongs to row i. Raise Mismatch if there is no pair.
    """
    found, missing = _places(sides, pairs)
    x, y = (side.tensor(space.device) for side in sides)
    ranks, cosines = ranks_and_cosines(x, y, found, retrieval.bias(x, y))
    order = np.argsort(found[:, 0], kind="stable")
    _, first = np.unique(found[order, 0], return_index=True)  # (q,)
    ranks = np.minimum.reduceat(ranks[order], first)
    cosines = np.maximum.reduceat(cosines[order], first)
    source, target = (side.language for side in sides)
    signature = space_signature(
        space, source, target, retrieval=str(retrieval), gold=gold, more=(f"rows:{len(x)}/{len(y)}",)
    )
    p_at_1, p_at_5, p_at_10 = (float(100 * (ranks <= depth).mean()) for depth in DEPTHS)
    return RowsScore(
        round(p_at_1, 2), round(p_at_5, 2), round(p_at_10, 2), bootstrap_interval(ranks <= 1, rng),
        round(float(ranks.mean()), 2), bootstrap_mean(ranks.astype(float), rng),
        round(float(cosines.mean()), 4), bootstrap_mean(cosines, rng),
        len(ranks), len(y), missing, signature,
    )  # fmt: skip


def _places(sides: tuple[Vectors, Vectors], pairs: Lexicon | None) -> tuple[Ranks, int]:
    """The row numbers (p, 2) of the pairs, and how many name a row that is not there."""
    own, other = sides
    if pairs is None:
        _check_numbered(own, other)
        return np.repeat(np.arange(len(own))[:, None], 2, axis=1), 0
    of_rows = pairs.pairs_of_rows(own.index, other.index)
    known = of_rows.lexicon.indices(own.index, other.index)  # (p, 2)
    if not len(known):
        such = "".join(f" (such as {left!r}, {right!r})" for left, right in pairs.pairs[:1])
        raise Mismatch(
            f"at least one pair must name a row of both sides, got none of {len(pairs)}{such}; ids of "
            f"{own.language} are like {own.words[0]!r}, of {other.language} like {other.words[0]!r}"
        )
    return known, len(of_rows.lexicon) - len(known) + of_rows.left_out


def _check_numbered(own: Vectors, other: Vectors) -> None:
    """Raise Mismatch unless row i of both sides can belong together."""
    if len(own) != len(other):
        raise Mismatch(
            f"row i of {own.language} must belong to row i of {other.language}, got {len(own)} and "
            f"{len(other)} rows; say with --pairs which ids belong together"
        )
    for side in (own, other):
        if side.repeated:
            raise Mismatch(
                f"every row of {side.language} needs an id of its own where rows belong together by their "
                f"place, got {side.repeated} repeated; say with --pairs which ids belong together"
            )
