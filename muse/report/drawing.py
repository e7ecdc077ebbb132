"""Drawing: strokes, dots and captions on a plane of pixels, for SVG; a frame maps data to the plane."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

Point = tuple[float, float]


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


@dataclass(frozen=True)
class Caption:
    """A text, anchored at its start, middle or end."""

    at: Point
    text: str
    style: str
    anchor: str = "start"


@dataclass(frozen=True)
class Drawing:
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


NARROWEST = 1e-300  # range that has ticks: parts of a smaller one are no numbers any more


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
