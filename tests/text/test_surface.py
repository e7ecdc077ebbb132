"""Apostrophes, elision, capitals, expressions, by any code of the language; and text in another script."""

import numpy as np
import pytest

from muse.errors import BadSetting
from muse.languages import language_code
from muse.text.surface import (
    elide,
    forms,
    grouped,
    has_name_capital,
    in_text,
    is_all_caps,
    is_always_capital,
    joined,
    with_capitals,
)
from muse.text.tokens import Tokeniser
from muse.translate.text import check_script
from muse.vectors import Vectors


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("l' maison", "le maison"),
        ("la eau", "l' eau"),
        ("le été", "l' été"),
        ("le héros", "le héros"),
        ("l' homme", "l' homme"),
        ("que il ne a pas", "qu' il n' a pas"),
        ("ce est", "ce est"),
        ("d' .", "de ."),
        ("de", "de"),
        ("", ""),
    ],
)
def test_elision(given: str, expected: str) -> None:
    assert " ".join(elide(given.split(), "fr")) == expected
    assert " ".join(elide(given.split(), "en")) == given


def test_parts_of_words() -> None:
    assert [in_text(word, "fr") for word in ("l", "qu", "la")] == ["l'", "qu'", "la"]
    assert [in_text(word, "en") for word in ("s", "i", "la")] == ["'s", "I", "la"]
    assert in_text("l", "xx") == "l"
    assert forms("L'", "it") == ["L'", "l'", "L", "l"]
    assert forms("L'", "fr") == ["le", "L'", "l'", "L", "l"]
    assert forms("C'", "fr")[0] == "cela"
    assert forms("'", "fr") == ["'"]
    assert [in_text(part, "en") for part in ("s", "re", "ve")] == ["'s", "are", "have"]


@pytest.mark.parametrize(
    ("token", "all_caps", "expected"),
    [
        ("chat", False, "cat"),
        ("Chat", False, "Cat"),
        ("CHAT", False, "CAT"),
        ("À", False, "Cat"),
        ("À", True, "CAT"),
        ("L'", True, "CAT"),
        ("2CV", False, "CAT"),
        ("3", True, "cat"),
        ("iPhone", False, "cat"),
        ("日本", False, "cat"),
    ],
)
def test_capitals(token: str, all_caps: bool, expected: str) -> None:
    assert with_capitals("cat", token, all_caps=all_caps) == expected


def test_what_capitals_say() -> None:
    assert is_all_caps(["LE", "CHAT", "A", "3"])
    assert not is_all_caps(["A", "I", "."])
    assert not is_all_caps(["LE", "chat"])
    assert is_always_capital("I", "en")
    assert not is_always_capital("I", "fr")
    assert [has_name_capital(t, "en") for t in ("Tom", "TOM", "I", "tom")] == [True, False, False, False]
    assert not has_name_capital("Haus", "de")


def test_scripts(caplog: pytest.LogCaptureFixture) -> None:
    def vectors(*words: str) -> Vectors:
        return Vectors("fr", words, np.zeros((len(words), 1), np.float32))

    french = vectors("chat", "été", *["maison"] * 20, "да")
    check_script(["Tom aime Москва", ""], french)
    check_script(["123 !", ""], french)
    check_script(["Привет"], vectors("123"))
    with pytest.raises(BadSetting, match="words of fr are in Latin script, got text in Cyrillic"):
        check_script(["Привет, мир 123", "Как дела сегодня?"], french)
    with pytest.raises(BadSetting, match="got text in Cjk"):
        check_script(["你好，今天天气很好，我们去公园散步吧，好不好呢"], french)
    assert not caplog.records
    check_script(["你好 15"], french)  # too little to tell a name from another language
    assert [record.getMessage() for record in caplog.records] == [
        "the words of fr are in Latin script, got text in Cjk; check --src"
    ]


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
