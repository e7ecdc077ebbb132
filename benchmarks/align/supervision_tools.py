"""The tools of benchmarks/align/supervision.py: each maps two vocabularies into one space."""

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor
from torch.nn.functional import normalize

from benchmarks.align.supervision_cells import Loaded, Task
from benchmarks.support import rcsls
from benchmarks.support.contrastive import contrastive
from benchmarks.support.draws import IDENTICAL, NONE
from benchmarks.support.tables import muse
from benchmarks.support.vecmap import vecmap
from muse.evaluation.words import WordScore, evaluate_words
from muse.normalise import Normalisation
from muse.procrustes import procrustes
from muse.space import Side, Space, load_space
from muse.vectors import Vectors


@dataclass(frozen=True)
class Options:
    """The checkouts of other tools, more options of `muse align`, VecMap's iterations (None: to its end)."""

    vecmap: Path | None = None
    contrastive: Path | None = None
    extra: tuple[str, ...] = ()
    iterations: int | None = None


@dataclass(frozen=True, eq=False)
class Found:
    """The score of a run, None if it was not run to its end; seconds; other columns of its row."""

    score: WordScore | None
    seconds: float
    columns: dict[str, Any] = field(default_factory=dict)


Tool = Callable[[Task, Options], Found]


def score(loaded: Loaded, rows: tuple[Tensor, Tensor]) -> WordScore:
    """P@1 and more of unit rows (n, d) and (m, d) on the gold list."""
    steps, eye = Normalisation(("unit",), ()), np.eye(rows[0].shape[1], dtype=np.float32)
    sides = {
        side.language: Side(Vectors(side.language, side.words, mapped.numpy()), eye, steps)
        for side, mapped in zip(loaded.sides, rows, strict=True)
    }
    space = Space(sides, loaded.pair.target)
    return evaluate_words(space, loaded.gold, rng=np.random.default_rng(0), source=loaded.pair.source)


def _muse(task: Task, options: Options) -> Found:
    space = task.loaded.folder / "space"
    shutil.rmtree(space, ignore_errors=True)
    help_: list[str | Path] = ["--init", "identical"] if task.cell.help == IDENTICAL else []
    if task.cell.help not in (NONE, IDENTICAL) and task.dictionary is not None:
        help_ = ["--dictionary", task.dictionary]
    pair = task.loaded.pair
    recipe = ["align", *pair.arguments(), *help_, "--seed", str(task.cell.draw), *options.extra]
    run = muse(*recipe, "--out", space)
    held_out = run.fields.get("supervision") or {}
    low, high = held_out.get("ci95") or ("", "")
    columns = {
        "init": run.fields["init"], "verdict": run.fields["verdict"],
        "confidence": round(run.fields["confidence"], 3), "setting": held_out.get("chosen", ""),
        "held_out_p_at_1": held_out.get("held_out_p_at_1", ""), "held_out_low": low, "held_out_high": high,
        "chance": held_out.get("chance", ""),
    }  # fmt: skip
    rng = np.random.default_rng(0)
    found = evaluate_words(load_space(space), task.loaded.gold, rng=rng, source=pair.source)
    return Found(found, run.seconds, columns)


def _procrustes(task: Task, _: Options) -> Found:
    (x, y), pairs = task.loaded.normalised, task.pairs()
    began = time.perf_counter()
    mapping = procrustes(x[pairs[:, 0]], y[pairs[:, 1]])
    seconds = time.perf_counter() - began
    return Found(score(task.loaded, (x @ mapping.T, y)), seconds)


def _rcsls(task: Task, _: Options) -> Found:
    (x, y), pairs = task.loaded.normalised, task.pairs()
    began = time.perf_counter()
    setting = rcsls.chosen(x, y, pairs, np.random.default_rng(0))
    mapping = rcsls.rcsls(x, y, pairs, *setting)[setting.steps]
    seconds = time.perf_counter() - began
    found = score(task.loaded, (normalize(x @ mapping.T), y))
    return Found(found, seconds, {"setting": f"rate {setting.rate:g}, {setting.steps} steps"})


def _vecmap(mode: str) -> Tool:
    def run(task: Task, options: Options) -> Found:
        if options.vecmap is None:
            raise SystemExit("--vecmap CHECKOUT says where VecMap is")
        mapped = vecmap(task, options.vecmap, mode, options.iterations)
        if mapped.rows is None:
            return Found(None, mapped.seconds, {"setting": mapped.setting})
        found = score(task.loaded, mapped.rows)
        return Found(found, mapped.seconds, {"setting": mapped.setting})

    return run


def _contrastive(task: Task, options: Options) -> Found:
    if options.contrastive is None:
        raise SystemExit("--contrastive CHECKOUT says where ContrastiveBLI is")
    mapped = contrastive(task, options.contrastive)
    found = None if mapped.rows is None else score(task.loaded, mapped.rows)
    return Found(found, mapped.seconds, {"setting": mapped.setting})


TOOLS: dict[str, Tool] = {
    "procrustes": _procrustes, "rcsls": _rcsls, "vecmap-supervised": _vecmap("supervised"),
    "vecmap-semi-supervised": _vecmap("semi_supervised"), "vecmap-identical": _vecmap("identical"),
    "vecmap-unsupervised": _vecmap("unsupervised"), "c1": _contrastive, "muse": _muse,
}  # fmt: skip
