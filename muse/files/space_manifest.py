"""The manifest of an aligned space: its contents, how it was made, and the checksums of its files.

On disk it is JSON, whose names are a contract. `read_manifest` checks what loading a space needs; what is
recorded besides is read as a `muse.files.space_record.SpaceRecord`: nobody else parses the JSON.
"""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, is_dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from muse.errors import BadFile
from muse.files.json_text import parse_json
from muse.files.source import is_stream
from muse.files.space_folder import (
    AGAIN,
    HIDDEN,
    MANIFEST,
    MAPPING,
    MEANS,
    STORE_MAP,
    TEXTS,
    VECTORS,
    WORDS,
    check_sum,
    checksum,
    folder_name,
    unreadable,
)
from muse.installation import __version__

ALIGNED = Path("embeddings", "aligned")  # where muse align writes spaces by default
FILES = (
    WORDS,
    VECTORS,
    MAPPING,
    MEANS,
    TEXTS,
    STORE_MAP,
    HIDDEN,
)  # of each language; few have the last three
MOST, NAMED = 1_000, 5  # files looked at in a folder, and spaces named in a message
LARGEST = 1e38  # figures are of float32
FORMAT, FORMAT_VERSION = "muse-space", 1
_KEYS = {"format_version": int, "pivot": str, "dimension": int, "languages": dict, "checksums": dict}
_LANGUAGE_KEYS = {"words": int, "normalisation": list}
# Of the space and of each language, if they are there and known.
_OPTIONAL = {
    "method": str, "mapping": str, "verdict": dict, "settings": dict, "inputs": list, "files": list,
    "seed": int, "via": list, "history": list, "supervision": dict, "command": list, "candidates": list,
    "texts": bool, "reason": str, "store_map": bool, "hidden_units": int,
}  # fmt: skip
_OWN_DIMENSION = {"dimension": int}  # of a language's own vectors, if that is not the dimension of the space


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest as it was written, with the versions of the software and the checksums of all files."""
    import torch  # not above: a manifest is read, and completed on the command line, without it

    files = sorted(path for path in folder.rglob("*") if path.is_file())
    ours = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "muse_version": __version__,
        "created_with": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "torch": torch.__version__,
        },
        "checksums": {path.relative_to(folder).as_posix(): checksum(path) for path in files},
    }
    written: dict[str, Any] = plain({**manifest, **ours})
    text = json.dumps(written, indent=2, allow_nan=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")
    return written


def input_file(path: Path | str) -> dict[str, str | None]:
    """The path and the checksum of an input file of a space; None of a pipe, which was read once."""
    if is_stream(Path(path)):
        return {"path": str(path), "sha256": None}
    try:
        return {"path": str(path), "sha256": checksum(Path(path))}
    except OSError:  # it existed when the run began: no reason to lose the result
        return {"path": str(path), "sha256": None}


def plain(value: Any) -> Any:
    """The value for JSON: dataclasses as objects, NaN as null, paths as text."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def presentable(value: Any) -> Any:
    """A value of a manifest, to show it: null for numbers that are no figures, and all text in UTF-8.

    >>> presentable({"confidence": 1e400, "path": "fr" + chr(0xDCFF), "seed": 7})
    {'confidence': None, 'path': 'fr?', 'seed': 7}
    """
    if isinstance(value, Mapping):
        return {presentable(key): presentable(one) for key, one in value.items()}
    if isinstance(value, list):
        return [presentable(one) for one in value]
    if isinstance(value, str):  # a path has half a surrogate pair for a byte that is not UTF-8
        return value.encode(errors="replace").decode()
    return None if isinstance(value, int | float) and not -LARGEST <= value <= LARGEST else value


