"""Lines as they are written: what is kept comes back as it was, words are joined as the language does it."""

from functools import cache

import numpy as np
import pytest

from muse.search.retrieval import Retrieval
from muse.text.tokens import Tokeniser
from muse.text.written import TranslatedToken, joined_line, written_tokens
from muse.translate.text import TextConfig, Translator
from tests.support.spaces import plain_space

# Every part of what is to be kept is a word with a translation: none may be looked up.
TRAPS = (
    "c f r d h m km n j x y s ex etc mot nom clé roi txt py jpg fr org com http https www eacute amp nbsp "
    "caf at t net v er e ème nd nº ii kg € jpeg html deux"
).split()
PAIRS = {
    "le": "the", "la": "the", "mer": "sea", "est": "is", "et": "and", "à": "to", "il": "he", "dit": "says",
    "par": "by", "jour": "day", "oui": "yes", "eau": "water", "ou": "or", "homme": "man", "tu": "you",
} | {trap: f"not{place}" for place, trap in enumerate(TRAPS)}  # fmt: skip


@cache
def translator(source: str, target: str) -> Translator:
    english = list(dict.fromkeys(PAIRS.values()))
    rows = np.eye(len(english), dtype=np.float32)
    french = np.stack([rows[english.index(word)] for word in PAIRS.values()])
    space = plain_space(french, rows, list(PAIRS), english)
    return Translator(space, source=source, target=target, config=TextConfig(Retrieval("nn")))


def to_english(line: str) -> str:
    return translator("fr", "en").translate([line])[0]


UNCHANGED = """
20 °C | 20°C | 68 °F | 12 km/h | 50 € | 50€ | $30 | £20 | 5 m² | m² | H₂O | 10⁵ | 5° 6' | n° 5 | 3 × 4 = 12
R&D | H&M | AT&T | C++ | C# | .NET | v1.2.3 | M&Ms | A/C | n/a | m/s² | h/d | c@d | O'Etc | O’Etc | roi'n'mot
XIV | 5 °C/km | deux·s | Mc's | Roi's | R-D | 15 €/kg | 1,5 L | 3 $/h
👍🏽 | 👩‍👩‍👧 | 🇫🇷 | ❤️ | 1️⃣ | 😀😀 | :-) | :D | <3
&eacute; | caf&eacute; | &amp; | &#233; | &nbsp;
#mot | #mot_clé | @nom | @nom_2 | https://a.org/b?c=1&d=2#e | www.a.fr | nom@roi.org | roi.com/mot
d41d8cd98f00b204e9800998ecf8427e | 550e8400-e29b-41d4-a716-446655440000 | roi.txt | mot_clé.py | roi-2.jpg
12:45 | 12h30 | 12 h 30 | 10:30-12:00 | 10-12 | 1990–1995 | 2024-01-31 | 31/01/2024 | 192.168.0.1 | ::1
1 000 000 | 1\u202f000\u202f000 | 12\u00a0345,67 | 1.000.000 | 3,14 | +33 1 23 45 | -5 | ±5 | ~5 | >5
file:///home/roi | s3://mer/roi | M. Roi | Dr. Mer | Mme Roi | x=5 | x=y
80's | 1er | 2e | XIXe | 3ème | 2nd | M. Dupont | p. ex. | etc. | U.S.A. | J.-C.
"""


@pytest.mark.parametrize("kept", [one.strip(" \n") for one in UNCHANGED.replace("\n", "|").split("|") if one])
def test_what_is_no_word_is_unchanged(kept: str) -> None:
    assert to_english(f"il dit {kept} et la mer") == f"he says {kept} and the sea"
    assert to_english(f"la mer ({kept}), et") == f"the sea ({kept}), and"
    assert to_english(f"il dit {kept}") == f"he says {kept}"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("50 € par jour", "50 € by day"),
        ("50€/jour", "50€/day"),
        ("il dit 'la mer' et \"la mer\".", "he says 'the sea' and \"the sea\"."),
        ('l\'« eau » et l’"eau"', 'the «water» and the "water"'),
        ("a) la mer, (b) l'eau", "a) the sea, (b) the water"),
        ("la me\u00adr et Mar\u00adtin", "the sea and Mar\u00adtin"),
        ("la mer C, la mer A ou le R.", "the sea C, the sea A or the R."),
        ("Le C est mer", "The C is sea"),
        ("LA MER C", "THE SEA NOT0"),
        ("C mer. D mer", "Not0 sea. Not3 sea"),
        ("l'homme(s) et ou(e)", "the man and or"),
        ("LE CD, le CD", "THE CD, the CD"),
        ("le/la mer/eau", "the/the sea/water"),
        ("il dit ‘la mer’, “la mer”, « la mer ».", "he says ‘the sea’, “the sea”, «the sea»."),
        ("*la mer* _la mer_ **la mer**", "*the sea* _the sea_ **the sea**"),
        ("la mer et/ou l'eau", "the sea and/or the water"),
        ("la mer – l'eau, la mer–l'eau", "the sea – the water, the sea–the water"),
        ("il dit : oui ! Oui ? Oui ; oui…", "he says: yes! Yes? Yes; yes…"),
        ("l'<b>eau</b>", "the <b>water</b>"),
        ("le m est h, 5 m à 3 h", "the not5 is not4, 5 m to 3 h"),  # units are words but after numbers
        ("dit-il , oui .", "says he, yes."),
        ("l’homme, dit l’O’Brien", "the man, says the O’Brien"),
        ("mer👍🏽, [mer] {mer}", "sea👍🏽, [sea] {mer}"),
        ("<b>la mer</b>, <a href='x y'>oui</a> !", "<b>the sea</b>, <a href='x y'>yes</a>!"),
        ("un T-Tom, oui-oui, hook 'em", "un T-Tom, yes-yes, hook 'em"),
        ("", ""),
        (" \t ", ""),
    ],
)
def test_words_are_translated_between_signs_that_stay(line: str, expected: str) -> None:
    assert to_english(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("he says: yes! yes?! 5% yes; 12:45.", "il dit : oui ! oui ?! 5 % oui ; 12:45."),
        ("«yes», “yes”, (yes!)", "« oui », “oui”, (oui !)"),
        ("he says 'yes': http://a.org/b", "il dit 'oui' : http://a.org/b"),
        ("it's by 20°C!", "it is par 20°C !"),
    ],
)
def test_french_has_spaces_before_its_signs(line: str, expected: str) -> None:
    assert translator("en", "fr").translate([line]) == [expected.replace("it is", "it est")]


@pytest.mark.parametrize("language", ["fr", "en", "de", "ru", "zh", "th", "xx"])
def test_what_is_copied_whole_is_the_line(language: str) -> None:
    # Of a language whose typography is the same, signs and spaces as they were.
    for line in ("a (b) [c]: d; e! \"f\" 'g' x=y, 1/2 – 3 – k/l", "«a» „b“ ‚c‘", "Zoé-Ann 10-12 #x @y"):
        tokens = written_tokens(Tokeniser(language), line)
        copied = [TranslatedToken(token.written, token, copied=True) for token in tokens]
        assert joined_line(copied, Tokeniser("xx")) == line


@pytest.mark.parametrize("line", ["l' eau 'la mer", "mer' et 'oui", "'90s, la mer", "aujourd'hui l'eau"])
def test_apostrophes_without_a_counterpart_are_no_quotation_marks(line: str) -> None:
    assert "'" not in [token.text for token in written_tokens(Tokeniser("fr"), line)]
