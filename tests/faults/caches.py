"""Caches: what is kept beside a space is changed; every answer is that of the space, or of CSLS alone."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from muse.ranking.probability import find_calibration
from muse.ranking.ranker import translate_words
from muse.space import Space, load_space
from muse.space.derived import AnswerTable, write_answers
from tests.faults.kills import Report
from tests.support.spaces import derived, saved

WAYS = (("fr", "en"), ("en", "fr"))
KEPT = ("hubness.*.npy", "calibration.*.json", "answers.*.npz")


def change_caches(count: int, folder: Path, drawn: random.Random) -> Report:
    """So many changes of kept files, each in a copy of the space."""
    report, space = Report(), folder / "kept" / "space"
    _prepare(space)
    files = sorted(path for name in KEPT for path in space.rglob(name))
    right = {by: _answers(load_space(space, answers=by)) for by in ("all", "csls")}
    for number in range(count):
        copy = folder / "kept" / "changed"
        shutil.copytree(space, copy)
        path, change = drawn.choice(files), drawn.choice(CHANGES)
        change(copy / path.relative_to(space), drawn)
        found = _answers(load_space(copy))
        report.counts[f"{path.name.partition('.')[0]}, {change.__name__.strip('_').replace('_', ' ')}"] += 1
        if any(one not in (right["all"][way], right["csls"][way]) for way, one in found.items()):
            report.wrong.append(f"change {number}: {path.name}, {change.__name__}: another answer")
        shutil.rmtree(copy)
    return report


def _prepare(folder: Path) -> None:
    space = saved(folder, plain=True)
    for way in WAYS:
        n, m = (len(space.vectors(language)) for language in way)
        columns, shares = np.arange(n)[::-1] % m, np.full(n, 0.5, np.float32)
        table = AnswerTable(np.arange(n + 1), columns, np.zeros(n, np.float32), shares)
        write_answers(folder, way, table)
    derived(folder)


def _answers(space: Space) -> dict[tuple[str, str], Any]:
    """The translations of some words in both directions, with the calibration."""
    found = {}
    for source, target in WAYS:
        words = translate_words(
            space, [f"{source}{row}" for row in (1, 7, 30)], source=source, target=target, top=3
        )
        found[source, target] = words, find_calibration(space, source, target)
    return found


def _other_numbers(path: Path, drawn: random.Random) -> None:
    """The same shape and names, other numbers: what only a checksum tells."""
    rng = np.random.default_rng(drawn.randrange(1_000))
    if path.suffix == ".npy":
        np.save(path, rng.uniform(-1, 1, np.load(path).shape).astype(np.float32))
    elif path.suffix == ".npz":
        with np.load(path) as arrays:
            parts = dict(arrays)
        parts["columns"] = rng.permutation(parts["columns"])
        np.savez(path, **parts)
    else:
        path.write_text('{"closed_set": 0.2, "open_set": 0.2, "none": 0.3}\n')


def _impossible(path: Path, drawn: random.Random) -> None:
    if path.suffix == ".npy":
        np.save(path, np.full(np.load(path).shape, drawn.choice((1.4, np.nan, -3.0)), np.float32))
    else:
        path.write_bytes(path.read_bytes().replace(b"0.", b"9."))


def _changed_bytes(path: Path, drawn: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(drawn.randint(1, 8)):
        content[drawn.randrange(len(content))] ^= 1 << drawn.randrange(8)
    path.write_bytes(content)


def _cut_short(path: Path, drawn: random.Random) -> None:
    path.write_bytes(path.read_bytes()[: drawn.randrange(path.stat().st_size)])


def _of_the_other_language(path: Path, drawn: random.Random) -> None:
    for other in path.parents[1].glob(f"*/{path.name.partition('.')[0]}.*{path.suffix}"):
        if other.parent != path.parent:
            shutil.copy(other, path)


CHANGES: tuple[Callable[[Path, random.Random], None], ...] = (
    _other_numbers, _impossible, _changed_bytes, _cut_short, _of_the_other_language,
)  # fmt: skip
