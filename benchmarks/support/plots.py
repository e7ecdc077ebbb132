"""Plots: what the pictures by matplotlib look like, and how they are written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.support.tables import rows_to_draw

COLOURS = ("#1f5fa8", "#c2410c", "#4b5563")
FAINT = "#6b7280"


def plain(axes: Axes) -> None:
    """A frame of two sides and horizontal lines."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#d1d5db", linewidth=0.7)


def write(picture: Callable[[list[dict[str, str]]], Figure], rows: Path, out: Path) -> None:
    """The picture of the rows of a CSV file, as SVG with text as text, the same bytes every time.

    --rows and --out of the command line name other files.
    """
    found, out = rows_to_draw(rows, out)
    with mpl.rc_context({"svg.hashsalt": "muse", "svg.fonttype": "none", "font.family": "sans-serif"}):
        picture(found).savefig(out, metadata={"Date": None})
