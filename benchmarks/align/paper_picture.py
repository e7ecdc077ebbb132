"""Figure 4.2 of Conneau's thesis (2019): criterion and accuracy of adversarial training, as an SVG.

    python -m benchmarks.align.paper_picture [--pair zhang-es-en] [--out FILE.svg]

From paper_recipe_epochs.csv: a panel a seed, the criterion in black and P@1 by CSLS in blue, as there, and
dashed those of the refined mappings.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.support.kept_rows import read_rows
from benchmarks.support.options import command_line
from benchmarks.support.tables import ROOT

RESULTS = ROOT / "benchmarks" / "results" / "align"
WIDTH, HEIGHT, EDGE = 200, 150, 34  # of a panel, and around it
CRITERION, ACCURACY = (0.55, 0.85), (0.0, 80.0)  # the ends of both axes
CURVES = (
    ("criterion", CRITERION, "#000", ""), ("refined_criterion", CRITERION, "#000", "4 3"),
    ("p_at_1_csls", ACCURACY, "#1f5fa8", ""), ("refined_p_at_1_csls", ACCURACY, "#1f5fa8", "4 3"),
)  # fmt: skip
Row = Mapping[str, str]


def curve(rows: Sequence[Row], name: str, ends: tuple[float, float], steps: float) -> str:
    """The points of a column, from the lower left corner of a panel."""
    low, high = ends
    places = ((float(row["steps"]) / steps, (float(row[name]) - low) / (high - low)) for row in rows)
    return " ".join(f"{WIDTH * x:.1f},{HEIGHT * (1 - y):.1f}" for x, y in places)


def text(x: float, y: float, content: str, anchor: str = "middle", colour: str = "#000") -> str:
    """A caption."""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{colour}">{content}</text>'


def panel(rows: Sequence[Row], steps: float) -> list[str]:
    """The frame, axes and curves of a seed."""
    drawn = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>']
    for place in (0, 0.5, 1):
        across, up = WIDTH * place, HEIGHT * (1 - place) + 4
        drawn.append(text(across, HEIGHT + 14, f"{steps * place:,.0f}"))
        for (low, high), x, anchor, colour in (
            (CRITERION, -4, "end", "#000"),
            (ACCURACY, WIDTH + 4, "start", "#1f5fa8"),
        ):
            drawn.append(text(x, up, f"{low + place * (high - low):.2g}", anchor, colour))
    for name, ends, colour, dashes in CURVES:
        points = curve(rows, name, ends, steps)
        drawn.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-dasharray="{dashes}"/>'
        )
    return [*drawn, text(WIDTH / 2, -6, f"seed {rows[0]['seed']}")]


def picture(rows: Sequence[Row]) -> str:
    """The panels side by side, with a legend below."""
    seeds = sorted({row["seed"] for row in rows})
    steps = max(float(row["steps"]) for row in rows)
    wide = WIDTH + 2 * EDGE
    box = f"0 0 {wide * len(seeds)} {HEIGHT + 78}"
    style = 'font-family="sans-serif" font-size="11"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" {style}>']
    for place, seed in enumerate(seeds):
        parts.append(f'<g transform="translate({place * wide + EDGE} 22)">')
        parts += [*panel([row for row in rows if row["seed"] == seed], steps), "</g>"]
    legend = "black: criterion, blue: P@1 by CSLS, dashed: the same after refinement; across: mapping steps"
    return "\n".join([*parts, text(wide * len(seeds) / 2, HEIGHT + 66, legend), "</svg>\n"])


def main() -> None:
    """Writes the picture."""
    asked = command_line(__doc__, pair="zhang-es-en", out=RESULTS / "criterion.svg")
    rows = [row for row in read_rows(RESULTS / "paper_recipe_epochs.csv") if row["pair"] == asked.pair]
    Path(asked.out).write_text(picture(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
