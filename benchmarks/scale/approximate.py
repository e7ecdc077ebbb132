"""Approximate search: seconds and recall of faiss' indices, and what `muse induce` makes of them.

    python -m benchmarks.scale.approximate --shared SHARED [--words 200000] [--queries 20000] [--k 20]
        [--induce | --rows SOURCE.npy,TARGET.npy]

Two sides of so many rows are made of mutual translations of English and French novels, each row with noise of
half its length: nearest neighbours are then close to one another, which is hard. --rows names files of other
rows instead, as mining_size.py writes them. Every index is searched with some queries, and its
seconds are scaled to all; recall is of 1,000 other queries, against exact search: the share whose best key is
found, and of the ten best; the error is that of the hubness, the mean of ten cosines. --induce writes a
dictionary of mutual pairs instead, with exact and with approximate search, and compares the two.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import faiss
import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from benchmarks.support.options import command_line
from benchmarks.support.pairs import SHARED, find_pair
from benchmarks.support.tables import header, heading, muse, row
from muse.files import read_lexicon
from muse.learn.bilingual import normalise_in_place
from muse.normalise import DEFAULT_STEPS
from muse.normalise import normalise as normalised
from muse.procrustes import procrustes
from muse.search.approximate import LISTS, TRAINED_ON
from muse.search.exact import nearest
from muse.search.retrieval import Retrieval, mutual_neighbours
from muse.space import Provenance, SideToSave, save_space
from muse.vectors import Vectors

COLUMNS = (
    "compared", "index", "settings", "build s", "search s", "recall@1", "recall@10",
    "largest error of hubness",
)  # fmt: skip
NOISE = 0.5
SAMPLE = 1_000
SAME = 1e-6  # the rounding of cosines
PRODUCT, DISTANCE = "product", "distance"
RECIPES = (  # what is compared, how many lists, and what share of them is looked through
    (PRODUCT, "Flat", 0, ""),
    (PRODUCT, "IVF{lists},Flat", 0.016, ""),
    (PRODUCT, "IVF{lists},Flat", 0.063, ""),
    (PRODUCT, "HNSW16,Flat", 0, "efSearch=64"),
    (PRODUCT, "IVF{lists},SQ8", 0.031, ""),
    (PRODUCT, "IVF{lists},PQ{half}x4fs,RFlat", 0.16, "k_factor_rf=20"),
    (DISTANCE, "PQ{half}x4fs,RFlat", 0, "k_factor_rf=20"),
    (DISTANCE, "IVF{lists},PQ{quarter}x4fs,RFlat", 0.16, "k_factor_rf=20"),
    (DISTANCE, "IVF{lists},PQ{half}x4fs,RFlat", 0.063, "k_factor_rf=20"),
    (DISTANCE, "IVF{lists},PQ{half}x4fs,RFlat", 0.16, "k_factor_rf=20"),
    (DISTANCE, "IVF{lists},PQ{half}x4fs,RFlat", 0.31, "k_factor_rf=40"),
)


class Sides(NamedTuple):
    """Queries (n, d) and keys (n, d)."""

    queries: Tensor
    keys: Tensor


def sides(words: int, shared: Path) -> Sides:
    """Rows drawn from mutual translations, with noise."""
    pair = find_pair("en-fr", shared)
    own, other = (normalise_in_place(side, DEFAULT_STEPS)[0] for side in pair.vectors())
    x, y = own.tensor(), other.tensor()
    pairs = torch.from_numpy(read_lexicon(pair.must_train_in(shared)).indices(own.index, other.index))
    for _ in range(2):
        x = x @ procrustes(x[pairs[:, 0]], y[pairs[:, 1]]).T
        pairs = mutual_neighbours(x[:20_000], y[:20_000], Retrieval())
    rng = np.random.default_rng(0)
    drawn = pairs[torch.from_numpy(rng.integers(len(pairs), size=words))]
    scale = NOISE / x.shape[1] ** 0.5
    noisy = (
        rows[drawn[:, side]]
        + scale * torch.from_numpy(rng.standard_normal((words, x.shape[1]), dtype=np.float32))
        for side, rows in enumerate((x, y))
    )
    return Sides(*(normalize(rows) for rows in noisy))


def rows_of(files: str) -> Sides:
    """The rows of two .npy files, SOURCE,TARGET, of unit length and without those of zeros."""
    loaded = (np.load(file, mmap_mode="r") for file in files.split(","))
    return Sides(*(normalize(torch.from_numpy(rows[rows.any(axis=1)])) for rows in loaded))


def made_for(keys: Tensor, recipe: tuple[str, str, float, str]) -> tuple[str, str]:
    """The index and its settings for keys (m, d)."""
    (_, name, share, settings), lists = recipe, round(LISTS * len(keys) ** 0.5)
    probes = [f"nprobe={round(share * lists)}"] if share else []
    name = name.format(lists=lists, half=keys.shape[1] // 2, quarter=keys.shape[1] // 4)
    return name, ",".join([*probes, *([settings] if settings else [])])


def measure(metric: str, recipe: str, settings: str, given: Sides, asked: argparse.Namespace) -> list[object]:
    """The row of an index."""
    rng, k = np.random.default_rng(0), asked.k
    keys, every = given.keys.numpy(), given.queries.numpy()
    sample = np.sort(rng.permutation(len(every))[:SAMPLE])
    exact = nearest(given.queries[sample], given.keys, k).scores.numpy()
    began = time.perf_counter()
    compared = faiss.METRIC_INNER_PRODUCT if metric == PRODUCT else faiss.METRIC_L2
    index: Any = faiss.index_factory(keys.shape[1], recipe, compared)
    trained_on = round(TRAINED_ON * LISTS * len(keys) ** 0.5)
    index.train(keys[np.sort(rng.permutation(len(keys))[:trained_on])])
    index.add(keys)
    built = time.perf_counter() - began
    if settings:
        space: Any = faiss.ParameterSpace()
        space.set_index_parameters(index, settings)
    queries = every[np.sort(rng.permutation(len(every))[: asked.queries])]
    began = time.perf_counter()
    index.search(queries, k)
    seconds = (time.perf_counter() - began) * len(every) / len(queries)
    found = index.search(every[sample], k)[0]
    found = found if metric == PRODUCT else 1 - found / 2  # of rows of unit length
    at_1 = 100 * (found[:, 0] >= exact[:, 0] - SAME).mean()
    at_10 = 100 * (found[:, :10] >= exact[:, 9:10] - SAME).mean()
    error = np.abs(found[:, :10].mean(axis=1) - exact[:, :10].mean(axis=1)).max()
    figures = (f"{built:.1f}", f"{seconds:.1f}", f"{at_1:.1f}", f"{at_10:.1f}", f"{error:.4f}")
    return [metric, recipe, settings, *figures]


def induce(given: Sides) -> None:
    """Prints the rows of `muse induce` with both searches."""
    header(["search", "wall s", "peak MB", "pairs", "of the exact pairs", "recall measured in the run"])
    with tempfile.TemporaryDirectory() as name:
        folder, made = Path(name), {}
        for language, rows in zip(("yy", "xx"), reversed(given), strict=True):
            unit, fitted = normalised(rows.numpy(), ["unit"])
            words = [f"{language}{i}" for i in range(len(unit))]
            made[language] = SideToSave(Vectors(language, words, unit), fitted, None)
        exact: set[tuple[str, str]] = set()
        for search in ("exact", "approximate"):  # each on a space that keeps no hubness yet
            save_space(folder / search, made, pivot="yy", provenance=Provenance("synthetic"))
            out = folder / f"{search}.txt"
            run = muse("induce", folder / search, "--mutual", "--search", search, "--out", out)
            pairs = set(read_lexicon(out).pairs)
            exact = exact or pairs
            recalls = f"{100 * run.fields['search']['recall']:.1f}" if "search" in run.fields else ""
            share = f"{100 * len(pairs & exact) / len(exact):.2f} %"
            row([search, run.seconds, f"{run.fields['peak_memory_mb']:.0f}", len(pairs), share, recalls])


def main() -> None:
    """Prints the table."""
    asked = command_line(__doc__, shared=SHARED, words=200_000, queries=20_000, k=20, rows=str, induce=False)
    given = rows_of(asked.rows) if asked.rows else sides(asked.words, asked.shared)
    heading(f"Approximate search, {len(given.queries)} x {len(given.keys)}, k = {asked.k}")
    if asked.induce:
        induce(given)
        return
    header(COLUMNS)
    for recipe in RECIPES:
        name, settings = made_for(given.keys, recipe)
        row(measure(recipe[0], name, settings, given, asked))


if __name__ == "__main__":
    main()
