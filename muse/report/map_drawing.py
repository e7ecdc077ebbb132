"""Map: the words of both languages on a plane as a drawing, labelled where there is space."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from muse.picture import Picture
from muse.report.drawing import Caption, Dot, Drawing, Frame, Point, Stroke

SIZE = 11.0  # of a label, in pixels
RADIUS = 3.5
MARGIN = 14.0
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
    return Drawing(width, height, _alt(picture), links, dots, captions)


def _alt(picture: Picture) -> str:
    return (
        f"{len(picture.pairs)} words of {picture.source} and their translations into {picture.target} on a "
        "plane, each pair joined by a line: " + ", ".join(" and ".join(pair) for pair in picture.pairs[:12])
        + (" and others." if len(picture.pairs) > 12 else ".")
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
            if _inside(box, size) and not any(_overlap(box, other) for other in taken):
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


def _inside(box: Box, size: tuple[float, float]) -> bool:
    return box[0] >= 0 and box[1] >= 0 and box[2] <= size[0] and box[3] <= size[1]


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
