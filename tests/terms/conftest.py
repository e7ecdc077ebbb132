"""A space of two languages and texts in them, for the tests of terms."""

from pathlib import Path

import numpy as np
import pytest

from muse.normalise import Normalisation
from muse.space import SideToSave, save_space
from muse.vectors import Vectors
from tests.support.spaces import PROVENANCE

WORDS, DIMENSION, LINES = 120, 16, 1_500
IDIOMS = 6  # units whose parts say nothing of their translation
COMPOSED = [(7, 9), (11, 13), (15, 17)]  # units of words that translate each other


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A space of two languages with the same rows, and texts in which units stand by what they mean."""
    folder, rng = tmp_path_factory.mktemp("world"), np.random.default_rng(0)
    rows = rng.standard_normal((WORDS, DIMENSION)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    sides = {
        language: SideToSave(Vectors(language, [f"{language}{i}" for i in range(WORDS)], rows),
                             Normalisation(("unit",), ()), None)
        for language in ("aa", "bb")
    }  # fmt: skip
    save_space(folder / "space", sides, pivot="bb", provenance=PROVENANCE)
    meanings = rng.standard_normal((IDIOMS + len(COMPOSED), DIMENSION))
    meanings /= np.linalg.norm(meanings, axis=1, keepdims=True)
    for language, order in (("aa", rng.permutation(WORDS)), ("bb", rng.permutation(WORDS))):
        idioms = [tuple(order[2 * i : 2 * i + 2].tolist()) for i in range(IDIOMS)]
        units = [" ".join(f"{language}{one}" for one in unit) for unit in (*idioms, *COMPOSED)]
        (folder / f"{language}.units").write_text("\n".join(units))
        lines = []
        for number in range(LINES):
            unit = number % (2 * len(units))
            about = meanings[unit] if unit < len(units) else rows[rng.integers(WORDS)]
            share = np.exp(5 * rows @ about)
            words = [f"{language}{one}" for one in rng.choice(WORDS, 8, p=share / share.sum())]
            lines.append(" ".join(words[:4] + units[unit : unit + 1] + words[4:]))
        (folder / language).write_text("\n".join(lines))
    return folder
