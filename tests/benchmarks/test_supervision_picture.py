"""The picture of benchmarks/align/supervision_picture.py: its points are where the rows put them."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"
WORDS = 400


@pytest.fixture
def drawing() -> Any:
    return importlib.import_module("benchmarks.align.supervision_picture")


def row(pair: str, help_: str, tool: str, p_at_1: float, draw: int = 0) -> dict[str, str]:
    """A row as it is read from the file."""
    hits = np.arange(WORDS) < WORDS * p_at_1 / 100
    fields = {"pair": pair, "help": help_, "draw": str(draw), "tool": tool, "covered": str(WORDS)}
    return {**fields, "p_at_1": str(p_at_1), "hits": np.packbits(hits).tobytes().hex()}


def points(svg: str, tool: str) -> list[tuple[float, float]]:
    """The places of a tool's markers in the first panel that has some."""
    found = []
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        if group.get("class") == f"f-{tool}":
            x, y = group.get("transform", "")[len("translate(") : -1].split()
            found.append((float(x), float(y)))
    return found


def lines(svg: str, kind: str) -> Iterable[dict[str, str]]:
    return [one.attrib for one in ElementTree.fromstring(svg).iter(f"{SVG}line") if one.get("class") == kind]


def test_a_point_is_as_high_as_its_p_at_1(drawing: Any) -> None:
    given = {"5": 0.0, "25": 15.0, "1000": 30.0, "5000": 60.0}
    svg = drawing.picture([row("en-fr", help_, "muse", p_at_1) for help_, p_at_1 in given.items()])
    xs, ys = zip(*points(svg, "muse"), strict=True)
    assert list(ys) == pytest.approx(
        [drawing.PLOT_HEIGHT * (1 - p / drawing.MOST) for p in given.values()], abs=0.1
    )
    assert list(xs) == sorted(xs)
    assert (
        len(list(lines(svg, "line muse"))) == len(given) - 1
    )  # 100 and 500, which are missing, are passed by


def test_an_interval_is_two_standard_errors_to_either_side(drawing: Any) -> None:
    svg = drawing.picture([row("en-fr", "25", "procrustes", 20.0)])
    (bar,) = lines(svg, "procrustes")
    height = abs(float(bar["y1"]) - float(bar["y2"])) / drawing.PLOT_HEIGHT * drawing.MOST
    assert height == pytest.approx(2 * 1.96 * 100 * (0.2 * 0.8 / WORDS) ** 0.5, abs=0.1)


def test_several_draws_make_one_point_at_their_mean(drawing: Any) -> None:
    rows = [row("en-fr", "25", "muse", p_at_1, draw) for draw, p_at_1 in enumerate((10.0, 20.0, 30.0))]
    assert points(drawing.picture(rows), "muse") == points(drawing.picture(rows[1:2]), "muse")


def test_other_help_is_not_joined_to_numbers_of_pairs(drawing: Any) -> None:
    svg = drawing.picture([row("ru-en", help_, "muse", 9.0) for help_ in ("none", "identical", "5")])
    assert len(points(svg, "muse")) == 3
    assert not list(lines(svg, "line muse"))


def test_rows_without_a_panel_or_a_figure_are_left_out(drawing: Any) -> None:
    rows = [row("en-fr", "5000-wrong", "muse", 9.0), row("en-fr", "5", "rcsls", 9.0)]
    rows += [row("xx-yy", "5", "muse", 9.0), {**row("en-fr", "5", "muse", 9.0), "p_at_1": ""}]
    assert drawing.picture(rows) == drawing.picture([])


def test_what_is_printed_stands_beside_it(drawing: Any) -> None:
    lists = {"en-fr.5000-6500.txt@1": (20.0, 40.0), "en-fr.tatoeba.txt@2": (90.0,)}
    rows = [
        {"pair": "en-fr", "help": "500", "list": name, "queries": "400", "evidence": str(p_at_1)}
        for name, of_draws in lists.items()
        for p_at_1 in of_draws
    ]
    svg = drawing.picture([row("en-fr", "500", "muse", 20.0)], rows, rows[:1])
    ((x, y),), ((_, higher),) = points(svg, "muse"), points(svg, "evidence")
    assert points(svg, "encoder") == [(x, y)]
    assert y - higher == pytest.approx(drawing.PLOT_HEIGHT * 10 / drawing.MOST, abs=0.11)


def test_labels_are_apart_and_beside_their_points(drawing: Any) -> None:
    rows = [row("en-fr", "5000", tool, 1.0) for tool in drawing.TOOLS]
    texts = ElementTree.fromstring(drawing.picture(rows)).iter(f"{SVG}text")
    places = sorted(
        float(one.get("y", "")) for one in texts if (one.get("class") or "").startswith("name f-")
    )
    assert len(places) == len(drawing.TOOLS)
    assert all(b - a >= drawing.LINE for a, b in zip(places, places[1:], strict=False))
    assert places[-1] <= drawing.PLOT_HEIGHT
