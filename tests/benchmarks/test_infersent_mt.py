"""InferSent by translations: batches of one part each, classes of their own, and how tasks are translated."""

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import Tensor

from benchmarks.sentences.power_means import Task
from benchmarks.systems.infersent_mt import Merged, Part, machine_made, normed
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.systems.nli.infersent import InferSent
from muse.sentences.systems.nli.pair_classes import LabelledPairs

pytestmark = pytest.mark.slow
CLASSES = 5


class Pairs:
    """Pairs whose sentences are the number of the pair, with label 1."""

    def __init__(self, count: int, languages: tuple[str, str]) -> None:
        self.count, self.languages = count, languages

    def __len__(self) -> int:
        return self.count

    def training(self, rows: Tensor, generator: torch.Generator) -> LabelledPairs:
        assert rows.min() >= 0 and rows.max() < self.count
        sentences = Ragged.of([[row] for row in rows.tolist()])
        return LabelledPairs(sentences, sentences, torch.ones(len(rows), dtype=torch.long))

    def held_out(self) -> Iterator[LabelledPairs]:
        yield self.training(torch.arange(2), torch.Generator())


class Network(torch.nn.Module):
    """A network that says class 1 of pairs in two languages, and class 4 of others; it notes what it saw."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, str]] = []

    def logits(self, first: Ragged, second: Ragged, languages: tuple[str, str]) -> Tensor:
        self.seen.append(languages)
        answer = 1 if languages[0] != languages[1] else 4
        return torch.eye(CLASSES)[torch.full((len(first),), answer)] * 50


@pytest.fixture
def learner() -> Merged:
    """Ten pairs in two languages of the first classes, and thirty in one, of classes from 3 on."""
    parts = [Part(Pairs(10, ("en", "fr")), 0, 1.0), Part(Pairs(30, ("en", "en")), 3, 1.0)]
    return Merged(cast(InferSent, Network()), parts)


def test_every_batch_is_of_one_part_and_both_are_drawn(learner: Merged) -> None:
    generator = torch.Generator().manual_seed(0)
    batches = learner.batches(torch.randperm(40), 4, generator)
    first = [bool((rows < 10).all()) for rows in batches]
    assert [bool((rows >= 10).all()) for rows in batches] == [not one for one in first]
    assert 0 < sum(first) < len(first) == 10


def test_classes_of_the_second_part_follow_those_of_the_first(learner: Merged) -> None:
    generator = torch.Generator()
    assert learner.loss(torch.arange(3), generator) < 1e-6  # label 1: class 1
    assert learner.loss(torch.arange(10, 13), generator) < 1e-6  # label 1 of classes from 3 on: class 4
    assert learner.held_out().score == 100
    assert {*cast(Any, learner.network).seen} == {("en", "fr"), ("en", "en")}


def test_a_task_is_translated_from_english(tmp_path: Any) -> None:
    class Bench:
        asked = type("Asked", (), {"work": tmp_path})

        def translations(self, sentences: list[str], way: tuple[str, str]) -> list[str]:
            return [f"{sentence} {'>'.join(way)}" for sentence in sentences]

    task = Task("AC", {"en": ["a", "b"], "fr": ["c", "d"]}, ["x", "y"])
    assert machine_made(task, "fr", cast(Any, Bench())).texts == {
        "en": ["a", "b"],
        "fr": ["a en>fr", "b en>fr"],
    }


def test_rows_are_normed_by_language() -> None:
    rows = {"en": np.random.default_rng(0).normal(3, 2, (50, 4)).astype(np.float32)}
    rows["fr"] = np.ones((50, 4), np.float32)
    found = normed(rows)
    assert np.allclose(found["en"].mean(axis=0), 0, atol=1e-5)
    assert np.allclose(found["en"].std(axis=0), 1, atol=1e-5)
    assert not found["fr"].any()
