"""Saving a space: from the rows and mappings of each language to a folder on disk, atomically.

Languages may be added to a saved space: they are mapped to its pivot, and no file of the others changes.
"""

import filecmp
import logging
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from muse.alignment import Alignment, StoreMap
from muse.errors import BadFile, BadSetting, Mismatch, NotConverged
from muse.files import space_folder as disk
from muse.files.atomic import atomic_folder, refuse_irreplaceable, writing
from muse.files.source import is_stream, refuse_stream
from muse.files.space_manifest import (
    LanguageRecord,
    Manifest,
    VerdictRecord,
    input_file,
    is_space,
    plain,
    read_manifest,
)
from muse.files.vectors.table import one_line
from muse.normalise import Normalisation, normalise
from muse.orthography import casefolded
from muse.vectors import Matrix, Vectors

log = logging.getLogger(__name__)

CHUNK = 16_384  # rows mapped at once: 20 MB at d = 300
ORTHOGONAL = 1e-3  # the largest defect of a mapping that still counts as a rotation
# Writes what is derived of the space in a folder that has this manifest, into the same folder; returns the
# manifest with what only that tells.
Derive = Callable[[Path, Manifest], Manifest]


@dataclass(frozen=True, eq=False)
class SideToSave:
    """One language to be saved: its *normalised* rows (n, d), and the mapping (k, d), None for the identity.

    `files` are the files its words came from: their checksums go into the manifest. `more` are
    additional entries for the language in the manifest. `store_map` is for queries into the pivot.
    """

    vectors: Vectors
    normalisation: Normalisation
    mapping: Matrix | None = None
    files: tuple[Path | str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)
    store_map: StoreMap | None = None

    def map_or_identity(self) -> Matrix:
        """The mapping (k, d)."""
        return np.eye(self.vectors.dimension, dtype=np.float32) if self.mapping is None else self.mapping

    def mapped_rows(self) -> Iterator[Matrix]:
        """The rows (b, k) in the shared space, chunk by chunk; NotConverged if one is not finite."""
        for begin in range(0, len(self.vectors), CHUNK):
            rows = mapped(self.vectors.matrix[begin : begin + CHUNK], self.mapping)
            if not np.isfinite(rows).all():
                raise NotConverged(
                    f"{self.vectors.language}: mapped vectors must be finite, got nan or inf; use another "
                    "--seed or --init"
                )
            yield rows


@dataclass(frozen=True)
class Provenance:
    """How a space was made, for its manifest; `inputs` are further files, such as a dictionary.

    Settings and verdict may be dataclasses. `more` are additional entries for the manifest.
    """

    method: str = ""
    settings: Any = None
    seed: int | None = None
    criterion: float | None = None
    verdict: Any = None
    inputs: tuple[Path | str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)


def check_out(folder: Path | str) -> None:
    """Raise BadSetting if `folder` is no space and not empty, or the folder above it is not writable.

    Raise BadFile if it cannot be looked at, or is of another account.
    """
    folder = Path(folder)
    with writing(folder):
        empty = folder.is_dir() and not any(folder.iterdir())
        if folder.exists() and not is_space(folder) and not empty:
            raise BadSetting(f"{folder} exists and is not an aligned space; choose another --out")
        above = next(parent for parent in folder.resolve().parents if parent.exists())
        if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
            raise BadSetting(f"{folder} needs a writable folder, but {above} is not; choose another --out")
    refuse_irreplaceable(folder)


def check_language(language: str, words: Sequence[str] = ()) -> None:
    """Raise BadSetting for a name that is invalid for a folder, Mismatch for a word that fits no line."""
    disk.folder_name(language)
    disk.check_words(language, words)


def save_space(
    folder: Path | str,
    sides: Mapping[str, SideToSave],
    *,
    pivot: str,
    provenance: Provenance,
    derive: Derive = lambda _, manifest: manifest,
) -> Manifest:
    """The manifest of the space of `sides`, which is written atomically, replacing an earlier space.

    `derive` writes what is derived of it into the same folder, before that has its name.
    """
    folder = Path(folder).resolve()
    check_out(folder)
    if pivot not in sides:
        raise BadSetting(f"the pivot must be one of {', '.join(sides)}; got {pivot!r}")
    check_apart(sides)
    k = len(sides[pivot].map_or_identity())
    with writing(folder), atomic_folder(folder) as partial:
        manifest = Manifest.of(
            pivot=pivot,
            dimension=k,
            mapping="orthogonal" if all(map(_is_rotation, sides.values())) else "linear",
            languages={
                language: _save_side(partial, language, side, k, "pivot" if language == pivot else "source")
                for language, side in sides.items()
            },
            method=provenance.method, settings=provenance.settings, seed=provenance.seed,
            criterion=provenance.criterion, verdict=provenance.verdict, **provenance.more,
            inputs=[input_file(path) for path in provenance.inputs],
        )  # fmt: skip
        for language in sides:
            _keep_examples(partial, folder, language)
        return derive(partial, manifest).write(partial)


