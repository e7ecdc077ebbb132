"""Codes: a language has the same rules by whatever code it is named."""

from __future__ import annotations

import pytest

from muse.languages import language_code
from muse.text.surface import elide, forms, grouped, has_name_capital
from muse.text.tokens import Tokeniser


@pytest.mark.parametrize("name", ["fr", "fra", "fre", "fra_Latn", "fr-CA", "FR"])
def test_french_by_any_name(name: str) -> None:
    assert language_code(name) == "fr"
    assert elide(["la", "eau"], name) == ["l'", "eau"]
    assert forms("L'", name)[0] == "le"
    assert list(grouped(["parce", "que"], name)) == [["parce", "que"]]
    assert Tokeniser(name).tokens("l'eau") == ["l'", "eau"]


@pytest.mark.parametrize("name", ["de", "deu_Latn", "de_AT", "ltz"])
def test_a_capital_says_little_where_every_noun_has_one(name: str) -> None:
    assert not has_name_capital("Haus", name)


def test_other_languages_keep_their_name() -> None:
    assert language_code("xx") == "xx"
    assert has_name_capital("Haus", "xx")
