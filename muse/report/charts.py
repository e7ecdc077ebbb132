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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
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


class Stroke(NamedTuple):
    """A line through points, or the outline of an area; `style` is its class in the style sheet."""

    points: Sequence[Point]
    style: str


class Dot(NamedTuple):
    """A disc, or a diamond of the same area, of a radius."""

    at: Point
    radius: float
    style: str
    diamond: bool = False


class Caption(NamedTuple):
    """A text, anchored at its start, middle or end."""

    at: Point
    text: str
    style: str
    anchor: str = "start"


@dataclass
class Drawing:
    """What to draw, in order, and `alt`, which says the same in words."""

    width: float
    height: float
    alt: str = ""
    strokes: list[Stroke] = field(default_factory=list)
    dots: list[Dot] = field(default_factory=list)
    captions: list[Caption] = field(default_factory=list)


class Frame(NamedTuple):
    """The pixels of a chart's area, and the ranges of the data in it."""

    left: float
    top: float
    right: float
    bottom: float
    x: tuple[float, float]
    y: tuple[float, float]

    def at(self, x: float, y: float) -> Point:
        """The place of a point of the data."""
        shares = (
            (value - low) / (high - low) if high > low else 0.5
            for value, (low, high) in ((x, self.x), (y, self.y))
        )
        across, up = shares
        return self.left + (self.right - self.left) * across, self.bottom - (self.bottom - self.top) * up

    def stroke(self, points: Iterable[Point], style: str) -> Stroke:
        """The line through points of the data."""
        return Stroke([self.at(*point) for point in points], style)

    def draw_axes(
        self, drawing: Drawing, x_ticks: Iterable[float], y_ticks: Iterable[float], unit: str = ""
    ) -> None:
        """Draws the lines across the area at the ticks of y, the axis of x, and the numbers of all ticks."""
        for y in y_ticks:
            drawing.strokes.append(self.stroke([(self.x[0], y), (self.x[1], y)], "rule"))
            left, at = self.at(self.x[0], y)
            drawing.captions.append(Caption((left - 6, at + 4), f"{y:g}{unit}", "tick", "end"))
        for x in x_ticks:
            at, bottom = self.at(x, self.y[0])
            drawing.captions.append(Caption((at, bottom + 16), f"{x:g}{unit}", "tick", "middle"))
        drawing.strokes.append(self.stroke([(self.x[0], self.y[0]), (self.x[1], self.y[0])], "axis"))


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


class Drawings(NamedTuple):
    """The charts of a page, None where there is nothing to draw; `narrow` is the map on a phone.

    `fluctuates` is whether a curve falls where no note says why.
    """

    panels: list[Drawing]
    reliability: Drawing | None
    map: Drawing | None
    narrow: Drawing | None
    fluctuates: bool


def drawings(facts: Facts) -> Drawings:
    """The charts of a report."""
    found = panels(facts.records)
    reliable = None if facts.accuracy is None else facts.accuracy.reliability
    unexplained = (
        after < before and not (series.chosen and step in dict(panel.notes))
        for panel in found
        for series in panel.series
        for (_, before), (step, after) in pairwise(series.points)
    )
    return Drawings(
        [*map(panel_drawing, found)], None if reliable is None else reliability_drawing(reliable),
        map_drawing(facts.picture, *WIDE), map_drawing(facts.picture, *NARROW), any(unexplained),
    )  # fmt: skip


class Series(NamedTuple):
    """One curve of a panel; the chosen one stands out."""

    name: str
    points: Curve
    chosen: bool


class Panel(NamedTuple):
    """The curves of one figure of one stage, and notes: the steps at which the chosen one falls, and why."""

    title: str
    figure: str
    unit: str
    series: list[Series]
    notes: list[tuple[float, str]]


def panels(records: Sequence[LanguageRecord]) -> list[Panel]:
    """A panel for each figure of each stage that was recorded; the last refinement comes last."""
    found = []
    for record in records:
        of = f" of {record.language}" if len(records) > 1 else ""
        tried = [(one.name, one.traces, one.chosen) for one in record.candidates]
        last = [(record.method or "chosen", record.history, True)]
        for runs, rounds in ((tried, "first"), (last, "last")):
            for (stage, figure), (title, called, unit) in SHOWN.items():
                series, notes = [], []
                for name, traces, chosen in runs:
                    blocks = [trace for trace in traces if trace.stage == stage and figure in trace.curves]
                    curve, reasons = joined(blocks, figure)
                    if curve:
                        series.append(Series(name, curve, chosen))
                        notes += falls(curve, reasons) if chosen else []
                if series:
                    more = f", {rounds} rounds" if stage == "refine" or runs is last else ""
                    found.append(Panel(f"{title}{of}{more}", called, unit, series, notes))
    return found


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
        for (_, before), (step, value) in pairwise(curve)
        if before - value > least and step in reasons
    ]


