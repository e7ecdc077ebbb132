"""Saving of encoders: a folder with a manifest, arrays, and a folder for each encoder it is built from."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile, BadSetting, Mismatch
from muse.files.archive import open_archive
from muse.files.atomic import atomic_folder, read_whole, refuse_irreplaceable, writing
from muse.files.json_text import parse_json
from muse.files.source import DAMAGED, regular_bytes
from muse.files.space_folder import MANIFEST, checksum
from muse.files.space_manifest import is_space
from muse.files.writing import check_folder
from muse.installation import __version__
from muse.run.checkpoint import RUN, checkpoint_folder
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.space import Space
from muse.vectors import Vectors

FORMAT, FORMAT_VERSION = "muse-encoder", 1
ARRAYS = "arrays.npz"
AGAIN = "copy the whole folder again, or save the encoder again"

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Saved:
    """An encoder as saved: its kind, name, settings and arrays, and the encoders it is built from.

    `spaces` has the checksum of each language of its space; `settings` are JSON values.
    """

    kind: str
    name: str
    spaces: Mapping[str, str]
    settings: Mapping[str, Any] = field(default_factory=dict)
    arrays: Arrays = field(default_factory=dict)
    parts: Sequence[Path] = ()


def checksums(space: Space, languages: Iterable[str] | None = None) -> dict[str, str]:
    """The sha256 of the words and rows of languages of a space, or of all, however it was loaded."""
    chosen = space.languages if languages is None else languages
    return {language: _checksum(space.vectors(language)) for language in chosen}


def _checksum(vectors: Vectors) -> str:
    digest = hashlib.sha256()
    for word in vectors.words:
        digest.update(word.encode("utf-8", "surrogatepass") + b"\n")
    digest.update(np.ascontiguousarray(vectors.matrix, "<f4").data)
    return digest.hexdigest()


def check_space(folder: Path, saved: Mapping[str, str], space: Space) -> None:
    """Raise Mismatch, naming the language, if an encoder was saved for another space."""
    for language, expected in saved.items():
        known = language in space.languages
        found = _checksum(space.vectors(language)) if known else "a space without it"
        if found != expected:
            raise Mismatch(
                f"{folder}: this encoder belongs to a space whose {language} has the checksum "
                f"{expected[:8]}, got {found[:19]}; "
                "use it with the space that it was made for, or make a new encoder"
            )


def check_out(folder: Path) -> None:
    """Raise BadSetting if saving would replace anything but an encoder, BadFile if it cannot be written."""
    if folder.exists() and not is_encoder(folder) and not (folder.is_dir() and not any(folder.iterdir())):
        raise BadSetting(f"{folder} exists and is not a saved encoder; choose another folder")
    check_folder(folder.resolve().parent)
    refuse_irreplaceable(folder)


def is_encoder(folder: Path) -> bool:
    """Whether the folder holds a saved encoder."""
    try:
        return bool(parse_json(regular_bytes(folder / MANIFEST), "surrogateescape").get("format") == FORMAT)
    except (OSError, ValueError, AttributeError):
        return False


def encoder_files(folder: Path) -> tuple[Path, ...]:
    """The files that identify a saved encoder; BadFile if there is none."""
    _manifest(folder)
    return (folder / MANIFEST, folder / ARRAYS)


def weights_checksum(folder: Path) -> str:
    """The sha256 of the arrays of a saved encoder or, if it has parts, of its sum and theirs.

    Raise BadFile if there is no encoder.
    """
    manifest = _manifest(folder)
    own = str(manifest["checksums"].get(ARRAYS))
    parts = [weights_checksum(part) for part in _parts(folder, manifest["parts"])]
    return hashlib.sha256("".join((own, *parts)).encode()).hexdigest() if parts else own


def write_encoder(folder: Path, saved: Saved, parts: Sequence[SentenceEncoder] = ()) -> None:
    """Writes an encoder and its parts completely or not at all, in place of an encoder in that folder."""
    folder = Path(folder).resolve()
    check_out(folder)
    with writing(folder), atomic_folder(folder) as partial:
        arrays: dict[str, Any] = {f"array.{name}": array for name, array in saved.arrays.items()}
        np.savez(partial / ARRAYS, **arrays)
        for number, part in enumerate(parts):
            part.save(partial / f"part.{number}")
        manifest = {
            "format": FORMAT, "format_version": FORMAT_VERSION, "muse_version": __version__,
            "kind": saved.kind, "name": saved.name, "settings": dict(saved.settings),
            "parts": len(parts), "spaces": dict(saved.spaces),
            "checksums": {ARRAYS: checksum(partial / ARRAYS)},
        }  # fmt: skip
        text = json.dumps(manifest, indent=2, allow_nan=False)
        (partial / MANIFEST).write_text(text + "\n", encoding="utf-8")


def read_encoder(folder: Path) -> Saved:
    """The encoder saved in a folder, all of one version; BadFile if it is broken or missing."""
    return read_whole(folder, _saved)


def _saved(folder: Path) -> Saved:
    manifest = _manifest(folder)
    arrays = _arrays(folder / ARRAYS, manifest["checksums"].get(ARRAYS))
    kept = {key: manifest[key] for key in ("kind", "name", "spaces", "settings")}
    return Saved(**kept, arrays=arrays, parts=_parts(folder, manifest["parts"]))


def _parts(folder: Path, count: int) -> list[Path]:
    found = len(list(folder.glob("part.*")))
    if count != found:
        raise BadFile(f"{folder / MANIFEST}: expected {found} parts, as there are, got {count!r}; {AGAIN}")
    return [folder / f"part.{number}" for number in range(count)]


_KEYS = {"kind": str, "name": str, "settings": dict, "parts": int, "spaces": dict, "checksums": dict}


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        manifest = parse_json(regular_bytes(path), "surrogateescape")
    except OSError as error:
        killed = (checkpoint_folder(folder) / RUN).exists()
        hint = "finish the run with muse train --resume" if killed else "check the name"
        found = f"a {MANIFEST} that cannot be read ({error.strerror or error})"
        if isinstance(error, FileNotFoundError):
            found = f"no {MANIFEST} in it" if folder.exists() else "no such folder"
        found = "a file" if folder.is_file() else found
        raise BadFile(f"{folder}: expected a saved encoder, found {found}; {hint}") from error
    except ValueError as error:
        raise BadFile(f"{path}: expected JSON, got {error}; {AGAIN}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        found = "an aligned space" if is_space(folder) else f"another {MANIFEST}"
        raise BadFile(f"{folder}: expected a saved encoder, found {found}; name another folder")
    version = manifest.get("format_version")
    if version != FORMAT_VERSION:
        raise BadFile(
            f"{path}: expected format {FORMAT_VERSION}, got {version!r}; upgrade muse, or save the "
            "encoder again"
        )
    for key, kind in _KEYS.items():
        if not isinstance(manifest.get(key), kind):
            raise BadFile(
                f"{path}: expected {key} to be of type {kind.__name__}, got {manifest.get(key)!r}; {AGAIN}"
            )
    if not all(isinstance(digest, str) for digest in manifest["spaces"].values()):
        raise BadFile(f"{path}: expected a checksum for each language, got {manifest['spaces']!r}; {AGAIN}")
    _check_languages(path, manifest["settings"].get("languages", []))
    return manifest


def _check_languages(path: Path, languages: object) -> None:
    if not isinstance(languages, list) or not all(isinstance(language, str) for language in languages):
        raise BadFile(f"{path}: expected a list of languages by name, got {languages!r}; {AGAIN}")


def _arrays(path: Path, expected: object) -> Arrays:
    try:
        if checksum(path) != expected:
            raise BadFile(f"{path}: expected the file that was saved, got a changed or partial one; {AGAIN}")
        with open_archive(path) as archive:
            arrays = {name.removeprefix("array."): archive[name] for name in archive}
        for name, array in arrays.items():
            if array.dtype.kind == "f" and np.isnan(array).any():
                raise ValueError(f"{name} with nan")
        return arrays
    except DAMAGED as error:
        raise BadFile(
            f"{path}: expected plain arrays, got a file that cannot be read ({error}); {AGAIN}"
        ) from error
