"""Muse without a dictionary beside Procrustes, on lists that no default of muse was chosen on.

    python benchmarks/unseen.py [--pairs en-fr,fr-en] [--seeds 0] [--shared ../shared]

The lists are the training dictionaries (`0-5000`), cut into two halves by every other source word. Procrustes
learns from one half and is tested on the other, and the reverse; muse, which learns from neither, is tested
on both. The p-value is that of a paired bootstrap over the queries of a half.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from pairs import SHARED, Pair, find_pair
from tables import header, heading, muse, numbers, row

COLUMNS = ("pair", "seed", "half", "queries", "muse", "95 %", "Procrustes", "95 %", "difference", "p")


def halves(dictionary: Path, folder: Path) -> list[Path]:
    """Two files with the translations of every other source word each, in their order."""
    lines = dictionary.read_text(encoding="utf-8").splitlines(keepends=True)
    order = {word: number for number, word in enumerate(dict.fromkeys(line.split()[0] for line in lines))}
    paths = [folder / f"{dictionary.stem}.{half}.txt" for half in (0, 1)]
    for half, path in enumerate(paths):
        own = [line for line in lines if order[line.split()[0]] % 2 == half]
        path.write_text("".join(own), encoding="utf-8")
    return paths


def measure(pair: Pair, seeds: list[int]) -> None:
    """Prints the rows of a pair: each seed of muse on each half, beside Procrustes learned from the other."""
    if pair.training is None:
        raise SystemExit(f"{pair.name} has no training dictionary")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        lists = halves(pair.training, folder)
        for half, learned_from in enumerate(reversed(lists)):
            out = folder / f"procrustes.{half}"
            muse("align", *pair.arguments(), "--dictionary", learned_from, "--no-refine", "--out", out)
        for seed in seeds:
            space = folder / f"muse.{seed}"
            muse("align", *pair.arguments(), "--seed", str(seed), "--out", space)
            for half, gold in enumerate(lists):
                other = folder / f"procrustes.{half}"
                scored = muse("evaluate", space, "--dictionary", gold, "--against", other).fields
                row(_cells(pair, seed, half, scored, muse("evaluate", other, "--dictionary", gold).fields))


def _cells(pair: Pair, seed: int, half: int, scored: dict[str, Any], beside: dict[str, Any]) -> list[object]:
    intervals = [f"{low:.1f}-{high:.1f}" for low, high in (scored["ci95"], beside["ci95"])]
    against = scored["against"]
    return [
        pair.name, seed, half, scored["queries"], f"{scored['p_at_1']:.2f}", intervals[0],
        f"{beside['p_at_1']:.2f}", intervals[1], f"{against['difference']:+.2f}", f"{against['p_value']:.3f}",
    ]  # fmt: skip


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pairs", default="en-fr,fr-en,en-de,de-en,de-fr,fr-de,fr-it,it-fr")
    parser.add_argument("--seeds", default="0", help="such as 0-9 or 0,3,5")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    heading("Word translation beside Procrustes, on lists that nothing was chosen on")
    header(COLUMNS)
    for name in asked.pairs.split(","):
        measure(find_pair(name, asked.shared), numbers(asked.seeds))


if __name__ == "__main__":
    main()
