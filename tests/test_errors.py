"""Errors: the name that was meant is guessed only where it is close."""

from __future__ import annotations

import pytest

from muse.errors import did_you_mean


@pytest.mark.parametrize(
    ("found", "meant"),
    [
        ("fra", "fr"), ("FR", "fr"), ("fr_FR", "fr"), ("french", "fr"), ("fra_latn", "fra_Latn"),
        ("en_fr", "en-fr"), ("power", "power-mean"), ("xx", ""), ("", ""), ("x", ""),
    ],
)  # fmt: skip
def test_the_closest_known_name(found: str, meant: str) -> None:
    known = ["en", "fr", "fra_Latn", "en-fr", "power-mean", "x-bilstm"]
    assert did_you_mean(found, known) == (f"; did you mean {meant}?" if meant else "")


def test_nothing_is_known() -> None:
    assert did_you_mean("fr", []) == ""
