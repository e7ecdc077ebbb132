"""A toy language and its parallel text: every word has one translation, whose row is turned away from it."""

from pathlib import Path

import numpy as np

from muse.normalise import Normalisation, normalise
from muse.space import SideToSave, Space, load_space, save_space
from muse.vectors import Matrix, Vectors
from tests.support.spaces import PROVENANCE, rotation

WORDS, DIMENSION = 60, 16


def rows(seed: int = 0) -> tuple[Matrix, Matrix]:
    """Rows of unit length of en and of fr, which are those of en turned: word i translates word i."""
    en = np.random.default_rng(seed).normal(size=(WORDS, DIMENSION)).astype(np.float32)
    fr = en @ rotation(seed + 1, DIMENSION).T
    return normalise(en, ["unit"])[0], normalise(fr, ["unit"])[0]


def toy_space(folder: Path, seed: int = 0) -> Space:
    """A saved space of the two, which is aligned in name alone."""
    steps = Normalisation(("unit",), ())
    sides = {
        name: SideToSave(Vectors(name, [f"{name}{i}" for i in range(WORDS)], matrix), steps)
        for name, matrix in zip(("en", "fr"), rows(seed), strict=True)
    }
    save_space(folder, sides, pivot="en", provenance=PROVENANCE)
    return load_space(folder)


def toy_text(count: int = 400, seed: int = 0) -> list[tuple[str, str]]:
    """Sentences of en of three to six words, and the same in fr in another order."""
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(count):
        words = rng.integers(WORDS, size=rng.integers(3, 7))
        pairs.append([" ".join(f"{name}{i}" for i in rng.permutation(words)) for name in ("en", "fr")])
    return [(en, fr) for en, fr in pairs]


def write_text(path: Path, pairs: list[tuple[str, str]]) -> Path:
    """The pairs as lines of two columns."""
    path.write_text("".join(f"{en}\t{fr}\n" for en, fr in pairs), encoding="utf-8")
    return path


def part_of(number: int) -> str:
    """The part of a pair of inferences, as SICK names it: of ten in a row the last two test, one chooses."""
    return (*["TRAIN"] * 7, "TRIAL", "TEST", "TEST")[number % 10]
