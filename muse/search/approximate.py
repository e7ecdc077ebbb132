"""Approximate search: quantised keys in lists, the best candidates compared exactly, recall measured.

faiss finds candidates by short codes (four bits for two coordinates, inverted lists; Jegou et al., 2011;
Andre et al., 2015) and compares the best of these exactly. How many it misses depends on the vectors. So a
search is first compared with the exact one on a sample of the queries, which chooses the number of lists and
of candidates that its recall needs; if no number is enough, the exact search is used. The reported recall is
measured on other queries: on those that chose the depth it would look too good.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from muse.errors import BadSetting
from muse.search.exact import Neighbours, Step, nearest, nonzero_places

log = logging.getLogger(__name__)

SAMPLE = 2_000  # queries: half choose the depth, half measure the recall
BEST = 10  # neighbours: hubness is the mean of ten
WORTHWHILE = 80_000**2  # products: fewer take an exact search less than a minute
MODES = ("auto", "exact", "approximate")
FEWEST_KEYS = 10_000  # keys: an exact search takes less than learning the codes
LISTS = 2.3  # in square roots of the number of keys
TRAINED_ON = 40  # keys a list
ONE_WAY = 0.1  # squared length of the mean of unit rows: of centred words .002, of means of words .6
BLOCK = 1_024  # queries at a time: of more, faiss keeps too much to stay in the cache


class Demand(NamedTuple):
    """The shares of a sample's best keys, and of its BEST best, that must be found."""

    at_1: float = 0.995
    at_10: float = 0.97  # hubness is the mean of ten


USUAL = Demand()


class Depth(NamedTuple):
    """The share of the lists that is searched, and the number of candidates that are compared exactly."""

    lists: float
    candidates: int


# Tried in order: the lists with CANDIDATES candidates, then the candidates with the lists found.
LISTS_TRIED = (0.01, 0.02, 0.04, 0.07, 0.1, 0.13, 0.16, 0.2, 0.3, 0.5)
CANDIDATES_TRIED = (120, 200, 400, 800, 1_600, 3_200, 6_400)
CANDIDATES = 2_000, 0.005  # candidates at least, and as a share of the keys


@dataclass(frozen=True)
class Recall:
    """The shares found of the best keys of a sample, and of its BEST best; the depth, None: exact search."""

    at_1: float
    at_10: float
    queries: int
    depth: Depth | None

    def meets(self, demand: Demand) -> bool:
        """Whether so little is missed that the search can be trusted."""
        return self.at_1 >= demand.at_1 and self.at_10 >= demand.at_10

    def __str__(self) -> str:
        """The measurement in words."""
        if self.depth is None:
            return "exact search"
        shares = f"recall@1 {100 * self.at_1:.1f} %, recall@{BEST} {100 * self.at_10:.1f} %"
        return f"approximate search: {shares} on {self.queries} queries"

    def as_json(self) -> dict[str, Any]:
        """The fields that `--json` shows."""
        return {
            "method": "exact" if self.depth is None else "approximate",
            "recall": round(self.at_1, 4),
            f"recall_at_{BEST}": round(self.at_10, 4),
            "queries": self.queries,
        }


def worst(recalls: Sequence[Recall]) -> dict[str, Any]:
    """The field `search` of `--json`: the lowest recall, or nothing where all searches were exact."""
    return {"search": min(recalls, key=lambda one: one.at_1).as_json()} if recalls else {}


@dataclass(frozen=True)
class Approximation:
    """When to search approximately: `mode` is one of MODES; `report` gets every recall that is measured."""

    mode: str = "exact"
    seed: int = 0
    report: Callable[[Recall], object] = lambda recall: None
    demand: Demand = USUAL

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise BadSetting(f"--search must be one of {', '.join(MODES)}; got {self.mode!r}")

    def applies(self, queries: int, keys: int, *, on_gpu: bool = False) -> bool:
        """Whether a search is large enough to gain from it, or it was asked for; a GPU needs none."""
        if self.mode == "auto":
            return queries * keys > WORTHWHILE and not on_gpu
        return self.mode == "approximate"

    def nearest(self, queries: Tensor, keys: Tensor, k: int, step: Step | None = None) -> Neighbours:
        """The k nearest keys (m, d) of every query (q, d), as far as they are found."""
        return self.prepared(queries, keys, k).search(queries, step)

    def prepared(self, queries: Tensor, keys: Tensor, k: int) -> "Prepared":
        """The search of the k nearest keys (m, d) for these queries (q, d), whose recall is reported."""
        rng = np.random.default_rng(self.seed)
        drawn = np.sort(rng.permutation(len(queries))[:SAMPLE])
        prepared = Prepared.of(queries[torch.from_numpy(drawn)], keys, k, rng, self.demand)
        self.report(prepared.recall)
        return prepared


