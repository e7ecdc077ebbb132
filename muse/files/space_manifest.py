"""The manifest of an aligned space: what it has, how it was made, and the checksums of its files.

On disk it is JSON. The fields of the classes here are its keys, which are a contract, and no other module
knows them: `read_manifest` checks that each has its type, and what uses a space asks the `Manifest`.
"""

# Not pydantic: importing it takes as long as all of `muse --help`, and three quarters of its memory.

import json
import math
import platform
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from functools import cache
from itertools import islice
from pathlib import Path, PurePath
from types import UnionType
from typing import Any, ClassVar, Self, TypeGuard, get_args, get_origin, get_type_hints

import numpy as np

from muse.errors import BadFile
from muse.files import space_folder as disk
from muse.files.json_text import parse_json, without_surrogates
from muse.files.source import is_stream, regular_bytes
from muse.installation import __version__
from muse.vectors import ShortRepr, brief

ALIGNED = Path("embeddings", "aligned")  # where muse align writes spaces by default
MOST, NAMED = 1_000, 5  # files looked at in a folder, and spaces named in a message
LARGEST = 1e38  # figures are of float32
FORMAT, FORMAT_VERSION = "muse-space", 2
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


class JsonRecord(ShortRepr):
    """An object of the manifest: its fields are the keys, and those with a default may be missing."""

    def __repr__(self) -> str:
        values = vars(self).items()
        said = (f"{name}={brief(value)}" for name, value in values if value not in (None, "", (), {}))
        return f"{type(self).__name__}({', '.join(said)})"

    @classmethod
    def of(cls, **parts: Any) -> Self:
        """The object with these fields, each whatever `plain` makes JSON of; ValueError for another type."""
        found: Self = from_json(cls, plain(parts))
        return found


