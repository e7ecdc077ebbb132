"""Record: the run that made a space, as recorded in the manifest.

Older spaces have no history, and spaces made by hand may have no candidates: missing or invalid entries are
left out.

Supervision: how a mapping was learned from the pairs of a dictionary, as recorded in the manifest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from muse.files.space_manifest import is_figure

UNKNOWN = "unknown"
LABELS = ("failed", "doubtful", UNKNOWN, "aligned")  # from worst to best
Curve = list[tuple[float, float]]
Stage = tuple[str, float | None, float | None]  # with its seconds and the peak of memory so far, in MB


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
    """The entry of the manifest, and the methods tried, in its order."""

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


def supervision_of(entry: Mapping[str, Any]) -> SupervisionRecord | None:
    """The record in the entry of a language; None if it was learned without a dictionary."""
    fields = entry.get("supervision")
    if not isinstance(fields, Mapping):
        return None
    tried = fields.get("candidates")
    methods = (one for one in (tried if isinstance(tried, list) else []) if isinstance(one, Mapping))
    return SupervisionRecord(
        fields, tuple(MethodRecord(one, one.get("name") == fields.get("chosen")) for one in methods)
    )


def _is_percentage(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 100


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
class Record:
    """How one language was mapped: its entry in the manifest, the candidates, the last refinement.

    `supervision` is what was learned from a dictionary, None without one.
    """

    language: str
    entry: Mapping[str, Any]
    candidates: tuple[CandidateRecord, ...]
    refinement: tuple[StageCurves, ...]
    supervision: SupervisionRecord | None = None

    @property
    def verdict(self) -> Mapping[str, Any]:
        """The verdict with its figures; empty if there is none."""
        return _mapping(self.entry.get("verdict"))

    @property
    def label(self) -> str:
        """The label of the verdict; "unknown" if there is none."""
        return str(self.verdict.get("label", UNKNOWN))

    @property
    def confidence(self) -> float | None:
        """That the mapping is right, 0 to 1; None if it was not recorded."""
        return _number(self.verdict.get("confidence"))

    @property
    def command(self) -> tuple[str, ...]:
        """The command line that mapped the language; empty if it was not recorded."""
        return tuple(map(str, _list(self.entry.get("command"))))

    @property
    def created(self) -> str:
        """When the language was mapped, as ISO 8601 has it; empty if it was not recorded."""
        return str(self.entry.get("created") or "")

    @property
    def judged_on_pairs(self) -> bool:
        """Whether the verdict rests on pairs of the dictionary that were held out."""
        return self.supervision is not None and self.supervision.tested and not self.entry.get("via")

    @property
    def stages(self) -> list[Stage]:
        """The stages of this language."""
        return stages_of(self.entry)

    @property
    def reason(self) -> str:
        """Why the chosen candidate was chosen, as `muse.learn.auto.best` does."""
        if not self.candidates:
            return ""
        if self.entry.get("via"):
            return "the mapping over another language was judged better than the direct one"
        if self.supervision is not None:
            return "the pairs of the dictionary decided, as shown below"
        if any(
            candidate.fields.get("verdict") == "aligned" for candidate in self.candidates if candidate.chosen
        ):
            return "it was the first to be judged aligned, which ends the search"
        if len(self.candidates) == 1:
            return "no other was tried"
        leading = max(
            self.candidates, key=lambda one: (_number(one.fields.get("criterion")) or 0.0, one.chosen)
        )
        best = "highest criterion" if leading.chosen else "best verdict"
        return f"none was judged aligned, and it has the {best}"


def supervision_json(found: Sequence[Record]) -> dict[str, Any]:
    """The entries on learning from a dictionary, placed as in `muse align --json`; none without one."""
    entries = {
        record.language: {"supervision": dict(record.supervision.fields)}
        for record in found
        if record.supervision is not None
    }
    if len(found) == 1:
        return next(iter(entries.values()), {})
    return {"languages": entries} if entries else {}


def stages_of(entry: Mapping[str, Any]) -> list[Stage]:
    """The stages whose seconds are recorded in a manifest, or in the entry of a language."""
    seconds, memory = (_mapping(entry.get(name)) for name in ("seconds", "peak_memory_mb"))
    return [(stage, _number(seconds[stage]), _number(memory.get(stage))) for stage in seconds]


def records(manifest: Mapping[str, Any], *languages: str) -> list[Record]:
    """The records of these languages, or of all, without the pivot, which was not mapped."""
    known = _mapping(manifest.get("languages"))
    return [
        _record(language, {**_whole(manifest), **_mapping(known.get(language))})
        for language in languages or known
        if language != manifest.get("pivot")
    ]


def least_certain(found: Sequence[Record]) -> Record | None:
    """The record with the worst verdict, of equals that of the lowest confidence; None if there are none."""
    return min(found, key=_certainty, default=None)


def _certainty(record: Record) -> tuple[int, float]:
    place = LABELS.index(record.label) if record.label in LABELS else LABELS.index(UNKNOWN)
    return place, 1.0 if record.confidence is None else record.confidence


def _whole(manifest: Mapping[str, Any]) -> dict[str, Any]:
    # The manifest's entries for all languages; those of a language take precedence.
    return {key: manifest[key] for key in ("method", "criterion", "verdict", "candidates") if key in manifest}


def _record(language: str, entry: Mapping[str, Any]) -> Record:
    tried = [fields for fields in _list(entry.get("candidates")) if isinstance(fields, Mapping)]
    supervision = supervision_of(entry)
    chosen = _chosen(tried, entry, on_pairs=supervision is not None)
    candidates = tuple(
        CandidateRecord(fields, tuple(_traces(fields.get("history"))), place == chosen)
        for place, fields in enumerate(tried)
    )
    return Record(language, entry, candidates, tuple(_traces(entry.get("history"))), supervision)


def _chosen(tried: list[Mapping[str, Any]], entry: Mapping[str, Any], *, on_pairs: bool) -> int:
    methods = [fields.get("method") for fields in tried]
    if on_pairs and entry.get("method") in methods:  # whatever the verdicts on those without pairs
        return methods.index(entry["method"])
    aligned = [i for i, fields in enumerate(tried) if fields.get("verdict") == "aligned"]
    if aligned:
        return aligned[-1]
    return methods.index(entry.get("method")) if entry.get("method") in methods else -1


def _traces(history: object) -> Iterator[StageCurves]:
    for trace in _list(history):
        fields = _mapping(trace)
        steps, figures = _list(fields.get("steps")), _mapping(fields.get("figures"))
        curves = {name: _curve(steps, _list(values)) for name, values in figures.items()}
        yield StageCurves(
            str(fields.get("stage", "")), {name: curve for name, curve in curves.items() if curve}
        )


def _curve(steps: list[Any], values: list[Any]) -> Curve:
    pairs = [(_number(step), _number(value)) for step, value in zip(steps, values, strict=False)]
    return [(step, value) for step, value in pairs if step is not None and value is not None]


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(value: object) -> float | None:
    return float(value) if is_figure(value) else None
