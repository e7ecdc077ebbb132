"""Labels: words beside their points, where there is space."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = 7.5
# Possible positions of a label: the offset from its point (in typographic points), and its alignment.
STANDS = (
    (5, 0, "left", "center"),
    (-5, 0, "right", "center"),
    (0, 4, "center", "bottom"),
    (0, -4, "center", "top"),
    (4, 4, "left", "bottom"),
    (-4, 4, "right", "bottom"),
    (4, -4, "left", "top"),
    (-4, -4, "right", "top"),
)
POINT = 6.0  # pixels around a point that no label may cover


def label_places(
    figure: Figure,
    axes: Axes,
    places: Sequence[Sequence[float]],
    words: Sequence[str],
    colours: Sequence[str],
) -> int:
    """The number of words written beside their places; a word that would overlap or be cut off is left out.

    So is a word with characters that the font lacks.
    """
    from matplotlib.transforms import Bbox

    figure.draw_without_rendering()  # computes the layout
    # From here on the layout must not change, or the boxes below would be wrong.
    figure.set_layout_engine("none")
    points = axes.transData.transform(places).tolist()
    taken = [Bbox([[x - POINT, y - POINT], [x + POINT, y + POINT]]) for x, y in points]
    written = 0
    for place, word, colour in zip(places, words, colours, strict=True):
        if not can_be_drawn(word):
            continue
        for shift_x, shift_y, across, upright in STANDS:
            text = axes.annotate(
                word, (place[0], place[1]), (shift_x, shift_y), textcoords="offset points",
                ha=across, va=upright, fontsize=SIZE, color=colour, parse_math=False, zorder=3,
            )  # fmt: skip
            box = text.get_window_extent()
            inside = box.x0 >= 0 and box.y0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1
            if inside and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                written += 1
                break
            text.remove()
    return written


def can_be_drawn(word: str) -> bool:
    """Whether the font of the figures has a glyph for every character of the word."""
    return bool(word.strip()) and word.isprintable() and all(ord(sign) in _glyphs() for sign in word)


def drawable(text: str) -> str:
    """The text with a box for every character that the font of the figures lacks."""
    return "".join(sign if sign.isprintable() and ord(sign) in _glyphs() else "\u25a1" for sign in text)


@cache
def _glyphs() -> frozenset[int]:
    from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())
