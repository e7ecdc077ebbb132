"""Drawings: all charts of a report."""

from __future__ import annotations

from dataclasses import dataclass

from muse.report.charts import panel_drawing, reliability_drawing
from muse.report.curves import Panel, panels
from muse.report.drawing import Drawing
from muse.report.facts import Facts
from muse.report.map_drawing import map_drawing

WIDE, NARROW = (860.0, 620.0), (330.0, 560.0)  # of the map, on a screen and on a phone


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
        """Those that can stand alone, by name."""
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
    noted = {note.step for note in panel.notes}
    return any(
        after < before and not (series.chosen and step in noted)
        for series in panel.series
        for (_, before), (step, after) in zip(series.points, series.points[1:], strict=False)
    )
