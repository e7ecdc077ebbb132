"""Loading: the aligned space that is saved in a folder, even while another process replaces it.

The folder holds `manifest.json` and, for each language, a folder with its words, its arrays, whose shapes are
`LanguageRecord.shapes`, the texts of rows if they are known, and what was derived (`muse.space.derived`).
Nothing in it is a pickle.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from muse.alignment import HiddenLayer, StoreMap
from muse.errors import BadFile
from muse.files import space_folder as disk
from muse.files.atomic import read_whole
from muse.files.source import regular_bytes
from muse.files.space_manifest import Manifest, read_manifest
from muse.normalise import Normalisation, check_steps
from muse.progress import Progress
from muse.search.approximate import Approximation
from muse.space.aligned import Side, Space
from muse.space.derived import AnswersBy
from muse.space.saving import CHUNK
from muse.vectors import Matrix, Vectors

log = logging.getLogger(__name__)
ROUNDING = 1e-3  # of the square of a length


def load_space(
    folder: Path | str,
    *,
    device: str = "cpu",
    check: bool = True,
    progress: Progress | None = None,
    approximation: Approximation | None = None,
    answers: AnswersBy = "all",
    into_memory: bool = False,
) -> Space:
    """The space saved in `folder`, its vectors memory-mapped or read `into_memory`; BadFile if it is broken.

    `check` reads every file once, to compare its checksum with the manifest; the space gets `progress` and
    `approximation`. Without one, it searches very large vocabularies approximately, and logs the recall. With
    the `answers` "csls" translations are ranked by CSLS alone.
    While the folder is replaced, as `muse align` does it, the space is either the old one or the new one. Do
    not overwrite files in place under a mapped space, as `cp` and `rsync --inplace` do: its numbers change,
    and reading a file that was cut short ends Python. One that is read `into_memory` needs its files no more.
    """
    folder = Path(folder)
    sides, manifest, contents = read_whole(folder, lambda place: _load_sides(place, check, into_memory))
    return Space(
        sides, manifest.pivot, manifest, device, progress or Progress(quiet=True), folder, contents,
        approximation or _usual_approximation(), answers,
    )  # fmt: skip


def space_of_saved(folder: Path, manifest: Manifest) -> Space:
    """The space that was just saved in `folder`, as `load_space` would have it, without its checks."""
    sides = {language: _load_side(folder, manifest, language) for language in manifest.languages}
    return Space(sides, manifest.pivot, manifest, folder=folder, approximation=_usual_approximation())


def _usual_approximation() -> Approximation:
    return Approximation("auto", report=partial(log.info, "%s"))  # which can be pickled, as a space is


def _load_sides(
    folder: Path, check: bool, into_memory: bool
) -> tuple[dict[str, Side], Manifest, dict[str, bytes]]:
    # The languages, the manifest, and the contents of derived files in memory, as far as they can be read.
    manifest, contents = read_manifest(folder), {}
    sides = {
        language: _load_side(folder, manifest, language, check=check, into_memory=into_memory)
        for language in manifest.languages
    }
    for name in manifest.derived_names if into_memory else ():
        with suppress(OSError):
            contents[name] = regular_bytes(folder / name)
    return sides, manifest, contents


def _finite(array: Matrix) -> bool:
    return bool(np.isfinite(array).all())


def _unit_or_zero(rows: Matrix) -> bool:
    """Whether each row (n, d) has the length 1, but for rounding, or 0: CSLS is of cosines."""
    squares = np.einsum("ij,ij->i", rows, rows)
    return bool(((abs(squares - 1) < ROUNDING) | (squares == 0)).all())  # which nan is not


def _load_side(
    folder: Path, manifest: Manifest, language: str, *, check: bool = False, into_memory: bool = False
) -> Side:
    entry, home = manifest.languages[language], folder / disk.folder_name(language)
    check_steps(entry.normalisation)

    def read(name: str) -> Any:
        """The bytes of a file, which must have its checksum; None of one that is mapped."""
        path = home / name
        mapped = name in (disk.VECTORS, disk.TEXTS) and not into_memory
        content = None if mapped else disk.read_content(path)
        if check:
            expected = manifest.checksums.get(f"{home.name}/{name}")
            disk.check_sum(path, expected, path if content is None else content)
        return content

    words = disk.read_words(home / disk.WORDS, entry.words, read(disk.WORDS))
    texts = disk.Texts(home / disk.TEXTS, entry.words, read(disk.TEXTS)) if entry.texts else None
    arrays = {
        name: disk.read_array(home / name, shape, read(name))
        for name, shape in entry.shapes(manifest.dimension).items()
    }
    for name, array in arrays.items() if check else ():  # else all that is computed of it would be nonsense
        holds, more = (_unit_or_zero, " in rows of length 1 or 0") if name == disk.VECTORS else (_finite, "")
        if not all(holds(array[begin : begin + CHUNK]) for begin in range(0, len(array), CHUNK)):
            raise BadFile(f"{home / name}: expected finite numbers{more}, got others; {disk.AGAIN}")
    vectors = Vectors(language, words, arrays[disk.VECTORS], frequency_ordered=entry.ranked, texts=texts)
    store, d = None, arrays[disk.MAPPING].shape[1]
    if disk.STORE_MAP in arrays:
        store = StoreMap(arrays[disk.STORE_MAP])
        if (whole := arrays.get(disk.HIDDEN)) is not None:
            store = replace(store, hidden=HiddenLayer(whole[:, :d], whole[:, d], whole[:, d + 1 :].T))
    return Side(
        vectors, arrays[disk.MAPPING], Normalisation(entry.normalisation, tuple(arrays[disk.MEANS])), store
    )
