"""The tables and the checks of benchmarks/align/supervision.py, made of its rows."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.draws import HELP, MARK, NONE
from benchmarks.support.tables import header, row

OURS, BASELINE = "muse", "procrustes"
SIGNIFICANT = 1.96  # standard errors
Hits = NDArray[np.float64]
Rows = Sequence[Mapping[str, str]]


@dataclass(frozen=True, eq=False)
class Figure:
    """The hits (q,) of the test words in each draw, 100 or 0."""

    draws: Mapping[int, Hits]

    def hits(self, draws: Iterable[int] = ()) -> Hits:
        """The mean hits (q,) of the test words over these draws, over all if none is named."""
        chosen = np.stack([self.draws[draw] for draw in draws or self.draws])  # (draws, q)
        return np.asarray(chosen.mean(axis=0), np.float64)

    @property
    def p_at_1(self) -> float:
        """The mean over draws, in percent."""
        return float(self.hits().mean())

    @property
    def se(self) -> float:
        """The standard error of `p_at_1`, over test words."""
        return _error(self.hits())


class Place(NamedTuple):
    """A row of the table."""

    pair: str
    help: str


class Difference(NamedTuple):
    """Points of P@1, and their standard error over test words, paired."""

    points: float
    se: float

    @property
    def is_loss(self) -> bool:
        """Whether it lies significantly below 0."""
        return self.points < -SIGNIFICANT * self.se

    def __str__(self) -> str:
        return f"{self.points:+.1f} ± {self.se:.1f}"


def show(rows: Rows) -> None:
    """Prints the table, the seconds, and the checks."""
    found = figures(rows)
    tools = list(dict.fromkeys(tool for figure in found.values() for tool in figure))
    tools.sort(key=lambda tool: tool != OURS)
    header(("pair", "help", *tools, "best other", "muse less best other", "muse less Procrustes"))
    order = list(dict.fromkeys(place.pair for place in found))
    for place in sorted(found, key=lambda place: (order.index(place.pair), HELP.index(place.help))):
        of_tool = found[place]
        row([*place, *(_text(of_tool.get(tool)) for tool in tools), *_compared(of_tool)])
    print()
    for line in [*checks(found), *unfinished(rows)]:
        print(f"- {line}")


def figures(rows: Rows) -> dict[Place, dict[str, Figure]]:
    """The figure of every tool in every place."""
    draws: dict[tuple[Place, str], dict[int, Hits]] = defaultdict(dict)
    for one in rows:
        if one["p_at_1"]:
            draws[Place(one["pair"], one["help"]), one["tool"]][int(one["draw"])] = _hits(one)
    found: dict[Place, dict[str, Figure]] = defaultdict(dict)
    for (place, tool), of_draws in draws.items():
        found[place][tool] = Figure(of_draws)
    return dict(found)


def _hits(one: Mapping[str, str]) -> Hits:
    bits = np.unpackbits(np.frombuffer(bytes.fromhex(one["hits"]), np.uint8))
    return 100 * bits[: int(one["covered"])].astype(np.float64)


def _error(hits: Hits) -> float:
    return float(hits.std() / len(hits) ** 0.5)


def difference(first: Figure, second: Figure) -> Difference:
    """How much the first is above the second, over the draws that both have, if any."""
    both = sorted(first.draws.keys() & second.draws.keys())
    each = first.hits(both) - second.hits(both)  # (q,)
    return Difference(float(each.mean()), _error(each))


def best_other(of_tool: Mapping[str, Figure]) -> str | None:
    """The tool with the highest P@1 but muse."""
    others = [tool for tool in of_tool if tool != OURS]
    return max(others, key=lambda tool: of_tool[tool].p_at_1, default=None)


def _compared(of_tool: Mapping[str, Figure]) -> list[str]:
    best = best_other(of_tool)
    cells = [best or ""]
    for other in (best, BASELINE):
        both = OURS in of_tool and other in of_tool
        cells.append(str(difference(of_tool[OURS], of_tool[other])) if both and other is not None else "")
    return cells


def _text(figure: Figure | None) -> str:
    return "" if figure is None else f"{figure.p_at_1:.1f} ± {figure.se:.1f}"


def checks(found: Mapping[Place, Mapping[str, Figure]]) -> list[str]:
    """A sentence a check; what fails is named."""
    gains, behind, below = [], [], []
    for place, of_tool in found.items():
        best = best_other(of_tool)
        if OURS not in of_tool or best is None:
            continue
        gap = difference(of_tool[OURS], of_tool[best])
        gains.append(gap.points)
        if gap.points < -of_tool[best].se:
            behind.append(f"{' '.join(place)} ({gap}, {best})")
        if BASELINE in of_tool and difference(of_tool[OURS], of_tool[BASELINE]).is_loss:
            below.append(f"{' '.join(place)} ({difference(of_tool[OURS], of_tool[BASELINE])})")
    if not gains:
        return []
    reached = f"{len(gains) - len(behind)} of {len(gains)} cells"
    return [
        f"{reached} at or above the best other tool less its standard error{_named(behind)}",
        f"mean gain on the best other tool: {np.mean(gains):+.2f} points",
        "cells significantly below Procrustes: " + (", ".join(below) or "none"),
        "more pairs significantly worse than fewer: " + (", ".join(_falls(found)) or "none"),
        *_costs(found),
    ]


def _named(failing: Iterable[str]) -> str:
    text = ", ".join(failing)
    return f"; below it: {text}" if text else ""


def _numbered(found: Mapping[Place, Mapping[str, Figure]], pair: str) -> list[Place]:
    places = [place for place in found if place.pair == pair and OURS in found[place]]
    sizes = [place for place in places if place.help.isdigit() or place.help == NONE]
    return sorted(sizes, key=lambda place: int(place.help) if place.help.isdigit() else 0)


def _falls(found: Mapping[Place, Mapping[str, Figure]]) -> list[str]:
    falls = []
    for pair in dict.fromkeys(place.pair for place in found):
        for fewer, more in pairwise(_numbered(found, pair)):
            change = difference(found[more][OURS], found[fewer][OURS])
            if change.is_loss:
                falls.append(f"{pair} {fewer.help} to {more.help} ({change})")
    return falls


def _costs(found: Mapping[Place, Mapping[str, Figure]]) -> list[str]:
    costs = []
    for place, of_tool in found.items():
        clean = found.get(Place(place.pair, place.help.removesuffix(MARK)), {})
        if place.help.endswith(MARK) and OURS in of_tool and OURS in clean:
            costs.append(f"{place.pair} {place.help}: {difference(of_tool[OURS], clean[OURS])}")
    return [f"points that wrong pairs cost muse: {', '.join(costs)}"] if costs else []


def unfinished(rows: Rows) -> list[str]:
    """A sentence for each cell without a figure: its seconds, or why."""
    return [
        f"{one['pair']} {one['help']} {one['tool']}: {one['seconds']} s, {one['setting']}"
        for one in rows
        if not one["p_at_1"]
    ]
