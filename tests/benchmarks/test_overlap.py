"""Near-duplicates by an index of rare words are those that comparing every two sentences finds."""

from __future__ import annotations

import random

import pytest

from benchmarks.sentences.overlap import FEWEST, Index, Words, search, words


def overlap(one: Words, other: Words) -> float:
    return len({*one} & {*other}) / len({*one} | {*other})


@pytest.mark.slow
@pytest.mark.parametrize("least", [0.5, 0.7, 1.0])
def test_the_index_misses_nothing_and_adds_nothing(least: float) -> None:
    drawn = random.Random(0)
    vocabulary = [f"w{int(drawn.expovariate(0.1))}" for _ in range(400)]  # some words are in most sentences
    tested, text = (
        [" ".join(drawn.choices(vocabulary, k=drawn.randint(1, 9))) for _ in range(300)] for _ in range(2)
    )
    text += [f"{one} more" for one in tested[:50]] + [one.upper() + " !" for one in tested[50:80]]
    index = Index(map(words, tested), least)
    found = search(index, text)
    said = {words(one) for one in text}
    long = [{*one} for one in said if len({*one}) >= FEWEST]
    near = {
        place
        for place, one in enumerate(index.sentences)
        if any(overlap(one, tuple(other)) >= least for other in long)
    }
    assert found.near.keys() == near
    assert found.exact == {place for place, one in enumerate(index.sentences) if one in said}
    assert found.exact <= near and len(near) >= 15
    assert found.trained == len(said)
    assert all(overlap(index.sentences[place], one) >= least for place, one in found.near.items())
