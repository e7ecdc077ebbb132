"""Small spaces with a known answer, for the tests of all that uses a space."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from muse.alignment import HiddenLayer, StoreMap
from muse.files.space_manifest import Manifest, read_manifest
from muse.normalise import Normalisation, normalise
from muse.ranking.derived import write_derived
from muse.ranking.ranker import translate_words
from muse.ranking.translations import Translations
from muse.search.retrieval import Retrieval
from muse.space import Provenance, Side, SideToSave, Space, load_space, save_space
from muse.vectors import Matrix, Vectors

STEPS = ("unit", "centre", "unit")
ODD_WORDS = ["été", "x\u0085y", "a\u2028b", "two words", " ", "", "👍", "e\u0301", "\r", "\ufeffx", "\t"]
RETRIEVALS = [Retrieval(), Retrieval("csls", k=3), Retrieval("nn"), Retrieval("isf", beta=10)]
PROVENANCE = Provenance("gromov", {"rounds": 5}, seed=7, criterion=0.5, verdict={"label": "aligned"})


def words(language: str, count: int, *, plain: bool = False) -> list[str]:
    """Words that name their language and their row, odd ones among them unless they are to be plain."""
    odd = [] if plain else ODD_WORDS[:count]
    return [*odd, *(f"{language}{row}" for row in range(len(odd), count))]


def raw_rows(seed: int, count: int, dimension: int = 8) -> Matrix:
    """Rows as they are in a file: neither centred nor of unit length."""
    rows = np.random.default_rng(seed).normal(0.3, 2, (count, dimension))
    return rows.astype(np.float32)


def rotation(seed: int, dimension: int = 8) -> Matrix:
    """A random orthogonal (d, d)."""
    q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(dimension, dimension)))
    return q.astype(np.float32)


def side_to_save(
    language: str, rows: Matrix, mapping: Matrix | None = None, *, plain: bool = False
) -> SideToSave:
    """What learning would have of these raw rows."""
    normalised, fitted = normalise(rows, STEPS)
    text = words(language, len(rows), plain=plain)
    return SideToSave(Vectors(language, text, normalised), fitted, mapping)


def sides_to_save(
    *others: str, count: int = 40, dimension: int = 8, plain: bool = False
) -> dict[str, SideToSave]:
    """The pivot en and other languages, each rotated."""
    sides = {"en": side_to_save("en", raw_rows(0, count, dimension), plain=plain)}
    for seed, other in enumerate(others or ("fr",), 1):
        rows = raw_rows(seed, count - seed, dimension)
        sides[other] = side_to_save(other, rows, rotation(seed, dimension), plain=plain)
    return sides


def saved(folder: Path, *others: str, count: int = 40, plain: bool = False) -> Space:
    """A space that was saved to `folder` and loaded again."""
    sides = sides_to_save(*others, count=count, plain=plain)
    save_space(folder, sides, pivot="en", provenance=PROVENANCE)
    return load_space(folder)


def derived(folder: Path, write: Callable[[Path], None] | None = None) -> Space:
    """A saved space with what `write` adds to its folder, by default all that is derived of any space."""
    if write is None:
        write_derived(load_space(folder), folder)
    else:
        write(folder)
    read_manifest(folder).write(folder)
    return load_space(folder)


def saved_with_store_map(folder: Path, units: int = 5) -> Space:
    """The same space, where fr has a map of its own into the rows of en, with this number of hidden units."""
    rng = np.random.default_rng(3)
    weight, inner, bias, outer = (
        rng.normal(size=shape).astype(np.float32) for shape in ((8, 8), (units, 8), (units,), (8, units))
    )
    found = StoreMap(weight, HiddenLayer(inner, bias, outer) if units else None)
    sides = sides_to_save("fr")
    sides["fr"] = replace(sides["fr"], store_map=found)
    save_space(folder, sides, pivot="en", provenance=PROVENANCE)
    return load_space(folder)


def plain_space(source: Matrix, target: Matrix, source_words: list[str], target_words: list[str]) -> Space:
    """A space fr, en in memory from rows that are in one space already."""
    steps = Normalisation(("unit",), ())
    identity = np.eye(source.shape[1], dtype=np.float32)
    sides = {}
    for language, rows, text in (("fr", source, source_words), ("en", target, target_words)):
        unit = normalise(rows, ["unit"])[0]
        sides[language] = Side(Vectors(language, text, unit), identity, steps)
    return Space(sides, "en", Manifest(method="gromov", seed=7))


def space_with_zeros(count: int = 40) -> Space:
    """A space whose row i of fr is that of en, but for zeros: row 3 of fr, row 7 of en, and row 5 of both."""
    rows = raw_rows(0, count)
    source, target = rows.copy(), rows.copy()
    source[[3, 5]], target[[7, 5]] = 0, 0
    return plain_space(source, target, *(words(name, count, plain=True) for name in ("fr", "en")))


def best(space: Space, word: str, **options: Any) -> Translations:
    """The translations of one word."""
    return translate_words(space, [word], **options)[0]
