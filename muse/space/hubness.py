"""Hubness of a space: the bias of every word under CSLS, computed once and kept in the space's folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from torch import Tensor

from muse.files.kept import Origin, keep_rows, read_rows
from muse.files.space_folder import folder_name, hubness_name
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
    languages: tuple[str, str], rows: tuple[Tensor, Tensor], progress: Progress
) -> tuple[Tensor, Tensor]:
    """The mean cosine (n,) and (m,) of each row (n, d) and (m, d) to its HUBNESS_K nearest of the other."""
    with progress.stage(f"hubs of {' and '.join(languages)}", len(rows[0]), "words") as tick:
        return BidirectionalSearch(*rows).hubness(HUBNESS_K, step=tick)


def approximate_hubness_of_both(
    languages: tuple[str, str], rows: tuple[Tensor, Tensor], progress: Progress, approximation: Approximation
) -> tuple[Tensor, Tensor]:
    """The hubness (n,) and (m,) of both, over the nearest rows that an approximate search finds."""
    found = []
    for own, other in ((0, 1), (1, 0)):
        with progress.stage(f"hubs of {languages[own]}", len(rows[own]), "words") as tick:
            nearest = approximation.nearest(rows[own], rows[other], HUBNESS_K, tick)
        found.append(nearest.scores.mean(dim=1))
    return found[0], found[1]


def read_kept(
    folder: Path, languages: tuple[str, str], count: int, origin: Origin, *, approximate: bool = False
) -> Matrix | None:
    """The hubness (n,) kept of the `count` words of the first language against the second.

    None if there is none, a broken or changed one, one of other vectors, or one with a value that is no mean
    cosine.
    """
    name = hubness_name(languages[1], origin.digits, approximate=approximate)

    def fits(found: Matrix) -> bool:
        return found.shape == (count,) and bool((np.abs(found) <= HIGHEST).all())

    return read_rows(folder / folder_name(languages[0]) / name, origin, fits)


def keep(
    folder: Path,
    languages: tuple[str, str],
    found: tuple[Tensor, Tensor],
    origin: Origin,
    *,
    approximate: bool = False,
) -> None:
    """Write the hubness of both languages to the folder of their space, if it is writable."""
    for own, other, r in zip(languages, reversed(languages), found, strict=True):
        path = folder / folder_name(own) / hubness_name(other, origin.digits, approximate=approximate)
        keep_rows(path, r.cpu().numpy(), origin)
