"""The case of letters, and which lines are the same sentence; of spellings in tests/test_word_index.py."""

import unicodedata
from typing import Literal

import pytest

from muse.orthography import canonical, lowercase


@pytest.mark.parametrize(
    ("language", "word", "lower"),
    [
        ("tr", "ISIRMAK", "\u0131s\u0131rmak"),
        ("tur_Latn", "\u0130STANBUL", "istanbul"),
        ("az", "I\u0307y", "iy"),
        ("en", "ISTANBUL", "istanbul"),
        ("el", "\u039f\u0394\u039f\u03a3 \u03a3\u0391\u03a3", "\u03bf\u03b4\u03bf\u03c2 \u03c3\u03b1\u03c2"),
        ("lt", "\u00cc", "i\u0307\u0300"),
        ("lt", "J\u0303", "j\u0307\u0303"),
        ("lt", "VILNIUS \u0116\u012e", "vilnius \u0117\u012f"),
        ("fr", "\u00c9T\u00c9", "\u00e9t\u00e9"),
    ],
)
def test_lower_case_is_a_matter_of_the_language(language: str, word: str, lower: str) -> None:
    assert lowercase(word, language) == lower
    assert lowercase(lower, language) == lower


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("line", ["Não é possível", "한국어 문장", "कक़ ड़", "آدم", "Ｆull ﬁn ½"])
def test_encodings_and_white_space_make_no_difference(line: str, form: Literal["NFC", "NFD"]) -> None:
    written = f"\u3000{unicodedata.normalize(form, line)}\t".replace(" ", " \u00a0\u2009 ")
    assert canonical(written) == canonical(line) == unicodedata.normalize("NFC", line)


@pytest.mark.parametrize(("one", "two"), [("ﬁn", "fin"), ("été", "ete"), ("Été", "été"), ("a b", "ab")])
def test_other_letters_are_another_sentence(one: str, two: str) -> None:
    assert canonical(one) != canonical(two)
