"""Which lines are the same sentence."""

from __future__ import annotations

import unicodedata
from typing import Literal

import pytest

from muse.orthography import canonical


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("line", ["Não é possível", "한국어 문장", "कक़ ड़", "آدم", "Ｆull ﬁn ½"])
def test_encodings_and_white_space_make_no_difference(line: str, form: Literal["NFC", "NFD"]) -> None:
    written = f"\u3000{unicodedata.normalize(form, line)}\t".replace(" ", " \u00a0\u2009 ")
    assert canonical(written) == canonical(line) == unicodedata.normalize("NFC", line)


@pytest.mark.parametrize(("one", "two"), [("ﬁn", "fin"), ("été", "ete"), ("Été", "été"), ("a b", "ab")])
def test_other_letters_are_another_sentence(one: str, two: str) -> None:
    assert canonical(one) != canonical(two)
