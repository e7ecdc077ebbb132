"""The n-grams of two languages that correspond most, as learned from a space's mutual neighbours.

    python -m benchmarks.words.correspondences SPACE [SPACE ...] [--top 10]

An n-gram has the mean of the canonical coordinates of its words, less that of all words; two n-grams of 2 to
4 letters in LEAST words each correspond as much as the cosine of these. Printed are those that are each
other's best, by cosine, without any that contains or is contained in a better one.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from muse.ranking.candidates import NeighbourLists
from muse.ranking.features import KnownPairs, known_spellings
from muse.ranking.spelling import Spellings, all_grams
from muse.space import load_space
from muse.vectors import Matrix

LEAST = 60


def means(words: Sequence[str], coordinates: Matrix) -> tuple[list[str], NDArray[np.float64]]:
    """The n-grams, and the mean coordinates (g, k) of their words, of unit length."""
    having: dict[str, list[int]] = {}
    for row, word in enumerate(words):
        for gram in set(all_grams(word)):
            if len(gram.strip()) >= 2:
                having.setdefault(gram, []).append(row)
    kept = {gram: rows for gram, rows in having.items() if len(rows) >= LEAST}
    overall = coordinates.mean(axis=0)
    found = np.stack([coordinates[rows].mean(axis=0) - overall for rows in kept.values()])
    return list(kept), found / np.linalg.norm(found, axis=1, keepdims=True)


def strongest(folder: Path, top: int) -> list[tuple[str, str, float]]:
    """The n-grams of both languages that correspond most, with their cosine."""
    space = load_space(folder)
    source, target = (space.vectors(language) for language in space.direction())
    lists = NeighbourLists.of(np.asarray(source.matrix), np.asarray(target.matrix))
    written = Spellings.of(source.words, target.words, np.random.default_rng(0))
    whole, _ = written.correspondences(*known_spellings(lists, KnownPairs.none()))
    sides = zip(written.plain, (whole.source, whole.target), strict=True)
    (left, x), (right, y) = (means(words.tolist(), rows) for words, rows in sides)
    cosines = x @ y.T
    best, back = cosines.argmax(axis=1), cosines.argmax(axis=0)
    mutual = [row for row in range(len(left)) if back[best[row]] == row]
    found: list[tuple[str, str, float]] = []
    for row in sorted(mutual, key=lambda row: -cosines[row, best[row]]):
        pair = left[row], right[best[row]]
        if not any(_overlap(pair[0], one) or _overlap(pair[1], other) for one, other, _ in found):
            found.append((*pair, float(cosines[row, best[row]])))
        if len(found) == top:
            break
    return found


def _overlap(one: str, other: str) -> bool:
    return one in other or other in one


def shown(gram: str) -> str:
    """The n-gram with hyphens where a word goes on."""
    inner = gram.strip()
    return f"{'' if gram.startswith(' ') else '-'}{inner}{'' if gram.endswith(' ') else '-'}"


def main() -> None:
    """Prints a table for each space."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("spaces", type=Path, nargs="+", metavar="SPACE")
    parser.add_argument("--top", type=int, default=10)
    asked = parser.parse_args()
    for folder in asked.spaces:
        print(folder.name)
        for one, other, cosine in strongest(folder, asked.top):
            print(f"  {shown(one)}\t{shown(other)}\t{cosine:.2f}")


if __name__ == "__main__":
    main()
