"""Shards: the keys of a search divided among actors; each answers all queries from its own keys.

The rows of both sides are on a shared disk and are read block by block.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.cluster.parts import PartFolder
from muse.cluster.run import FEW_CPUS, REPLACED, Cluster, Make, Site, require_ray
from muse.errors import BadSetting
from muse.files.parquet import VECTOR
from muse.files.space_folder import VECTORS, folder_name
from muse.search.approximate import SAMPLE, Approximation, Prepared, Recall
from muse.search.exact import Neighbours, merged, nearest, set_threads
from muse.space import Space
from muse.vectors import Matrix

ROWS = 16_384  # in a block of words
SAMPLED = 16  # blocks of queries, from which the settings of an approximate search are found
SCORE, INDEX = "score", "index"


@dataclass(frozen=True)
class Blocks:
    """Rows of unit length in blocks, which any machine can read.

    `starts` has the first row of each block and, last, the number of rows; `read` gives the rows (b, d).
    """

    starts: tuple[int, ...]
    read: Callable[[int], Tensor]


def word_blocks(space: Space, language: str, most: int | None) -> Blocks:
    """The rows of the `most` frequent words (None: all) of a language of a saved space, memory-mapped."""
    if space.folder is None:
        raise BadSetting("machines share a space on a disk, got one that is not saved; save it first")
    words = len(space.vectors(language).words[:most])
    path = space.folder.resolve() / folder_name(language) / VECTORS
    starts = (*range(0, words, ROWS), words)
    return Blocks(starts, partial(_words, path, starts))


def _words(path: Path, starts: tuple[int, ...], block: int) -> Tensor:
    return torch.from_numpy(np.array(np.load(path, mmap_mode="r")[starts[block] : starts[block + 1]]))


def sentence_blocks(parts: PartFolder) -> Blocks:
    """The rows of encoded sentences; each part is a block."""
    return Blocks((0, *np.cumsum(parts.sizes()).tolist()), partial(_sentences, parts))


def _sentences(parts: PartFolder, block: int) -> Tensor:
    (rows,) = parts.read(block, VECTOR)
    return normalize(torch.from_numpy(np.array(rows)))


@dataclass(frozen=True, eq=False)
class KeySearch:
    """A search: the k nearest keys of all queries, after subtracting the `bias` (m,) of the keys.

    It is exact, or approximate if `approximation` applies, and then has no bias.
    """

    queries: Blocks
    keys: Blocks
    k: int
    bias: Matrix | None = None
    approximation: Approximation = Approximation()


class Shard:
    """The keys of some blocks, in an actor."""

    def __init__(self, search: KeySearch, blocks: range, sample: Tensor | None, threads: int) -> None:
        set_threads(threads)
        starts = search.keys.starts
        self._search, self._first = search, starts[blocks.start]
        self._keys = torch.cat([search.keys.read(block) for block in blocks])
        self._bias = None
        if search.bias is not None:
            self._bias = torch.from_numpy(np.array(search.bias[self._first : starts[blocks.stop]]))
        self._prepared: Prepared | None = None
        if sample is not None:
            rng = np.random.default_rng(search.approximation.seed)
            self._prepared = Prepared.of(sample, self._keys, search.k, rng)

    def recall(self) -> Recall | None:
        """The recall among these keys; None if the search is exact."""
        return None if self._prepared is None else self._prepared.recall

    def nearest(self, block: int) -> Neighbours:
        """The nearest of these keys for every query of a block, numbered among all keys."""
        queries = self._search.queries.read(block)
        if not len(self._keys):
            return Neighbours.none(queries)
        if self._prepared is not None:
            return self._prepared.search(queries).offset_indices(self._first)
        return nearest(queries, self._keys, self._search.k, bias=self._bias).offset_indices(self._first)


def _answering(shards: Sequence[Any], k: int, parts: PartFolder) -> Make:
    """A function that asks all shards for the neighbours of a block, and writes the nearest of all."""

    def answer(block: int) -> None:
        found = require_ray().get([shard.nearest.remote(block) for shard in shards])
        best = reduce(lambda one, other: merged(one, other, k), found)
        parts.write(block, {SCORE: best.scores.numpy(), INDEX: best.indices.numpy()})

    return answer


def look_up(name: str, search: KeySearch, site: Site) -> Neighbours:
    """The neighbours (q, k) of all queries, kept under the name of the search until the run is complete."""
    parts = site.parts.stage(name.replace(" ", "-"), len(search.queries.starts) - 1)
    if parts.missing():
        shards = _shards(search, site.cluster)
        site.make(name, parts, partial(_answering, shards, search.k, parts), waiting=True)
        for shard in shards:
            require_ray().kill(shard)
    found = [map(np.array, parts.read(block, SCORE, INDEX)) for block in range(parts.count)]
    return Neighbours.joined([Neighbours(*map(torch.from_numpy, one)) for one in found])


def _shards(search: KeySearch, cluster: Cluster) -> list[Any]:
    ray = require_ray()
    blocks, sample = len(search.keys.starts) - 1, None
    if search.approximation.applies(search.queries.starts[-1], search.keys.starts[-1]):
        rng = np.random.default_rng(search.approximation.seed)
        drawn = np.sort(rng.permutation(len(search.queries.starts) - 1)[:SAMPLED])
        rows = torch.cat([search.queries.read(int(block)) for block in drawn])
        sample = rows[torch.from_numpy(np.sort(rng.permutation(len(rows))[:SAMPLE]))]
    actor = ray.remote(Shard).options(
        # One a machine; where that is lost, another has room for it.
        num_cpus=FEW_CPUS, scheduling_strategy="SPREAD", max_restarts=REPLACED, max_task_retries=REPLACED,
    )  # fmt: skip
    ends = np.linspace(0, blocks, min(cluster.machines, blocks) + 1).astype(int).tolist()
    threads = max(1, cluster.cpus // cluster.machines)
    shards = [
        actor.remote(search, range(begin, end), sample, threads)
        for begin, end in zip(ends, ends[1:], strict=False)
    ]
    recalls = [one for one in ray.get([shard.recall.remote() for shard in shards]) if one is not None]
    if recalls:
        search.approximation.report(min(recalls, key=lambda one: one.at_1))
    return shards
