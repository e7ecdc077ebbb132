"""The picture of what sentence encoders cost and reach, from the rows of which_encoder.py, as SVG.

python -m benchmarks.sentences.which_encoder_picture [--rows FILE.csv] [--out FILE.svg]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.support.plots import COLOURS, plain, write
from benchmarks.support.tables import ROOT

ROWS = ROOT / "benchmarks/results/sentences/which_encoder.csv"
OUT = ROOT / "docs/pages/pictures/which-encoder.svg"
KINDS = {"untrained": COLOURS[0], "trained": COLOURS[1], "published": COLOURS[2]}
PANELS = {"sts_en": "Similarity in English: Spearman x 100", "p_at_1": "Finds the translation: P@1 in %"}
LEFT = ("static", "distilled", "lens", "idf", "power-mean", "x-cbow")  # names to the left of their points
NEAR = 4.5  # of the height of a panel in percent: names nearer than that are moved apart


def label(row: Mapping[str, str]) -> str:
    """The name of an encoder, and how long muse trained it."""
    return (
        f"{row['encoder']}, {float(row['training_s']):.0f} s" if row["kind"] == "trained" else row["encoder"]
    )


def draw(axes: Axes, rows: Sequence[Mapping[str, str]], column: str) -> None:
    """A panel: a column by speed, every encoder with its name and its interval."""
    placed: dict[bool, list[float]] = {True: [], False: []}  # heights, to the left and to the right
    found = sorted((one for one in rows if one[column]), key=lambda one: float(one[column]))
    for one in found:
        x, y = float(one["sentences_per_s"]), float(one[column])
        colour = KINDS[one["kind"]]
        low, high = (float(one[f"{column}_{end}"]) for end in ("low", "high"))
        axes.errorbar(x, y, [[y - low], [high - y]], fmt="o", markersize=4, linewidth=0.8, color=colour)
        left = one["encoder"] in LEFT
        at = max([y, *(other + NEAR for other in placed[left] if y - NEAR < other < y + NEAR)])
        placed[left].append(at)
        place = (x / 1.3, at) if left else (x * 1.3, at)
        axes.annotate(label(one), (x, y), place, color=colour, fontsize=9, va="center",
                      ha="right" if left else "left")  # fmt: skip
    axes.set(xscale="log", xlabel="sentences a second, one thread", xlim=(40, 3e7), ylim=(0, 103))
    axes.set_title(PANELS[column], loc="left", fontsize=10)
    plain(axes)


def picture(rows: Sequence[Mapping[str, str]]) -> Figure:
    """Similarity and translations side by side."""
    figure = Figure(figsize=(8.4, 4.2), layout="constrained")
    for axes, column in zip(figure.subplots(1, 2), PANELS, strict=True):
        draw(axes, rows, column)
    handles = [figure.axes[0].plot([], [], "o", markersize=4, color=colour)[0] for colour in KINDS.values()]
    figure.legend(handles, list(KINDS), loc="outside upper left", ncols=3, frameon=False)
    return figure


def main() -> None:
    """Writes the picture."""
    write(picture, ROWS, OUT)


if __name__ == "__main__":
    main()
