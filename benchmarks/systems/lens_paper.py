"""The paper preset of the lens: parameters, seconds and memory of one step at the published sizes.

    python -m benchmarks.systems.lens_paper [--pairs 512] [--length 32] [--threads N]

The step is of 512 pairs, the paper's largest batch, of matrices of mBERT's width and random numbers: what the
core itself takes is not in it. Each row is of a process of its own, for its memory.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch

from benchmarks.support.tables import header, heading, row
from muse.run.memory import peak_memory_mb
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import Reader
from muse.sentences.systems.core import Core, Matrices
from muse.sentences.systems.lens.lens_system import KINDS, LENS, LensNetwork
from muse.sentences.systems.network_encoder import BothSides
from muse.sentences.training.optimising import Optimisers
from muse.sentences.training.pairs import Pairs
from muse.sentences.training.two_sides import PairLearner

WIDTH = 768
DIMENSIONS = (1_024, 4_096)


class RandomCore(Core):
    """Matrices of random rows, whatever the words."""

    name = "random"
    dimension = WIDTH
    settings: Mapping[str, Any] = {}

    def reader(self, language: str) -> Reader:
        """None: there is no text."""
        raise NotImplementedError

    def matrices(self, batch: Ragged, language: str) -> Matrices:
        """Rows of N(0, 1)."""
        mask = batch.padded().mask
        return Matrices(torch.randn(*mask.shape, WIDTH) * mask[..., None], mask)


def one_step(kind: str, dimension: int, asked: argparse.Namespace) -> None:
    """Prints the row of one step at one size."""
    preset = LENS.presets["paper"]
    config = replace(preset.config, kind=kind, dimension=dimension)
    side = Ragged.of([[0] * asked.length] * asked.pairs)
    rows = torch.arange(asked.pairs)
    network = LensNetwork(RandomCore(), config)
    learner = PairLearner(
        BothSides(network, ("en", "fr")), config.ranking(), Pairs(side, side, (rows, rows), rows, rows, 0)
    )
    optimisers = Optimisers(learner, preset.trainer.optimiser, preset.trainer.rate)
    before, began = peak_memory_mb() or 0.0, time.perf_counter()
    loss = learner.loss(rows, torch.Generator())
    torch.autograd.backward(loss)
    optimisers.step(1e-4, clip=0.0)
    seconds, peak = time.perf_counter() - began, peak_memory_mb() or 0.0
    count = sum(parameter.numel() for parameter in network.parameters())
    row(
        [
            kind,
            dimension,
            f"{count:,}",
            f"{float(loss.detach()):.3f}",
            seconds,
            round(peak - before),
            round(peak),
        ]
    )


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pairs", type=int, default=LENS.presets["paper"].trainer.batch)
    parser.add_argument("--length", type=int, default=32, help="Pieces of a sentence.")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.threads:
        torch.set_num_threads(asked.threads)
    if asked.one:
        kind, dimension = asked.one.split(":")
        one_step(kind, int(dimension), asked)
        return
    heading(f"The paper preset of the lens, one step: {asked.pairs} pairs of {asked.length} pieces")
    header(("lens", "D", "parameters", "loss", "seconds", "MB of the step", "MB in all"))
    for kind in KINDS:
        for dimension in DIMENSIONS:
            subprocess.run([sys.executable, *sys.argv, "--one", f"{kind}:{dimension}"], check=True)


if __name__ == "__main__":
    main()
