"""Aligns with `muse align` and saves, beside the space, the maps fitted without some of the pairs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.pairs import Pair
from muse.answers.choice import HeldOutRows, KnownPairs
from muse.learn.supervise import choice, cross_validation

LABELLED = 1_000  # source words: more improve the choice hardly, and each view needs a search


def align(pair: Pair, given: Path | None, folder: Path, extra: Sequence[str] = ()) -> None:
    """Aligns a pair with the pairs given, or none, into a folder."""
    options = [] if given is None else ["--dictionary", str(given)]
    arguments = ["align", *map(str, pair.arguments()), *options, "--out", str(folder), "--quiet", *extra]
    command = [sys.executable, "-m", "benchmarks.words.kept_views", *arguments]
    done = subprocess.run(command, check=False)
    if done.returncode not in (0, 3):  # 3: failed, which is a result
        raise SystemExit(f"muse align ended with {done.returncode}")


def read_given(folder: Path) -> KnownPairs:
    """The pairs that a space was learned from, with rows by maps learned without some of them."""
    path = _beside(folder)
    if not path.exists():
        return KnownPairs.none()
    with np.load(path, allow_pickle=False) as kept:
        pairs, fold, views = kept["pairs"], kept["fold"], []
        for number in range(int(kept["folds"])):
            sides = [_unit(kept[side] @ kept[f"{side}{number}"].T) for side in "xy"]
            views.append(HeldOutRows(sides[0], sides[1], fold == number))
            tested = np.isin(fold, range(number + 1))
            if len(np.unique(pairs[tested, 0])) >= LABELLED:
                break
        weights = np.ones(len(pairs))
    return KnownPairs(pairs, weights, tuple(views))


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-9), np.float32)


def _beside(folder: Path) -> Path:
    return folder.with_name(folder.name + ".views.npz")


def _keep(fits: Sequence[Any], folds: Any, folder: Path) -> None:
    evidence = folds.evidence
    x, y = evidence.vocabulary
    maps = {
        f"{side}{at}": one.numpy() for at, fit in enumerate(fits) for side, one in zip("xy", fit, strict=True)
    }
    np.savez(
        _beside(folder), pairs=evidence.pairs.numpy(), fold=folds.of_pair.numpy(), folds=len(fits),
        x=x.numpy(), y=y.numpy(), **maps,
    )  # fmt: skip


def main() -> None:
    """Runs muse with these arguments and saves the maps of its cross-validation beside --out."""
    from muse.__main__ import main as muse

    last: list[tuple[Any, Any]] = []
    held_out = cross_validation.held_out

    def keeping(fits: Any, folds: Any, search: Any) -> Any:
        last[:] = [(fits, folds)]  # the last call is that of the method chosen
        return held_out(fits, folds, search)

    choice.held_out = keeping  # type: ignore[attr-defined]
    folder = Path(sys.argv[sys.argv.index("--out") + 1])
    try:
        muse()
    finally:
        if last and folder.exists():
            _keep(*last[0], folder)


if __name__ == "__main__":
    main()
