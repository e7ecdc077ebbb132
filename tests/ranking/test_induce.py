"""Induced dictionaries against every score of every pair."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from muse.errors import BadSetting
from muse.lexicon import Lexicon
from muse.ranking import induction as module
from muse.ranking.induction import InductionConfig, entries, induce
from muse.ranking.settings import InducedPairs
from muse.search.approximate import Approximation
from muse.search.exact import Keys, Neighbours
from muse.search.retrieval import Retrieval
from muse.space import Space
from muse.space.direction import search_with
from tests.evaluation.test_words import noisy_space, scores
from tests.support.spaces import RETRIEVALS, plain_space, saved, space_with_zeros


def brute_force(space: Space, source: str, target: str, top: int, retrieval: Retrieval, cut: int) -> Lexicon:
    x, y = (space.vectors(language) for language in (source, target))
    table = scores(x.matrix, y.matrix, retrieval)[:cut, :cut]  # which words are wanted changes no score
    if retrieval.method == "isf":
        table = np.log(table) / retrieval.beta  # cos - bias, as retrieval gives it
    best = [(i, int(j)) for i in range(len(table)) for j in np.argsort(-table[i])[:top]]
    return Lexicon(
        tuple((x.words[i], y.words[j]) for i, j in best), tuple(float(table[i, j]) for i, j in best)
    )


@pytest.mark.parametrize("retrieval", RETRIEVALS, ids=str)
@pytest.mark.parametrize(("source", "target"), [("fr", "en"), ("en", "fr")])
@pytest.mark.parametrize("top", [1, 3])
@pytest.mark.parametrize("cut", [100, 55, 20])
def test_the_best_by_brute_force(retrieval: Retrieval, source: str, target: str, top: int, cut: int) -> None:
    space = noisy_space(1)
    found = induce(space, source=source, target=target, top=top, max_vocab=cut, retrieval=retrieval)
    expected = brute_force(space, source, target, top, retrieval, cut)
    assert found.pairs == expected.pairs
    assert found.scores == pytest.approx(expected.scores, abs=1e-5)


@pytest.mark.parametrize("retrieval", RETRIEVALS, ids=str)
def test_which_words_are_looked_up_changes_no_translation(retrieval: Retrieval) -> None:
    space = noisy_space(2)
    whole = induce(space, top=2, retrieval=retrieval)
    few = list(entries(space, limits=InductionConfig(2, source_max=7), retrieval=retrieval))
    assert [(one.source, one.target) for one in few] == list(whole.pairs[:14])


@pytest.mark.parametrize("retrieval", RETRIEVALS, ids=str)
def test_what_the_folder_keeps_changes_no_dictionary(tmp_path: Path, retrieval: Retrieval) -> None:
    approximation = Approximation("approximate")  # as for very many words
    limits = InductionConfig(2, source_max=7)
    found = []
    for name, kept in (("a", False), ("b", True)):
        space = saved(tmp_path / name, plain=True)
        if kept:
            assert space.bias("fr", "en", Retrieval()) is not None
        search = search_with(approximation)
        found.append(list(entries(space, limits=limits, retrieval=retrieval, search=search)))
    assert found[0] == found[1]


@pytest.mark.parametrize("retrieval", RETRIEVALS, ids=str)
def test_of_very_many_words_hubness_is_against_the_most_frequent(
    monkeypatch: pytest.MonkeyPatch, retrieval: Retrieval
) -> None:
    space = noisy_space(2)
    x, y = space.tensor("fr"), space.tensor("en")
    monkeypatch.setattr("muse.search.approximate.WORTHWHILE", len(x) * len(y) - 1)
    monkeypatch.setattr("muse.space.direction.HUBS", 30)
    search = search_with(Approximation("auto"))
    found = entries(space, limits=InductionConfig(1, source_max=7), retrieval=retrieval, search=search)
    bias = retrieval.bias(x[:30], y)
    expected = (x[:7] @ y.T - (0 if bias is None else bias)).argmax(dim=1)
    assert [one.target for one in found] == [space.vectors("en").words[place] for place in expected]


def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = induce(noisy_space(4), top=2, mutual=True)
    monkeypatch.setattr(module, "BATCH", 7)
    batches = induce(noisy_space(4), top=2, mutual=True)
    assert batches.pairs == whole.pairs
    assert batches.scores == pytest.approx(whole.scores, abs=1e-6)


def test_a_saved_space_uses_its_hubness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space = saved(tmp_path / "s")
    expected = brute_force(space, "fr", "en", 1, Retrieval(), 100)

    def never(*_: object) -> None:
        raise AssertionError("searched again")

    monkeypatch.setattr(Retrieval, "bias", never)
    found = induce(space, mutual=False)
    assert found.pairs == expected.pairs
    assert found.scores == pytest.approx(expected.scores, abs=1e-5)


def test_entries_are_made_as_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH", 5)
    searched, look_up = list[int](), Keys.nearest

    def counting(keys: Keys, queries: torch.Tensor, *rest: Any) -> Neighbours:
        searched.append(len(queries))
        return look_up(keys, queries, *rest)

    monkeypatch.setattr(Keys, "nearest", counting)
    stream = module.entries(noisy_space(6), limits=InductionConfig(top=2))
    assert [next(stream).source for _ in range(10)] == [f"s{i // 2}" for i in range(10)]
    assert searched == [5]
    assert next(stream).source == "s5"
    assert searched == [5, 5]


def test_probabilities_do_not_depend_on_how_much_is_asked_for() -> None:
    space = noisy_space(7)

    def found(**limits: int) -> dict[tuple[str, str], float | None]:
        stream = module.entries(space, limits=InductionConfig(**limits), rng=np.random.default_rng(0))  # type: ignore[arg-type]
        return {entry[:2]: entry.probability for entry in stream}

    many, one, few = found(top=10), found(top=1), found(top=2, source_max=9, target_max=60)
    assert {pair: many[pair] for pair in one} == pytest.approx(one)
    assert len(few) == 18
    for source in space.vectors("fr").words:
        values = [value for pair, value in many.items() if pair[0] == source]
        assert sum(value or 0 for value in values) <= 1 + 1e-6
        assert values == sorted(values, key=lambda value: -(value or 0))


def test_ranks_count_what_is_kept() -> None:
    stream = list(module.entries(noisy_space(8), limits=InductionConfig(top=5)))
    by_word: dict[str, list[int]] = {}
    for entry in stream:
        by_word.setdefault(entry.source, []).append(entry.rank)
    assert all(ranks == list(range(1, len(ranks) + 1)) for ranks in by_word.values())
    assert max(map(len, by_word.values())) > 1


def test_limits_that_cannot_work() -> None:
    limits = {"top": 0, "max_vocab": 0, "src_max": 0, "tgt_max": -1, "min_probability": 1.5}
    for name, wrong in limits.items():
        with pytest.raises(BadSetting, match=f"--{name.replace('_', '-')} .* {wrong}"):
            InducedPairs(**{name: wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["exact", "approximate"])
@pytest.mark.parametrize("mutual", [False, True])
@pytest.mark.parametrize("retrieval", RETRIEVALS, ids=str)
def test_words_without_a_vector_are_in_no_pair(retrieval: Retrieval, mutual: bool, mode: str) -> None:
    space, search = space_with_zeros(), search_with(Approximation(mode))
    found = list(entries(space, limits=InductionConfig(mutual=mutual), retrieval=retrieval, search=search))
    right = {f"fr{row}": f"en{row}" for row in range(40) if row not in (3, 5, 7)}
    pairs = {one.source: one.target for one in found}
    assert right.items() <= pairs.items()
    assert set(pairs) == set(right) | (set() if mutual else {"fr7"})
    assert not {"en7", "en5"} & set(pairs.values())


@pytest.mark.parametrize("retrieval", RETRIEVALS[:2], ids=str)
def test_an_approximate_search_that_was_exact_finds_the_same(retrieval: Retrieval) -> None:
    rng = np.random.default_rng(0)  # rows with hubs: CSLS moves the best far down the nearest
    rows = [rng.normal(1, 1, (600, 20)).astype(np.float32) for _ in range(2)]
    space = plain_space(
        rows[0], rows[1], [f"fr{row}" for row in range(600)], [f"en{row}" for row in range(600)]
    )
    exact, approximate = (
        [one[:2] for one in entries(space, limits=InductionConfig(), retrieval=retrieval, search=search)]
        for search in (search_with(Approximation(mode)) for mode in ("exact", "approximate"))
    )
    assert approximate == exact