def is_figure(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number that a run can have measured: no truth value, finite, at most LARGEST."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -LARGEST <= value <= LARGEST


def is_space(folder: Path) -> bool:
    """Whether a folder has the manifest of a space, of any version."""
    try:
        manifest = parse_json((folder / MANIFEST).read_bytes(), paths=True)
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.get("format") == FORMAT


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of the space in `folder`; BadFile if this version cannot read it."""
    path = folder / MANIFEST
    try:
        manifest = parse_json(path.read_bytes(), paths=True)
    except (FileNotFoundError, NotADirectoryError):
        raise BadFile(_no_space(folder)) from None
    except OSError as error:
        raise unreadable(path, error) from error
    except ValueError as error:
        raise BadFile(f"{path}: expected JSON, got {error}; {AGAIN}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise BadFile(
            f"{folder}: expected an aligned space, found another {MANIFEST}; make one with muse align"
        )
    _check_manifest(path, manifest)
    return manifest


Mark = tuple[int, int, int, int]  # device, number, time and size of a file
Marks = Mapping[str, Mark | None]


def marks_of(folder: Path, languages: Iterable[str]) -> Marks:
    """What tells the space in `folder` from one that replaces or overwrites it, by the paths of its files."""
    homes = [os.path.join(folder, folder_name(language)) for language in languages]  # noqa: PTH118 - quick
    paths = [os.path.join(home, name) for home in homes for name in FILES]  # noqa: PTH118
    return {path: mark_of(path) for path in (str(folder / MANIFEST), *paths)}


def is_overwritten(path: str, mark: Mark | None) -> bool:
    """Whether the file with this mark was changed in place: it is the same file, with another time or size.

    One that was replaced by another is not: whoever has it open reads on.
    """
    now = mark_of(path)
    return mark is not None and now is not None and now != mark and now[:2] == mark[:2]


def mark_of(path: str) -> Mark | None:
    """What tells a file from another version of it; None without it."""
    try:
        found = os.stat(path)  # noqa: PTH116 - three times as quick as of a Path
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


def _no_space(folder: Path) -> str:
    found = f"no {MANIFEST} in it" if folder.exists() else "no such folder"
    found += " (it is a file)" if folder.is_file() else ""
    near = ", ".join(map(str, nearby_spaces(folder)[:NAMED]))
    advice = f"the spaces here are {near}" if near else "make one with muse align"
    return f"{folder}: expected an aligned space, found {found}; {advice}"


def nearby_spaces(folder: Path) -> list[Path]:
    """The spaces in a folder, in the working directory and where muse align writes them, sorted."""
    places = (folder, Path(), ALIGNED)
    inside = {path for place in places if place.is_dir() for path in islice(place.iterdir(), MOST)}
    return sorted(path for path in inside if is_space(path))


def aligned_spaces() -> list[Path]:
    """The spaces where muse align writes them by default, sorted."""
    return sorted(filter(is_space, islice(ALIGNED.iterdir(), MOST))) if ALIGNED.is_dir() else []


def _check_manifest(path: Path, manifest: dict[str, Any]) -> None:
    version = manifest.get("format_version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise BadFile(
            f"{path}: written by a newer muse (format {version}, this one reads {FORMAT_VERSION}); upgrade it"
        )
    _check_keys(path, manifest, {**_KEYS, **_known(manifest)})
    for language, entry in manifest["languages"].items():
        folder_name(language)
        where = f"languages.{language}."
        _check_keys(path, entry, _LANGUAGE_KEYS, where=where)
        _check_keys(path, entry, _known(entry), where=where)
        if "dimension" in entry:
            _check_keys(path, entry, _OWN_DIMENSION, where=where)
    if manifest["pivot"] not in manifest["languages"]:
        raise BadFile(f"{path}: expected the pivot among the languages, got {manifest['pivot']!r}; {AGAIN}")


def _known(part: Mapping[str, Any]) -> dict[str, type]:
    return {key: kind for key, kind in _OPTIONAL.items() if part.get(key) is not None}


def _check_keys(path: Path, part: Any, keys: Mapping[Any, type], where: str = "") -> None:
    for key, kind in keys.items():
        if not isinstance(part, dict) or not isinstance(part.get(key), kind):
            found = part.get(key) if isinstance(part, dict) else part
            raise BadFile(
                f"{path}: expected {where}{key} to be of type {kind.__name__}, got {found!r}; {AGAIN}"
            )


def verify(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Raise BadFile, naming the file, if a file of the space is missing or differs from its checksum."""
    for language, entry in manifest["languages"].items():
        more = ((TEXTS, "texts"), (STORE_MAP, "store_map"), (HIDDEN, "hidden_units"))
        names = (WORDS, VECTORS, MAPPING, MEANS, *(name for name, key in more if entry.get(key)))
        for name in (f"{folder_name(language)}/{name}" for name in names):
            _verify_file(folder / name, manifest["checksums"].get(name))


def _verify_file(path: Path, expected: object) -> None:
    try:
        found = checksum(path)
    except OSError as error:
        raise unreadable(path, error) from error
    check_sum(path, found, expected)
