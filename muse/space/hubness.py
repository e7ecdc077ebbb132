"""Hubness of a space: the bias of every word under CSLS, computed once, by whoever writes the space."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from torch import Tensor

from muse.files.archive import array_in
from muse.files.derived import DerivedFiles
from muse.files.space_folder import derived_name, write_array
from muse.progress import Progress
from muse.search.approximate import Approximation
from muse.search.bidirectional_search import BidirectionalSearch
from muse.search.retrieval import Retrieval
from muse.vectors import Matrix

HUBNESS_K = 10  # the neighbourhood of the hubness on disk: k of the default retrieval

HIGHEST = 1.001  # a mean cosine, of rows whose length is 1 but for rounding


def uses_cached_hubness(retrieval: Retrieval) -> bool:
    """Whether a retrieval needs the hubness that a space keeps, and nothing else."""
    return (retrieval.method, retrieval.k) == ("csls", HUBNESS_K)


def hubness_of_both(
    languages: tuple[str, str], rows: tuple[Tensor, Tensor], progress: Progress,
    approximation: Approximation | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The mean cosine (n,) and (m,) of each row (n, d) and (m, d) to its HUBNESS_K nearest of the other.

    These are the nearest that an approximate search finds, if an `approximation` is given.
    """
    if approximation is None:
        with progress.stage(f"hubs of {' and '.join(languages)}", len(rows[0]), "words") as tick:
            return BidirectionalSearch(*rows).hubness(HUBNESS_K, step=tick)
    found = []
    for own, other in ((0, 1), (1, 0)):
        with progress.stage(f"hubs of {languages[own]}", len(rows[own]), "words") as tick:
            found.append(approximation.nearest(rows[own], rows[other], HUBNESS_K, tick).scores.mean(dim=1))
    return found[0], found[1]


def hubness_file(languages: tuple[str, str], *, approximate: bool) -> str:
    """The path in a space of the hubness of the first language against the second."""
    return derived_name(f"hubness.{{}}{'.approximate' if approximate else ''}.npy", *languages)


def read_hubness(
    derived: DerivedFiles, languages: tuple[str, str], count: int, *, approximate: bool = False
) -> Matrix | None:
    """The hubness (n,) of the `count` words of the first language against the second, from a space's file.

    None if there is none, a damaged one, or one with a value that is no mean cosine.
    """

    def made(content: bytes) -> Matrix:
        found = array_in(np.frombuffer(bytearray(content), np.uint8))  # writable, as torch wants its arrays
        if found.dtype != np.float32 or found.shape != (count,) or not (np.abs(found) <= HIGHEST).all():
            raise ValueError(f"impossible values, or {found.dtype} of shape {found.shape}")
        return found

    return derived.read(hubness_file(languages, approximate=approximate), made)


def write_hubness(
    folder: Path, languages: tuple[str, str], found: tuple[Tensor, Tensor], *, approximate: bool = False
) -> None:
    """Write the hubness of both languages to the folder of a space."""
    for way, one in zip((languages, languages[::-1]), found, strict=True):
        path = folder / hubness_file(way, approximate=approximate)
        write_array(path, tuple(one.shape), [one.cpu().numpy()])
