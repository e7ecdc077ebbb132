"""Rows of lookup tables against the definition, unit by unit."""

import re
from typing import Any

import numpy as np
import pytest

from muse.errors import BadSetting, Mismatch
from muse.normalise import normalise
from muse.space import lookup_table as module
from muse.space.lookup_table import (
    LOWER,
    MEAN,
    NORMAL,
    SPECIAL,
    WORD,
    LookupTable,
    Unit,
    lookup_table,
    occurrences,
    parse_units,
    words_of,
)
from muse.vectors import Matrix, Vectors

D = 64
FRENCH = ["le", "chat", "chats", "château", "table", "à"]
ENGLISH = ["the", "cat", "table", "chat", "achat"]


def rows(count: int, seed: int) -> Matrix:
    drawn = np.random.default_rng(seed).normal(size=(count, D)).astype(np.float32)
    return normalise(drawn, ["unit"])[0]


FR = Vectors("fr", FRENCH, rows(len(FRENCH), 0))
EN = Vectors("en", ENGLISH, rows(len(ENGLISH), 1))


def table(languages: list[Vectors], names: list[str], **options: Any) -> LookupTable:
    options = {"specials": ("<pad>", "<unk>"), "fallback": "mean", "rng": np.random.default_rng(0), **options}
    return lookup_table(languages, names, **options)


def unit_mean(*vectors: Matrix) -> Matrix:
    total = np.sum(vectors, axis=0, dtype=np.float64)
    return np.asarray(total / np.linalg.norm(total), np.float32)


def fr(word: str) -> Matrix:
    return np.asarray(FR.matrix[FR.index[word]])


def en(word: str) -> Matrix:
    return np.asarray(EN.matrix[EN.index[word]])


def test_rows_of_words_are_the_bits_of_the_space_in_the_order_of_the_vocabulary() -> None:
    found = table([FR], ["chats", "le", "chat"])
    assert list(found.names) == ["<pad>", "<unk>", "chats", "le", "chat"]
    assert found.origin.tolist() == [SPECIAL, SPECIAL, WORD, WORD, WORD]
    for row, word in enumerate(["chats", "le", "chat"], 2):
        np.testing.assert_array_equal(found.weight[row], fr(word))


def test_padding_is_zero_and_the_other_specials_are_not() -> None:
    found = table([FR], ["le"], specials=("<unk>", "[PAD]", "</s>"))
    assert found.padding == 1
    assert not found.weight[1].any()
    assert found.weight[[0, 2]].any(axis=1).all()
    assert table([FR], ["le"], specials=("<unk>",)).padding is None
    # A word that is called so is no padding.
    assert table([FR], ["le", "[PAD]"]).padding == 0


def test_a_special_that_the_vocabulary_lists_keeps_its_place() -> None:
    found = table([FR], ["le", "<unk>", "chat"])
    assert list(found.names) == ["<pad>", "le", "<unk>", "chat"]
    assert found.origin.tolist() == [SPECIAL, WORD, SPECIAL, WORD]
    assert found.weight[2].any()


def test_the_end_of_a_sentence_is_no_mark_of_a_piece() -> None:
    found = table([FR], ["le", "chat"], specials=("<s>", "</s>", "</w>"))
    assert found.origin.tolist() == [SPECIAL] * 3 + [WORD] * 2


def test_a_word_of_both_languages_has_the_mean_of_both() -> None:
    found = table([FR, EN], ["chat", "le", "the"], specials=())
    np.testing.assert_allclose(found.weight[0], unit_mean(fr("chat"), en("chat")), atol=1e-6)
    np.testing.assert_array_equal(found.weight[1], fr("le"))
    np.testing.assert_array_equal(found.weight[2], en("the"))


