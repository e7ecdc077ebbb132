"""The picture of time and memory by the number of words, from the rows of millions.py, as SVG.

python -m benchmarks.scale.millions_picture [--rows FILE.csv] [--out FILE.svg]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.support.plots import COLOURS, FAINT, plain, write
from benchmarks.support.tables import ROOT

ROWS, OUT = ROOT / "benchmarks/results/scale/millions.csv", ROOT / "docs/pages/pictures/millions.svg"
COMMANDS = dict(zip(("align", "induce"), COLOURS, strict=False))


def draw(axes: Axes, rows: Sequence[Mapping[str, str]], column: str, scale: float, title: str) -> None:
    """A panel: a column of both commands by the number of words."""
    for command, colour in COMMANDS.items():
        own = [row for row in rows if row["stage"] == command]
        words = [int(row["words"]) for row in own]
        values = [float(row[column]) * scale for row in own]
        axes.plot(words, values, marker="o", color=colour)
        above = 5 if command == "align" else -5  # so that the names do not touch
        axes.annotate(command, (words[-1], values[-1]), (6, above), textcoords="offset points", color=colour,
                      va="center", weight="bold")  # fmt: skip
    axes.set_title(title, loc="left", fontsize=11)
    axes.set(xscale="log", xlabel="words a side")
    axes.set_xlim(None, 5e6)
    axes.set_xticks([1e4, 1e5, 1e6], ["10,000", "100,000", "1,000,000"])
    plain(axes)


def picture(rows: Sequence[Mapping[str, str]]) -> Figure:
    """Seconds and memory side by side."""
    figure = Figure(figsize=(8.4, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw(left, rows, "seconds", 1, "Seconds on two cores")
    left.set(yscale="log")
    draw(right, rows, "peak_mb", 1e-3, "Peak of memory in GB")
    right.set_ylim(0, 8.4)
    right.axhline(8, color=FAINT, linewidth=0.8, linestyle="--")
    right.annotate("8 GB", (1e4, 8), (0, -11), textcoords="offset points", color=FAINT, fontsize=9)
    return figure


def main() -> None:
    """Writes the picture."""
    write(picture, ROWS, OUT)


if __name__ == "__main__":
    main()
