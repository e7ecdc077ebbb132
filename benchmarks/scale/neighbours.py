"""How fast the exact search for neighbours is: torch, faiss, and the bare matrix product under both.

    python -m benchmarks.scale.neighbours [--sizes 20000,200000] [--queries 20000] [--dimension 300] [--k 10]
    python -m benchmarks.scale.neighbours --mutual --sizes 20000

For each size m: q queries against m keys, plain inner product ("nn") and CSLS. The limit of the
hardware is the product alone, in the tiles that the search takes; CSLS needs two. "of the product"
is the product's time over the search's: 1 would be a search that costs nothing. "same" is the share
of queries whose k neighbours are those of torch on the CPU, ties and the last digits aside.
--mutual measures mutual CSLS neighbours of as many sources as targets; there the limit is one product.
--vectors FILE takes real vectors instead of random clusters.
"""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.support.options import command_line
from benchmarks.support.tables import header, heading, row
from muse.errors import MissingExtra
from muse.files import read_vectors
from muse.normalise import DEFAULT_STEPS, normalise
from muse.run.memory import keep_freed_memory
from muse.search.exact import Neighbours, nearest, tile_sizes
from muse.search.retrieval import Retrieval, mean_similarity, mutual_neighbours

TOLERANCE = 1e-5  # scores nearer than this are a tie
BACKENDS = ("torch", "faiss")
CLUSTERS = 1_000


def clustered(words: int, dimension: int, seed: int) -> Tensor:
    """Rows (n, d) of unit length in clusters, so that neighbours are neither trivial nor all alike."""
    centres = torch.randn(CLUSTERS, dimension, generator=torch.Generator().manual_seed(0))
    generator = torch.Generator().manual_seed(seed + 1)
    rows = torch.randn(words, dimension, generator=generator)
    rows += centres[torch.randint(CLUSTERS, (words,), generator=generator)]
    return functional.normalize(rows)


def real(path: Path) -> Tensor:
    """The rows (n, d) of a file, normalised as muse does it."""
    rows, _ = normalise(read_vectors(path, language="xx").matrix, DEFAULT_STEPS)
    return torch.from_numpy(rows)


def product(queries: Tensor, keys: Tensor) -> None:
    """The matrix product of all queries and keys, tile by tile, and nothing done with it."""
    rows, columns = tile_sizes(queries)
    for block in torch.split(queries, rows):
        for tile in torch.split(keys, columns):
            block @ tile.T


def csls(queries: Tensor, keys: Tensor, k: int, backend: str) -> Neighbours:
    """The k keys of highest CSLS for each query: one search for the keys' hubness, one for the answer."""
    bias = mean_similarity(keys, queries, backend=backend) / 2
    return nearest(queries, keys, k, bias=bias, backend=backend)


def timed(work: Callable[[], Any], device: str, repeat: int) -> tuple[Any, float]:
    """What `work` returns and the seconds of its quickest run."""
    best = float("inf")
    for _ in range(repeat):
        began = time.perf_counter()
        found = work()
        if device == "cuda":
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - began)
    return found, best


def same(found: Neighbours, expected: Neighbours) -> float:
    """The share of queries with the same neighbours, or with others whose scores are no worse."""
    equal = found.indices.cpu().sort(dim=1).values == expected.indices.sort(dim=1).values  # (q, k)
    tied = (found.scores.cpu() - expected.scores).abs() < TOLERANCE
    return float((equal.all(dim=1) | tied.all(dim=1)).double().mean())


def compare(queries: Tensor, keys: Tensor, *, device: str, k: int, repeat: int) -> None:
    """Prints the rows of one size on one device."""
    x, y = queries.to(device), keys.to(device)
    _, limit = timed(lambda: product(x, y), device, repeat)
    rate = 2 * len(x) * len(y) * x.shape[1] / limit / 1e9
    place = [device, len(x), len(y)]
    row([*place, "product", "torch", f"{limit:.2f}", f"{rate:.0f}", "", ""])
    searches: dict[str, Callable[[str], Neighbours]] = {
        "nn": lambda backend: nearest(x, y, k, backend=backend),
        "csls": lambda backend: csls(x, y, k, backend),
    }
    for name, search in searches.items():
        products = 2 if name == "csls" else 1
        expected: Neighbours | None = None
        for backend in BACKENDS:
            try:
                found, seconds = timed(lambda s=search, b=backend: s(b), device, repeat)  # type: ignore[misc]
            except MissingExtra as error:
                row([*place, name, backend, "", "", "", error])
                continue
            expected = expected or Neighbours(found.scores.cpu(), found.indices.cpu())
            share = f"{products * limit / seconds:.2f}"
            agreed = f"{100 * same(found, expected):.2f} %"
            speed = f"{products * rate * limit / seconds:.0f}"
            row([*place, name, backend, f"{seconds:.2f}", speed, share, agreed])


def compare_both_ways(x: Tensor, y: Tensor, *, k: int, repeat: int) -> None:
    """Prints the rows of mutual CSLS neighbours, and of the one product that they cannot do without."""
    room = torch.empty(len(x), len(y))
    _, limit = timed(lambda: torch.mm(x, y.T, out=room), "cpu", repeat)
    row(["cpu", len(x), len(y), "product", "torch", f"{limit:.2f}", "", "", ""])
    expected: set[tuple[int, int]] = set()
    for backend in BACKENDS:
        how = Retrieval(k=k, backend=backend)
        pairs, seconds = timed(partial(mutual_neighbours, x, y, how), "cpu", repeat)
        found = {(i, j) for i, j in pairs.tolist()}
        expected = expected or found
        agreed = f"{100 * len(found & expected) / len(expected):.2f} %"
        share = f"{limit / seconds:.2f}"
        row(["cpu", len(x), len(y), "mutual csls", backend, f"{seconds:.2f}", "", share, agreed])


def main() -> None:
    """Compares all sizes on the CPU, and on the GPU where there is one."""
    asked = command_line(
        __doc__, sizes="20000,50000,200000", queries=20_000, dimension=300, k=10, repeat=2,
        threads=(int, "of torch and faiss  [default: all]"),
        mutual=(False, "both ways, as many sources as targets"), vectors=Path,
    )  # fmt: skip
    if asked.threads:
        import faiss

        torch.set_num_threads(asked.threads)
        faiss.omp_set_num_threads(asked.threads)
    keep_freed_memory()  # as in `muse align`
    devices = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    heading(f"Exact neighbours, k = {asked.k}")
    if torch.cuda.is_available():
        print(f"GPU: {torch.cuda.get_device_name()}\n")
    header(["device", "queries", "keys", "search", "by", "seconds", "GFLOP/s", "of the product", "same"])
    rows = real(asked.vectors) if asked.vectors else None
    for size in map(int, asked.sizes.split(",")):
        keys = clustered(size, asked.dimension, seed=0) if rows is None else rows[:size]
        queries = clustered(asked.queries, asked.dimension, seed=1) if rows is None else rows[: asked.queries]
        if asked.mutual:
            sources = clustered(size, asked.dimension, seed=1)
            compare_both_ways(sources, keys, k=asked.k, repeat=asked.repeat)
            continue
        for device in devices:
            compare(queries, keys, device=device, k=asked.k, repeat=asked.repeat)


if __name__ == "__main__":
    main()
