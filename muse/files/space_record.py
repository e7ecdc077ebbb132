"""The record of an aligned space: what its manifest says of how it was made, typed.

What is missing, or not of its type, is None or empty: for whoever shows or uses it, nothing is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import PurePath
from typing import Any

from muse.files.space_manifest import is_figure
from muse.vectors import ShortRepr

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
        """The confidence that the mapping is right, 0 to 1; None if it was not recorded."""
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
    """How a mapping was learned from pairs, mostly of a dictionary, and the methods tried, in their order."""

    fields: Mapping[str, Any]
    methods: tuple[MethodRecord, ...]

    @property
    def giver(self) -> str:
        """What gave the pairs: a dictionary, an encoder or a program."""
        others = {"encoder": "an encoder", "program": "a program"}
        return others.get(str(self.fields.get("pairs_of")), "a dictionary")

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
    frequency_ordered: bool
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
        """The confidence that the mapping is right, 0 to 1; None if it was not recorded."""
        return self.verdict.confidence

    @property
    def judged_on_pairs(self) -> bool:
        """Whether the verdict rests on pairs of the dictionary that were held out."""
        return self.supervision is not None and self.supervision.tested and not self.via


@dataclass(frozen=True, repr=False)
class SpaceRecord(ShortRepr):
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
        frequency_ordered=entry.get("ranked") is not False,
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
