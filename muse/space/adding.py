"""Adding languages to a saved space: they are mapped to its pivot, the others do not change by a byte."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from muse.errors import BadSetting
from muse.files.atomic import atomic_folder
from muse.files.folders import writing
from muse.files.space_folder import folder_name
from muse.files.space_manifest import is_figure, plain, read_manifest, verify, write_manifest
from muse.space.saving import (
    Provenance,
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
) -> None:
    """Write the saved `space` and the languages of `sides` to `folder`, atomically.

    `folder` may be that of the space, which is then replaced. All files of the existing languages are
    copied. Criterion and verdict of the space become those of `provenance` if its confidence is lower.
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
                # Another process may be keeping its hubness there.
                others = shutil.ignore_patterns(".*.partial")
                name = folder_name(language)
                shutil.copytree(space / name, partial / name, ignore=others)
            verify(partial, manifest)  # what was copied: the space may have been replaced in the meantime
            for language, side in sides.items():
                save_side(partial / folder_name(language), side)
            write_manifest(partial, _grown(manifest, sides, provenance))


def _grown(
    manifest: Mapping[str, Any], sides: Mapping[str, SideToSave], provenance: Provenance
) -> dict[str, Any]:
    """The manifest of the space with the languages of `sides` added."""
    added = {language: language_entry(side, "source") for language, side in sides.items()}
    rotations = manifest.get("mapping") == "orthogonal" and all(map(is_rotation, sides.values()))
    grown = {key: value for key, value in manifest.items() if key not in WRITTEN_ANEW}
    if _confidence(plain(provenance.verdict)) < _confidence(manifest.get("verdict")):
        grown |= {"verdict": provenance.verdict, "criterion": provenance.criterion}
    return {
        **grown,
        "mapping": "orthogonal" if rotations else "linear",
        "languages": {**manifest["languages"], **added},
    }


def _confidence(verdict: Any) -> float:
    found = verdict.get("confidence") if isinstance(verdict, dict) else None
    return float(found) if is_figure(found) else 1.0
