"""The two texts of benchmarks/systems/handover.py: what is claimed of them holds."""

import gzip
import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.slow

LONGEST, VOCABULARY = 4, 12


def corpus() -> list[tuple[str, str]]:
    """Pairs in which most sentences have several translations, as in Tatoeba."""
    rng = np.random.default_rng(0)
    english, french = (
        [" ".join(f"{letter}{word}" for word in rng.zipf(1.7, rng.integers(1, 6)) % 15) for _ in range(400)]
        for letter in "ef"
    )
    return [(english[i], french[j]) for i, j in rng.integers(400, size=(700, 2))]


@pytest.fixture
def cut(tmp_path: Path) -> Any:
    module = importlib.import_module("benchmarks.support.two_halves")
    path = tmp_path / "pairs.tsv.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(f"{x.capitalize()}!\t{y} ?\n" for x, y in corpus())

    def run(seed: int) -> Any:
        rng = np.random.default_rng(seed)
        return module.two_halves(
            path, ("en", "fr"), longest=LONGEST, vocabulary=VOCABULARY, held_out=20, rng=rng
        )

    return run


@pytest.mark.parametrize("seed", range(5))
def test_no_sentence_has_a_translation_in_the_other_text(cut: Any, seed: int) -> None:
    halves = cut(seed)
    english, french = (set(halves.texts[language]) for language in ("en", "fr"))
    pairs = {(tuple(x.split()), tuple(y.split())) for x, y in corpus()}
    assert english
    assert french
    assert not [pair for pair in pairs if pair[0] in english and pair[1] in french]


@pytest.mark.parametrize("seed", range(5))
def test_what_is_held_out_is_a_pair_of_the_file_and_in_neither_text(cut: Any, seed: int) -> None:
    halves = cut(seed)
    pairs = {(tuple(x.split()), tuple(y.split())) for x, y in corpus()}
    assert len(halves.held_out) == 20
    assert set(halves.held_out) <= pairs
    assert len({x for x, _ in halves.held_out}) == 20
    for x, y in halves.held_out:
        assert x not in halves.texts["en"]
        assert y not in halves.texts["fr"]


def test_sentences_are_short_and_of_frequent_words(cut: Any) -> None:
    halves = cut(0)
    for side, language in enumerate(("en", "fr")):
        words = set(halves.words[language])
        assert len(halves.words[language]) == VOCABULARY
        sentences = [*halves.texts[language], *(pair[side] for pair in halves.held_out)]
        assert all(0 < len(sentence) <= LONGEST and words.issuperset(sentence) for sentence in sentences)


def test_a_seed_draws_the_halves(cut: Any) -> None:
    assert cut(1) == cut(1)
    assert cut(1).texts["en"] != cut(2).texts["en"]
