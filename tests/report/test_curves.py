"""Curves: which panels a run has, where its curves fall and why, and that all of it is drawn."""

from typing import Any

import pytest

from muse.files.space_manifest import Manifest
from muse.report.charts import Frame, panel_drawing, panels, ticks


def trace(stage: str, **figures: list[float | None]) -> dict[str, Any]:
    steps = list(range(1, 1 + max(map(len, figures.values()))))
    return {"stage": stage, "steps": steps, "figures": figures}


GROWING = trace("refine", words=[4e3, 4e3, 4e3, 1e4, 1e4], objective=[0.28, 0.33, 0.34, 0.25, 0.31])


def found(**entry: Any) -> Any:
    return panels(Manifest.of(**{"pivot": "en", "languages": {"fr": entry}}).mapped)


@pytest.mark.parametrize(
    ("history", "notes"),
    [
        (GROWING, [(4, "rarer words join: 4,000 → 10,000")]),
        (
            trace("refine", words=[2e3] * 3, objective=[0.19, 0.16, 0.17]),
            [(2, "pairs are scored by mappings not fitted to them")],
        ),
        (trace("refine", words=[2e3] * 4, objective=[0.1, 0.2, 0.3, 0.299]), []),
    ],
    ids=["words", "second round", "noise"],
)
def test_a_fall_is_explained_where_it_happens(
    history: dict[str, Any], notes: list[tuple[float, str]]
) -> None:
    (panel,) = found(history=[history])
    assert panel.notes == notes


def test_rounds_in_several_blocks_are_one_curve() -> None:
    blocks = [
        trace("refine", words=[2e3] * 2, objective=[0.2, 0.3]),
        trace("refine", words=[5e3] * 2, objective=[0.1, 0.2]),
    ]
    (panel,) = found(history=blocks)
    (series,) = panel.series
    assert series.points == [(1, 0.2), (2, 0.3), (3, 0.1), (4, 0.2)]
    assert panel.notes == [(3, "rarer words join: 2,000 → 5,000")]


def test_notes_are_on_the_chosen_curve_alone() -> None:
    tried = [
        {"method": "gromov:rank", "verdict": "failed", "history": [GROWING]},
        {
            "method": "similarity",
            "verdict": "aligned",
            "chosen": True,
            "history": [trace("refine", words=[4e3], objective=[0.5])],
        },
    ]
    (panel,) = found(candidates=tried)
    assert [(series.name, series.chosen) for series in panel.series] == [
        ("gromov:rank", False),
        ("similarity", True),
    ]
    assert panel.notes == []


def test_each_language_has_its_own_panels() -> None:
    entries = {"fr": {"history": [GROWING]}, "de": {"history": [GROWING]}}
    both = panels(Manifest.of(**{"pivot": "en", "languages": entries}).mapped)
    assert [panel.title for panel in both] == [
        "Refinement of fr, last rounds",
        "Refinement of de, last rounds",
    ]


def test_what_the_words_of_a_drawing_promise_is_drawn() -> None:
    names = ("gromov:rank", "features", "similarity")
    tried = [{"method": name, "history": [GROWING], "chosen": name == "features"} for name in names]
    (panel,) = found(candidates=tried, method="features")
    drawing = panel_drawing(panel)
    written = [caption.text for caption in drawing.captions]
    assert {"gromov:rank", "features, chosen", "similarity"} <= set(written)
    curves = [
        stroke for stroke in drawing.strokes if stroke.style.startswith("curve") and len(stroke.points) > 2
    ]
    assert len(curves) == 3
    assert len({stroke.style for stroke in curves}) == 3
    for part in ("gromov:rank", "features (chosen)", "similarity", "falls at round 4: rarer words join"):
        assert part in drawing.alt, part
    assert {text for _, text in panel.notes} <= set(written)
    assert all(0 <= caption.at[1] <= drawing.height for caption in drawing.captions)


def test_a_curve_of_one_point_is_drawn() -> None:
    (panel,) = found(history=[trace("refine", words=[9.0], objective=[0.5])])
    assert panel_drawing(panel).dots


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (1e-6, 3e-4), (-3.0, 7.5), (4.0, 4.0), (1, 200)])
def test_ticks_are_few_round_and_inside(low: float, high: float) -> None:
    marks = ticks(low, high, 6)
    assert 1 <= len(marks) <= 7
    assert all(low - 1e-12 <= mark <= high + 1e-12 for mark in marks)
    assert marks == sorted(set(marks))


def test_a_frame_maps_its_corners() -> None:
    frame = Frame(10, 20, 110, 220, (0, 4), (-1, 1))
    assert frame.at(0, -1) == (10, 220)
    assert frame.at(4, 1) == (110, 20)
    assert Frame(0, 0, 10, 10, (3, 3), (0, 1)).at(3, 0) == (5, 10)  # all at one step
