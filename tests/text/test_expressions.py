"""Groups of tokens: expressions whole, and nothing lost."""

from __future__ import annotations

import pytest

from muse.text.surface import grouped, joined


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Aujourd' hui , quelqu' un", ["Aujourd'hui", ",", "quelqu'un"]),
        ("s' il te plaît s' il pleut", ["s'il te plaît", "s'", "il", "pleut"]),
        ("PARCE QUE", ["PARCE QUE"]),
        ("aujourd'", ["aujourd'"]),
        ("", []),
    ],
)
def test_groups(line: str, expected: list[str]) -> None:
    groups = list(grouped(line.split(), "fr"))
    assert [joined(group) for group in groups] == expected
    assert [token for group in groups for token in group] == line.split()
    assert [list(group) for group in grouped(line.split(), "de")] == [[token] for token in line.split()]
