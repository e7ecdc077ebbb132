"""How much memory and time `muse align` takes for two large files of text.

    python -m benchmarks.scale.memory [--words 200000] [--dimension 300] [--limit 2000] [--options "..."]

The files are synthetic, so that anyone can run this: the first language is a mixture of clusters in
a decaying spectrum, as word vectors are; the second is the first, rotated, with noise added, its
words in a somewhat different order of frequency and under names that tell nothing. The pairs are
known, so the table can also say whether the mapping is right.
"""

import shlex
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.options import command_line
from benchmarks.support.tables import header, heading, muse, row
from muse.files import write_vectors_text

Rows = NDArray[np.float32]
STAGES = ("load", "init", "refine", "save", "total")
QUERIES = 1_500  # words whose translations are checked
QUERY_RANKS = 10_000  # among as many of the most frequent


class World(NamedTuple):
    """What two languages have in common: how many words, how large, and how far they differ."""

    words: int
    dimension: int
    clusters: int = 500
    noise: float = 0.3  # of the second language, in lengths of a vector
    jitter: float = 0.1  # of the log rank of a word in the second language


def first_language(world: World, rng: np.random.Generator) -> Rows:
    """The rows (n, d): cluster centres and words around them, in a spectrum that falls as 1 / sqrt(i)."""
    spectrum = (1 / np.sqrt(np.arange(world.dimension) + 1)).astype(np.float32)  # (d,)
    centres = rng.standard_normal((world.clusters, world.dimension), dtype=np.float32)
    rows = rng.standard_normal((world.words, world.dimension), dtype=np.float32)
    # Clusters of very unequal size: the likeness of words then differs enough to be recognised.
    sizes = rng.exponential(size=world.clusters) ** 2
    rows += 1.5 * centres[rng.choice(world.clusters, world.words, p=sizes / sizes.sum())]
    rows *= spectrum
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def second_language(rows: Rows, world: World, rng: np.random.Generator) -> tuple[Rows, NDArray[np.int64]]:
    """The rows (n, d) of the second language, and for each of them the row of the first it translates."""
    rotation = np.linalg.qr(rng.standard_normal((world.dimension, world.dimension)))[0].astype(np.float32)
    ranks = np.log(np.arange(world.words) + 50) + world.jitter * rng.standard_normal(world.words)
    order = np.argsort(ranks)  # (n,)
    noise = rng.standard_normal(rows.shape, dtype=np.float32) * (world.noise / np.sqrt(world.dimension))
    return ((rows + noise) @ rotation)[order], order


def make_files(folder: Path, world: World, seed: int) -> float:
    """Writes both languages and the gold list into `folder`; returns the MB of the two files."""
    rng = np.random.default_rng(seed)
    rows = first_language(world, rng)
    write_vectors_text(folder / "xx.vec", [f"x{i}" for i in range(world.words)], rows, decimals=4)
    rows, order = second_language(rows, world, rng)
    write_vectors_text(folder / "yy.vec", [f"y{j}" for j in range(world.words)], rows, decimals=4)
    place = np.argsort(order)  # the row in the second language of each word of the first
    queries = rng.choice(min(QUERY_RANKS, world.words), min(QUERIES, world.words), replace=False)
    lines = [f"x{i} y{place[i]}\n" for i in sorted(queries.tolist())]
    (folder / "gold.txt").write_text("".join(lines), encoding="utf-8")
    return sum((folder / name).stat().st_size for name in ("xx.vec", "yy.vec")) / 1e6


def main() -> None:
    """Makes the files, aligns them, and prints seconds by stage and the peak of memory."""
    asked = command_line(
        __doc__, words=200_000, dimension=300, seed=0, limit=(2_000.0, "MB; more is a failure, exit 1"),
        options="", folder=(Path, "where the files go  [default: the temporary folder]"),
    )  # fmt: skip
    world = World(asked.words, asked.dimension)
    heading(f"Memory: two files of {world.words} x {world.dimension}")
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        folder = Path(name)
        began = time.perf_counter()
        megabytes = make_files(folder, world, asked.seed)
        print(f"{megabytes:.0f} MB of text, made in {time.perf_counter() - began:.0f} s\n", flush=True)
        recipe = ["align", "--src", "xx", "--tgt", "yy", *shlex.split(asked.options)]
        files: list[str | Path] = ["--src-emb", folder / "xx.vec", "--tgt-emb", folder / "yy.vec"]
        run = muse(*recipe, *files, "--out", folder / "space")
        score = muse("evaluate", folder / "space", "--dictionary", folder / "gold.txt").fields
    found, peak = run.fields, run.fields["peak_memory_mb"]
    matrices = 2 * world.words * world.dimension * 4 / 1e6
    columns = ["words", "d", *(f"{stage} s" for stage in STAGES), "wall s", "peak MB", "peak / matrices"]
    header([*columns, "verdict", "P@1", "recipe"])
    row([
        world.words, world.dimension, *(float(found["seconds"][stage]) for stage in STAGES), run.seconds,
        f"{peak:.0f}", f"{peak / matrices:.2f}", f"{found['verdict']} ({found['confidence']:.2f})",
        score["p_at_1"], f"`muse {shlex.join(recipe)} --src-emb xx.vec --tgt-emb yy.vec`",
    ])  # fmt: skip
    print(f"\nthe two matrices are {matrices:.0f} MB; the limit is {asked.limit:.0f} MB")
    sys.exit(peak > asked.limit)


if __name__ == "__main__":
    main()
