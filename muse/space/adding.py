"""Adding languages to a saved space: they are mapped to its pivot, the others do not change by a byte."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from muse.errors import BadSetting
from muse.files.atomic import atomic_folder
from muse.files.space_folder import VECTORS, folder_name, read_array, writing
from muse.files.space_manifest import plain, read_manifest, verify, write_manifest
from muse.progress import Progress
from muse.space.saving import (
    Provenance,
    Searcher,
    SideToSave,
    check_out,
    check_side,
    is_rotation,
    language_entry,
    save_side,
)

# Entries that write_manifest writes itself, so they are not copied.
WRITTEN_ANEW = ("format", "format_version", "muse_version", "created_with", "checksums")


def check_addition(folder: Path | str, languages: Sequence[str], pivot: str | None = None) -> str:
    """The pivot of the space in `folder`; BadSetting if `languages` cannot be added to it.

    `pivot` is the expected pivot, if one was given.
    """
    manifest = read_manifest(Path(folder))
    if pivot is not None and pivot != manifest["pivot"]:
        raise BadSetting(
            f"{folder} has the pivot {manifest['pivot']}, got --tgt {pivot}; omit --tgt, or add to a space "
            f"with the pivot {pivot}"
        )
    for language in languages:
        if language in manifest["languages"]:
            raise BadSetting(
                f"{folder} has {', '.join(manifest['languages'])}; a language to add needs another name, "
                f"got {language!r}"
            )
    return str(manifest["pivot"])


def add_to_space(
    folder: Path | str,
    space: Path | str,
    sides: Mapping[str, SideToSave],
    *,
    provenance: Provenance,
    hubness: bool = True,
    device: str = "cpu",
    progress: Progress | None = None,
) -> None:
    """Write the saved `space` and the languages of `sides` to `folder`, atomically.

    `folder` may be that of the space, which is then replaced. All files of the existing languages are
    copied; the pivot gets files of its hubness against the new languages. Criterion and verdict of the
    space become those of `provenance` if its confidence is lower.
    """
    folder, space = Path(folder).resolve(), Path(space).resolve()
    check_out(folder)
    manifest = read_manifest(space)
    pivot = check_addition(space, tuple(sides))
    verify(space, manifest)
    for language, side in sides.items():
        check_side(language, side, manifest["dimension"], pivot)
    with writing(folder):
        with atomic_folder(folder) as partial:
            for language in manifest["languages"]:
                shutil.copytree(space / folder_name(language), partial / folder_name(language))
            for language, side in sides.items():
                save_side(partial / folder_name(language), side)
            if hubness:
                searcher = Searcher(device, progress or Progress(quiet=True))
                _save_hubness(partial, manifest, sides, searcher)
            write_manifest(partial, _grown(manifest, sides, provenance, hubness=hubness))


def _save_hubness(
    folder: Path, manifest: Mapping[str, Any], sides: Mapping[str, SideToSave], searcher: Searcher
) -> None:
    """Write the hubness between the pivot and each new language, in both directions."""
    pivot, d = manifest["pivot"], manifest["dimension"]

    def path(language: str) -> Path:
        return folder / folder_name(language) / VECTORS

    target = read_array(path(pivot), (manifest["languages"][pivot]["words"], d))  # (m, d)
    for language, side in sides.items():
        rows = read_array(path(language), (len(side.vectors), d))  # (n, d)
        searcher.save_hubness(folder, (language, pivot), (rows, target))


def _grown(
    manifest: Mapping[str, Any], sides: Mapping[str, SideToSave], provenance: Provenance, *, hubness: bool
) -> dict[str, Any]:
    """The manifest of the space with the languages of `sides` added."""
    pivot = manifest["pivot"]
    languages = {language: dict(entry) for language, entry in manifest["languages"].items()}
    for language, side in sides.items():
        languages[language] = language_entry(side, "source", (pivot,) if hubness else ())
        if hubness:
            languages[pivot]["hubness"] = [*languages[pivot]["hubness"], language]
    rotations = manifest.get("mapping") == "orthogonal" and all(map(is_rotation, sides.values()))
    grown = {key: value for key, value in manifest.items() if key not in WRITTEN_ANEW}
    if _confidence(plain(provenance.verdict)) < _confidence(manifest.get("verdict")):
        grown |= {"verdict": provenance.verdict, "criterion": provenance.criterion}
    return {**grown, "mapping": "orthogonal" if rotations else "linear", "languages": languages}


def _confidence(verdict: Any) -> float:
    return float(verdict.get("confidence", 1)) if isinstance(verdict, dict) else 1.0
