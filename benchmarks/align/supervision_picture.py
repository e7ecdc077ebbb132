"""The picture of what help is worth, from the rows of benchmarks/align/supervision.py, as SVG.

    python -m benchmarks.align.supervision_picture [--rows FILE.csv] [--out FILE.svg]

Beside them stand the rows of benchmarks/words/all_evidence.py and encoder.py: what muse prints, without an
encoder and with one. A panel a pair of languages; P@1 is the mean over draws, its 95 % interval 1.96 standard
errors over test words. Cells without a row are left out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from benchmarks.align.supervision_table import SIGNIFICANT, Place, figures
from benchmarks.support.draws import IDENTICAL, NONE
from benchmarks.support.kept_rows import read_rows
from benchmarks.support.tables import ROOT, rows_to_draw

ROWS, OUT = ROOT / "benchmarks/results/align/supervision.csv", ROOT / "docs/pages/pictures/help.svg"
WORDS = ROOT / "benchmarks/results/words"
HEADINGS = ("Vectors of one kind", "Vectors of different kinds")
COLUMNS = (
    {"en-fr": "English to French", "en-de": "English to German", "en-it": "English to Italian",
     "en-ru": "English to Russian", "ru-en": "Russian to English"},
    {"web-fr-en": "French to English: web, novels",
     "zhang-glove-es-en": "Spanish to English: word2vec, GloVe",
     "zhang-glove-it-en": "Italian to English: word2vec, GloVe"},
)  # fmt: skip
ENCODER = "e5"  # of those that encoder.csv has
# Places of the ticks: numbers of pairs stand apart from help of another kind, long labels from one another.
TICKS = {NONE: 0.0, IDENTICAL: 1.4, "5": 2.6, "25": 3.4, "100": 4.2, "500": 5.0, "1000": 5.95, "5000": 7.05}


class Point(NamedTuple):
    """P@1 in percent, and its standard error over test words."""

    p_at_1: float
    se: float


class Tool(NamedTuple):
    """A line: its name, how far its points stand beside the tick, its marker around (0, 0)."""

    label: str
    shift: float
    marker: str


TOOLS = {
    "encoder": Tool("+ encoder", 0, '<path d="M0-4.6 4.6 0 0 4.6-4.6 0z"/>'),
    "evidence": Tool("muse", 0, '<circle r="3.6"/>'),
    "muse": Tool("muse, CSLS", 0, '<circle r="2.4"/>'),
    "procrustes": Tool("Procrustes", -4, '<rect x="-3" y="-3" width="6" height="6"/>'),
    "vecmap-supervised": Tool("VecMap", 4, '<path d="M0-4.2 4 3-4 3z"/>'),
}
WIDTH, TOP, LEFT, ACROSS, DOWN = 780, 40, 34, 384, 180  # of the page, and from panel to panel
PLOT_WIDTH, PLOT_HEIGHT = 270, 112
MOST, STEP, LINE = 80, 20, 14  # percent on the axis; pixels between labels
STYLE = """
svg { --paper: #fff; --ink: #1f2937; --faint: #4b5563; --grid: #d1d5db; font: 12px system-ui, sans-serif;
  --encoder: #0f766e; --evidence: #123f73; --muse: #3f78b5;
  --procrustes: #6b7280; --vecmap-supervised: #c2410c; }
@media (prefers-color-scheme: dark) {
  svg { --paper: #111827; --ink: #e5e7eb; --faint: #b4bcc8; --grid: #374151;
    --encoder: #5eead4; --evidence: #a9cdf5; --muse: #5b8fc4;
    --procrustes: #9ca3af; --vecmap-supervised: #fb923c; } }
.paper { fill: var(--paper); } text { fill: var(--ink); } .faint { fill: var(--faint); font-size: 11.5px; }
.heading { font-size: 15px; font-weight: 600; } .name { font-weight: 600; } .grid { stroke: var(--grid); }
.end { text-anchor: end; } .middle { text-anchor: middle; } .line { fill: none; stroke-width: 1.8; }
""" + "\n".join(
    f".{tool} {{ stroke: var(--{tool}); }} .f-{tool} {{ fill: var(--{tool}); }}" for tool in TOOLS
)
NOTES = (
    "P@1 in percent on a test list, with 95 % intervals, by",
    "the help given: none, the strings that both languages",
    "share, or this number of dictionary pairs (5,000: all of",
    "them); the mean of up to three draws of the pairs.",
    "VecMap: its supervised mode, which like Procrustes",
    "cannot begin without help. muse: what it prints; with",
    "CSLS alone; and with the words of a small encoder.",
)


def across(help_: str, tool: str = "muse") -> float:
    """The place of a help on the horizontal axis, in pixels of the plot."""
    return 8 + TICKS[help_] * (PLOT_WIDTH - 16) / max(TICKS.values()) + TOOLS[tool].shift


def down(percent: float) -> float:
    """The place of a percentage on the vertical axis."""
    return PLOT_HEIGHT * (1 - min(max(percent, 0), MOST) / MOST)


def text(x: float, y: float, words: str, kind: str) -> str:
    """A piece of text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(words)}</text>'


def line(ends: Sequence[float], kind: str) -> str:
    """A line between two points."""
    x1, y1, x2, y2 = (f"{end:.1f}" for end in ends)
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" class="{kind}"/>'


def axes(name: str) -> Iterator[str]:
    """The name of a panel, its grid and its ticks."""
    yield text(0, -10, name, "name")
    for percent in range(0, MOST + 1, STEP):
        yield line((0, down(percent), PLOT_WIDTH, down(percent)), "grid")
        yield text(-7, down(percent) + 4, str(percent), "faint end")
    for help_ in TICKS:
        shown = f"{int(help_):,}" if help_.isdigit() else help_
        yield text(across(help_), PLOT_HEIGHT + 17, shown, "faint middle")


def drawn(tool: str, found: Mapping[str, Point]) -> Iterator[str]:
    """The points of a tool with their intervals, those of numbers of pairs joined."""
    points = {help_: (across(help_, tool), down(figure.p_at_1)) for help_, figure in found.items()}
    for one, other in pairwise(help_ for help_ in points if help_.isdigit()):
        yield line((*points[one], *points[other]), f"line {tool}")
    for help_, (x, y) in points.items():
        reach = SIGNIFICANT * found[help_].se
        yield line((x, down(found[help_].p_at_1 - reach), x, down(found[help_].p_at_1 + reach)), tool)
        yield f'<g transform="translate({x:.1f} {y:.1f})" class="f-{tool}">{TOOLS[tool].marker}</g>'


def labels(lines: Mapping[str, Mapping[str, Point]]) -> Iterator[str]:
    """The names of the tools beside their last points, moved apart where they would overlap."""
    last = {tool: list(found)[-1] for tool, found in lines.items()}
    ends = {tool: down(lines[tool][help_].p_at_1) + 4 for tool, help_ in last.items()}
    x = max((across(help_) for help_ in last.values()), default=0) + 13
    places: dict[str, float] = {}
    for tool in sorted(ends, key=lambda tool: ends[tool]):
        places[tool] = max([ends[tool], *(y + LINE for y in places.values())])
    over = max(0, *places.values(), PLOT_HEIGHT) - PLOT_HEIGHT
    for tool, y in places.items():
        yield text(x, y - over, TOOLS[tool].label, f"name f-{tool}")


def panel(name: str, found: Mapping[str, Mapping[str, Point]]) -> Iterator[str]:
    """A panel at (0, 0), of the figures of every tool by help."""
    yield from axes(name)
    for tool in reversed(TOOLS):
        yield from drawn(tool, found.get(tool, {}))
    yield from labels({tool: found[tool] for tool in TOOLS if found.get(tool)})


def of_pair(found: Mapping[Place, Mapping[str, Point]], pair: str) -> dict[str, dict[str, Point]]:
    """The figures of a pair, of every tool by help."""
    cells = {help_: found.get(Place(pair, help_), {}) for help_ in TICKS}
    return {tool: {help_: of[tool] for help_, of in cells.items() if tool in of} for tool in TOOLS}


def printed(rows: Sequence[Mapping[str, str]]) -> dict[Place, Point]:
    """What `muse translate` prints, by pair and help, on the test lists: the mean of draws or seeds."""
    shares: dict[tuple[Place, int], list[float]] = defaultdict(list)
    for row in rows:
        if "tatoeba" not in row["list"]:
            shares[Place(row["pair"], row["help"]), int(row["queries"])].append(float(row["evidence"]))
    return {place: _share(fmean(of), words) for (place, words), of in shares.items()}


def _share(percent: float, words: int) -> Point:
    return Point(percent, math.sqrt(percent * (100 - percent) / words))


def picture(
    rows: Sequence[Mapping[str, str]],
    evidence: Sequence[Mapping[str, str]] = (),
    encoder: Sequence[Mapping[str, str]] = (),
) -> str:
    """The SVG of these rows: of supervision.csv, all_evidence.csv and encoder.csv."""
    found: dict[Place, dict[str, Point]] = defaultdict(dict)
    for place, of_tools in figures(rows).items():
        found[place] = {tool: Point(one.p_at_1, one.se) for tool, one in of_tools.items()}
    for tool, more in (("evidence", evidence), ("encoder", encoder)):
        for place, point in printed(more).items():
            found[place][tool] = point
    height = TOP + DOWN * max(map(len, COLUMNS))
    parts = [f'<rect width="{WIDTH}" height="{height}" rx="6" class="paper"/>']
    for column, (heading, panels) in enumerate(zip(HEADINGS, COLUMNS, strict=True)):
        parts.append(text(LEFT + column * ACROSS, 24, heading, "heading"))
        for row, (pair, name) in enumerate(panels.items()):
            corner = f"{LEFT + column * ACROSS} {TOP + 26 + row * DOWN}"
            parts += [f'<g transform="translate({corner})">', *panel(name, of_pair(found, pair)), "</g>"]
    below = TOP + DOWN * len(COLUMNS[1]) + 30
    parts += [text(LEFT + ACROSS, below + 18 * i, note, "faint") for i, note in enumerate(NOTES)]
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"><style>{STYLE}</style>\n{body}\n</svg>\n'
    )


def main() -> None:
    """Writes the picture."""
    rows, out = rows_to_draw(ROWS, OUT)
    evidence, encoder = (read_rows(WORDS / name) for name in ("all_evidence.csv", "encoder.csv"))
    small = [row for row in encoder if row["encoder"] == ENCODER]
    out.write_text(picture(rows, evidence, small), encoding="utf-8")


if __name__ == "__main__":
    main()
