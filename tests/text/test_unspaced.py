"""Unspaced text: told of scripts that are written so, and of no other."""

from __future__ import annotations

import pytest

from muse.text.segmentation import unspaced_letters

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
