"""Scatter: points of several series as an SVG, with round numbers at the axes and a legend below."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

WIDTH, HEIGHT = 360, 220
COLOURS = ("#1f5fa8", "#c2571a", "#2e8b57", "#888", "#7a3b9a", "#000")
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)


class Point(NamedTuple):
    """A point, the series whose colour it has, and what it is; one that is not filled is a ring."""

    x: float
    y: float
    series: str
    title: str
    filled: bool = True


def scatter(points: Sequence[Point], x_title: str, y_title: str, *, logarithmic: bool = False) -> str:
    """The picture; `logarithmic` is the horizontal axis."""
    across, x_ticks = _axis([point.x for point in points], WIDTH, logarithmic=logarithmic)
    up, y_ticks = _axis([point.y for point in points], HEIGHT)
    series = list(dict.fromkeys(point.series for point in points))
    colours = dict(zip(series, COLOURS, strict=False))
    drawn = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>']
    drawn += [_text(across(tick), HEIGHT + 14, f"{tick:,g}") for tick in x_ticks]
    drawn += [_text(-4, HEIGHT - up(tick) + 4, f"{tick:,g}", "end") for tick in y_ticks]
    for point in points:
        place, colour = f'cx="{across(point.x):.1f}" cy="{HEIGHT - up(point.y):.1f}"', colours[point.series]
        fill = colour if point.filled else "none"
        title = f"<title>{point.title.replace('&', 'and')}</title>"
        drawn.append(f'<circle {place} r="3.5" fill="{fill}" stroke="{colour}">{title}</circle>')
    drawn += [_text(WIDTH / 2, HEIGHT + 30, x_title), _text(-4, -8, y_title, "start")]
    for number, name in enumerate(series):
        x, y = 8 + number % 2 * WIDTH / 2, HEIGHT + 48 + number // 2 * 14
        drawn += [f'<circle cx="{x:g}" cy="{y - 4:g}" r="3.5" fill="{colours[name]}"/>']
        drawn += [_text(x + 8, y, name, "start")]
    height = HEIGHT + 70 + (len(series) + 1) // 2 * 14
    size = f'viewBox="-40 -22 {WIDTH + 60} {height}" font-family="sans-serif" font-size="11"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', *drawn, "</svg>\n"])


def _axis(
    values: Sequence[float], length: float, *, logarithmic: bool = False
) -> tuple[Callable[[float], float], list[float]]:
    """Where a value stands on an axis of this length, and the values written at it."""
    scale: Callable[[float], float] = math.log if logarithmic else float
    low, high = scale(min(values)), scale(max(values))
    edge = (high - low or 1.0) / 20
    low, high = low - edge, high + edge

    def place(value: float) -> float:
        return length * (scale(value) - low) / (high - low)

    if logarithmic:
        ticks = [float(step) for step in (*STEPS, 2_000, 5_000)]
    else:
        step = next(one for one in STEPS if (high - low) / one <= 8)
        ticks = [float(step * number) for number in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return place, [tick for tick in ticks if 0 <= place(tick) <= length]


def _text(x: float, y: float, content: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{content}</text>'
