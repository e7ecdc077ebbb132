"""The tools of any_space.py: muse as a user runs it, another program, and Procrustes on pairs."""

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.rows.any_space_cells import Cell, Data
from benchmarks.support.tables import muse
from muse.vectors import Matrix

PAIRS = 1_000


class Options(NamedTuple):
    """The program to compare with, more options of muse align, and a folder for files in between."""

    peer: tuple[str, ...]
    extra: tuple[str, ...]
    folder: Path


def ranks(a: Matrix, b: Matrix) -> Matrix:
    """The rank (n,) of each row's own counterpart among all rows of `b`, by cosine; 1 is the best."""
    a, b = (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12) for rows in (a, b))
    found = []
    for start in range(0, len(a), 1_024):
        cosines = a[start : start + 1_024] @ b.T
        own = cosines[np.arange(len(cosines)), np.arange(start, start + len(cosines))]
        found.append(1 + (cosines > own[:, None]).sum(axis=1))
    return np.concatenate(found).astype(np.float32)


def figures(a: Matrix, b: Matrix) -> dict[str, Any]:
    """Top-1, mean rank and mean cosine of mapped rows `a` (n, d) and their counterparts `b` (n, d)."""
    unit_a, unit_b = (
        rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12) for rows in (a, b)
    )
    found = ranks(unit_a, unit_b)
    cosine = float((unit_a * unit_b).sum(axis=1).mean())
    return {"top_1": 100 * float((found == 1).mean()), "mean_rank": float(found.mean()), "cosine": cosine}


def _written(data: Data, folder: Path) -> list[Path]:
    names = ("a", "b", "known_a", "known_b")
    paths = [folder / f"{name}.npy" for name in names]
    for path, rows in zip(paths, data[:4], strict=True):
        np.save(path, rows)
    return paths


def by_muse(cell: Cell, data: Data, options: Options) -> dict[str, Any]:
    """Muse align on the rows alone, and muse evaluate on those that both have."""
    a, b, a_known, b_known = _written(data, options.folder)
    space = options.folder / "space"
    shutil.rmtree(space, ignore_errors=True)
    run = muse("align", "--src", "a", "--tgt", "b", "--src-emb", a, "--tgt-emb", b, "--seed", str(cell.seed),
               "--out", space, *options.extra)  # fmt: skip
    columns = {"seconds": run.seconds, "verdict": run.fields["verdict"]}
    columns |= {"confidence": run.fields["confidence"], "init": run.fields.get("init", "")}
    if not cell.possible:
        return columns
    known = "--source", a_known, "--target", b_known
    found = muse("evaluate", space, "--task", "rows", "--retrieval", "nn", *known).fields
    return columns | {
        "top_1": found["p_at_1"], "mean_rank": found["mean_rank"], "cosine": found["mean_cosine"],
    }  # fmt: skip


def by_peer(cell: Cell, data: Data, options: Options) -> dict[str, Any]:
    """The other program: it gets four files, a seed and the place of its answer.

    PROGRAM A.npy B.npy KNOWN_A.npy KNOWN_B.npy SEED OUT.npz writes the mapped rows of both KNOWN files as the
    arrays a and b, and prints {"seconds": ...} without what it spent on reading.
    """
    out = options.folder / "peer.npz"
    words = [*options.peer, *map(str, _written(data, options.folder)), str(cell.seed), str(out)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"exit {done.returncode}: {(done.stderr.strip().splitlines() or [''])[-1]}")
    seconds = float(json.loads(done.stdout.strip().splitlines()[-1])["seconds"])
    with np.load(out) as mapped:
        return {"seconds": seconds, **figures(mapped["a"], mapped["b"])}


def by_procrustes(cell: Cell, data: Data, options: Options) -> dict[str, Any]:
    """The orthogonal mapping of 1,000 pairs drawn by the seed: what a user with pairs would have."""
    began = time.perf_counter()
    drawn = np.random.default_rng(cell.seed).choice(len(data.a_pairs), PAIRS, replace=False)
    means = data.a.mean(axis=0), data.b.mean(axis=0)
    x, y, x_known, y_known = (
        _unit(rows - mean)
        for rows, mean in zip(
            (data.a_pairs[drawn], data.b_pairs[drawn], data.a_known, data.b_known), means * 2, strict=True
        )
    )
    left, _, right = np.linalg.svd(x.T @ y, full_matrices=False)
    mapped = x_known @ (left @ right)
    return {"seconds": time.perf_counter() - began, **figures(mapped, y_known)}


def _unit(rows: Matrix) -> Matrix:
    unit: Matrix = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return unit


TOOLS: dict[str, Callable[[Cell, Data, Options], dict[str, Any]]] = {
    "muse": by_muse, "peer": by_peer, "procrustes": by_procrustes,
}  # fmt: skip
