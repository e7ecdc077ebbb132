"""Concurrency: a space is loaded again and again while it is replaced; every load is one whole version."""

import multiprocessing
import time
from pathlib import Path

import numpy as np

from muse.normalise import Normalisation, normalise
from muse.space import SideToSave, load_space, save_space
from muse.vectors import Vectors
from tests.faults.kills import Report
from tests.support.spaces import PROVENANCE

WORDS, DIMENSION = 2_000, 20


def write(folder: Path, version: int) -> None:
    """A space whose every row, word and language tell its version."""
    rows = np.full((WORDS, DIMENSION), 1.0, np.float32)
    rows[:, version % DIMENSION] += 1 + version
    matrix = normalise(rows, ["unit"])[0]
    steps = Normalisation(("unit",), ())
    sides = {
        language: SideToSave(
            Vectors(language, [f"{language}{version}x{row}" for row in range(WORDS)], matrix), steps
        )
        for language in ("fr", "en")
    }
    save_space(folder, sides, pivot="en", provenance=PROVENANCE)


def version_of(folder: Path) -> int:
    """The version of the space; ValueError if its parts are of several."""
    space, found = load_space(folder), set()
    for language in space.languages:
        vectors = space.vectors(language)
        matrix = np.asarray(vectors.matrix)
        found |= {int(word.removeprefix(language).partition("x")[0]) for word in vectors.words}
        ratio = matrix.max(axis=1) / matrix.min(axis=1)
        found |= set(np.round(ratio - 2).astype(int).tolist())
    if len(found) != 1:
        raise ValueError(f"parts of versions {sorted(found)}")
    return int(found.pop())


def together(folder: Path, loads: int, replacements: int, readers: int = 2) -> Report:
    """Loads beside replacements, until there are enough of both."""
    report, space = Report(), folder / "space"
    write(space, 0)
    writer = multiprocessing.Process(target=_replace, args=(space, replacements))
    with multiprocessing.Pool(readers) as pool:
        writer.start()
        parts = [pool.apply_async(_load, (space, loads // readers, replacements)) for _ in range(readers)]
        for part in parts:
            count, versions, wrong = part.get()
            report.counts["loads"] += count
            report.counts["versions seen"] = max(report.counts["versions seen"], versions)
            report.wrong += wrong
        writer.join()
    report.counts["replacements"] = version_of(space)
    return report


def _replace(space: Path, replacements: int) -> None:
    for version in range(1, replacements + 1):
        write(space, version)
        time.sleep(0.05)


def _load(space: Path, loads: int, last: int) -> tuple[int, int, list[str]]:
    versions: set[int] = set()
    wrong: list[str] = []
    done = 0
    while done < loads or max(versions, default=0) < last:
        try:
            versions.add(version_of(space))
        except Exception as error:  # noqa: BLE001  # whatever it is, it is what is looked for
            wrong.append(f"load {done}: {error!r}")
            if len(wrong) > 20:
                break
        done += 1
    return done, len(versions), wrong
