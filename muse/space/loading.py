"""Loading a space: from its folder, while others may be writing it, to an AlignedSpace."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from muse.errors import BadFile
from muse.files.atomic import read_whole
from muse.files.row_texts import KeptTexts
from muse.files.space_folder import (
    AGAIN,
    MAPPING,
    MEANS,
    TEXTS,
    VECTORS,
    WORDS,
    folder_name,
    read_array,
    read_words,
)
from muse.files.space_manifest import mark_of, read_manifest, verify
from muse.normalise import Normalisation, check_steps
from muse.progress import Progress
from muse.search.approximate import Approximation, Recall
from muse.space.aligned import AlignedSpace, Side
from muse.space.saving import CHUNK
from muse.vectors import Vectors

log = logging.getLogger(__name__)


def load_space(
    folder: Path | str,
    *,
    device: str = "cpu",
    check: bool = True,
    progress: Progress | None = None,
    approximation: Approximation | None = None,
) -> AlignedSpace:
    """The space saved in `folder`, its arrays memory-mapped; BadFile if it is broken.

    `check` reads every file once, to compare its checksum with the manifest; the space gets `progress` and
    `approximation`. Without one, it searches very large vocabularies approximately, and logs the recall.
    While the folder is replaced, the space is either the old one or the new one.
    """
    folder = Path(folder)
    sides, manifest, mark = read_whole(folder, lambda: _load_sides(folder, check))
    return AlignedSpace(
        sides, manifest["pivot"], manifest, device, progress or Progress(quiet=True), folder, mark,
        approximation or Approximation("auto", report=_log_recall),
    )  # fmt: skip


def _load_sides(folder: Path, check: bool) -> tuple[dict[str, Side], dict[str, Any], tuple[int, ...] | None]:
    # The languages, the manifest and its mark.
    manifest = read_manifest(folder)
    if check:
        verify(folder, manifest)
    sides = {language: _load_side(folder, language, manifest) for language in manifest["languages"]}
    if check:
        for language, side in sides.items():
            _check_numbers(folder / folder_name(language), side)
    return sides, manifest, mark_of(folder)


def _log_recall(recall: Recall) -> None:
    log.info("%s", recall)


def _check_numbers(home: Path, side: Side) -> None:
    """Raise BadFile if a number of a language is not finite: all that is computed of it would be nan."""
    arrays = {VECTORS: side.vectors.matrix, MAPPING: side.mapping, MEANS: np.array(side.normalisation.means)}
    for name, array in arrays.items():
        if not all(np.isfinite(array[begin : begin + CHUNK]).all() for begin in range(0, len(array), CHUNK)):
            raise BadFile(f"{home / name}: expected finite numbers, got nan or inf; {AGAIN}")


def _load_side(folder: Path, language: str, manifest: Mapping[str, Any]) -> Side:
    entry, k = manifest["languages"][language], manifest["dimension"]
    d = entry.get("dimension", k)  # of the language's own vectors
    n, steps = entry["words"], tuple(entry["normalisation"])
    check_steps(steps)
    home = folder / folder_name(language)
    words, rows = read_words(home / WORDS, n), read_array(home / VECTORS, (n, k))
    texts = KeptTexts(home / TEXTS, n) if entry.get("texts") else None
    vectors = Vectors(language, words, rows, ranked=entry.get("ranked") is not False, texts=texts)
    means = read_array(home / MEANS, (steps.count("centre"), d))
    return Side(vectors, read_array(home / MAPPING, (k, d)), Normalisation(steps, tuple(means)))
