"""Curves: what each stage of the run reported, step by step, and why a curve falls where it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from muse.report.record import Curve, Record, StageCurves

FALL = 0.02  # of a curve's range: smaller falls are noise
STABILISATION = "Stabilisation", "share of pairs kept since the round before", "round"
# The figures worth a panel, by stage: its title, the figure, and what a step is.
SHOWN = {
    ("adversarial", "criterion"): ("Adversarial training", "unsupervised criterion", "epoch"),
    ("adversarial", "loss"): ("Adversarial training", "loss of the discriminator", "epoch"),
    ("adversarial", "defect"): ("Adversarial training", "distance from a rotation, |W Wᵀ − I|", "epoch"),
    ("gromov", "objective"): ("Gromov-Wasserstein matching", "objective", "round"),
    ("features", "objective"): ("Matching of features", "cosine of the matched features", "round"),
    ("stabilise", "kept"): STABILISATION,
    ("settle", "kept"): STABILISATION,  # its name in older spaces
    ("refine", "objective"): ("Refinement", "mean cosine of the pairs found, per word", "round"),
}


@dataclass(frozen=True)
class Series:
    """One curve of a panel; the chosen one stands out."""

    name: str
    points: Curve
    chosen: bool


@dataclass(frozen=True)
class Note:
    """Why the chosen curve falls at a step."""

    step: float
    text: str


@dataclass(frozen=True)
class Panel:
    """The curves of one figure of one stage, with notes on the chosen curve, in the order of steps."""

    title: str
    figure: str
    unit: str
    series: tuple[Series, ...]
    notes: tuple[Note, ...]


def panels(records: Sequence[Record]) -> tuple[Panel, ...]:
    """A panel for each figure of each stage that was recorded; the last refinement comes last."""
    found: list[Panel] = []
    for record in records:
        of = f" of {record.language}" if len(records) > 1 else ""
        tried = [(one.name, one.traces, one.chosen) for one in record.candidates]
        for key in SHOWN:
            found += _panel(key, f"{of}, first rounds" if key[0] == "refine" else of, tried)
        last = [(record.entry.get("method") or "chosen", record.refinement, True)]
        for key in SHOWN:
            found += _panel(key, f"{of}, last rounds", last)
    return tuple(found)


def _panel(
    key: tuple[str, str], of: str, runs: Sequence[tuple[str, Sequence[StageCurves], bool]]
) -> Iterator[Panel]:
    stage, figure = key
    series, notes = [], []
    for name, traces, chosen in runs:
        blocks = [trace for trace in traces if trace.stage == stage and figure in trace.curves]
        curve, reasons = joined(blocks, figure)
        if curve:
            series.append(Series(name, curve, chosen))
            notes += falls(curve, reasons) if chosen else []
    if series:
        title, called, unit = SHOWN[key]
        yield Panel(title + of, called, unit, tuple(series), tuple(notes))


def joined(blocks: Sequence[StageCurves], figure: str) -> tuple[Curve, dict[float, str]]:
    """The curves of consecutive runs of a stage as one, and what changed at a step: a reason for a fall."""
    curve: Curve = []
    reasons: dict[float, str] = {}
    before: dict[str, float] = {}
    for block in blocks:
        start = curve[-1][0] if curve else 0.0
        known = {name: dict(points) for name, points in block.curves.items()}
        for place, (step, value) in enumerate(block.curves[figure]):
            now = {name: values[step] for name, values in known.items() if step in values}
            reason = _reason(before, now, place)
            if curve and reason:
                reasons[start + step] = reason
            curve.append((start + step, value))
            before = now
    return curve, reasons


def _reason(before: dict[str, float], now: dict[str, float], place: int) -> str:
    if "words" in now and before.get("words", now["words"]) != now["words"]:
        return f"rarer words join: {before['words']:,.0f} → {now['words']:,.0f}"
    if "epsilon" in now and now["epsilon"] < before.get("epsilon", 0):
        return f"sharper matching: entropy weight {now['epsilon']:g}"
    if "words" in now and place == 0:
        return "a new series of rounds starts"
    if "words" in now and place == 1:
        return "pairs are scored by mappings not fitted to them"
    return ""


def falls(curve: Curve, reasons: dict[float, str]) -> list[Note]:
    """A note at each fall of a curve that is more than noise and has a known reason."""
    values = [value for _, value in curve]
    least = FALL * (max(values) - min(values))
    return [
        Note(step, reasons[step])
        for (_, before), (step, value) in zip(curve, curve[1:], strict=False)
        if before - value > least and step in reasons
    ]
