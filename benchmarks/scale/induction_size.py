"""Time and memory of `muse induce`, and their ratio to the matrix product that it cannot do without.

    python -m benchmarks.scale.induction_size [--words 200000] [--dimension 300] [--options "--format tsv"]

The space is synthetic (memory.py's languages) and keeps no hubness yet, as when `muse align` has
just saved one. The product is that of all source rows with all target rows, in the tiles of an exact search;
PASSES blocks of it are timed before and as many after, in this process, and scaled to the whole. Where
other work keeps the cores busy, the ratio of CPU seconds tells more than that of the clock's.
"""

from __future__ import annotations

import argparse
import shlex
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from benchmarks.scale.memory import World, first_language, second_language
from benchmarks.support.tables import header, heading, muse, row
from muse.normalise import normalise
from muse.search.exact import tile_sizes
from muse.space import Provenance, SideToSave, save_space
from muse.vectors import Vectors

PASSES = 4


class Cost(NamedTuple):
    """Seconds of the clock and of all cores together."""

    wall: float
    cpu: float


def make_space(folder: Path, world: World) -> tuple[torch.Tensor, torch.Tensor]:
    """Saves the space xx, yy and returns the rows of both, (n, d) and (n, d)."""
    rng = np.random.default_rng(0)
    first = first_language(world, rng)
    sides = {}
    for language, rows in (("yy", second_language(first, world, rng)[0]), ("xx", first)):
        unit, fitted = normalise(rows, ["unit"])
        names = [f"{language}{i}" for i in range(world.words)]
        sides[language] = SideToSave(Vectors(language, names, unit), fitted, None)
    save_space(folder, sides, pivot="yy", provenance=Provenance())
    return sides["xx"].vectors.tensor(), sides["yy"].vectors.tensor()


def product(source: torch.Tensor, target: torch.Tensor, first: int) -> Cost:
    """What the whole product costs, from PASSES blocks of sources that begin with block `first`."""
    rows, columns = tile_sizes(source)
    blocks = torch.split(source, rows)
    began, cpu = time.perf_counter(), time.process_time()
    for block in blocks[first : first + PASSES]:
        for tile in torch.split(target, columns):
            block @ tile.T  # (b, t)
    scale = len(source) / (PASSES * rows)
    return Cost(scale * (time.perf_counter() - began), scale * (time.process_time() - cpu))


def main() -> None:
    """Makes the space, induces its dictionary once, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--dimension", type=int, default=300)
    parser.add_argument("--options", default="--format tsv", help="of muse induce, in one string")
    asked = parser.parse_args()
    heading(f"muse induce on {asked.words} x {asked.dimension}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, target = make_space(folder / "space", World(asked.words, asked.dimension))
        before = product(source, target, 0)
        run = muse("induce", folder / "space", "--out", folder / "xx-yy", *shlex.split(asked.options))
        after = product(source, target, PASSES)
    whole = Cost((before.wall + after.wall) / 2, (before.cpu + after.cpu) / 2)
    recalls = [f"{100 * run.fields['search']['recall']:.1f}"] if "search" in run.fields else []
    header([
        "words", "d", "options", "recall@1", "pairs", "wall s", "CPU s", "product wall s", "product CPU s",
        "ratio wall", "ratio CPU", "peak MB", "both matrices MB",
    ])  # fmt: skip
    ratio = run.seconds / whole.wall, run.processor_seconds / whole.cpu
    row([
        asked.words, asked.dimension, asked.options, ", ".join(recalls) or "exact", run.fields["pairs"],
        run.seconds, run.processor_seconds, whole.wall, whole.cpu, *(f"{one:.2f}" for one in ratio),
        f"{run.fields['peak_memory_mb']:.0f}", f"{2 * asked.words * asked.dimension * 4 / 1e6:.0f}",
    ])  # fmt: skip


if __name__ == "__main__":
    main()
