"""Mutual is each the other's first answer, by the ranking that is shown, whoever says it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from muse.ranking.induction import InductionConfig, entries
from muse.ranking.ranker import Ranker, translate_words
from muse.report.word_map import frequent_pairs
from muse.search.retrieval import Retrieval
from muse.space import Space, load_space
from muse.space.derived import AnswerTable, write_answers
from tests.support.command import Command
from tests.support.spaces import RETRIEVALS, derived, plain_space, raw_rows, saved

COUNT = 40
WAYS = [("fr", "en"), ("en", "fr")]


def by_scores() -> Space:
    """A space ranked by CSLS, in which every second word has its own spelling on the other side."""
    names = [f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(COUNT)]
    words = [[one if i % 2 else f"{one}{side}" for i, one in enumerate(names)] for side in ("fr", "en")]
    return plain_space(raw_rows(1, COUNT), raw_rows(2, COUNT), *words)


def by_evidence(folder: Path) -> Space:
    """A space with answers that no vector gives, two to each word but the first; many are mutual."""
    space, rng = saved(folder, plain=True), np.random.default_rng(0)

    def write(folder: Path) -> None:
        for way in WAYS:
            n, m = (len(space.vectors(language)) for language in way)
            pointers = np.append([0, 0], 2 * np.arange(1, n))
            columns = np.concatenate(
                [[row, (row + 1) % m] if row % 3 else rng.permutation(m)[:2] for row in range(1, n)]
            )
            shares = np.linspace(1, 0, len(columns), dtype=np.float32)
            write_answers(folder, way, AnswerTable(pointers, columns, shares, shares))

    return derived(folder, write)


def expected(space: Space, way: tuple[str, str], retrieval: Retrieval) -> set[tuple[str, str]]:
    """The pairs of words that are each other's first, by a full ranking of one word after the other."""
    firsts = []
    for source, target in (way, way[::-1]):
        found = dict[str, str]()
        for row, word in enumerate(space.vectors(source).words):
            ranked = Ranker(space, (source, target), retrieval, top=COUNT).best(np.array([row]))
            if ranked.counts[0]:
                found[word] = space.vectors(target).words[ranked.columns[0, 0]]
        firsts.append(found)
    return {(word, best) for word, best in firsts[0].items() if firsts[1].get(best) == word}


@pytest.mark.parametrize("way", WAYS, ids="-".join)
@pytest.mark.parametrize(
    ("evidence", "retrieval"), [(True, Retrieval()), *((False, one) for one in RETRIEVALS)], ids=str
)
def test_by_brute_force(tmp_path: Path, way: tuple[str, str], evidence: bool, retrieval: Retrieval) -> None:
    space = by_evidence(tmp_path / "space") if evidence else by_scores()
    pairs, words = expected(space, way, retrieval), space.vectors(way[0]).words
    sides = {"source": way[0], "target": way[1], "retrieval": retrieval}
    assert 0 < len(pairs) < len(words)
    for top in (1, 5):
        found = translate_words(space, words, top=top, **sides)  # type: ignore[arg-type]
        assert {(of.word, one.target) for of in found for one in of if one.mutual} == pairs
        dictionary = [*entries(space, **sides, limits=InductionConfig(top, mutual=True))]  # type: ignore[arg-type]
        # A dictionary has no other answers than those of a table, which has none to the first word.
        assert {one[:2] for one in dictionary} == {one for one in pairs if not evidence or one[0] != words[0]}


@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_the_map_has_no_other_pairs(way: tuple[str, str]) -> None:
    space = by_scores()
    source, target = (space.vectors(language).words for language in way)
    pairs = {(source[row], target[column]) for row, column in frequent_pairs(space, *way)}
    assert pairs == expected(space, way, Retrieval())


@pytest.mark.parametrize("top", [1, 3])
@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_within_limits(way: tuple[str, str], top: int) -> None:
    space = by_scores()
    limits = InductionConfig(top, source_max=20, target_max=30)
    there = {entry[:2] for entry in entries(space, *way, limits=replace(limits, top=1))}
    back = {entry[1::-1] for entry in entries(space, *way[::-1], limits=replace(limits.reversed(), top=1))}
    mutual = [*entries(space, *way, limits=replace(limits, mutual=True))]
    assert {entry[:2] for entry in mutual} == there & back
    assert 0 < len(mutual) < len(there)
    assert {entry.rank for entry in mutual} == {1}


def test_commands_and_the_explorer_say_the_same(tmp_path: Path, muse: Command) -> None:
    pytest.importorskip("fastapi")
    pytest.importorskip("httpx")
    from muse.web.app import create_app
    from muse.web.explorer import Explorer
    from tests.support.asgi import Client

    folder = tmp_path / "space"
    by_evidence(folder)
    space = load_space(folder)
    pairs, words = expected(space, ("fr", "en"), Retrieval()), space.vectors("fr").words
    said = muse("translate", folder, *words, "--src", "fr", "--json").json["answers"]
    assert {(word, one["target"]) for word, of in said.items() for one in of if one["mutual"]} == pairs
    client, found = Client(create_app(Explorer(space, "fr-en"))), set()
    for word in words:
        answer = client.get(
            "/api/translate", params={"src": "fr", "tgt": "en", "word": word, "top": 5}
        ).json()
        found |= {(word, one["word"]) for one in answer["translations"] if one["mutual"]}
    assert found == pairs
