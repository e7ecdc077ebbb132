"""Figures: the charts of a report as PNG; with their labels, the only users of matplotlib."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from muse.errors import MissingExtra
from muse.installation import install_extra
from muse.report.facts import Facts
from muse.report.labels import drawable, label_places
from muse.report.record import Curve, Record, Stage, stages_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOURCE, TARGET, GREY = "#1f5fa8", "#c2410c", "#6b7280"  # distinguishable by the colour-blind, and in grey
LINES = ("-", "--", ":", "-.")
WIDTH = 8.0  # inches; a page shows it at half of DPI
DPI = 160
SHOWN = {  # figures of the history worth a chart, and what to call them
    "criterion": "criterion",
    "objective": "objective",
    "loss": "discriminator's loss",
    "defect": "|W Wᵀ − I|",
}


def figures(facts: Facts) -> dict[str, bytes]:
    """The PNG of each figure for which there is data, by name."""
    require_matplotlib()
    drawn = {}
    for name, draw in FIGURES.items():
        figure = draw(facts)
        if figure is not None:
            drawn[name] = _png(figure)
    return drawn


def require_matplotlib() -> None:
    """Raise MissingExtra if matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtra(f"a report needs matplotlib; run {install_extra('report')}") from None


def _figure(height: float, rows: int = 1, columns: int = 1) -> tuple[Figure, list[Any]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), dpi=DPI, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
        one.tick_params(labelsize=8)
    return figure, axes


def _png(figure: Figure) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()


def learning(facts: Facts) -> Figure | None:
    """Criterion, objective, loss and orthogonality of every candidate, a panel for each that was recorded."""
    panels: dict[str, list[tuple[str, Curve]]] = {}
    for record in facts.records:
        for stage, name, curve in _curves(record, len(facts.records) > 1):
            panels.setdefault(name, []).append((stage, curve))
    if not panels:
        return None
    figure, axes = _figure(2.6 * len(panels), rows=len(panels))
    for one, (name, curves) in zip(axes, panels.items(), strict=True):
        for place, (label, curve) in enumerate(curves):
            steps, values = zip(*curve, strict=True)
            one.plot(steps, values, LINES[place % len(LINES)], label=label, marker=".", markersize=4)
        one.set_ylabel(SHOWN.get(name, name), fontsize=9, parse_math=False)
        one.xaxis.get_major_locator().set_params(integer=True)
        one.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    axes[-1].set_xlabel("step of the stage (an epoch of adversarial training, otherwise a round)", fontsize=9)
    return figure


def _curves(record: Record, named: bool) -> Iterator[tuple[str, str, Curve]]:
    prefix = f"{drawable(record.language)}, " if named else ""
    sources = [(candidate.name, candidate.traces) for candidate in record.candidates]
    for candidate, traces in [*sources, ("final", record.refinement)]:
        for trace in traces:
            for name in SHOWN:
                if name in trace.curves:
                    # Objectives of different stages have different scales.
                    panel = f"objective of {trace.stage}" if name == "objective" else name
                    yield f"{prefix}{candidate}: {trace.stage}", panel, trace.curves[name]


def verdict(facts: Facts) -> Figure | None:
    """Agreement of the mapping, beside that on synthetic vectors without true translations."""
    found = [record for record in facts.records if {"agreement", "null"} <= set(record.verdict)]
    if not found:
        return None
    figure, (axes,) = _figure(0.8 + 0.9 * len(found))
    for row, record in enumerate(found):
        rates = [100 * float(record.verdict[name]) for name in ("null", "agreement")]
        bars = axes.barh([row + 0.2, row - 0.2], rates, 0.36, color=[GREY, SOURCE])
        axes.bar_label(bars, fmt="%.1f %%", fontsize=8, padding=3)
    ticks = [(row + shift, text) for row in range(len(found)) for shift, text in _sides(found[row].language)]
    axes.set_yticks([place for place, _ in ticks], [text for _, text in ticks], fontsize=9, parse_math=False)
    axes.set_xlim(0, 105)
    axes.set_xlabel("held-out pairs recovered, %", fontsize=9)
    return figure


def _sides(language: str) -> list[tuple[float, str]]:
    return [(0.2, "synthetic baseline"), (-0.2, f"this mapping of {drawable(language)}")]


