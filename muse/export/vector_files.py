"""Vector files: each language of a space as .vec text, word2vec binary, .npz or Parquet, or all as a space.

The folder of a new space serves muse evaluate and all other commands.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from muse.errors import BadSetting, Mismatch, counted
from muse.files import write_npz, write_vectors_text, write_word2vec
from muse.files.atomic import atomic_files, writing
from muse.files.parquet import require_pyarrow
from muse.files.space_folder import folder_name
from muse.files.space_manifest import Manifest
from muse.files.vectors.parquet import write_parquet
from muse.files.writing import check_binary_name, check_folder, check_place, check_text_name
from muse.normalise import normalise
from muse.progress import Progress
from muse.ranking.derived import write_derived
from muse.space import Provenance, SideToSave, Space, save_space, space_of_saved
from muse.space.lookup_table import words_of
from muse.space.saving import check_not_an_input
from muse.vectors import Vectors

log = logging.getLogger(__name__)


def export_space(space: Space, out: Path, *, max_vocab: int | None = None) -> dict[str, int]:
    """The numbers of words by language, after the mapped rows (n, d) are written atomically as a space."""
    sides = {}
    for language in space.languages:
        vectors = space.vectors(language).most_frequent(max_vocab)
        rows, fitted = normalise(vectors.matrix, ["unit"])
        sides[language] = SideToSave(replace(vectors, matrix=rows), fitted)

    def derive(folder: Path, manifest: Manifest) -> Manifest:
        write_derived(space_of_saved(folder, manifest), folder)
        return manifest

    provenance = Provenance(space.manifest.method)
    save_space(out, sides, pivot=space.pivot, provenance=provenance, derive=derive)
    return {language: len(side.vectors) for language, side in sides.items()}


class Form(NamedTuple):
    """A format: the suffix of its files in a folder, its writer, and whether files may be compressed."""

    suffix: str
    write: Callable[..., None]
    packs: bool = False


FORMS = {
    "text": Form(".vec", write_vectors_text, packs=True),
    "word2vec": Form(".bin", write_word2vec, packs=True),
    "npz": Form(".npz", write_npz),
    "parquet": Form(".parquet", write_parquet),
}


@dataclass(frozen=True)
class WrittenFile:
    """A written file or folder: its path, its language, the numbers of words written and left out."""

    path: Path
    language: str
    words: int
    left_out: int

    def as_json(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return {**vars(self), "path": str(self.path)}


def export_vectors(
    space: Space,
    out: Path,
    *,
    form: str,
    language: str | None = None,
    max_vocab: int | None = None,
    shared: bool = False,
    progress: Progress | None = None,
) -> list[WrittenFile]:
    """The files written with the words and rows (n, d) of the space.

    `out` is the file of one language, `language` or the only one besides the pivot. If it is a folder, or
    its name has no suffix, it becomes a folder with a file for every language, or for `language`. A `shared`
    file has the words of all languages (`shared_vectors`). Words that the format cannot represent (with a
    space, say) are left out and counted.
    """
    if form not in FORMS:
        raise BadSetting(f"a format of vectors must be one of {', '.join(FORMS)}; got {form!r}")
    if out.suffix == ".gz" and not FORMS[form].packs:
        raise BadSetting(f"{out}: {form} cannot be compressed further; choose a name without .gz")
    if form == "parquet":
        require_pyarrow(out)  # before a folder is created
    written = []
    places = _places(space, out, form, "-".join(space.languages) if shared else language)
    check_not_an_input(space.manifest, places.values())
    with writing(out), nullcontext() if out in places.values() else atomic_files(out) as folder:
        for name, path in places.items():
            sides = [space.vectors(one) for one in (space.languages if shared else (name,))]
            some = [side.most_frequent(max_vocab) for side in sides]
            vectors = shared_vectors(some) if shared else some[0]
            held = _storable(vectors, form, path)
            with (progress or Progress(quiet=True)).stage(path.name, len(held), "words") as tick:
                # Binary formats are twenty times faster than text: no progress is needed.
                shown = {"step": tick} if form == "text" else {}
                FORMS[form].write(folder / path.name if folder else path, held.words, held.matrix, **shown)
            written.append(WrittenFile(path, name, len(held), len(vectors) - len(held)))
    return written


def shared_vectors(sides: Sequence[Vectors]) -> Vectors:
    """The words of several languages as those of one, interleaved by frequency.

    A word of several languages has the mean of its rows, at unit length, as in a shared lookup table.

    >>> rows = np.eye(2, dtype=np.float32)
    >>> found = shared_vectors([Vectors("fr", ["a", "on"], rows), Vectors("en", ["on"], rows[:1])])
    >>> list(found.words), found.matrix[:, 1].round(3)
    (['a', 'on'], array([0.   , 0.707], dtype=float32))
    """
    words = words_of(sides, None)
    places = {word: place for place, word in enumerate(words)}  # each as it is written
    rows, several = np.zeros((len(words), sides[0].dimension), np.float32), np.zeros(len(words), np.int64)
    for side in sides:
        of = [places[word] for word in side.words]
        rows[of] += side.matrix
        several[of] += 1
    rows[several > 1] = normalise(rows[several > 1], ["unit"])[0]
    return Vectors("-".join(side.language for side in sides), words, rows)


def _places(space: Space, out: Path, form: str, language: str | None) -> dict[str, Path]:
    if out.suffix and not out.is_dir():
        if form == "text":
            check_text_name(out, "vectors", ".vec or .vec.gz")
        else:
            check_binary_name(out, "vectors of this format", FORMS[form].suffix)
        check_place(out)
        others = [name for name in space.languages if name != space.pivot]
        if language is None and len(others) != 1:
            raise BadSetting(
                f"one file has one language, got {', '.join(space.languages)}; choose one with --lang, or "
                "give a folder as --out"
            )
        return {language or others[0]: out}
    check_folder(out)
    names = space.languages if language is None else [language]
    return {name: out / f"{folder_name(name)}{FORMS[form].suffix}" for name in names}


def _storable(vectors: Vectors, form: str, path: Path) -> Vectors:
    # Words that readers restore unchanged: they split text at spaces, some end a line at a return too, and
    # numpy strips trailing zeros.
    signs = " \t\n\r" if form in ("text", "word2vec") else ""
    kept = [
        row for row, word in enumerate(vectors.words)
        if word and word == word.strip(" \t\n\r") and not any(sign in word for sign in signs)
        and not (form == "npz" and word.endswith("\0"))
    ]  # fmt: skip
    if len(kept) == len(vectors):
        return vectors  # no copy: it stays memory-mapped
    if not kept:
        raise Mismatch(
            f"{path}: expected words of {vectors.language} that {form} can represent, got none; choose "
            "another --format"
        )
    lost = next(row for row in range(len(vectors)) if row >= len(kept) or kept[row] != row)
    log.warning(
        "%s: left out %s that %s cannot represent, the first is %r",
        path, counted(len(vectors) - len(kept), "word"), form, vectors.words[lost],
    )  # fmt: skip
    return vectors.chosen(np.array(kept))
