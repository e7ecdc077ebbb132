"""The manifest of an aligned space: its contents, how it was made, and the checksums of its files.

On disk it is JSON, whose names are a contract. `read_manifest` checks what loading a space needs; a
`SpaceRecord` is all of it, typed, for whoever shows or uses what is recorded: nobody else parses the JSON.
"""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, is_dataclass, replace
from enum import StrEnum
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, TypeGuard

import numpy as np

from muse.errors import BadFile
from muse.files.json_text import parse_json
from muse.files.source import is_stream
from muse.files.space_folder import (
    AGAIN,
    MANIFEST,
    MAPPING,
    MEANS,
    TEXTS,
    VECTORS,
    WORDS,
    check_sum,
    checksum,
    folder_name,
    unreadable,
)
from muse.vectors import Brief
from muse.version import __version__

ALIGNED = Path("embeddings", "aligned")  # where muse align writes spaces by default
FILES = (WORDS, VECTORS, MAPPING, MEANS, TEXTS)  # of each language; not all have texts
MOST, NAMED = 1_000, 5  # files looked at in a folder, and spaces named in a message
LARGEST = 1e38  # figures are of float32
FORMAT, FORMAT_VERSION = "muse-space", 1
_KEYS = {"format_version": int, "pivot": str, "dimension": int, "languages": dict, "checksums": dict}
_LANGUAGE_KEYS = {"words": int, "normalisation": list}
# Of the space and of each language, if they are there and known.
_OPTIONAL = {
    "method": str, "mapping": str, "verdict": dict, "settings": dict, "inputs": list, "files": list,
    "seed": int, "via": list, "history": list, "supervision": dict, "command": list, "candidates": list,
    "texts": bool, "reason": str,
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
        names = (WORDS, VECTORS, MAPPING, MEANS, *((TEXTS,) if entry.get("texts") else ()))
        for name in (f"{folder_name(language)}/{name}" for name in names):
            _verify_file(folder / name, manifest["checksums"].get(name))


def _verify_file(path: Path, expected: object) -> None:
    try:
        found = checksum(path)
    except OSError as error:
        raise unreadable(path, error) from error
    check_sum(path, found, expected)


UNKNOWN = "unknown"  # the label of a verdict that was not recorded
Curve = list[tuple[float, float]]
Stage = tuple[str, float | None, float | None]  # with its seconds and the peak of memory so far, in MB


class Reason(StrEnum):
    """Why a mapping was chosen among those that were tried: written by who chose it."""

    FIRST_ALIGNED = "first aligned"
    ONLY = "only one"
    CRITERION = "highest criterion"
    VERDICT = "best verdict"
    PAIRS = "pairs"
    DETOUR = "detour"


@dataclass(frozen=True)
class InputFile:
    """A file that a space was made of: where it was, and its checksum, None if it could be read only once."""

    path: str
    sha256: str | None

    @property
    def name(self) -> str:
        """Its name without folders, which are of no use to others."""
        return PurePath(self.path.replace("\\", "/")).name


@dataclass(frozen=True)
class VerdictRecord:
    """A verdict and its figures, as in `muse align --json`."""

    fields: Mapping[str, Any]

    @property
    def label(self) -> str | None:
        """The label; None if there is none."""
        return _text(self.fields.get("label"))

    @property
    def confidence(self) -> float | None:
        """That the mapping is right, 0 to 1; None if it was not recorded."""
        return _number(self.fields.get("confidence"))


@dataclass(frozen=True)
class MethodRecord:
    """A method of learning from pairs, with its fields in `muse align --json`."""

    fields: Mapping[str, Any]
    chosen: bool

    @property
    def interval(self) -> tuple[float, float, float] | None:
        """P@1 and the bounds of its interval, in percent; None if one is missing or no percentage."""
        bounds = self.fields.get("ci95")
        if not isinstance(bounds, list) or len(bounds) != 2:
            return None
        found = [float(one) for one in (self.fields.get("held_out_p_at_1"), *bounds) if _is_percentage(one)]
        return (found[0], found[1], found[2]) if len(found) == 3 else None


@dataclass(frozen=True)
class SupervisionRecord:
    """How a mapping was learned from the pairs of a dictionary, and the methods tried, in their order."""

    fields: Mapping[str, Any]
    methods: tuple[MethodRecord, ...]

    @property
    def tested(self) -> bool:
        """Whether any word was held out: a single pair leaves none."""
        return any(method.fields.get("words") for method in self.methods)

    @property
    def chosen(self) -> str:
        """The method chosen."""
        return str(self.fields.get("chosen", "?"))


@dataclass(frozen=True)
class StageCurves:
    """The figures that one stage reported: for each, (step, value) in order."""

    stage: str
    curves: Mapping[str, Curve]


@dataclass(frozen=True)
class CandidateRecord:
    """An initialisation that was tried: its fields as in `muse align --json`, and its history."""

    fields: Mapping[str, Any]
    traces: tuple[StageCurves, ...]
    chosen: bool

    @property
    def name(self) -> str:
        """The initialisation with its variant."""
        return str(self.fields.get("method", "?"))


@dataclass(frozen=True)
class LanguageRecord:
    """One language of a space: its words, the files they came from, and how it was mapped.

    The pivot was not mapped. `reason` says why the chosen candidate was chosen (a Reason; empty if it was not
    recorded), `via` are the languages of a detour, `refinement` is the last one.
    """

    language: str
    words: int | None
    normalisation: tuple[str, ...]
    dimension: int | None  # of its own vectors, if that is not the dimension of the space
    ranked: bool
    texts: bool
    files: tuple[InputFile, ...]
    method: str
    via: tuple[str, ...]
    criterion: float | None
    verdict: VerdictRecord
    reason: str
    signature: str
    command: tuple[str, ...]
    created: str
    candidates: tuple[CandidateRecord, ...]
    refinement: tuple[StageCurves, ...]
    supervision: SupervisionRecord | None
    stages: tuple[Stage, ...]

    @property
    def label(self) -> str:
        """The label of the verdict; "unknown" if there is none."""
        return self.verdict.label or UNKNOWN

    @property
    def confidence(self) -> float | None:
        """That the mapping is right, 0 to 1; None if it was not recorded."""
        return self.verdict.confidence

    @property
    def judged_on_pairs(self) -> bool:
        """Whether the verdict rests on pairs of the dictionary that were held out."""
        return self.supervision is not None and self.supervision.tested and not self.via


@dataclass(frozen=True, repr=False)
class SpaceRecord(Brief):
    """The manifest of a space, typed: what is missing, or not of its type, is None or empty.

    Older spaces lack what was not recorded in their day, and those made by hand nearly everything.
    """

    pivot: str
    dimension: int | None
    mapping: str | None  # orthogonal, or linear if it weights dimensions
    method: str
    seed: int | None
    criterion: float | None
    verdict: VerdictRecord
    settings: Mapping[str, Any]
    inputs: tuple[InputFile, ...]  # besides those of the languages, such as a dictionary
    stages: tuple[Stage, ...]  # those of all languages
    muse_version: str | None
    checksums: Mapping[str, Any]
    languages: Mapping[str, LanguageRecord]
    other: LanguageRecord  # a language that has no entry

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> SpaceRecord:
        """The record of the fields of a manifest, whatever they are."""
        entries = {str(name): _mapping(entry) for name, entry in _mapping(manifest.get("languages")).items()}
        mapped = [language for language in entries if language != manifest.get("pivot")]
        # What is said of the whole space holds of its only mapping, if nothing is said of that.
        whole = {name: manifest[name] for name in _OF_A_MAPPING if name in manifest and len(mapped) <= 1}
        languages = {
            language: _language(language, {**(whole if language in mapped else {}), **entry})
            for language, entry in entries.items()
        }
        return cls(
            pivot=_text(manifest.get("pivot")) or "",
            dimension=_whole(manifest.get("dimension")),
            mapping=_text(manifest.get("mapping")),
            method=_text(manifest.get("method")) or "",
            seed=_whole(manifest.get("seed")),
            criterion=_number(manifest.get("criterion")),
            verdict=VerdictRecord(_mapping(manifest.get("verdict"))),
            settings=_mapping(manifest.get("settings")),
            inputs=_files(manifest.get("inputs")),
            stages=_stages(manifest),
            muse_version=_text(manifest.get("muse_version")),
            checksums=_mapping(manifest.get("checksums")),
            languages=languages,
            other=_language("", whole),
        )

    def language(self, name: str) -> LanguageRecord:
        """The record of a language; almost empty if it has no entry."""
        return self.languages.get(name) or replace(self.other, language=name)

    @property
    def mapped(self) -> tuple[LanguageRecord, ...]:
        """The languages but the pivot."""
        return tuple(one for language, one in self.languages.items() if language != self.pivot)


_OF_A_MAPPING = ("method", "criterion", "verdict", "candidates", "supervision")


def _language(language: str, entry: Mapping[str, Any]) -> LanguageRecord:
    method = _text(entry.get("method")) or ""
    return LanguageRecord(
        language=language,
        words=_whole(entry.get("words")),
        normalisation=tuple(map(str, _list(entry.get("normalisation")))),
        dimension=_whole(entry.get("dimension")),
        ranked=entry.get("ranked") is not False,
        texts=bool(entry.get("texts")),
        files=_files(entry.get("files")),
        method=method,
        via=tuple(map(str, _list(entry.get("via")))),
        criterion=_number(entry.get("criterion")),
        verdict=VerdictRecord(_mapping(entry.get("verdict"))),
        reason=_text(entry.get("reason")) or "",
        signature=_text(entry.get("signature")) or "",
        command=tuple(map(str, _list(entry.get("command")))),
        created=str(entry.get("created") or ""),
        candidates=_candidates(entry, method),
        refinement=_traces(entry.get("history")),
        supervision=_supervision(entry.get("supervision")),
        stages=_stages(entry),
    )


def _candidates(entry: Mapping[str, Any], method: str) -> tuple[CandidateRecord, ...]:
    tried = [fields for fields in _list(entry.get("candidates")) if isinstance(fields, Mapping)]
    # Older spaces do not say which was chosen: the one whose method they name, or that ended the search.
    signs = (("chosen", True), ("method", method), ("verdict", "aligned"))
    found = ([place for place, one in enumerate(tried) if one.get(key) == value] for key, value in signs)
    chosen = next(filter(None, found), [])[-1:]
    return tuple(
        CandidateRecord(fields, _traces(fields.get("history")), place in chosen)
        for place, fields in enumerate(tried)
    )


def _supervision(fields: object) -> SupervisionRecord | None:
    if not isinstance(fields, Mapping):
        return None
    methods = (one for one in _list(fields.get("candidates")) if isinstance(one, Mapping))
    return SupervisionRecord(
        fields, tuple(MethodRecord(one, one.get("name") == fields.get("chosen")) for one in methods)
    )


def _files(files: object) -> tuple[InputFile, ...]:
    return tuple(
        InputFile(str(file.get("path", "")), _text(file.get("sha256")))
        for file in _list(files)
        if isinstance(file, Mapping)
    )


def _stages(entry: Mapping[str, Any]) -> tuple[Stage, ...]:
    seconds, memory = (_mapping(entry.get(name)) for name in ("seconds", "peak_memory_mb"))
    return tuple((stage, _number(seconds[stage]), _number(memory.get(stage))) for stage in seconds)


def _traces(history: object) -> tuple[StageCurves, ...]:
    return tuple(_trace(_mapping(trace)) for trace in _list(history))


def _trace(fields: Mapping[str, Any]) -> StageCurves:
    steps, figures = _list(fields.get("steps")), _mapping(fields.get("figures"))
    curves = {name: _curve(steps, _list(values)) for name, values in figures.items()}
    return StageCurves(str(fields.get("stage", "")), {name: curve for name, curve in curves.items() if curve})


def _curve(steps: list[Any], values: list[Any]) -> Curve:
    pairs = [(_number(step), _number(value)) for step, value in zip(steps, values, strict=False)]
    return [(step, value) for step, value in pairs if step is not None and value is not None]


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: object) -> float | None:
    return float(value) if is_figure(value) else None


def _is_percentage(value: object) -> bool:
    return is_figure(value) and 0 <= value <= 100
