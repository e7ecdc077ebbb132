"""Pseudo-bilingual text: the words of both sides in random order, and back to two languages."""

from __future__ import annotations

import importlib
from collections import Counter
from typing import Any

import numpy as np
import pytest

from muse.files.sentence_text import ParallelText
from muse.text.tokens import Tokeniser
from muse.vectors import Vectors

pytestmark = pytest.mark.slow

PAIRS = ParallelText(["The cat, the dog!", "No."], ["Le chat et l'autre chien", "non : 7"])


@pytest.fixture
def bivcd() -> Any:
    return importlib.import_module("benchmarks.sentences.bivcd")


def test_a_line_has_the_words_of_both_sides(bivcd: Any) -> None:
    names = bivcd.Names(("en", "fr"))
    rng = np.random.default_rng(0)
    lines = list(bivcd.pseudo_bilingual(PAIRS, ("en", "fr"), names, rng))
    first = Counter(names.words[name] for name in lines[0].split())
    assert first["en", "the"] == 2
    assert {word for language, word in first if language == "fr"} >= {"le", "chat", "et", "autre", "chien"}
    assert Counter(names.words[name] for name in lines[1].split()) == {("en", "no"): 1, ("fr", "non"): 1}
    again = list(
        bivcd.pseudo_bilingual(PAIRS, ("en", "fr"), bivcd.Names(("en", "fr")), np.random.default_rng(0))
    )
    assert again == lines
    assert all(Tokeniser("xx").tokens(name) == [name] for name in lines[0].split())


def test_each_language_has_its_own_words(bivcd: Any) -> None:
    names = bivcd.Names(("en", "fr"))
    mixed = [*names.of("cat dog", "en"), *names.of("chat", "fr"), "</s>"]
    rows = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    sides = bivcd.split(Vectors("mixed", mixed, rows), names, ("en", "fr"))
    assert list(sides["en"].vectors.words) == ["cat", "dog"]
    assert list(sides["fr"].vectors.words) == ["chat"]
    np.testing.assert_allclose(sides["fr"].vectors.matrix[0], rows[2] / np.linalg.norm(rows[2]), atol=1e-6)
