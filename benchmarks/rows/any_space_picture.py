"""The picture of how few rows are enough, from the rows of benchmarks/rows/any_space.py, as SVG.

python -m benchmarks.rows.any_space_picture [--rows FILE.csv] [--out FILE.svg]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.rows.any_space_table import TOOLS, limits, pair_of, possible
from benchmarks.support.plots import COLOURS, FAINT, plain, write
from benchmarks.support.tables import ROOT

ROWS, OUT = ROOT / "benchmarks/results/rows/any_space.csv", ROOT / "docs/pages/pictures/any-space.svg"
OF_TOOL = dict(zip(("muse", "peer"), COLOURS, strict=False))
ACROSS = 3  # panels side by side
Row = Mapping[str, str]


def several(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """The pairs that were run with more than one number of rows."""
    counts: dict[tuple[str, str], set[str]] = {}
    for one in possible(rows):
        if one["tool"] in OF_TOOL:
            counts.setdefault(pair_of(one), set()).add(one["rows"])
    return [pair for pair, found in counts.items() if len(found) > 1]


def draw(axes: Axes, rows: Sequence[Row], limit: float | None) -> None:
    """A panel: every run as a point, the mean of each tool as a line, Procrustes dashed."""
    for tool, colour in OF_TOOL.items():
        own = [one for one in rows if one["tool"] == tool]
        counts = sorted({int(one["rows"]) for one in own})
        means = [fmean(float(one["top_1"]) for one in own if int(one["rows"]) == count) for count in counts]
        axes.plot(counts, means, color=colour, label=TOOLS[tool])
        axes.scatter([int(one["rows"]) for one in own], [float(one["top_1"]) for one in own], s=12,
                     color=colour, alpha=0.5)  # fmt: skip
    if limit is not None:
        axes.axhline(limit, color=FAINT, linewidth=1, linestyle="--", label=TOOLS["procrustes"])
    axes.set(xscale="log", ylim=(-3, 103), xlim=(800, 130_000))
    axes.set_xticks([1e3, 1e4, 1e5], ["1,000", "10,000", "100,000"])
    plain(axes)


def picture(rows: Sequence[Row]) -> Figure:
    """A panel a pair that was run with several numbers of rows."""
    pairs, limit = several(rows), limits(rows)
    down = -(-len(pairs) // ACROSS)
    figure = Figure(figsize=(8.4, 0.6 + 2.2 * down), layout="constrained")
    panels = figure.subplots(down, ACROSS, squeeze=False, sharex=True, sharey=True).flat
    for pair, axes in zip(pairs, panels, strict=False):  # in this order: it takes no panel too many
        draw(axes, [one for one in possible(rows) if pair_of(one) == pair], limit.get(pair))
        axes.set_title(" and ".join(pair), loc="left", fontsize=10)
    for axes in list(panels):
        axes.set_axis_off()
    first = figure.axes[0]
    figure.legend(*first.get_legend_handles_labels(), loc="outside upper left", ncols=3, frameon=False)
    figure.supxlabel("rows a side", fontsize=10)
    figure.supylabel("top-1 of 8,192 in %", fontsize=10)
    return figure


def main() -> None:
    """Writes the picture."""
    write(picture, ROWS, OUT)


if __name__ == "__main__":
    main()
