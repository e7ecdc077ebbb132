"""Answer tables are read as they were written, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.space import Space
from muse.space.derived import AnswerTable, write_answers
from tests.support.spaces import derived, saved

WAY = ("fr", "en")


def table(**other: Any) -> AnswerTable:
    """Answers to 39 words, two each but for the first, which has none."""
    parts: dict[str, Any] = {
        "pointers": np.array([0, *range(0, 77, 2)]),
        "columns": np.arange(76) % 40,
        "csls": np.linspace(-1, 1, 76, dtype=np.float32),
        "probability": np.linspace(0, 1, 76, dtype=np.float32),
        "report": {"by": "all evidence"},
    }
    return AnswerTable(**{**parts, **other})


@pytest.fixture
def space(tmp_path: Path) -> Space:
    return saved(tmp_path / "space", count=40)


def kept(space: Space, found: AnswerTable) -> Space:
    """The space with these answers."""
    assert space.folder is not None
    return derived(space.folder, lambda folder: write_answers(folder, WAY, found))


def test_read_as_written(space: Space) -> None:
    space = kept(space, table())
    found = space.answers(*WAY)
    assert found is not None
    assert found.report == {"by": "all evidence"}
    for name in ("pointers", "columns", "csls", "probability"):
        np.testing.assert_array_equal(getattr(found, name), getattr(table(), name))
    assert found.first()[:3].tolist() == [-1, 0, 2]
    assert space.answers("en", "fr") is None


def test_asked_for_csls(space: Space) -> None:
    from muse.search.retrieval import Retrieval

    space = kept(space, table())
    assert space.by_csls().answers(*WAY) is None
    assert space.answers(*WAY, Retrieval("nn")) is None
    assert space.answers(*WAY, Retrieval("csls")) is not None


@pytest.mark.parametrize(
    "other",
    [
        {"pointers": np.arange(0, 77, 2)},  # of one word fewer
        {"columns": np.full(76, 40)},
        {"columns": np.full(76, -1)},
        {"probability": np.full(76, 1.5, np.float32)},
        {"csls": np.full(76, np.nan, np.float32)},
        {"pointers": np.array([0, *range(76, -1, -2)])},
        {"csls": np.zeros(0, np.float32)},  # fewer than there are answers
        {"probability": np.zeros(77, np.float32)},
        {"probability": np.zeros((76, 2), np.float32)},
        {"pointers": np.array([0.0, *range(0, 77, 2)])},  # no whole numbers
    ],
)
def test_impossible_values_are_not_used(space: Space, other: dict[str, Any]) -> None:
    assert kept(space, table(**other)).answers(*WAY) is None


def test_padded_and_within() -> None:
    columns, csls, probability = table().padded(np.array([0, 1, 38]))
    assert columns.tolist() == [[-1, -1], [0, 1], [34, 35]]
    assert csls[0].tolist() == [-np.inf, -np.inf] and probability[0].tolist() == [0, 0]
    columns, _, _ = table().within(np.array([0, 1, 38]), 35)
    assert columns.tolist() == [[-1, -1], [0, 1], [34, -1]]
    columns, _, _ = table(columns=(np.arange(76) + 34) % 40).within(np.array([3, 4]), 1)
    assert columns.tolist() == [[-1, -1], [0, -1]]
