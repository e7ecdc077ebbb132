"""Elsewhere: trees learned on other languages, for spaces without pairs of their own; in elsewhere.npz.

`benchmarks/words/elsewhere.py` learned them from English with French and with German: the words that
translate each other in sentences of Tatoeba (https://tatoeba.org, CC BY 2.0 FR), in spaces aligned without
pairs from our vectors of novels (ELTeC and DraCor, CC BY 4.0).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from muse.answers.evidence import NAMES
from muse.answers.trees import Trees
from muse.errors import BadFile

PATH = Path(__file__).with_name("elsewhere.npz")


@lru_cache(maxsize=2)
def read_elsewhere(path: Path = PATH) -> Trees:
    """The trees; BadFile if they were learned from other evidence than `evidence.gather` gives."""
    with np.load(path, allow_pickle=False) as arrays:
        if tuple(arrays["names"].tolist()) != NAMES:
            raise BadFile(
                f"{path}: expected trees over {', '.join(NAMES)}, found others; learn them anew with "
                "benchmarks/words/elsewhere.py"
            )
        return Trees.of_arrays(arrays)


def write_elsewhere(trees: Trees, path: Path = PATH) -> None:
    """Writes the trees, and the names of the evidence they were learned from."""
    arrays: dict[str, Any] = {"names": np.array(NAMES), **trees.arrays()}
    np.savez_compressed(path, **arrays)
