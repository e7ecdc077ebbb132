"""A made-up pair of languages: random words, the second in another script by a cipher, and noisy vectors."""

from typing import NamedTuple

import numpy as np

from muse.vectors import Matrix

LETTERS = "abcdefghiklmnoprstuv"
CIPHER = str.maketrans(LETTERS, "бвгджзиклмнопрстуфхц")


class Made(NamedTuple):
    """Words of both languages and unit rows; word i of the source translates to word `gold[i]`."""

    words: tuple[list[str], list[str]]
    rows: tuple[Matrix, Matrix]
    gold: np.ndarray


def unit(rows: np.ndarray) -> Matrix:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def random_words(count: int, rng: np.random.Generator) -> list[str]:
    """Different words of two to four syllables."""
    found: dict[str, None] = {}
    while len(found) < count:
        syllables = rng.integers(2, 5)
        letters = [rng.choice(list(kind)) for kind in ("bcdfghklmnprstv", "aeiou") * int(syllables)]
        found["".join(letters)] = None
    return list(found)


def made_up(count: int = 1_000, noise: float = 1.5, *, spelled: str = "cipher", seed: int = 0) -> Made:
    """Two languages of `count` words; `spelled`: "cipher", or "ids", which have nothing in common."""
    rng = np.random.default_rng(seed)
    source = random_words(count, rng)
    order = np.argsort(np.arange(count) + rng.normal(0, 30, count))  # frequencies differ a little
    target = [source[i].translate(CIPHER) for i in order]
    if spelled == "ids":
        source = [f"{n:06d}" for n in rng.permutation(count)]
        target = [f"Q{n:06d}" for n in rng.permutation(count)]
    meaning = rng.standard_normal((count, 20))
    rows = unit(meaning + noise * rng.standard_normal(meaning.shape)), unit(meaning[order])
    return Made((source, target), rows, np.argsort(order))
