"""Charts: the panels of the run, and the reliability of probabilities, as drawings."""

from __future__ import annotations

import math
from collections.abc import Sequence

from muse.report.curves import Panel, Series
from muse.report.drawing import Caption, Dot, Drawing, Frame, Stroke, ticks
from muse.report.reliability import Reliability

WIDTH = 360.0  # as wide as a phone shows without shrinking it
LINE = 16.0  # height of a line of text below a chart
STYLES = 6  # of curves that were not chosen
BADGE = 7.5


def panel_drawing(panel: Panel) -> Drawing:
    """The curves of a panel, numbered notes where the chosen one falls, and what all of it is called."""
    rows = len(panel.series) * (len(panel.series) > 1) + len(panel.notes)
    points = [point for series in panel.series for point in series.points]
    steps, values = zip(*points, strict=True)
    frame = Frame(52, 44, WIDTH - 12, 204, (min(steps), max(steps)), _padded(min(values), max(values)))
    strokes, captions = frame.axes(
        [step for step in ticks(min(steps), max(steps), 8) if step == int(step)], ticks(*frame.y, 6)
    )
    captions += [
        Caption((0, 14), panel.title, "title"),
        Caption((0, 31), panel.figure, "tick"),
        Caption((WIDTH - 12, 236), panel.unit, "tick", "end"),
    ]
    dots: list[Dot] = []
    line = 258.0
    for place, (series, style) in enumerate(_styled(panel.series)):
        strokes.append(frame.stroke(series.points, f"curve {style}"))
        if series.chosen or len(series.points) == 1:
            dots += [Dot(frame.at(*point), 2.5, style) for point in series.points]
        if len(panel.series) > 1:
            y = line + place * LINE
            strokes.append(Stroke(((0, y - 4), (26, y - 4)), f"curve {style}"))
            captions.append(Caption((34, y), series.name + ", chosen" * series.chosen, "name"))
    line += LINE * len(panel.series) * (len(panel.series) > 1)
    for number, note in enumerate(panel.notes, start=1):
        y = line + (number - 1) * LINE
        x = frame.at(note.step, 0)[0]
        strokes.append(Stroke(((x, frame.top + BADGE), (x, frame.bottom)), "because"))
        for place_x, place_y in ((x, frame.top), (BADGE, y - 4)):
            dots.append(Dot((place_x, place_y), BADGE, "badge"))
            captions.append(Caption((place_x, place_y + 4), str(number), "number", "middle"))
        captions.append(Caption((2 * BADGE + 6, y), note.text, "name"))
    return Drawing(WIDTH, 250 + rows * LINE, _panel_alt(panel), tuple(strokes), tuple(dots), tuple(captions))


def _padded(low: float, high: float) -> tuple[float, float]:
    room = (high - low) / 12 or abs(high) / 12 or 1.0
    return low - room, high + 2 * room


def _styled(series: Sequence[Series]) -> list[tuple[Series, str]]:
    # The chosen one is drawn last, above the others.
    others = [(one, f"other{place % STYLES}") for place, one in enumerate(series) if not one.chosen]
    return [*others, *((one, "chosen") for one in series if one.chosen)]


def _panel_alt(panel: Panel) -> str:
    curves = "; ".join(
        f"{one.name}{' (chosen)' * one.chosen} from {one.points[0][1]:.3g} to {one.points[-1][1]:.3g}"
        for one in panel.series
    )
    notes = "".join(f" It falls at {panel.unit} {note.step:g}: {note.text}." for note in panel.notes)
    return f"{panel.title}: {panel.figure}, by {panel.unit}: {curves}.{notes}"


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
