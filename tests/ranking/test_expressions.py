"""Fixed expressions: found in text, looked up as a vocabulary has them, or as the mean of their words."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from muse.ranking.lookup import expression_entry, expression_row, with_entries
from muse.text.segmentation import Phrases
from muse.vectors import Vectors

NONE = Phrases([])


def french(*words: str) -> Vectors:
    return Vectors("fr", list(words), np.eye(len(words), dtype=np.float32))


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        (("aujourd'hui", "aujourd", "hui"), "aujourd'hui"),
        (("aujourd", "hui"), "aujourd hui"),
        (("aujourd'", "hui"), "aujourd' hui"),
        (("aujourd",), None),
    ],
)
def test_the_entry_of_an_expression(words: tuple[str, ...], entry: str | None) -> None:
    assert expression_entry(["aujourd'", "hui"], french(*words)) == entry


def test_an_expression_is_one_token_only_where_it_is_known() -> None:
    tokens = "Je viens parce que quelqu' un chante".split()
    known = list(with_entries(tokens, french("parce", "que", "un"), NONE))
    assert known[2] == (["parce", "que"], "parce que")
    assert known[3:] == [(["quelqu'"], None), (["un"], None), (["chante"], None)]
    italian = with_entries(tokens, Vectors("it", ["parce", "que"], np.eye(2, dtype="f")), NONE)
    assert [group for group, _ in italian] == [[token] for token in tokens]
    assert list(with_entries(["parce"], french("parce", "que"), NONE)) == [(["parce"], None)]
    assert list(with_entries([], french("parce"), NONE)) == []


def test_the_rare_word_counts_most() -> None:
    vectors = french("que", "x", "y", "parce")
    row = expression_row("parce que", vectors, torch.eye(4))
    assert row is not None
    expected = np.array([1, 0, 0, 2]) / np.sqrt(5)  # the roots of the ranks 1 and 4
    np.testing.assert_allclose(row, expected, atol=1e-6)
    assert expression_row("parce quoi", vectors, torch.eye(4)) is None
    assert expression_row("parce", vectors, torch.eye(4)) is None
