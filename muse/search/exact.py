"""Exact nearest neighbours by inner product, with interchangeable backends.

The torch backend searches rows of scores by the maxima of groups of entries (`MatrixRows`). The k largest
entries of a row lie in the k groups of largest maximum: an entry of any other group is no larger than k
maxima. And where each entry has a bias, the maximum of a group less its least bias bounds the entries of the
group, so that only groups that may hold more than the best known entry are looked through.

The result of a search is `Neighbours`, the best keys of each query; rows of zeros are never among them. The
cosine of a row of zeros to every row is 0, which says nothing, yet is higher than that of many words: among
centred rows it would be the best key of all queries that are far from everything. Every search, exact or
approximate, leaves such keys out. A query of zeros is looked up, with cosines of 0: callers that want its
translations answer that there are none.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, cached_property
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor
from torch.nn.functional import pad

from muse.errors import BadSetting, MissingExtra
from muse.installation import install_extra

BLOCK = 512  # lines looked through at a time
GROUP = 8  # entries whose maximum is kept
APART = 32  # between those of a row's group: a maximum over such groups is taken for many at once
WORTHWHILE = 4  # groups for each of the k: with fewer, maxima save nothing
# One tile of similarities: 2,048 x 8,192 float32 is 64 MB, wide enough to keep the product at full speed.
TILE_QUERIES = 2_048
TILE_KEYS = 8_192
TILE_SCALE_ON_GPU = 4
_GPU_LOCK = Lock()  # of what all searches of faiss on a GPU share


def zero_places(rows: Tensor) -> Tensor:
    """The places (z,) of the rows (n, d) that are all zeros, in ascending order.

    >>> zero_places(torch.tensor([[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]])).tolist()
    [0, 2]
    """
    # Of a large matrix the first column alone takes a fortieth of the time, and few of it are 0.
    perhaps = (rows[:, 0] == 0).nonzero()[:, 0]
    return perhaps[~rows[perhaps].any(dim=1)]


def nonzero_places(rows: Tensor) -> Tensor | None:
    """The places (c,) of the rows (n, d) that are not all zeros; None if that is each of them, or none."""
    zeros = zero_places(rows)
    if not len(zeros) or len(zeros) == len(rows):  # of nothing but zeros, none is preferred
        return None
    kept = torch.ones(len(rows), dtype=torch.bool, device=rows.device)
    kept[zeros] = False
    return kept.nonzero()[:, 0]


class Neighbours(NamedTuple):
    """The best keys of each query, best first: `scores` (q, k) float32 and `indices` (q, k) int64."""

    scores: Tensor
    indices: Tensor

    @classmethod
    def none(cls, queries: Tensor) -> "Neighbours":
        """The empty result of queries (q, d) before a search."""
        return cls(queries.new_empty(len(queries), 0), queries.new_empty(len(queries), 0, dtype=torch.long))

    @classmethod
    def joined(cls, parts: "Sequence[Neighbours]") -> "Neighbours":
        """The neighbours of the queries of all parts, one part after the other."""
        return cls(*map(torch.cat, zip(*parts, strict=True)))

    def of(self, queries: slice | Tensor) -> "Neighbours":
        """The neighbours of some queries."""
        return Neighbours(self.scores[queries], self.indices[queries])

    def offset_indices(self, keys: int) -> "Neighbours":
        """These neighbours, with indices of all keys: `keys` others come before those searched."""
        return Neighbours(self.scores, self.indices + keys)

    def minus_bias(self, bias: Tensor | None, top: int) -> "Neighbours":
        """The `top` best once the `bias` (m,) of each key is subtracted from its score."""
        scores = self.scores if bias is None else self.scores - bias[self.indices]
        best = scores.topk(min(top, scores.shape[1]), dim=1)
        return Neighbours(best.values, self.indices.gather(1, best.indices))


def merged(first: Neighbours, second: Neighbours, k: int) -> Neighbours:
    """The k best keys of those that two searches found for the same queries."""
    both = (torch.cat(parts, dim=1) for parts in zip(first, second, strict=True))
    return Neighbours(*both).minus_bias(None, k)


@dataclass(frozen=True, eq=False)
class MatrixRows:
    """Lines of entries in groups: `maxima` (n, g) of each line, `members` (g, e), the places of the entries.

    Of the `entries` of the whole matrix, the one at place j of line i has the number i strides[0] +
    j strides[1]. Only the first `length` places are real; the entries at others are -inf.
    """

    entries: Tensor
    strides: tuple[int, int]
    length: int
    maxima: Tensor
    members: Tensor

    def __len__(self) -> int:
        return len(self.maxima)

    def nearest(self, k: int) -> Neighbours:
        """The k largest entries of every line, (n, k), largest first."""
        k, groups = min(k, self.length), min(k, len(self.members))
        found = []
        for start in range(0, len(self), BLOCK):
            best = self.maxima[start : start + BLOCK].topk(groups, dim=1).indices  # (b, groups)
            lines = torch.arange(start, start + len(best), device=best.device)[:, None]
            places = self.members[best].flatten(1)  # (b, groups * e)
            largest = self._at(lines, places).topk(k, dim=1)
            found.append(Neighbours(largest.values, places.gather(1, largest.indices)))
        return Neighbours.joined(found)

    def best(self, bias: Tensor, known: Neighbours, *, first: int = 0) -> Neighbours:
        """The best of every line, (n, 1): `known`, or the largest entry less its bias where that is larger.

        `bias` (length,) is that of the places, `known` (n, 1) has a bias subtracted. Places in the result
        are counted from `first`, and the lowest of equals is taken.
        """
        biases = pad(bias, (0, self.members.numel() - len(bias)), value=torch.inf)
        least = biases[self.members].amin(dim=1)  # (g,)
        scores, places = known.scores[:, 0].clone(), known.indices[:, 0].clone()
        for start in range(0, len(self), BLOCK):
            block = slice(start, start + BLOCK)
            before = scores[block].clone()
            lines, groups = (self.maxima[block] - least >= before[:, None]).nonzero().unbind(1)  # (c,)
            where = self.members[groups]  # (c, e)
            found, entry = (self._at(start + lines[:, None], where) - biases[where]).max(dim=1)  # (c,)
            now = before.scatter_reduce(0, lines, found, "amax")
            places[block][now > before] = torch.iinfo(torch.long).max
            right = found == now[lines]
            place = first + where.gather(1, entry[:, None])[:, 0]
            places[block].scatter_reduce_(0, lines[right], place[right], "amin")
            scores[block] = now
        return Neighbours(scores[:, None], places[:, None])

    def _at(self, lines: Tensor, places: Tensor) -> Tensor:
        return torch.take(self.entries, lines * self.strides[0] + places * self.strides[1])


def largest_in_rows(scores: Tensor, columns: int, k: int) -> Neighbours:
    """The k largest of the first `columns` entries of every row (b, t); the others, if any, are -inf.

    t is the `row_length` of at least that many columns.
    """
    groups = scores.shape[1] // GROUP
    if scores.is_cuda or groups < WORTHWHILE * k:
        return Neighbours(*scores[:, :columns].topk(min(k, columns), dim=1))
    maxima = scores.new_empty(len(scores), groups)
    maxima_of_rows(scores, maxima)
    every = members(scores.shape[1], APART, scores.device)
    return MatrixRows(scores.view(-1), (scores.shape[1], 1), columns, maxima, every).nearest(k)


def row_length(columns: int) -> int:
    """The length of rows with room for all columns, in whole groups."""
    return whole(columns, GROUP * APART)


def whole(count: int, size: int) -> int:
    """The least multiple of `size` that is no less than `count`."""
    return -(-count // size) * size


def maxima_of_rows(rows: Tensor, out: Tensor) -> None:
    """Write to `out` (b, t / GROUP) the maxima of the groups of every row (b, t), whose members are APART."""
    torch.amax(rows.view(len(rows), -1, GROUP, APART), dim=2, out=out.view(len(rows), -1, APART))


def members(places: int, apart: int, device: torch.device) -> Tensor:
    """The places (g, GROUP) of the entries of each group, `apart` from one another."""
    every = torch.arange(places, device=device).view(-1, GROUP, apart)
    return every.transpose(1, 2).reshape(-1, GROUP)


class Faiss(NamedTuple):
    """The faiss that is installed: its version, its threads, and whether it can search on a GPU."""

    version: str
    threads: int
    gpu: bool


def installed_faiss() -> Faiss:
    """What is known of the faiss that is installed."""
    import faiss

    return Faiss(faiss.__version__, faiss.omp_get_max_threads(), hasattr(faiss, "StandardGpuResources"))


def set_threads(threads: int) -> None:
    """Set the number of CPU threads of searches, whichever the backend; torch's other work too."""
    import faiss

    torch.set_num_threads(threads)
    faiss.omp_set_num_threads(threads)