def _keep_examples(to: Path, replaced: Path, language: str) -> None:
    """Copy the index of sentences of a space that is replaced, if its words are the same; warn if not."""
    old, new = (one / disk.folder_name(language) for one in (replaced, to))
    if (old / disk.EXAMPLES).is_file() and filecmp.cmp(old / disk.WORDS, new / disk.WORDS, shallow=False):
        shutil.copyfile(old / disk.EXAMPLES, new / disk.EXAMPLES)
    elif (old / disk.EXAMPLES).is_file():
        log.warning(
            "%s: the index of sentences of %s is removed, as the words are others; run muse index-text again",
            replaced, language,
        )  # fmt: skip


def check_apart(languages: Iterable[str]) -> None:
    """Raise BadSetting for names that differ in case or composition alone: some disks take them for one."""
    seen: dict[str, str] = {}
    for language in languages:
        other = seen.setdefault(casefolded(language), language)
        if other != language:
            raise BadSetting(
                f"languages need names that differ by more than case, got {other!r} and {language!r}, which "
                "are one folder on some disks; choose another name"
            )


def _save_side(space: Path, language: str, side: SideToSave, k: int, role: str) -> LanguageRecord:
    """The record of a language of a space of dimension k, whose words, texts and arrays are written to it."""
    check_language(language, side.vectors.words)
    if not len(side.vectors):
        raise Mismatch(f"{language}: a space needs at least one word of each language, got none")
    d, found = side.vectors.dimension, side.map_or_identity().shape
    if found != (k, d):
        raise Mismatch(
            f"{language}: expected a mapping of shape {(k, d)}, from its dimension to that of the space, got "
            f"one of shape {found}"
        )
    arrays: dict[str, Iterable[Matrix]] = {
        disk.VECTORS: side.mapped_rows(), disk.MAPPING: [side.map_or_identity()],
        disk.MEANS: side.normalisation.means,
    }  # fmt: skip
    units = 0
    if side.store_map is not None:
        arrays[disk.STORE_MAP] = [side.store_map.weight]
        if (hidden := side.store_map.hidden) is not None:
            units = len(hidden.bias)
            arrays[disk.HIDDEN] = [
                np.concatenate([hidden.inner, hidden.bias[:, None], hidden.outer.T], axis=1)
            ]
    record = LanguageRecord.of(
        **side.more, role=role, words=len(side.vectors), normalisation=side.normalisation.steps,
        files=[input_file(path) for path in side.files], dimension=None if k == d else d,
        ranked=side.vectors.frequency_ordered, texts=side.vectors.texts is not None,
        store_map=side.store_map is not None, hidden_units=units,
    )  # fmt: skip
    folder = space / disk.folder_name(language)
    folder.mkdir()
    disk.write_lines(folder / disk.WORDS, side.vectors.words)
    if side.vectors.texts is not None:
        disk.write_lines(folder / disk.TEXTS, map(one_line, side.vectors.texts))
    for name, shape in record.shapes(k).items():
        disk.write_array(folder / name, shape, arrays[name])
    return record


def _is_rotation(side: SideToSave) -> bool:
    return Alignment(side.map_or_identity()).orthogonality_defect < ORTHOGONAL


def mapped(rows: Matrix, mapping: Matrix | None) -> Matrix:
    """Normalised rows (n, d) in the shared space, (n, k), of unit length."""
    # Normalised again: a mapping that is no rotation stretches rows.
    return normalise(rows if mapping is None else rows @ mapping.T, ["unit"])[0]


def check_addition(folder: Path | str, languages: Sequence[str], pivot: str | None = None) -> str:
    """The pivot of the space in `folder`; BadSetting if `languages` cannot be added to it.

    `pivot` is the expected pivot, if one was given.
    """
    manifest = read_manifest(Path(folder))
    if pivot is not None and pivot != manifest.pivot:
        raise BadSetting(
            f"{folder} has the pivot {manifest.pivot}, got --tgt {pivot}; omit --tgt, or add to a space "
            f"with the pivot {pivot}"
        )
    check_apart(dict.fromkeys((*manifest.languages, *languages)))
    for language in languages:
        if language in manifest.languages:
            raise BadSetting(
                f"{folder} has {', '.join(manifest.languages)}; a language to add needs another name, "
                f"got {language!r}"
            )
    return manifest.pivot