class Index:
    """An approximate index of keys (m, d) of unit length, on the CPU.

    It compares distances where the keys point nearly the same way, as means of sentences do, and inner
    products elsewhere: each loses less to the codes there.
    """

    def __init__(self, keys: Tensor, rng: np.random.Generator) -> None:
        """`rng` draws the keys that the codes are learned from."""
        import faiss

        self.keys = keys
        self._places = nonzero_places(keys)
        rows = _even(keys)
        self._rows = rows if self._places is None else rows[self._places.cpu().numpy()]  # mostly no copy
        count, d = self._rows.shape
        self._lists = max(1, round(LISTS * count**0.5))
        sample = self._rows[np.sort(rng.permutation(count)[: TRAINED_ON * self._lists])]
        self._by_distance = float((sample.mean(axis=0) ** 2).sum()) > ONE_WAY
        metric = faiss.METRIC_L2 if self._by_distance else faiss.METRIC_INNER_PRODUCT
        self._codes: Any = faiss.index_factory(d, f"IVF{self._lists},PQ{d // 2}x4fs", metric)
        self._codes.train(sample)
        self._codes.add(self._rows)
        self._exact = _flat(self._rows, metric)
        self._index: Any = faiss.IndexRefine(self._codes, self._exact)

    def search(self, queries: Tensor, k: int, depth: Depth, step: Step | None = None) -> Neighbours:
        """The k nearest keys found for every query (q, d), on its device, with exact cosines."""
        self._codes.nprobe = max(1, round(depth.lists * self._lists))
        self._index.k_factor = max(1.0, depth.candidates / k)
        found, done = [], 0
        for block in torch.split(queries, BLOCK):
            found.append(self._found(block, min(k, len(self._rows))))
            done += len(block)
            if step is not None:
                step(done)
        return Neighbours.joined(found)

    def _found(self, queries: Tensor, k: int) -> Neighbours:
        rows = _even(queries)
        cosines, indices = map(torch.from_numpy, self._index.search(rows, k))
        if self._by_distance:
            squares = torch.from_numpy(np.einsum("nd,nd->n", rows, rows))  # of the lengths, (n,)
            cosines = (1 + squares[:, None] - cosines) / 2
        if self._places is not None:
            indices = torch.where(indices < 0, indices, self._places.cpu()[indices])
        found = Neighbours(cosines.to(queries.device), indices.to(queries.device))
        few = (found.indices < 0).any(dim=1)  # the lists looked through had fewer keys
        if few.any():
            found.scores[few], found.indices[few] = nearest(queries[few], self.keys, k)
        return found


def _flat(rows: np.ndarray[Any, np.dtype[np.float32]], metric: int) -> Any:
    """Faiss' index of all rows (m, d), without a copy of them where it can read another's; keep the rows."""
    import faiss

    index: Any = faiss.IndexFlat(rows.shape[1], metric)
    if not hasattr(index.codes, "view_data"):  # before faiss 1.11
        index.add(rows)
        return index
    codes = index.codes
    codes.is_owned = False
    codes.view_data = codes.c_ptr = faiss.swig_ptr(rows.view(np.uint8).reshape(-1))
    codes.view_size = codes.c_size = rows.nbytes
    index.ntotal = len(rows)
    return index


def _recall_of(queries: Tensor, index: Index, k: int) -> Callable[[Depth], Recall]:
    """The recall of an index for queries (q, d), of which k are asked for later, by the depth of a search."""
    exact = nearest(queries, index.keys, BEST).scores

    def recall(depth: Depth) -> Recall:
        found = index.search(queries, max(k, BEST), depth).scores
        # The same product may differ in the last bits from one library to another.
        right = found[:, : exact.shape[1]] >= exact[:, -1:] - 1e-6
        first = found[:, 0] >= exact[:, 0] - 1e-6
        return Recall(float(first.double().mean()), float(right.double().mean()), len(found), depth)

    return recall


def _first_enough(recall: Callable[[Depth], Recall], depths: Iterable[Depth], demand: Demand) -> Depth | None:
    """The first depth whose recall is enough."""
    for depth in depths:
        found = recall(depth)
        log.info("%s, %g of the lists, %d candidates", found, depth.lists, depth.candidates)
        if found.meets(demand):
            return depth
    return None


@dataclass(frozen=True, eq=False)
class Prepared:
    """A search for the k nearest of keys (m, d) with its recall; without an index, an exact one."""

    keys: Tensor
    k: int
    recall: Recall
    index: Index | None = None

    @classmethod
    def of(
        cls, sample: Tensor, keys: Tensor, k: int, rng: np.random.Generator, demand: Demand = USUAL
    ) -> "Prepared":
        """The search of the least depth whose recall on half of a sample (s, d) of the queries is enough.

        Its own recall is that on the other half.
        """
        exactly = cls(keys, k, Recall(1.0, 1.0, len(sample), None))
        if len(keys) < FEWEST_KEYS:
            return exactly
        index = Index(keys, rng)
        choosing = _recall_of(sample[::2], index, k)
        many = max(CANDIDATES[0], round(CANDIDATES[1] * len(keys)))
        most = _first_enough(choosing, (Depth(lists, many) for lists in LISTS_TRIED), demand)
        if most is None:
            log.info("that is too low: the exact search is used")
            return exactly
        less = (Depth(most.lists, candidates) for candidates in CANDIDATES_TRIED if candidates < many)
        depth = _first_enough(choosing, less, demand) or most
        measuring = _recall_of(sample[1::2], index, k) if len(sample) > 1 else choosing
        return cls(keys, k, measuring(depth), index)

    def search(self, queries: Tensor, step: Step | None = None) -> Neighbours:
        """The nearest keys of every query (q, d), as far as they are found."""
        if self.index is None or self.recall.depth is None:
            return nearest(queries, self.keys, self.k, step=step)
        return self.index.search(queries, self.k, self.recall.depth, step)


def _even(rows: Tensor) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The rows (n, d) with a column of zeros where d is odd: codes are of two coordinates."""
    if rows.shape[1] % 2:  # else without a copy
        rows = torch.nn.functional.pad(rows, (0, 1))
    return rows.cpu().numpy()
