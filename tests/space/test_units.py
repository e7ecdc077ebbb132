"""The marks of words' pieces, and where units occur, against a search of every word."""

from __future__ import annotations

import re

import numpy as np
import pytest

from muse.space.lookup_table import Unit, occurrences, parse_units

# The same four pieces in every way to mark them: c(hat), a whole word or beginning, an inner one, an end.
NOT_END, END, BEGINNING, INNER = {"ends": False}, {"ends": True}, {"begins": True}, {"begins": False}
MARKED = {
    "subword-nmt": (["ch@@", "t"], [NOT_END, END]),
    "bpe": (["ch", "t</w>"], [NOT_END, END]),
    "sentencepiece": (["\u2581ch", "t"], [BEGINNING, INNER]),
    "wordpiece": (["ch", "##t"], [BEGINNING, INNER]),
    "words": (["ch", "t"], [{}, {}]),
}


@pytest.mark.parametrize(("names", "places"), MARKED.values(), ids=MARKED)
def test_marks(names: list[str], places: list[dict[str, bool]]) -> None:
    assert parse_units(names) == [
        Unit(letters, **place) for letters, place in zip(("ch", "t"), places, strict=True)
    ]


@pytest.mark.parametrize(
    ("name", "of", "whole"),
    [
        ("chat", ["x@@"], True),
        ("chat@@", [], False),
        ("chat</w>", [], True),
        ("chat", ["x</w>"], False),
        ("\u2581chat", [], True),
        ("chat", ["\u2581x"], False),
        ("chat", ["##x"], True),
        ("##chat", [], False),
        ("chat", [], True),
        ("##", [], True),  # a sign of its own, no mark
        ("@@", [], False),  # the mark without a piece
    ],
)
def test_which_unit_can_be_a_whole_word(name: str, of: list[str], whole: bool) -> None:
    assert parse_units([name, *of])[0].may_be_word is whole


PATTERNS = {
    (None, None): "{}",
    (True, None): "^{}",
    (False, None): "(?<=.){}",
    (None, True): "{}$",
    (None, False): "{}(?=.)",
}


def test_occurrences_are_those_of_a_search_of_every_word() -> None:
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abc"), size=rng.integers(1, 7))) for _ in range(200)]
    letters = {word[:2] for word in words} | {"a", "abc", "ccc", "zz"}
    units = [Unit(text, *place) for text in sorted(letters) for place in PATTERNS]
    expected = {
        (row, unit)
        for row, word in enumerate(words)
        for unit in units
        if re.search(PATTERNS[unit.begins, unit.ends].format(unit.letters), word, re.DOTALL)
    }
    found = list(occurrences(words, units))
    assert set(found) == expected
    assert len(found) == len(expected)  # each once, also where a word has the piece twice
    assert not {unit for _, unit in found if unit.letters == "zz"}


def test_a_mark_without_letters_occurs_nowhere() -> None:
    assert list(occurrences(["a", ""], parse_units(["\u2581", "\u2581a"]))) == [(0, Unit("a", begins=True))]