@dataclass(frozen=True, repr=False)
class OpenRecord(JsonRecord):
    """An object as some command shows it with --json: `fields`, of which those in KINDS have that type."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    KINDS: ClassVar[Mapping[str, Any]] = {}


@dataclass(frozen=True, repr=False)
class InputFile(JsonRecord):
    """A file that a space was made of: where it was, and its checksum, None if it could be read only once."""

    path: str = ""
    sha256: str | None = None

    @property
    def name(self) -> str:
        """Its name without folders, which are of no use to others."""
        return PurePath(self.path.replace("\\", "/")).name


@dataclass(frozen=True, repr=False)
class VerdictRecord(OpenRecord):
    """A verdict and its figures, as in `muse align --json`."""

    KINDS = {"label": str | None, "confidence": float | None}

    @property
    def label(self) -> str | None:
        """The label; None if there is none."""
        return self.fields.get("label") or None

    @property
    def confidence(self) -> float | None:
        """The confidence that the mapping is right, 0 to 1; None if it was not recorded."""
        return self.fields.get("confidence")

    @property
    def belief(self) -> float:
        """The probability that the mapping is right: 1 if it is aligned, or if no verdict was recorded."""
        unsure = self.label in ("failed", "doubtful") and self.confidence is not None
        return float(self.confidence or 0.0) if unsure else 1.0


@dataclass(frozen=True, repr=False)
class MethodRecord(OpenRecord):
    """A method of learning from pairs, with its fields in `muse align --json`."""

    KINDS = {"name": str | None, "held_out_p_at_1": float | None, "ci95": tuple[float, ...] | None}
    chosen: bool = False

    @property
    def interval(self) -> tuple[float, float, float] | None:
        """P@1 and the bounds of its interval, in percent; None if one is missing or no percentage."""
        found = [self.fields.get("held_out_p_at_1"), *(self.fields.get("ci95") or ())]
        if len(found) != 3 or not all(one is not None and 0 <= one <= 100 for one in found):
            return None
        return found[0], found[1], found[2]


@dataclass(frozen=True, repr=False)
class SupervisionRecord(OpenRecord):
    """How a mapping was learned from pairs, mostly of a dictionary, and the methods tried, in their order."""

    KINDS = {"candidates": tuple[MethodRecord, ...] | None, "chosen": str | None}

    @property
    def methods(self) -> tuple[MethodRecord, ...]:
        """The methods tried."""
        tried = self.fields.get("candidates") or ()
        return tuple(MethodRecord(one, one.get("name") == self.fields.get("chosen")) for one in tried)

    @property
    def giver(self) -> str:
        """What gave the pairs: a dictionary, an encoder or a program."""
        others = {"encoder": "an encoder", "program": "a program", "space": "a general space"}
        return others.get(str(self.fields.get("pairs_of")), "a dictionary")

    @property
    def tested(self) -> bool:
        """Whether any word was held out: a single pair leaves none."""
        return any(method.fields.get("words") for method in self.methods)

    @property
    def chosen(self) -> str:
        """The method chosen."""
        return str(self.fields.get("chosen", "?"))


@dataclass(frozen=True, repr=False)
class StageCurves(JsonRecord):
    """The figures that one stage reported at its steps; None where there was none."""

    stage: str = ""
    seconds: float | None = None
    steps: tuple[float, ...] = ()
    figures: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)

    @property
    def curves(self) -> Mapping[str, Curve]:
        """For each figure, (step, value) in order."""
        found = {
            name: [(step, one) for step, one in zip(self.steps, values, strict=False) if one is not None]
            for name, values in self.figures.items()
        }
        return {name: curve for name, curve in found.items() if curve}


@dataclass(frozen=True, repr=False)
class CandidateRecord(OpenRecord):
    """An initialisation that was tried: its fields as in `muse align --json`, and its history."""

    KINDS = {"method": str | None, "chosen": bool | None, "history": tuple[StageCurves, ...] | None}

    @property
    def traces(self) -> tuple[StageCurves, ...]:
        """What its stages reported."""
        found: tuple[StageCurves, ...] = from_json(tuple[StageCurves, ...], self.fields.get("history") or [])
        return found

    @property
    def chosen(self) -> bool:
        """Whether it is the one that was chosen."""
        return bool(self.fields.get("chosen"))

    @property
    def name(self) -> str:
        """The initialisation with its variant."""
        return str(self.fields.get("method", "?"))


def stages_of(record: "LanguageRecord | Manifest") -> tuple[Stage, ...]:
    """The stages of a language, or of all."""
    return tuple((stage, took, record.peak_memory_mb.get(stage)) for stage, took in record.seconds.items())


@dataclass(frozen=True, repr=False)
class LanguageRecord(JsonRecord):
    """One language of a space: its words, the files they came from, and how it was mapped.

    The pivot was not mapped. The last `units` of its `words` are units of several words that were found in
    text. `dimension` is that of its own vectors, if the space has another one; `ranked` whether it has words,
    most frequent first. `reason` says why the chosen candidate was chosen (a Reason),
    `via` are the languages of a detour, `history` is of the last refinement.
    """

    language: str = ""
    role: str = ""
    words: int = 0
    units: int = 0
    normalisation: tuple[str, ...] = ()
    files: tuple[InputFile, ...] = ()
    dimension: int | None = None
    ranked: bool = True
    texts: bool = False
    store_map: bool = False
    hidden_units: int = 0
    method: str = ""
    via: tuple[str, ...] = ()
    criterion: float | None = None
    verdict: VerdictRecord = VerdictRecord()
    candidates: tuple[CandidateRecord, ...] = ()
    reason: str = ""
    history: tuple[StageCurves, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    peak_memory_mb: Mapping[str, float | None] = field(default_factory=dict)
    seed: int | None = None
    signature: str = ""
    created: str = ""
    command: tuple[str, ...] = ()
    supervision: SupervisionRecord | None = None

    @property
    def label(self) -> str:
        """The label of the verdict; "unknown" if there is none."""
        return self.verdict.label or UNKNOWN

    @property
    def confidence(self) -> float | None:
        """The confidence that the mapping is right, 0 to 1; None if it was not recorded."""
        return self.verdict.confidence

    @property
    def judged_on_pairs(self) -> bool:
        """Whether the verdict rests on pairs of the dictionary that were held out."""
        return self.supervision is not None and self.supervision.tested and not self.via

    def shapes(self, k: int) -> dict[str, tuple[int, ...]]:
        """The shapes of its arrays in a space of dimension k, by the names of their files."""
        d = self.dimension or k
        found: dict[str, tuple[int, ...]] = {disk.VECTORS: (self.words, k), disk.MAPPING: (k, d)}
        found[disk.MEANS] = self.normalisation.count("centre"), d
        if self.store_map:
            found[disk.STORE_MAP] = k, d
            if self.hidden_units:
                found[disk.HIDDEN] = self.hidden_units, d + 1 + k
        return found

    @property
    def file_names(self) -> tuple[str, ...]:
        """The names of the files that the space cannot do without, in the folder of the space."""
        names = disk.WORDS, *self.shapes(1), *([disk.TEXTS] if self.texts else [])
        return tuple(f"{disk.folder_name(self.language)}/{name}" for name in names)


@dataclass(frozen=True, repr=False)
class Manifest(JsonRecord):
    """The manifest of a space; what was not recorded is None or empty.

    `mapping` is orthogonal, or linear if it weights dimensions; `inputs` are files besides those of the
    languages, such as a dictionary; `seconds` and `peak_memory_mb` are of stages of all languages. The
    `checksums` are of all files, by their paths in the folder. Criterion, verdict, candidates and supervision
    are those of the least confident language.
    """

    pivot: str = ""
    dimension: int = 0
    languages: Mapping[str, LanguageRecord] = field(default_factory=dict)
    checksums: Mapping[str, str] = field(default_factory=dict)
    mapping: str | None = None
    method: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    criterion: float | None = None
    verdict: VerdictRecord = VerdictRecord()
    inputs: tuple[InputFile, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    peak_memory_mb: Mapping[str, float | None] = field(default_factory=dict)
    candidates: tuple[CandidateRecord, ...] = ()
    supervision: SupervisionRecord | None = None
    joint: Mapping[str, Any] | None = None
    format: str = FORMAT
    format_version: int = FORMAT_VERSION
    muse_version: str | None = None
    created_with: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        named = {name: replace(one, language=name) for name, one in self.languages.items()}
        object.__setattr__(self, "languages", named)

    def language(self, name: str) -> LanguageRecord:
        """The record of a language; almost empty if it has no entry."""
        return self.languages.get(name) or LanguageRecord(language=name)

    @property
    def mapped(self) -> tuple[LanguageRecord, ...]:
        """The languages but the pivot."""
        return tuple(one for language, one in self.languages.items() if language != self.pivot)

    def verdict_on(self, *languages: str) -> VerdictRecord:
        """The verdict on the least sure of the mappings of these languages; empty if none was recorded."""
        found = [one.verdict for one in map(self.language, languages) if one.confidence is not None]
        return min(found, key=lambda one: one.confidence or 0.0, default=VerdictRecord())

    def judged(self, verdicts: Mapping[str, Any]) -> Self:
        """The manifest with other verdicts on some languages; its own is that of the least confident."""
        languages = {
            name: replace(one, verdict=VerdictRecord(plain(verdicts[name]))) if name in verdicts else one
            for name, one in self.languages.items()
        }
        known = [one for one in languages.values() if one.confidence is not None]
        least = min(known, key=lambda one: one.confidence or 0.0, default=self)
        return replace(self, languages=languages, verdict=least.verdict, criterion=least.criterion)

    @property
    def derived_names(self) -> list[str]:
        """The paths of the files that were derived of the space, in its folder."""
        needed = {name for entry in self.languages.values() for name in entry.file_names}
        folders = set(map(disk.folder_name, self.languages))
        return [name for name in self.checksums if name.rpartition("/")[0] in folders and name not in needed]

    def all_inputs(self) -> dict[str, str]:
        """What each file is that the space was made of, by its checksum."""
        parts = [(file, "a file") for file in self.inputs]
        for language, entry in self.languages.items():
            parts += [(file, f"the vectors of {language}") for file in entry.files]
        return {file.sha256: kind for file, kind in parts if file.sha256 is not None}

    def write(self, folder: Path) -> "Manifest":
        """The manifest as it is written, with the versions of the software and the checksums of all files."""
        import torch  # not above: a manifest is read, and completed on the command line, without it

        own = folder / disk.MANIFEST
        files = sorted(path for path in folder.rglob("*") if path.is_file() and path != own)
        written = replace(
            self,
            format_version=FORMAT_VERSION,
            muse_version=__version__,
            created_with={
                "python": platform.python_version(), "numpy": np.__version__, "torch": torch.__version__,
            },
            checksums={path.relative_to(folder).as_posix(): disk.checksum(path) for path in files},
        )  # fmt: skip
        none = {name: plain(getattr(self, name)) or None for name in ("settings", "verdict")}
        text = json.dumps(plain(written) | none, indent=2, allow_nan=False)
        (folder / disk.MANIFEST).write_text(text + "\n", encoding="utf-8")
        return written


def from_json(kind: Any, value: Any, where: str = "") -> Any:
    """A value of JSON as this type; ValueError for one that is none, or has a number that is no figure.

    A byte of a path that is no UTF-8 becomes "?".
    """
    if isinstance(kind, UnionType):
        return None if value is None else from_json(get_args(kind)[0], value, where)
    outer, inner = get_origin(kind) or kind, (get_args(kind) or (Any,))
    within = f"{where}." if where else ""
    record: Any = kind if isinstance(kind, type) and issubclass(kind, JsonRecord) else None
    if isinstance(value, dict) and issubclass(record or object, OpenRecord):
        for name, one in record.KINDS.items():
            from_json(one, value.get(name), f"{within}{name}")
        return record(from_json(Any, value, where))
    if isinstance(value, dict) and record is not None:
        given = {name: one for name, one in _kinds(record).items() if value.get(name) is not None}
        return record(**{name: from_json(one, value[name], f"{within}{name}") for name, one in given.items()})
    if isinstance(value, dict) and outer in (Mapping, Any):
        return {
            without_surrogates(name): from_json(inner[-1], one, f"{within}{name}")
            for name, one in value.items()
        }
    if isinstance(value, list) and outer in (tuple, Any):
        found = [from_json(inner[0], one, where) for one in value]
        return tuple(found) if outer is tuple else found
    if isinstance(value, str) and kind in (str, Any):
        return without_surrogates(value)
    fits = {
        Any: value is None or isinstance(value, bool) or is_figure(value),
        bool: isinstance(value, bool),
        int: is_figure(value) and isinstance(value, int),
        float: is_figure(value),
    }
    if not fits.get(kind, False):
        raise ValueError(f"expected {where} to be of type {_called(kind)}, got {value!r}")
    return value


_kinds = cache(get_type_hints)


def _called(kind: Any) -> str:
    outer = get_origin(kind) or kind
    names = {tuple: "list", Mapping: "dict", Any: "figure"}
    return "dict" if is_dataclass(kind) else names.get(outer) or outer.__name__


def input_file(path: Path | str) -> InputFile:
    """The path and the checksum of an input file of a space; None of a pipe, which was read once."""
    found = None
    with suppress(OSError):  # it existed when the run began: no reason to lose the result
        found = None if is_stream(Path(path)) else disk.checksum(Path(path))
    return InputFile(str(path), found)


def plain(value: Any) -> Any:
    """The value for JSON: dataclasses as objects, NaN as null, paths as text."""
    if isinstance(value, OpenRecord):
        return plain(value.fields)
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def is_figure(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number that a run can have measured: no truth value, finite, at most LARGEST."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -LARGEST <= value <= LARGEST


def is_space(folder: Path) -> bool:
    """Whether a folder has the manifest of a space, of any version."""
    try:
        manifest = parse_json(regular_bytes(folder / disk.MANIFEST), "surrogateescape")
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.get("format") == FORMAT


def read_manifest(folder: Path) -> Manifest:
    """The manifest of the space in `folder`; BadFile if this version cannot read it."""
    path = folder / disk.MANIFEST
    try:
        found = parse_json(regular_bytes(path), "surrogateescape")
    except (FileNotFoundError, NotADirectoryError):
        raise BadFile(_no_space(folder)) from None
    except OSError as error:
        raise disk.unreadable(path, error) from error
    except ValueError as error:
        raise BadFile(f"{path}: expected JSON, got {error}; {disk.AGAIN}") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise BadFile(
            f"{folder}: expected an aligned space, found another {disk.MANIFEST}; make one with muse align"
        )
    _check_version(path, found)
    try:
        manifest: Manifest = from_json(Manifest, found)
        _check_whole(found)
    except ValueError as error:
        raise BadFile(f"{path}: {error}; {disk.AGAIN}") from error
    for language in manifest.languages:
        disk.folder_name(language)
    if manifest.pivot not in manifest.languages:
        raise BadFile(f"{path}: expected the pivot among the languages, got {manifest.pivot!r}; {disk.AGAIN}")
    return manifest


def _check_whole(found: Mapping[str, Any]) -> None:
    own: tuple[str, Any, Sequence[str]] = "", found, ("pivot", "dimension", "languages", "checksums")
    needed = [own, *(("inputs.", file, ["path"]) for file in found.get("inputs") or ())]
    for language, entry in (found.get("languages") or {}).items():
        needed.append((f"languages.{language}.", entry, ("words", "normalisation")))
        needed += [(f"languages.{language}.files.", file, ["path"]) for file in entry.get("files") or ()]
    for where, record, names in needed:
        if lacking := next((name for name in names if record.get(name) is None), None):
            raise ValueError(f"expected {where}{lacking}, got None")
        for name in ("dimension", "words"):
            if (given := record.get(name)) is not None and given < 1:
                raise ValueError(f"expected {where}{name} to be at least 1, got {given}")


def _check_version(path: Path, found: Mapping[str, Any]) -> None:
    version = found.get("format_version")
    if version == FORMAT_VERSION:
        return
    if not isinstance(version, int):
        raise BadFile(f"{path}: expected format_version to be of type int, got {version!r}; {disk.AGAIN}")
    by, advice = "a newer", "upgrade it"
    if version < FORMAT_VERSION:
        by, advice = "an earlier", f"make the space again: {_command_of(found)}"
    raise BadFile(
        f"{path}: written by {by} muse (format {version}, this one reads {FORMAT_VERSION}); {advice}"
    )


def _command_of(found: Mapping[str, Any]) -> str:
    """The command that makes a space of another version again, as far as it says."""
    languages = found.get("languages")
    for entry in languages.values() if isinstance(languages, dict) else ():
        command = entry.get("command") if isinstance(entry, dict) else None
        if command and isinstance(command, list) and all(isinstance(word, str) for word in command):
            words = [word for word in command if word != "--force"]
            return without_surrogates(shlex.join([*words, "--force"]))
    return "muse align ... --force"


def _no_space(folder: Path) -> str:
    found = f"no {disk.MANIFEST} in it" if folder.exists() else "no such folder"
    found += " (it is a file)" if folder.is_file() else ""
    near = ", ".join(map(str, spaces_in(folder, Path(), ALIGNED)[:NAMED]))
    advice = f"the spaces here are {near}" if near else "make one with muse align"
    return f"{folder}: expected an aligned space, found {found}; {advice}"


def spaces_in(*places: Path) -> list[Path]:
    """The spaces in some folders, sorted."""
    inside = {path for place in places if place.is_dir() for path in islice(place.iterdir(), MOST)}
    return sorted(filter(is_space, inside))
