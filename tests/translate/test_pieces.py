"""Pieces of a line: words, quantities, expressions, names."""

from __future__ import annotations

import numpy as np
import pytest

from muse.text.tokens import Tokeniser
from muse.translate.text import HYPHEN, TextReader
from muse.vectors import Vectors

WORDS = "le est à taureau rouge tom aujourd hui week end m h un Paris".split()
FRENCH = Vectors("fr", WORDS, np.zeros((len(WORDS), 1), np.float32))


def entries(line: str) -> dict[str, str | None]:
    return {piece.token: piece.entry for piece in TextReader(FRENCH).pieces(Tokeniser("fr").tokens(line))}


@pytest.mark.parametrize(
    ("line", "copied"),
    [
        ("Tom est à 12 km", {"12", "km"}),
        ("à 3,5 m, à 90 km/h", {"3,5", "m", ",", "90", "km", "/", "h"}),
        ("20 °C", {"20", "°", "C"}),
        ("le m est un h", set()),
        ("Le est à Taureau Rouge", {"Taureau", "Rouge"}),
        ("Taureau Rouge est", set()),
        ("le taureau rouge", set()),
        ("zzz est", {"zzz"}),
    ],
)
def test_what_is_copied(line: str, copied: set[str]) -> None:
    assert {token for token, entry in entries(line).items() if entry is None} == copied


def test_entries_of_tokens() -> None:
    assert entries("Aujourd'hui, l'TOM") == {
        "Aujourd'hui": "aujourd hui",
        ",": None,
        "l'": "le",
        "TOM": "tom",
    }
    assert entries("le week-end")[HYPHEN] is None
    assert entries("paris est")["paris"] is None  # Paris is another word where the case is kept


@pytest.mark.parametrize("end", [".", "...", "…", "?"])
def test_a_sentence_begins_after_its_end(end: str) -> None:
    pieces = TextReader(FRENCH).pieces(Tokeniser("fr").tokens(f"Tom est{end} Un taureau"))
    assert not any(piece.name for piece in pieces)


def test_capitals_inside_a_sentence_mark_names() -> None:
    pieces = TextReader(FRENCH).pieces(Tokeniser("fr").tokens("Tom est à Paris. Tom est TOM"))
    assert [piece.token for piece in pieces if piece.name] == ["Paris"]
    assert [piece.token for piece in pieces if piece.first] == ["Tom", "Tom"]
