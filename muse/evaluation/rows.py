"""Rows: how often the counterpart of a row is the nearest row of the other side, and how near it comes.

And of a store that stays where it is: how many of the neighbours that its own model finds for a query are
found for the mapped query of another model (`evaluate_store`).
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from muse.errors import Mismatch, counted
from muse.evaluation import score
from muse.evaluation.ranks import Ranks, ranks_and_cosines
from muse.files.vectors.table import Block, Table, texts_read
from muse.lexicon import Lexicon
from muse.normalise import normalise
from muse.search.exact import nearest
from muse.search.retrieval import Retrieval
from muse.space import Space
from muse.space.store_projection import into_store
from muse.vectors import Matrix, Vectors

DEPTHS = (1, 5, 10)
NEIGHBOURS = 10
WORST = 5  # queries that are shown
SAME_ROW = 1 - 1e-5  # the cosine from which two rows are one: their numbers were rounded

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class RowsScore(score.JsonScore):
    """P@1, P@5 and P@10 in percent, mean rank and mean cosine of the counterparts, with 95 % intervals.

    `queries` rows were looked up among `targets`; of several counterparts of a row the nearest counts.
    `missing` pairs named a row that is not there, or an id of several rows that has not as many on the other
    side. Ties with the counterpart count as ahead of it.
    """

    p_at_1: float
    p_at_5: float
    p_at_10: float
    ci95: score.Interval
    mean_rank: float
    mean_rank_ci95: score.Interval
    mean_cosine: float
    mean_cosine_ci95: score.Interval
    queries: int
    targets: int
    missing: int
    signature: score.Signature

    def __str__(self) -> str:
        rank = score.with_interval(self.mean_rank, self.mean_rank_ci95)
        return (
            f"{score.Score('P@1', self.p_at_1, self.ci95, self.signature)}\n"
            f"P@5 = {self.p_at_5:.1f}, P@10 = {self.p_at_10:.1f}, mean rank {rank}, "
            f"mean cosine {self.mean_cosine:.3f}; "
            f"{counted(self.queries, 'row')} looked up among {self.targets}"
            + (f", {counted(self.missing, 'pair')} left out: a row is missing" if self.missing else "")
        )


def evaluate_rows(
    space: Space,
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
    signature = score.space_signature(
        space, source, target, retrieval=str(retrieval), gold=gold, more=(f"rows:{len(x)}/{len(y)}",)
    )
    p_at_1, p_at_5, p_at_10 = (float(100 * (ranks <= depth).mean()) for depth in DEPTHS)
    return RowsScore(
        round(p_at_1, 2), round(p_at_5, 2), round(p_at_10, 2), score.bootstrap_interval(ranks <= 1, rng),
        round(float(ranks.mean()), 2), score.bootstrap_mean(ranks.astype(float), rng),
        round(float(cosines.mean()), 4), score.bootstrap_mean(cosines, rng),
        len(ranks), len(y), missing, signature,
    )  # fmt: skip


def _places(sides: tuple[Vectors, Vectors], pairs: Lexicon | None) -> tuple[Ranks, int]:
    """The row numbers (p, 2) of the pairs, and how many name a row that is not there."""
    own, other = sides
    if pairs is None:
        advice = "say with --pairs which ids belong together"
        if len(own) != len(other):
            raise Mismatch(
                f"row i of {own.language} must belong to row i of {other.language}, got {len(own)} and "
                f"{len(other)} rows; {advice}"
            )
        if repeated := [side for side in sides if side.repeated]:
            raise Mismatch(
                f"every row of {repeated[0].language} needs an id of its own where rows belong together by "
                f"their place, got {repeated[0].repeated} repeated; {advice}"
            )
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


@dataclass(frozen=True)
class Sufferer:
    """A query that loses neighbours: id and text, the share kept, the nearest row natively and mapped."""

    query: str
    text: str
    recall_at_10: float
    native: tuple[str, str]
    mapped: tuple[str, str]

    def __str__(self) -> str:
        rows = (self.query, self.text), self.native, self.mapped
        query, native, mapped = (f"{name} ({text})" if text else name for name, text in rows)
        return f"  {self.recall_at_10:.0f} %  {query}: natively {native}, mapped {mapped}"


@dataclass(frozen=True)
class StoreScore:
    """What searches of a store lose by mapped queries, in percent of native search, with 95 % intervals.

    Recall@k is the share of the k nearest rows by native queries that are among the k nearest by mapped
    ones, and `overlap` the rows in both lists of ten as a share of those in either. `learned` queries were
    left out, since the map had learned from them. `worst` lose most.
    """

    recall_at_1: float
    recall_at_1_ci95: score.Interval
    recall_at_10: float
    recall_at_10_ci95: score.Interval
    overlap: float
    overlap_ci95: score.Interval
    queries: int
    rows: int
    learned: int
    worst: tuple[Sufferer, ...]
    signature: score.Signature

    def as_json(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return {**score.json_fields(self, "worst"), "worst": [asdict(one) for one in self.worst]}

    def __str__(self) -> str:
        left = f", {self.learned} left out: the map learned from them" if self.learned else ""
        at_1 = score.with_interval(self.recall_at_1, self.recall_at_1_ci95)
        return "\n".join((
            str(score.Score("recall@10", self.recall_at_10, self.recall_at_10_ci95, self.signature)),
            f"recall@1 {at_1}, overlap {score.with_interval(self.overlap, self.overlap_ci95)}; "
            f"{self.queries} queries among {self.rows} rows{left}",
            "queries that lose most, by the share of their ten nearest rows that is left:",
            *map(str, self.worst),
        ))  # fmt: skip


def evaluate_store(
    space: Space,
    queries: Vectors,
    native: Vectors | None,
    store: tuple[str, Table],
    *,
    rng: np.random.Generator,
    gold: str = "",
) -> StoreScore:
    """The score of raw `queries` that are mapped among the unchanged rows of a store, named by its language.

    Row i of `native` is query i by the store's own model. Without, queries and rows of the same id are of one
    text, and that row counts for none of them. Raise Mismatch where no query is left.
    """
    language, table = store
    space.check_raw(language, table.dimension, str(table.path))
    into = into_store(space, queries.language, language)
    in_space = space.map_words(queries.language, queries.matrix)
    rows = space.tensor(queries.language)  # which the map may have learned from
    fresh = nearest(torch.from_numpy(in_space).to(rows), rows, 1).scores[:, 0].cpu().numpy() < SAME_ROW
    ids, best, known = _neighbours(table, into(queries.matrix), queries, native)
    kept = fresh & known
    if not kept.any():
        raise Mismatch(
            "at least one query must be in the store or have a native row, and be none that the map "
            f"learned from; got {len(queries)} queries, {int(known.sum())} known, "
            f"{int((~fresh).sum())} learned from"
        )
    natively, mapped = best[: len(queries)], best[len(queries) :]
    both = (natively[:, :, None] == mapped[:, None, :]).sum(axis=(1, 2))
    share = both / NEIGHBOURS
    worst = np.flatnonzero(kept)[np.argsort(share[kept], kind="stable")[:WORST]]
    signature = score.space_signature(
        space, queries.language, language, retrieval="nn", gold=gold, more=("into the store",)
    )
    at_1, at_10, overlap = (
        _percent(values[kept], rng)
        for values in (natively[:, 0] == mapped[:, 0], share, both / (2 * NEIGHBOURS - both))
    )
    wanted = {*best[:, 0].tolist()}
    texts = {row: text for row, text in enumerate(texts_read(table)) if row in wanted}
    named = {row: (ids[row], texts.get(row, "")) for row in wanted}
    sufferers = (
        Sufferer(
            queries.words[place], "" if queries.texts is None else queries.texts[place],
            round(100 * float(share[place]), 1),
            named[int(natively[place, 0])], named[int(mapped[place, 0])],
        )
        for place in worst.tolist()
    )  # fmt: skip
    return StoreScore(
        *at_1, *at_10, *overlap, int(kept.sum()), len(ids), int((~fresh).sum()),
        tuple(sufferers), signature,
    )  # fmt: skip


def _percent(shares: NDArray[Any], rng: np.random.Generator) -> tuple[float, score.Interval]:
    """The mean of shares (q,) in percent, with its interval."""
    values = 100 * shares.astype(float)
    low, high = score.bootstrap_mean(values, rng)
    return round(float(values.mean()), 2), (round(low, 2), round(high, 2))


def _neighbours(
    table: Table, mapped: Matrix, queries: Vectors, native: Vectors | None
) -> tuple[list[str], Rows, NDArray[np.bool_]]:
    """The ids of a store, the nearest rows natively and, below, mapped (2q, k), and which are known (q,).

    The store is read block by block; into memory where it has the native queries.
    """
    blocks: Iterable[Block] = table.blocks
    known, own = np.ones(len(queries), bool), np.full(len(queries), -1)
    if native is None:
        blocks = list(blocks)
        place = {name: row for row, name in enumerate(queries.words)}
        rows = np.zeros_like(mapped)
        every = ((name, row) for ids, block in blocks for name, row in zip(ids, block, strict=True))
        for number, (name, row) in enumerate(every):
            if (query := place.get(name)) is not None and own[query] < 0:
                rows[query], own[query] = row, number
        known = own >= 0
    else:
        rows = native.matrix
    both = normalise(np.concatenate([rows, mapped]), ["unit"])[0]
    return *_nearest(blocks, both, np.concatenate([own, own])), known


def _nearest(blocks: Iterable[Block], queries: Matrix, own: Rows) -> tuple[list[str], Rows]:
    """The ids of all rows, and the nearest (q, k) of each query (q, d) by cosine, without its `own` row."""
    names = list[str]()
    best = np.full((len(queries), NEIGHBOURS), -1)
    scores = np.full(best.shape, -np.inf, np.float32)
    for ids, rows in blocks:
        if not ids:
            continue
        begin = len(names)
        names += ids
        near = queries @ normalise(rows, ["unit"])[0].T  # (q, b)
        near[:, ~rows.any(axis=1)] = -np.inf
        here = np.flatnonzero((own >= begin) & (own < len(names)))
        near[here, own[here] - begin] = -np.inf
        near = np.concatenate([scores, near], axis=1)
        here_too = np.broadcast_to(np.arange(begin, len(names)), (len(best), len(ids)))
        numbers = np.concatenate([best, here_too], axis=1)
        order = np.argsort(-near, axis=1, kind="stable")[:, :NEIGHBOURS]
        best, scores = (np.take_along_axis(one, order, axis=1) for one in (numbers, near))
    if not np.isfinite(scores).all():
        raise Mismatch(f"a store needs more than {NEIGHBOURS} rows that are not zeros, got {len(names)} rows")
    return names, best
