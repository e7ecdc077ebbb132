"""Reading: every token is counted once, known or unknown, and sentences keep their places."""

from dataclasses import replace

import torch

from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import PIECE, WORD, Limited, Reading, Vocabulary


def sentences(reading: Reading) -> list[list[int]]:
    """The ids, sentence by sentence."""
    found = reading.sentences
    return [part.tolist() for part in torch.split(found.ids, found.lengths.tolist())]


def test_sentences_keep_their_places() -> None:
    reading = Vocabulary("fr", {"le": 0, "chat": 1, "noir": 2}).read(["", "Le chat noir.", "xyz", "chat"])
    assert len(reading) == 4
    assert sentences(reading) == [[], [0, 1, 2], [], [1]]
    assert (reading.unknown, reading.tokens, reading.empty) == (2, 6, 2)  # the full stop and xyz


def test_a_word_as_it_is_comes_before_its_lower_case() -> None:
    reading = Vocabulary("en", {"may": 0, "May": 1}).read(["May may MAY"])
    assert sentences(reading) == [[1, 0, 0]]


def test_ids_may_begin_later() -> None:
    reader = Vocabulary("en", {"a": 0, "b": 1}, lambda token: 7 if token == "c" else None, first=5)
    assert sentences(reader.read(["a b c d"])) == [[5, 6, 12]]


def test_a_limit_cuts_sentences_and_counts_them() -> None:
    reader = Limited(Vocabulary("en", {"a": 0, "b": 1}), 2)
    reading = reader.read(["a b a b", "b", "a x b b"])
    assert sentences(reading) == [[0, 1], [1], [0, 1]]
    assert (reading.truncated, reading.unknown) == (2, 1)
    assert reader.read(["a b"]).truncated == 0


def test_an_id_for_the_unknown_is_left_out_or_marked_and_counted_either_way() -> None:
    reading = Reading.of([[9, 3, 9], [9], [3]])
    out, marked = reading.without(9), reading.marking(9)
    assert sentences(out) == [[3], [], [3]]
    assert sentences(marked) == [[9, 3, 9], [9], [3]]
    assert (out.unknown, marked.unknown) == (3, 3)
    assert out.tokens == marked.tokens == 5
    cut = replace(marked.cut(1), sentences=marked.cut(1).sentences.framed(0, 1))
    assert (cut.tokens, cut.unknown, cut.truncated) == (5, 3, 1)  # of what was read, not of what was kept


def test_joined_readings_add_up() -> None:
    first, second = Reading(Ragged.of([[1, 2], []]), 3, 1, 1), Reading(Ragged.of([[3, 9]]), 2, 1)
    both = Reading.joined([first, second])
    assert sentences(both) == [[1, 2], [], [3, 9]]
    assert (both.unknown, both.truncated, both.tokens, both.unit) == (2, 1, 5, WORD)
    assert Reading.joined([replace(first, unit=PIECE), replace(second, unit=PIECE)]).unit == PIECE
