"""Adversarial initialisation alone: its criterion, pace and orthogonality by epoch, and its result.

    python -m benchmarks.align.adversarial [--pair zhang-es-en] [--seeds 0-9] [--enough 70]
        [--shared ../shared]

Each seed is one `muse align --init adversarial` in a process of its own; the figures of the epochs
are read from what it prints. The defect is the worst |W W^T - I| of all restarts.
"""

from __future__ import annotations

import argparse
import re
import shlex
import tempfile
from pathlib import Path
from typing import NamedTuple

from benchmarks.support.pairs import SHARED, Pair, find_pair
from benchmarks.support.tables import header, heading, muse, numbers, row

EPOCH = re.compile(r"epoch (\d+): criterion (\S+), defect (\S+), (\S+) samples/s")


class Outcome(NamedTuple):
    """One seed: the figures of its epochs as printed, and those of the space it ended with."""

    seed: int
    epochs: list[tuple[str, ...]]  # number, criterion, defect, samples a second
    verdict: str
    confidence: float
    p_at_1: float
    ci95: tuple[float, float]
    init_seconds: float
    total_seconds: float

    @property
    def defect(self) -> float:
        """The worst defect of all epochs."""
        return max(float(epoch[2]) for epoch in self.epochs)


def play(pair: Pair, seed: int, options: list[str]) -> Outcome:
    """Aligns and evaluates once, and prints a row for each epoch."""
    with tempfile.TemporaryDirectory() as folder:
        space = Path(folder) / "space"
        recipe = ["align", *pair.arguments(), "--init", "adversarial", "--seed", str(seed), *options]
        aligned = muse(*recipe, "--out", space)
        direction = ["--src", pair.source, "--tgt", pair.target]
        score = muse("evaluate", space, "--dictionary", pair.gold_in(Path(folder)), *direction).fields
    epochs = [match.groups() for match in EPOCH.finditer(aligned.stderr)]
    if not epochs:
        raise RuntimeError(f"no epoch in what {aligned.command} printed: {aligned.stderr[-500:]!r}")
    for epoch in epochs:
        row([seed, *epoch])
    found = aligned.fields
    return Outcome(
        seed, epochs, found["verdict"], found["confidence"], score["p_at_1"], tuple(score["ci95"]),
        found["seconds"]["init"], found["seconds"]["total"],
    )  # fmt: skip


def main() -> None:
    """Plays every seed, prints the table of epochs and then that of seeds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pair", default="zhang-es-en")
    parser.add_argument("--seeds", default="0-9", help="such as 0-9 or 0,3,5")
    parser.add_argument("--enough", type=float, default=70.0, help="the P@1 that counts as a success")
    parser.add_argument("--extra", default="", help="more options of muse align, in one string")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    pair = find_pair(asked.pair, asked.shared)
    heading(f"Adversarial training alone, {pair.name}")
    header(["seed", "epoch", "criterion", "defect", "samples/s"])
    outcomes, broken = [], []
    for seed in numbers(asked.seeds):
        try:
            outcomes.append(play(pair, seed, shlex.split(asked.extra)))
        except RuntimeError as error:
            broken.append(f"seed {seed}: {error}")
    print()
    header(["seed", "epochs", "verdict", "confidence", "P@1", "95 %", "worst defect", "init s", "total s"])
    for one in outcomes:
        interval = "{:.1f}-{:.1f}".format(*one.ci95)
        row([
            one.seed, len(one.epochs), one.verdict, f"{one.confidence:.2f}", f"{one.p_at_1:.2f}", interval,
            f"{one.defect:.4f}", one.init_seconds, one.total_seconds,
        ])  # fmt: skip
    good = sum(one.p_at_1 >= asked.enough for one in outcomes)
    print(f"\n{good} of {len(outcomes) + len(broken)} seeds reach P@1 {asked.enough:g}")
    if outcomes:
        slowest = max(one.total_seconds for one in outcomes)
        print(f"worst defect {max(one.defect for one in outcomes):.4f}, slowest seed {slowest:.1f} s")
    recipe = shlex.join(["align", *map(str, pair.arguments()), "--init", "adversarial", "--seed", "N"])
    print(f"recipe: `muse {recipe}{' ' + asked.extra if asked.extra else ''}`", *broken, sep="\n")


if __name__ == "__main__":
    main()
