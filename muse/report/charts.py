"""Charts: all drawings of a report, as data for SVG: strokes, dots and captions on a plane of pixels.

* panels       what each stage of the run reported, step by step, and why a curve falls where it does
* reliability  whether probabilities are as high as they should be
* map          the words of both languages on a plane, labelled where there is space

Ours, since a style sheet colours it, in dark mode too: matplotlib takes a hundred times as long and fixes its
colours, pygal's SVG is ten times as large, and neither labels points where there is space nor numbers falls.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from muse.files.space_manifest import Curve, LanguageRecord, StageCurves
from muse.report.facts import Facts
from muse.report.measured import Reliability
from muse.report.word_map import Picture

FALL = 0.02  # of a curve's range: smaller falls are noise
# The figures worth a panel, by stage: its title, the figure, and what a step is.
SHOWN = {
    ("adversarial", "criterion"): ("Adversarial training", "unsupervised criterion", "epoch"),
    ("adversarial", "loss"): ("Adversarial training", "loss of the discriminator", "epoch"),
    ("adversarial", "defect"): ("Adversarial training", "distance from a rotation, |W Wᵀ − I|", "epoch"),
    ("gromov", "objective"): ("Gromov-Wasserstein matching", "objective", "round"),
    ("features", "objective"): ("Matching of features", "cosine of the matched features", "round"),
    ("stabilise", "kept"): ("Stabilisation", "share of pairs kept since the round before", "round"),
    ("refine", "objective"): ("Refinement", "mean cosine of the pairs found, per word", "round"),
}
WIDTH = 360.0  # as wide as a phone shows without shrinking it
LINE, BELOW = 16.0, 258.0  # the height of a line of text below a chart, and where the first one stands
STYLES = 6  # of curves that were not chosen
BADGE = 7.5
SIZE = 11.0  # of a label, in pixels
RADIUS = 3.5
MARGIN = 14.0
NARROWEST = 1e-300  # range that has ticks: parts of a smaller one are no numbers any more
Point = tuple[float, float]
Box = tuple[float, float, float, float]  # left, top, right, bottom
# Where a label may stand: the offset of its anchor from the point, and the anchor.
STANDS = (
    (7.0, 4.0, "start"),
    (-7.0, 4.0, "end"),
    (0.0, -7.0, "middle"),
    (0.0, 15.0, "middle"),
    (5.0, -4.0, "start"),
    (-5.0, -4.0, "end"),
    (5.0, 12.0, "start"),
    (-5.0, 12.0, "end"),
)
WIDE, NARROW = (860.0, 620.0), (330.0, 560.0)  # of the map, on a screen and on a phone


@dataclass(frozen=True)
class Stroke:
    """A line through points, or the outline of an area; `style` is its class in the style sheet."""

    points: tuple[Point, ...]
    style: str

    @property
    def path(self) -> str:
        """The points as SVG has them."""
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in self.points)


@dataclass(frozen=True)
class Dot:
    """A disc, or a diamond of the same area, of a radius."""

    at: Point
    radius: float
    style: str
    diamond: bool = False

    @property
    def path(self) -> str:
        """The corners of the diamond as SVG has them."""
        (x, y), half = self.at, self.radius * math.sqrt(math.pi / 2)
        return f"{x - half:.1f},{y:.1f} {x:.1f},{y - half:.1f} {x + half:.1f},{y:.1f} {x:.1f},{y + half:.1f}"


class Caption(NamedTuple):
    """A text, anchored at its start, middle or end."""

    at: Point
    text: str
    style: str
    anchor: str = "start"


class Drawing(NamedTuple):
    """What to draw, in order, and `alt`, which says the same in words."""

    width: float
    height: float
    alt: str
    strokes: tuple[Stroke, ...]
    dots: tuple[Dot, ...]
    captions: tuple[Caption, ...]


@dataclass(frozen=True)
class Frame:
    """The pixels of a chart's area, and the ranges of the data in it."""

    left: float
    top: float
    right: float
    bottom: float
    x: tuple[float, float]
    y: tuple[float, float]

    def at(self, x: float, y: float) -> Point:
        """The place of a point of the data."""
        return (
            self.left + (self.right - self.left) * _share(x, self.x),
            self.bottom - (self.bottom - self.top) * _share(y, self.y),
        )

    def stroke(self, points: Iterable[Point], style: str) -> Stroke:
        """The line through points of the data."""
        return Stroke(tuple(self.at(*point) for point in points), style)

    def axes(self, x_ticks: Iterable[float], y_ticks: Iterable[float], unit: str = "") -> tuple[
        list[Stroke], list[Caption]
    ]:  # fmt: skip
        """The lines across the area at the ticks of y, the axis of x, and the numbers of all ticks."""
        strokes, captions = [], []
        for y in y_ticks:
            strokes.append(self.stroke([(self.x[0], y), (self.x[1], y)], "rule"))
            place = self.at(self.x[0], y)
            captions.append(Caption((place[0] - 6, place[1] + 4), f"{y:g}{unit}", "tick", "end"))
        for x in x_ticks:
            place = self.at(x, self.y[0])
            captions.append(Caption((place[0], place[1] + 16), f"{x:g}{unit}", "tick", "middle"))
        strokes.append(self.stroke([(self.x[0], self.y[0]), (self.x[1], self.y[0])], "axis"))
        return strokes, captions


