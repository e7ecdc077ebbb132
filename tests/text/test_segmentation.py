"""Segmentation: ICU's words, the vocabulary as the judge of them, and entries of several words."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muse.search.retrieval import Retrieval
from muse.sentences.encoders.reading import Vocabulary
from muse.text import segmentation
from muse.text.segmentation import (
    Phrases,
    Segmenter,
    is_spaced,
    unspaced_advice,
    unspaced_language,
    unspaced_letters,
)
from muse.text.tokens import Tokeniser
from muse.translate.text import TextConfig, Translator
from tests.support.spaces import plain_space

# Sentences with their words, as dictionaries of the languages have them.
WORDS = {
    "zh": "我 喜欢 北京 大学 。",
    "ja": "私 は 日本語 を 勉強 し て いる 。",
    "th": "ฉัน รัก ภาษา ไทย มาก",
    "km": "ខ្ញុំ ស្រឡាញ់ ភាសា ខ្មែរ ។",
    "lo": "ຂ້ອຍ ຮັກ ພາສາ ລາວ",
    "my": "ကျွန်တော် မြန်မာ စကား ပြော တယ် ။",
}


@pytest.mark.parametrize("language", WORDS)
def test_a_vocabulary_finds_its_words_in_text_without_spaces(language: str) -> None:
    words = WORDS[language].split()
    assert Tokeniser(language, set(words)).tokens("".join(words)) == words
    assert Tokeniser(language, set(words)).tokens(WORDS[language]) == words


@pytest.mark.parametrize("language", WORDS)
def test_without_a_vocabulary_icu_finds_most_words(language: str) -> None:
    words = WORDS[language].split()
    found = Tokeniser(language).tokens("".join(words))
    assert "".join(found) == "".join(words)
    assert len(set(found) & set(words)) >= len(words) / 2


@pytest.mark.parametrize(
    ("language", "known", "run", "expected"),
    [
        ("zh", "我 喜欢 北京大学", "我喜欢北京大学", "我 喜欢 北京大学"),  # ICU has two words
        ("zh", "我 喜 欢 北京 大学", "我喜欢北京大学", "我 喜 欢 北京 大学"),  # ICU has one
        ("zh", "喜欢 北京 大学 北京大学", "我喜欢北京大学", "我 喜欢 北京 大学"),  # all are known
        ("zh", "北京大学", "北京大学", "北京大学"),
        ("zh", "", "北京大学", "北京 大学"),
        ("ja", "し ま した", "しました", "しま した"),  # a single kana is no word that ICU has not found
        ("th", "ภา ษา", "ภาษาไทย", "ภา ษา ไทย"),
    ],
)
def test_the_vocabulary_is_the_judge(language: str, known: str, run: str, expected: str) -> None:
    assert Segmenter(language, set(known.split())).words(run) == expected.split()


@given(
    st.text("ขกภาษาไทยเแี่", max_size=40),
    st.sets(st.text("ขกภาษาไทยเแี่", min_size=1, max_size=4), max_size=20),
)
def test_no_letter_is_lost_and_no_accent_begins_a_word(run: str, known: set[str]) -> None:
    words = Segmenter("th", known).words(run) if run else []
    assert "".join(words) == run
    for before, word in pairwise(words):
        if word in known and word not in Segmenter("th").words(run):
            assert before[-1] not in "เแ"
            assert word[0] not in "ี่"


def test_signs_digits_and_other_scripts_are_left_to_moses() -> None:
    tokens = Tokeniser("zh").tokens
    assert tokens("我喜欢R&D，3.5公里（好）。") == [
        *("我", "喜欢", "R", "&", "D", "，", "3.5", "公里", "（", "好", "）", "。"),
    ]
    assert Tokeniser("th").tokens("ไทย\u200bไทย 20 บาท") == ["ไทย", "ไทย", "20", "บาท"]
    assert Tokeniser("fr").tokens("chat ไทย")[0] == "chat"


def test_text_with_spaces_is_not_segmented_again() -> None:
    assert Tokeniser("zh", spaced=True).tokens("北京大学 很好。") == ["北京大学", "很好", "。"]
    assert is_spaced(["北京大学 在 北京 。", "我 喜欢"], "zh")
    assert not is_spaced(["北京大学在北京。", "我喜欢 Python 和 R。"], "zh")
    assert not is_spaced(["ฉันรักภาษาไทยมากที่สุดในโลก แต่เขาไม่รักภาษาไทยเลยจริงๆ"], "th")
    assert is_spaced(["un chat"], "fr")


def test_without_icu_letters_stay_together_and_the_advice_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = ["我喜欢北京大学。"]
    assert unspaced_advice(lines, "zh") is None
    monkeypatch.setattr(segmentation, "has_segmenter", lambda: False)
    assert Tokeniser("zh").tokens(lines[0]) == ["我喜欢北京大学", "。"]
    advice = unspaced_advice(lines, "zh")
    assert advice is not None
    assert advice.endswith("[segment]'") or advice.endswith("[segment]")


@pytest.mark.parametrize(("language", "code"), [("jpn", "ja"), ("zh-TW", "zh"), ("yue", "zh"), ("vi", None)])
def test_codes(language: str, code: str | None) -> None:
    assert unspaced_language(language) == code


def test_phrases_are_entries_of_a_vocabulary_that_has_many() -> None:
    few = [f"word{place}" for place in range(200)]
    assert not Phrases([*few, "array_map"])
    phrases = Phrases(["học_sinh", "đi", "học", "new york city", "new_york", "a_1", "__init__"])
    tokens = ["Học", "sinh", "đi", "học", ",", "New", "York", "City", "new", "york"]
    assert [(" ".join(part), entry) for part, entry in phrases.split(tokens)] == [
        *(("Học sinh", "học_sinh"), ("đi học ,", None)),
        *(("New York City", "new york city"), ("new york", "new_york")),
    ]
    assert phrases.in_text("học_sinh") == "học sinh"
    assert phrases.in_text("a_1") == "a_1"
    line = "Học sinh (đi học) new york, new york. New, york"
    assert phrases.joined(line.split()) == [
        *("học_sinh", "(đi", "học)", "new_york", ",", "new_york", ".", "New,", "york"),
    ]


def test_phrases_are_read_as_their_entries_by_encoders_and_in_translation() -> None:
    entries = ["học_sinh", "đi", "học", "trường"]
    reading = Vocabulary("vi", dict(zip(entries, range(4), strict=True))).read(["Học sinh đi học, trường."])
    assert reading.sentences.ids.tolist() == [0, 1, 2, 3]
    rows = np.eye(4, dtype=np.float32)
    space = plain_space(rows, rows, entries, ["school pupil", "goes", "learn", "school"])
    translator = Translator(space, source="fr", target="en", config=TextConfig(Retrieval("nn")))
    assert translator.translate(["Học sinh đi học, trường."]) == ["School pupil goes learn, school."]
    back = Translator(space, source="en", target="fr", config=TextConfig(Retrieval("nn")))
    assert back.translate(["school pupil goes"]) == ["học sinh đi"]


SENTENCES = {
    "zh": ["今天", "天气", "很", "好", "我们", "去", "公园", "散步"],
    "ja": ["私", "は", "毎日", "日本", "語", "を", "勉強", "し", "て", "い", "ます"],
    "th": ["วันนี้", "อากาศ", "ดี", "มาก", "เรา", "ไป", "เที่ยว", "กัน"],
    "my": ["မြန်မာ", "စကား", "ပြော", "တယ်"],
    "km": ["ខ្ញុំ", "រៀន", "ភាសា", "ខ្មែរ"],
}


@pytest.mark.parametrize("language", SENTENCES)
def test_words_with_and_without_spaces(language: str) -> None:
    words = SENTENCES[language]
    assert unspaced_letters(["".join(words)] * 3) == len("".join(words))
    assert unspaced_letters([" ".join(words)] * 3) is None


@pytest.mark.parametrize("lines", [[], [""], ["Donaudampfschifffahrtsgesellschaft"], ["हिन्दीभाषामेंलिखाहुआ"]])
def test_other_scripts_are_never_told(lines: list[str]) -> None:
    assert unspaced_letters(lines) is None


def test_a_few_quotations_are_not_told() -> None:
    assert unspaced_letters(["A proverb: 千里之行始于足下", "Nothing else.", "Nor here."]) is None
