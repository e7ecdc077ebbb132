"""Bags: every token is counted once, known or unknown, and sentences keep their places."""

from __future__ import annotations

from muse.encoders.bags import Vocabulary


def test_sentences_keep_their_places() -> None:
    bags = Vocabulary("fr", {"le": 0, "chat": 1, "noir": 2}).bags(["", "Le chat noir.", "xyz", "chat"])
    assert len(bags) == 4
    parts = [bags.ids[a:b].tolist() for a, b in zip(bags.offsets, bags.offsets[1:], strict=False)]
    assert parts == [[], [0, 1, 2], [], [1]]
    assert bags.unknown == 2  # the full stop and xyz


def test_a_word_as_it_is_comes_before_its_lower_case() -> None:
    bags = Vocabulary("en", {"may": 0, "May": 1}).bags(["May may MAY"])
    assert bags.ids.tolist() == [1, 0, 0]