def _share(value: float, limits: tuple[float, float]) -> float:
    low, high = limits
    return (value - low) / (high - low) if high > low else 0.5


def ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers from `low` to `high`, `most` + 1 at most, a power of ten times 1, 2 or 5 apart.

    >>> ticks(0.24, 0.33, 5)
    [0.24, 0.26, 0.28, 0.3, 0.32]
    """
    if not high - low > NARROWEST:
        return [low]
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [float(f"{place * step:.10g}") for place in range(first, math.floor(high / step + 1e-9) + 1)]


@dataclass(frozen=True)
class Drawings:
    """The charts of a page, None where there is nothing to draw; `narrow` is the map on a phone.

    `fluctuates` is whether a curve falls where no note says why.
    """

    panels: tuple[Drawing, ...]
    reliability: Drawing | None
    map: Drawing | None
    narrow: Drawing | None
    fluctuates: bool

    def named(self) -> dict[str, Drawing]:
        """The charts that can stand alone, by name."""
        found = {f"run-{number}": panel for number, panel in enumerate(self.panels, start=1)}
        more = {"reliability": self.reliability, "map": self.map}
        return found | {name: drawing for name, drawing in more.items() if drawing is not None}


def drawings(facts: Facts) -> Drawings:
    """The charts of a report."""
    found = panels(facts.records)
    reliable = None if facts.accuracy is None else facts.accuracy.reliability
    return Drawings(
        tuple(map(panel_drawing, found)), None if reliable is None else reliability_drawing(reliable),
        map_drawing(facts.picture, *WIDE), map_drawing(facts.picture, *NARROW),
        any(map(_fluctuates, found)),
    )  # fmt: skip


def _fluctuates(panel: Panel) -> bool:
    noted = dict(panel.notes)
    return any(
        after < before and not (series.chosen and step in noted)
        for series in panel.series
        for (_, before), (step, after) in zip(series.points, series.points[1:], strict=False)
    )


class Series(NamedTuple):
    """One curve of a panel; the chosen one stands out."""

    name: str
    points: Curve
    chosen: bool


@dataclass(frozen=True)
class Panel:
    """The curves of one figure of one stage, and notes: the steps at which the chosen one falls, and why."""

    title: str
    figure: str
    unit: str
    series: tuple[Series, ...]
    notes: tuple[tuple[float, str], ...]


def panels(records: Sequence[LanguageRecord]) -> tuple[Panel, ...]:
    """A panel for each figure of each stage that was recorded; the last refinement comes last."""
    found: list[Panel] = []
    for record in records:
        of = f" of {record.language}" if len(records) > 1 else ""
        tried = [(one.name, one.traces, one.chosen) for one in record.candidates]
        last = [(record.method or "chosen", record.history, True)]
        for runs, rounds in ((tried, "first"), (last, "last")):
            for stage, figure in SHOWN:
                named = f"{of}, {rounds} rounds" if stage == "refine" or runs is last else of
                found += _panel(stage, figure, named, runs)
    return tuple(found)


def _panel(
    stage: str, figure: str, of: str, runs: Sequence[tuple[str, Sequence[StageCurves], bool]]
) -> Iterator[Panel]:
    series, notes = [], []
    for name, traces, chosen in runs:
        blocks = [trace for trace in traces if trace.stage == stage and figure in trace.curves]
        curve, reasons = joined(blocks, figure)
        if curve:
            series.append(Series(name, curve, chosen))
            notes += falls(curve, reasons) if chosen else []
    if series:
        title, called, unit = SHOWN[stage, figure]
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


def falls(curve: Curve, reasons: dict[float, str]) -> list[tuple[float, str]]:
    """The steps of the falls of a curve that are more than noise and have a known reason, and the reasons."""
    values = [value for _, value in curve]
    least = FALL * (max(values) - min(values))
    return [
        (step, reasons[step])
        for (_, before), (step, value) in zip(curve, curve[1:], strict=False)
        if before - value > least and step in reasons
    ]


def panel_drawing(panel: Panel) -> Drawing:
    """The curves of a panel, numbered notes where the chosen one falls, and what all of it is called."""
    named = len(panel.series) * (len(panel.series) > 1)  # a lone curve needs no name
    points = [point for series in panel.series for point in series.points]
    steps, values = zip(*points, strict=True)
    low, high = min(values), max(values)
    margin = (high - low) / 12 or abs(high) / 12 or 1.0
    frame = Frame(52, 44, WIDTH - 12, 204, (min(steps), max(steps)), (low - margin, high + 2 * margin))
    strokes, captions = frame.axes(
        [step for step in ticks(min(steps), max(steps), 8) if step == int(step)], ticks(*frame.y, 6)
    )
    captions += [
        Caption((0, 14), panel.title, "title"),
        Caption((0, 31), panel.figure, "tick"),
        Caption((WIDTH - 12, 236), panel.unit, "tick", "end"),
    ]
    dots: list[Dot] = []
    # The chosen one is drawn last, above the others.
    styled = [(one, f"other{place % STYLES}") for place, one in enumerate(panel.series) if not one.chosen]
    styled += [(one, "chosen") for one in panel.series if one.chosen]
    for place, (series, style) in enumerate(styled):
        strokes.append(frame.stroke(series.points, f"curve {style}"))
        if series.chosen or len(series.points) == 1:
            dots += [Dot(frame.at(*point), 2.5, style) for point in series.points]
        if named:
            y = BELOW + place * LINE
            strokes.append(Stroke(((0, y - 4), (26, y - 4)), f"curve {style}"))
            captions.append(Caption((34, y), series.name + ", chosen" * series.chosen, "name"))
    for number, (step, reason) in enumerate(panel.notes, start=1):
        y = BELOW + (named + number - 1) * LINE
        x = frame.at(step, 0)[0]
        strokes.append(Stroke(((x, frame.top + BADGE), (x, frame.bottom)), "because"))
        for at in ((x, frame.top), (BADGE, y - 4)):
            dots.append(Dot(at, BADGE, "badge"))
            captions.append(Caption((at[0], at[1] + 4), str(number), "number", "middle"))
        captions.append(Caption((2 * BADGE + 6, y), reason, "name"))
    curves = "; ".join(
        f"{one.name}{' (chosen)' * one.chosen} from {one.points[0][1]:.3g} to {one.points[-1][1]:.3g}"
        for one in panel.series
    )
    alt = f"{panel.title}: {panel.figure}, by {panel.unit}: {curves}." + "".join(
        f" It falls at {panel.unit} {step:g}: {reason}." for step, reason in panel.notes
    )
    height = BELOW - 8 + (named + len(panel.notes)) * LINE
    return Drawing(WIDTH, height, alt, tuple(strokes), tuple(dots), tuple(captions))


def reliability_drawing(found: Reliability) -> Drawing:
    """Predicted probability against the share found right, a disc for each bin."""
    frame = Frame(48, 32, WIDTH - 24, 318, (0, 100), (0, 100))
    strokes, captions = frame.axes(range(0, 101, 20), range(0, 101, 20), " %")
    strokes.append(frame.stroke([(0, 0), (100, 100)], "because"))
    captions.append(Caption(((frame.left + frame.right) / 2, 354), "predicted probability", "name", "middle"))
    captions.append(Caption((0, 14), "share found right", "name"))
    most = max(one.found.queries for one in found.bins)
    dots = []
    for one in found.bins:
        low, high = one.found.ci95
        strokes.append(frame.stroke([(one.predicted, low), (one.predicted, high)], "range one"))
        size = 3 + 5 * math.sqrt(one.found.queries / most)
        dots.append(Dot(frame.at(one.predicted, one.found.p_at_1), size, "one"))
    alt = "Predicted probability against the share found right: " + ", ".join(
        f"{one.predicted:.0f} % predicted, {one.found.p_at_1:.0f} % right" for one in found.bins
    )
    return Drawing(WIDTH, 362, alt + ".", tuple(strokes), tuple(dots), tuple(captions))


def map_drawing(picture: Picture, width: float, height: float) -> Drawing | None:
    """The picture with a line between translations; None if it has no words."""
    p = len(picture.pairs)
    if not p:
        return None
    left, top = picture.places.min(axis=0).tolist()
    right, bottom = picture.places.max(axis=0).tolist()
    frame = Frame(MARGIN, MARGIN, width - MARGIN, height - MARGIN, (left, right), (top, bottom))
    points = [frame.at(x, y) for x, y in picture.places.tolist()]
    words = [word for word, _ in picture.pairs] + [word for _, word in picture.pairs]
    styles = ["one"] * p + ["two"] * p
    links = tuple(Stroke(ends, "link") for ends in zip(points[:p], points[p:], strict=True))
    dots = tuple(
        Dot(at, RADIUS, style, diamond=style == "two") for at, style in zip(points, styles, strict=True)
    )
    captions = tuple(labels(points, words, styles, (width, height)))
    alt = (
        f"{p} words of {picture.source} and their translations into {picture.target} on a plane, each pair "
        "joined by a line: " + ", ".join(" and ".join(pair) for pair in picture.pairs[:12])
        + (" and others." if p > 12 else ".")
    )  # fmt: skip
    return Drawing(width, height, alt, links, dots, captions)


def labels(
    points: Sequence[Point], words: Sequence[str], styles: Sequence[str], size: tuple[float, float]
) -> Iterable[Caption]:
    """The words that can be written beside their points without covering another or leaving the drawing."""
    near = RADIUS + 1
    taken = [(x - near, y - near, x + near, y + near) for x, y in points]
    for (x, y), word, style in zip(points, words, styles, strict=True):
        for across, down, anchor in STANDS:
            at = (x + across, y + down)
            box = extent(at, word, anchor)
            left, top, right, bottom = box
            inside = left >= 0 and top >= 0 and right <= size[0] and bottom <= size[1]
            if inside and not any(
                left < other[2] and other[0] < right and top < other[3] and other[1] < bottom
                for other in taken
            ):
                taken.append(box)
                yield Caption(at, word, f"word {style}", anchor)
                break


def extent(at: Point, word: str, anchor: str) -> Box:
    """The box of a word at its place: an estimate, since the reader's browser chooses the font."""
    width = SIZE * sum(map(_width, word))
    left = at[0] - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    return left - 2, at[1] - 0.85 * SIZE, left + width + 2, at[1] + 0.3 * SIZE


def _width(sign: str) -> float:
    if unicodedata.combining(sign):
        return 0.0
    if unicodedata.east_asian_width(sign) in "WF":
        return 1.0
    return 0.34 if sign in "fijlrt'" else 0.9 if sign in "mwMW" else 0.62