def panel_drawing(panel: Panel) -> Drawing:
    """The curves of a panel, numbered notes where the chosen one falls, and what all of it is called."""
    named = len(panel.series) * (len(panel.series) > 1)  # a lone curve needs no name
    steps, values = zip(*(point for series in panel.series for point in series.points), strict=True)
    low, high = min(values), max(values)
    margin = (high - low) / 12 or abs(high) / 12 or 1.0
    frame = Frame(52, 44, WIDTH - 12, 204, (min(steps), max(steps)), (low - margin, high + 2 * margin))
    made = Drawing(WIDTH, BELOW - 8 + (named + len(panel.notes)) * LINE)
    whole = [step for step in ticks(*frame.x, 8) if step == int(step)]
    frame.draw_axes(made, whole, ticks(*frame.y, 6))
    made.captions += [
        Caption((0, 14), panel.title, "title"),
        Caption((0, 31), panel.figure, "tick"),
        Caption((WIDTH - 12, 236), panel.unit, "tick", "end"),
    ]
    # The chosen one is drawn last, above the others.
    styled = [(one, f"other{place % STYLES}") for place, one in enumerate(panel.series) if not one.chosen]
    styled += [(one, "chosen") for one in panel.series if one.chosen]
    for place, (series, style) in enumerate(styled):
        made.strokes.append(frame.stroke(series.points, f"curve {style}"))
        if series.chosen or len(series.points) == 1:
            made.dots += [Dot(frame.at(*point), 2.5, style) for point in series.points]
        if named:
            y = BELOW + place * LINE
            made.strokes.append(Stroke([(0, y - 4), (26, y - 4)], f"curve {style}"))
            made.captions.append(Caption((34, y), series.name + ", chosen" * series.chosen, "name"))
    for number, (step, reason) in enumerate(panel.notes, start=1):
        x, y = frame.at(step, 0)[0], BELOW + (named + number - 1) * LINE
        made.strokes.append(Stroke([(x, frame.top + BADGE), (x, frame.bottom)], "because"))
        for at in ((x, frame.top), (BADGE, y - 4)):
            made.dots.append(Dot(at, BADGE, "badge"))
            made.captions.append(Caption((at[0], at[1] + 4), str(number), "number", "middle"))
        made.captions.append(Caption((2 * BADGE + 6, y), reason, "name"))
    curves = "; ".join(
        f"{one.name}{' (chosen)' * one.chosen} from {one.points[0][1]:.3g} to {one.points[-1][1]:.3g}"
        for one in panel.series
    )
    why = "".join(f" It falls at {panel.unit} {step:g}: {reason}." for step, reason in panel.notes)
    made.alt = f"{panel.title}: {panel.figure}, by {panel.unit}: {curves}.{why}"
    return made


def reliability_drawing(found: Reliability) -> Drawing:
    """Predicted probability against the share found right, a disc for each bin."""
    frame, made = Frame(48, 32, WIDTH - 24, 318, (0, 100), (0, 100)), Drawing(WIDTH, 362)
    frame.draw_axes(made, range(0, 101, 20), range(0, 101, 20), " %")
    made.strokes.append(frame.stroke([(0, 0), (100, 100)], "because"))
    middle = (frame.left + frame.right) / 2
    made.captions.append(Caption((middle, 354), "predicted probability", "name", "middle"))
    made.captions.append(Caption((0, 14), "share found right", "name"))
    most = max(one.found.queries for one in found.bins)
    for one in found.bins:
        made.strokes.append(frame.stroke([(one.predicted, end) for end in one.found.ci95], "range one"))
        size = 3 + 5 * math.sqrt(one.found.queries / most)
        made.dots.append(Dot(frame.at(one.predicted, one.found.p_at_1), size, "one"))
    bins = (f"{one.predicted:.0f} % predicted, {one.found.p_at_1:.0f} % right" for one in found.bins)
    made.alt = f"Predicted probability against the share found right: {', '.join(bins)}."
    return made


def map_drawing(picture: Picture, width: float, height: float) -> Drawing | None:
    """The picture with a line between translations; None if it has no words."""
    p = len(picture.pairs)
    if not p:
        return None
    (left, top), (right, bottom) = (
        ends.tolist() for ends in (picture.places.min(axis=0), picture.places.max(axis=0))
    )
    frame = Frame(MARGIN, MARGIN, width - MARGIN, height - MARGIN, (left, right), (top, bottom))
    points = [frame.at(x, y) for x, y in picture.places.tolist()]
    words = [pair[side] for side in (0, 1) for pair in picture.pairs]
    styles = ["one"] * p + ["two"] * p
    alt = (
        f"{p} words of {picture.source} and their translations into {picture.target} on a plane, each pair "
        "joined by a line: " + ", ".join(" and ".join(pair) for pair in picture.pairs[:12])
        + (" and others." if p > 12 else ".")
    )  # fmt: skip
    return Drawing(
        width, height, alt,
        [Stroke(ends, "link") for ends in zip(points[:p], points[p:], strict=True)],
        [Dot(at, RADIUS, style, style == "two") for at, style in zip(points, styles, strict=True)],
        [*labels(points, words, styles, (width, height))],
    )  # fmt: skip


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