def accuracy(facts: Facts) -> Figure | None:
    """P@1 by frequency band, with intervals."""
    if facts.accuracy is None:
        return None
    bands = facts.accuracy.bands
    figure, (axes,) = _figure(2.8)
    values = [band.p_at_1 for band in bands]
    below = [band.p_at_1 - band.ci95[0] for band in bands]
    above = [band.ci95[1] - band.p_at_1 for band in bands]
    places = range(len(bands))
    axes.bar(places, values, 0.55, color=SOURCE, yerr=[below, above], capsize=4, ecolor="black")
    for place, band in zip(places, bands, strict=True):
        axes.annotate(f" {band.p_at_1:.1f}", (place, band.ci95[1]), ha="center", va="bottom", fontsize=9)
    names = [f"ranks {band.name}\n{band.queries} queries" for band in bands]
    axes.set_xticks(list(places), names, fontsize=9)
    axes.set_ylim(0, 110)
    axes.set_ylabel("P@1, %, with 95 % interval", fontsize=9)
    return figure


def picture(facts: Facts) -> Figure | None:
    """Words of both languages on a plane, translations joined by lines, labelled where there is space."""
    drawn = facts.picture
    if not drawn.pairs:
        return None
    figure, (axes,) = _figure(7.5)
    p = len(drawn.pairs)
    left, right = drawn.places[:p], drawn.places[p:]
    for one, other in zip(left, right, strict=True):
        axes.plot([one[0], other[0]], [one[1], other[1]], color="#9ca3af", linewidth=0.7, zorder=1)
    axes.scatter(*left.T, s=12, color=SOURCE, marker="o", label=drawable(drawn.source), zorder=2)
    axes.scatter(*right.T, s=14, color=TARGET, marker="^", label=drawable(drawn.target), zorder=2)
    axes.set_axis_off()
    axes.margins(x=0.14, y=0.05)
    axes.legend(fontsize=9, frameon=False, loc="upper right")
    words = [word for word, _ in drawn.pairs] + [word for _, word in drawn.pairs]
    colours = [SOURCE] * p + [TARGET] * p
    label_places(figure, axes, drawn.places.tolist(), words, colours)
    return figure


def hubs(facts: Facts) -> Figure | None:
    """The largest hubs by plain neighbours and by CSLS."""
    figure, axes = _figure(3.2, columns=2)
    most = max(count for found in facts.hubness for _, count in found.largest)
    for one, found, colour in zip(axes, facts.hubness, (GREY, SOURCE), strict=True):
        words = [drawable(word) for word, _ in found.largest][::-1]
        counts = [count for _, count in found.largest][::-1]
        one.barh(range(len(words)), counts, 0.7, color=colour)
        one.set_yticks(range(len(words)), words, fontsize=8, parse_math=False)
        one.set_title(f"{found.retrieval}, skewness {found.skewness:.2f}", fontsize=9)
        one.set_xlim(0, 1.05 * max(1, most))
        one.set_xlabel(f"source words with it among their {found.k} nearest", fontsize=8)
    return figure


def stages(facts: Facts) -> Figure | None:
    """Seconds and peak memory by stage."""
    rows = [(stage, seconds, memory) for stage, seconds, memory in stage_rows(facts) if seconds is not None]
    if not rows:
        return None
    figure, axes = _figure(0.9 + 0.35 * len(rows), columns=2)
    names = [stage for stage, _, _ in rows][::-1]
    for one, label, values in (
        (axes[0], "seconds", [seconds for _, seconds, _ in rows]),
        (axes[1], "peak memory so far, MB", [memory or 0 for _, _, memory in rows]),
    ):
        bars = one.barh(names, values[::-1], 0.6, color=SOURCE)
        one.bar_label(bars, fmt="%.1f" if label == "seconds" else "%.0f", fontsize=8, padding=3)
        one.margins(x=0.2)
        one.set_xlabel(label, fontsize=9)
    return figure


def stage_rows(facts: Facts) -> Sequence[Stage]:
    """The stages of the run: those for all languages, then those of each language."""
    rows = stages_of(facts.space.manifest)
    for record in facts.records:
        prefix = f"{record.language}: " if len(facts.records) > 1 else ""
        rows += [(prefix + stage, seconds, memory) for stage, seconds, memory in record.stages]
    return rows


FIGURES: Mapping[str, Callable[[Facts], Figure | None]] = {
    "learning": learning,
    "verdict": verdict,
    "accuracy": accuracy,
    "picture": picture,
    "hubs": hubs,
    "stages": stages,
}