T = TypeVar("T")


def at_once(function: Callable[..., T], *arguments: Iterable[Any]) -> list[T]:
    """What a function gives for each of the arguments, as of `map`: two at once, each by half the threads."""
    threads = torch.get_num_threads()
    if threads < 2:
        return [*map(function, *arguments)]
    try:
        with ThreadPoolExecutor(2, initializer=torch.set_num_threads, initargs=(threads // 2,)) as pool:
            return [*pool.map(function, *arguments)]
    finally:  # it is the number of threads that begin later, too
        torch.set_num_threads(threads)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A context in which numpy's and scipy's linear algebra has one thread; torch's keeps its own.

    Where several threads of Python decompose small matrices, the threads of each wait busily for the others'.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield


_AUTO: ContextVar[str] = ContextVar("the backend of auto", default="torch")


@contextmanager
def searching_by(backend: str) -> Iterator[None]:
    """A context in which searches whose backend is "auto" use this one.

    Like the number of threads, it changes how long a search takes and not what it finds, so it is no argument
    of everything that searches.
    """
    token = _AUTO.set(resolved(backend))
    try:
        yield
    finally:
        _AUTO.reset(token)


def resolved(backend: str) -> str:
    """The backend, torch or faiss, that a name stands for here."""
    check_backend(backend)
    return _AUTO.get() if backend == "auto" else backend


Step = Callable[[int], object]  # a callback: called with the number of queries answered so far
Search = Callable[[Tensor, int], Iterator[Neighbours]]  # the k best keys of queries (q, d), block by block


@dataclass(frozen=True, eq=False)
class Keys:
    """Keys (m, d) to look queries up in, exactly and in bounded memory; a row of zeros is never found.

    `bias` (m,) is subtracted from the inner products of each key; CSLS and the inverted softmax need no
    more than that beyond plain neighbours.
    `backend`: "torch" runs where the tensors are, "faiss" uses faiss' flat index on the same
    device, "auto" is that of `searching_by`, or else the faster (torch: benchmarks/scale/neighbours.py).
    """

    rows: Tensor
    bias: Tensor | None = None
    backend: str = "auto"

    def __post_init__(self) -> None:
        check_backend(self.backend)

    def nearest(self, queries: Tensor, k: int, step: Step | None = None) -> Neighbours:
        """The k keys of highest x . y - bias(y) for every query x (q, d).

        `step` is called after each block of queries.
        """
        found, done = [], 0
        places, search = self._search
        for block in search(queries, min(k, len(self.rows if self._places is None else self._places))):
            found.append(block if places is None else Neighbours(block.scores, places[block.indices]))
            done += len(block.scores)
            if step is not None:
                step(done)
        return Neighbours.joined(found)

    @cached_property
    def _places(self) -> Tensor | None:
        """The places (c,) of the keys that are searched; None for all."""
        return nonzero_places(self.rows)

    @cached_property
    def _search(self) -> tuple[Tensor | None, Search]:
        # Made once for all queries: faiss copies the keys to an index, which torch searches where they are.
        # The places of its keys, None where they are all.
        places, rows, bias = self._places, self.rows, self.bias
        backend = resolved(self.backend)
        if places is not None and backend == "torch":
            bias = rows.new_full((len(rows),), torch.inf)
            bias[places] = 0.0 if self.bias is None else self.bias[places]
            places = None
        elif places is not None:
            rows, bias = rows[places], None if bias is None else bias[places]
        return places, BACKENDS[backend](rows, bias)


def nearest(
    queries: Tensor,
    keys: Tensor,
    k: int,
    *,
    bias: Tensor | None = None,
    backend: str = "auto",
    step: Step | None = None,
) -> Neighbours:
    """The k best of `Keys` (m, d) for every query (q, d), where these are all the queries there are.

    They are fewer where fewer keys are not all zeros.

    >>> keys = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> nearest(torch.tensor([[0.2, 0.9]]), keys, 1).indices.tolist()
    [[1]]
    """
    return Keys(keys, bias, backend).nearest(queries, k, step)


def nearest_and_best(
    queries: Tensor, keys: Tensor, counts: tuple[int, int], *, bias: Tensor | None, backend: str = "auto"
) -> tuple[Neighbours, Neighbours]:
    """What `nearest` finds for queries (q, d) without the bias and with it; `counts` is the k of each.

    Both come from one product of queries and keys; but faiss, which shows no products, searches twice, and
    so do keys with rows of zeros, which are left out.
    """
    few, many = (min(k, len(keys)) for k in counts)
    if resolved(backend) != "torch" or nonzero_places(keys) is not None:
        near = nearest(queries, keys, few, backend=backend)
        return near, nearest(queries, keys, many, bias=bias, backend=backend)
    near_parts, best_parts = zip(*_torch_blocks(queries, keys, many, bias, plain=few), strict=True)
    return Neighbours.joined(near_parts), Neighbours.joined(best_parts)


def tile_sizes(tensor: Tensor) -> tuple[int, int]:
    """The rows and columns of one tile of similarities on the tensor's device."""
    scale = TILE_SCALE_ON_GPU if tensor.is_cuda else 1
    return TILE_QUERIES * scale, TILE_KEYS * scale


def _torch(keys: Tensor, bias: Tensor | None) -> Search:
    return lambda queries, k: (best for _, best in _torch_blocks(queries, keys, k, bias))


def _torch_blocks(
    queries: Tensor, keys: Tensor, k: int, bias: Tensor | None, *, plain: int = 0
) -> Iterator[tuple[Neighbours, Neighbours]]:
    # For each block of queries the `plain` nearest keys without the bias, and the k best with it.
    rows, columns = tile_sizes(queries)
    tiles = torch.split(keys, min(columns, len(keys)))
    # One tile, reused: on a CPU the page faults of a new one each time cost a quarter of the search.
    whole_room = queries.new_empty(min(rows, len(queries)), row_length(len(tiles[0])))
    for block in torch.split(queries, rows):
        room, start = whole_room[: len(block)], 0
        near = best = Neighbours.none(block)
        for tile in tiles:
            scores = torch.mm(block, tile.T, out=room[:, : len(tile)])  # (b, t)
            room[:, len(tile) :] = -torch.inf  # the last tile has fewer columns
            if plain:
                near = merged(near, largest_in_rows(room, len(tile), plain).offset_indices(start), plain)
            if bias is not None:
                scores -= bias[start : start + len(tile)]
            best = merged(best, largest_in_rows(room, len(tile), k).offset_indices(start), k)
            start += len(tile)
        yield near, best


def _faiss(keys: Tensor, bias: Tensor | None) -> Search:
    import faiss

    if bias is not None:
        # x . y - b = [x, 1] . [y, -b]: the bias is one more dimension of a plain inner product.
        keys = torch.cat([keys, -bias[:, None]], dim=1)
    if keys.is_cuda:
        find = _faiss_on_gpu(keys)
    else:
        index: Any = faiss.IndexFlatIP(keys.shape[1])
        index.add(keys.numpy())

        def find(block: Tensor, k: int) -> Neighbours:
            return Neighbours(*map(torch.from_numpy, index.search(block.numpy(), k)))

    def search(queries: Tensor, k: int) -> Iterator[Neighbours]:
        for block in torch.split(queries, tile_sizes(queries)[0]):
            if bias is not None:
                block = torch.cat([block, block.new_ones(len(block), 1)], dim=1)
            yield find(block, k)

    return search


def _faiss_on_gpu(keys: Tensor) -> Callable[[Tensor, int], Neighbours]:
    """The search of faiss' flat index on the GPU of the keys (m, d): no row passes through the CPU."""
    import faiss

    if not installed_faiss().gpu:
        raise MissingExtra(f"faiss on a GPU needs faiss-gpu, found faiss-cpu; run {install_extra('gpu')}")
    import faiss.contrib.torch_utils  # from here on indices take tensors, on a GPU too, and give them

    config = faiss.GpuIndexFlatConfig()
    config.device = keys.device.index or 0
    resources = _gpu_resources(faiss.StandardGpuResources, config.device)
    index: Any = faiss.GpuIndexFlatIP(resources, keys.shape[1], config)

    def find(block: Tensor, k: int) -> Neighbours:
        with _GPU_LOCK:
            return Neighbours(*index.search(block.contiguous(), k))

    with _GPU_LOCK:
        index.add(keys.contiguous())
    return find


@cache
def _gpu_resources(made_by: Callable[[], Any], device: int) -> Any:
    """Where faiss works on a GPU: memory for one search at a time, taken once because that is slow."""
    return made_by()


BACKENDS: dict[str, Callable[[Tensor, Tensor | None], Search]] = {"torch": _torch, "faiss": _faiss}


def check_backend(backend: str) -> None:
    """Raise BadSetting if there is no such backend."""
    if backend not in ("auto", *BACKENDS):
        raise BadSetting(f"a search backend must be one of auto, {', '.join(BACKENDS)}; got {backend!r}")