def add_to_space(
    folder: Path | str,
    space: Path | str,
    sides: Mapping[str, SideToSave],
    *,
    provenance: Provenance,
    derive: Derive = lambda _, manifest: manifest,
) -> Manifest:
    """The manifest of the saved `space` with the languages of `sides`, written to `folder` atomically.

    `folder` may be the folder of the space, which is then replaced. All files of the existing languages are
    copied. Criterion and verdict of `provenance` replace the space's own if its confidence is lower. `derive`
    is as in `save_space`.
    """
    folder, space = Path(folder).resolve(), Path(space).resolve()
    check_out(folder)
    manifest = read_manifest(space)
    check_addition(space, tuple(sides))
    with writing(folder), atomic_folder(folder) as partial:
        _copy_files(space, partial, manifest)
        added = {
            language: _save_side(partial, language, side, manifest.dimension, "source")
            for language, side in sides.items()
        }
        rotations = manifest.mapping == "orthogonal" and all(map(_is_rotation, sides.values()))
        grown = replace(
            manifest, mapping="orthogonal" if rotations else "linear",
            languages={**manifest.languages, **added},
        )  # fmt: skip
        verdict = VerdictRecord(plain(provenance.verdict) or {})
        known, found = (1.0 if one.confidence is None else one.confidence for one in (grown.verdict, verdict))
        if found < known:
            grown = replace(grown, verdict=verdict, criterion=plain(provenance.criterion))
        return derive(partial, grown).write(partial)


def save_with_units(
    folder: Path | str, space: Path | str, sides: Mapping[str, tuple[Vectors, Vectors]], *, derive: Derive
) -> Manifest:
    """The manifest of the saved `space`, some of whose languages get words, and units of text behind them.

    Their rows are in the shared space. It is written to `folder` atomically, which may be that of the space;
    `derive` is as in `save_space`.
    """
    folder, space = Path(folder).resolve(), Path(space).resolve()
    check_out(folder)
    manifest = read_manifest(space)
    with writing(folder), atomic_folder(folder) as partial:
        _copy_files(space, partial, manifest)
        records = dict(manifest.languages)
        for language, (words, units) in sides.items():
            check_language(language, units.words)
            home, count = partial / disk.folder_name(language), len(words) + len(units)
            records[language] = replace(records[language], words=count, units=len(units))
            disk.write_lines(home / disk.WORDS, [*words.words, *units.words])
            shape = count, manifest.dimension
            disk.write_array(home / disk.VECTORS, shape, [words.matrix, units.matrix])
        return derive(partial, replace(manifest, languages=records)).write(partial)


def copy_space(folder: Path | str, space: Path | str) -> None:
    """Copy the saved `space` to `folder`, atomically, replacing an earlier space there.

    BadFile if a file of the space is damaged, or replaced meanwhile.
    """
    folder, space = Path(folder).resolve(), Path(space).resolve()
    if folder == space:
        return
    check_out(folder)
    refuse_stream(space / disk.MANIFEST, "of a space")
    with writing(folder), atomic_folder(folder) as partial:
        shutil.copyfile(space / disk.MANIFEST, partial / disk.MANIFEST)
        _copy_files(space, partial, read_manifest(partial))


def _copy_files(space: Path, to: Path, manifest: Manifest) -> None:
    """Copy the files of a space, without their modes, which not every file system has; BadFile for damage.

    What was derived of it and is damaged is left out.
    """
    for language, entry in manifest.languages.items():
        (to / disk.folder_name(language)).mkdir()
        for name in entry.file_names:
            refuse_stream(space / name, "of a space")
            try:
                shutil.copyfile(space / name, to / name)
            except FileNotFoundError as error:
                raise disk.unreadable(space / name, error) from error
            disk.check_sum(space / name, manifest.checksums.get(name), to / name)
        with suppress(FileNotFoundError):
            name = f"{disk.folder_name(language)}/{disk.EXAMPLES}"
            shutil.copyfile(space / name, to / name)
    for name in manifest.derived_names:
        if is_stream(space / name):
            continue
        with suppress(FileNotFoundError):
            shutil.copyfile(space / name, to / name)
            if disk.checksum(to / name) != manifest.checksums[name]:
                (to / name).unlink()


def check_not_an_input(manifest: Manifest, paths: Iterable[Path], *, written: str = "--out") -> None:
    """Raise BadSetting if a file or folder at one of the paths is an input of the space with this manifest.

    It is known by its checksum, wherever it was read from and whatever its name is; what was made of the
    space before has another one, unless it is the same to the byte. `written` is the option that names it.
    """
    known = manifest.all_inputs()
    for path in paths if known else ():
        if not path.exists() or is_stream(path):
            continue
        try:
            found = known.get(disk.checksum(path))
        except OSError as error:
            raise BadFile(
                f"{path}: expected a file that can be read before it is replaced, got {error.strerror}; "
                f"choose another {written}"
            ) from error
        if found is not None:
            raise BadSetting(
                f"{path}: {written} would replace {found}, which this space was made of; choose another "
                f"{written}"
            )