def test_lower_case_only_where_the_word_itself_is_not_there() -> None:
    both = Vectors("de", ["Table", "table"], rows(2, 2))
    found = table([FR, both], ["Table", "TABLE", "Chat", "LE"], specials=())
    assert found.origin.tolist() == [WORD, LOWER, LOWER, LOWER]
    np.testing.assert_array_equal(found.weight[0], both.matrix[0])
    np.testing.assert_allclose(found.weight[1], unit_mean(fr("table"), both.matrix[1]), atol=1e-6)
    np.testing.assert_array_equal(found.weight[2], fr("chat"))


@pytest.mark.parametrize(
    ("names", "piece", "of"),
    [
        (["le", "ch@@"], 1, [fr("chat"), fr("chats"), fr("château")]),
        (["le", "at", "x@@"], 1, [fr("chat")]),
        (["\u2581le", "\u2581cha"], 1, [fr("chat"), fr("chats")]),
        (["\u2581le", "ha"], 1, [fr("chat"), fr("chats")]),
        (["le", "##s"], 1, [fr("chats")]),
        (["le</w>", "au</w>"], 1, [fr("château")]),
        (["le</w>", "le"], 1, []),  # `table` ends in it, and what has no mark does not end a word
        (["le", "hat"], 1, [fr("chat"), fr("chats")]),
    ],
)
def test_a_piece_has_the_mean_of_the_words_it_is_in(names: list[str], piece: int, of: list[Matrix]) -> None:
    found = table([FR], names, specials=())
    assert found.origin[0] == WORD
    assert found.origin[piece] == (MEAN if of else NORMAL)
    if of:
        np.testing.assert_allclose(found.weight[piece], unit_mean(*of), atol=1e-6)


def test_a_piece_is_looked_for_in_all_languages() -> None:
    found = table([FR, EN], ["le", "cha@@"], specials=())
    expected = unit_mean(fr("chat"), fr("chats"), en("chat"), en("achat"))
    np.testing.assert_allclose(found.weight[1], expected, atol=1e-6)


def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["le", "chat", "ch@@", "t@@", "zz"]
    whole = table([FR, EN], names)
    monkeypatch.setattr(module, "BATCH", 2)
    np.testing.assert_allclose(table([FR, EN], names).weight, whole.weight, atol=1e-6)


def test_what_is_left_is_random_with_the_spread_of_the_rows_found() -> None:
    large = Vectors("fr", FRENCH, 3 * FR.matrix)
    names = ["le", "chat", *(f"zz{i}" for i in range(300))]
    found = table([large], names)
    assert found.counts == {"special": 2, "word": 2, "lower": 0, "mean": 0, "normal": 300}
    drawn = found.weight[found.origin == NORMAL]
    assert np.sqrt(np.square(drawn).mean()) == pytest.approx(3 / np.sqrt(D), rel=0.02)
    assert abs(drawn.mean()) < 0.01
    assert len(np.unique(drawn[:, 0])) == 300


def test_the_fallback_normal_looks_for_no_pieces() -> None:
    found = table([FR], ["le", "ch@@"], fallback="normal")
    assert found.origin.tolist() == [SPECIAL, SPECIAL, WORD, NORMAL]


def test_the_same_seed_gives_the_same_table_and_another_another() -> None:
    first, again, other = (
        table([FR], ["le", "zz"], rng=np.random.default_rng(seed)).weight for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert (first[3] != other[3]).all()
    np.testing.assert_array_equal(first[2], other[2])


def test_words_in_turns_each_once() -> None:
    assert words_of([FR, EN], 3) == ["le", "the", "chat", "cat", "chats", "table"]
    assert words_of([FR], None) == FRENCH


def test_a_vocabulary_without_one_word_of_the_space() -> None:
    with pytest.raises(Mismatch, match=r"found none of its 3 units .*the 6 words of fr"):
        table([FR], ["ch@@"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fallback": "zero"}, "--fallback must be one of mean, normal; got 'zero'"),
        ({"specials": ("<s>", "<s>")}, "special tokens must differ"),
    ],
)
def test_settings_that_cannot_work(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadSetting, match=message):
        table([FR], ["le"], **options)


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
