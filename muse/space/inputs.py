"""The files that a space was made of: nothing made of the space may replace one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from muse.errors import BadFile, BadSetting
from muse.files.source import is_stream
from muse.files.space_folder import checksum
from muse.files.space_manifest import SpaceRecord


def check_not_an_input(manifest: Mapping[str, Any], paths: Iterable[Path], *, written: str = "--out") -> None:
    """Raise BadSetting if a file or folder at one of the paths is an input of the space with this manifest.

    It is known by its checksum, wherever it was read from and whatever its name is; what was made of the
    space before has another one, unless it is the same to the byte. `written` is the option that names it.
    """
    known = dict(_inputs(SpaceRecord.of(manifest)))
    for path in paths if known else ():
        if not path.exists() or is_stream(path):
            continue
        try:
            found = known.get(checksum(path))
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


def _inputs(made: SpaceRecord) -> Iterator[tuple[str, str]]:
    """The checksum of each input, and what it is."""
    parts = [(file, "a file") for file in made.inputs]
    for language, entry in made.languages.items():
        parts += [(file, f"the vectors of {language}") for file in entry.files]
    yield from ((file.sha256, kind) for file, kind in parts if file.sha256 is not None)
