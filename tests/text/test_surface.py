"""Apostrophes, elision, capitals; and text in another script."""

from __future__ import annotations

import numpy as np
import pytest

from muse.errors import BadSetting
from muse.text.surface import (
    elide,
    forms,
    has_name_capital,
    in_text,
    is_all_caps,
    is_always_capital,
    with_capitals,
)
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
    with pytest.raises(
        BadSetting, match="words of fr are in Latin script, got text in Cyrillic; check --src"
    ):
        check_script(["Привет, мир 123", "Как дела сегодня?"], french)
    with pytest.raises(BadSetting, match="got text in Cjk"):
        check_script(["你好，今天天气很好，我们去公园散步吧，好不好呢"], french)
    assert not caplog.records
    check_script(["你好 15"], french)  # too little to tell a name from another language
    assert [record.getMessage() for record in caplog.records] == [
        "the words of fr are in Latin script, got text in Cjk; check --src"
    ]
