"""What neighbours say of a candidate, by definition, and what it brings where spelling is no help."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes

from muse.files import read_lexicon, read_vectors
from muse.ranking.candidates import Candidates, NeighbourLists
from muse.ranking.features import KnownPairs
from muse.ranking.model import csls_answers, read_pretrained
from muse.ranking.neighbourhoods import NAMES, NEAR, TEMPERATURE, Neighbourhoods, margins
from muse.ranking.train_ranker import learn_answers
from tests.ranking.test_train_ranker import FEW
from tests.support.made_up_pair import Made, made_up, unit

ROOT = Path(__file__).resolve().parents[2]
MOST = 10_000  # words of a sample


def neighbourhoods(made: Made) -> Neighbourhoods:
    lists = NeighbourLists.of(*made.rows)
    pairs = lists.mutual()
    return Neighbourhoods.of(made.rows, lists, pairs, np.ones(len(pairs)))


@pytest.fixture(scope="module")
def found() -> Neighbourhoods:
    return neighbourhoods(made_up(300, noise=0.8))


def test_evidence_by_definition(found: Neighbourhoods) -> None:
    anchors = found.lists.mutual()
    x, y = found.source, found.target

    def of_anchors(side: np.ndarray, word: int, own: int) -> tuple[np.ndarray, float, float]:
        """A word's row, moved, and the mean logarithms of the ranks of its anchors on both sides."""
        cosines = {
            place: float(side[word] @ side[pair[own]])
            for place, pair in enumerate(anchors.tolist())
            if pair[own] != word
        }
        near = sorted(cosines, key=lambda place: -cosines[place])[:NEAR]
        weights = np.exp(np.array([cosines[place] for place in near]) / TEMPERATURE)
        weights /= weights.sum()
        there, back = x[anchors[near, 0]], y[anchors[near, 1]]
        away = back - there if own == 0 else there - back
        logs = weights @ np.log1p(anchors[near])
        return unit((side[word] + weights @ away)[None])[0], logs[own], logs[1 - own]

    candidates = found.candidates(np.arange(300))
    gathered = found.evidence(candidates)
    for place in range(0, len(candidates.columns), 149):
        i, j = int(candidates.rows[place]), int(candidates.columns[place])
        of_i, own_i, other_i = of_anchors(x, i, 0)
        of_j, own_j, other_j = of_anchors(y, j, 1)
        values = dict(zip(NAMES, gathered[place].tolist(), strict=True))
        others = [k for k in candidates.columns[candidates.rows == i] if k != j]
        assert values["moved"] == pytest.approx(of_i @ y[j] - max(y[others] @ of_i), abs=1e-5)
        assert values["moved rank"] == (y[others] @ of_i > of_i @ y[j]).sum()
        assert found.moved[1][j] == pytest.approx(of_j, abs=1e-5)
        apart = np.log1p(j) - np.log1p(i)
        expected = ((other_i - own_i) + (own_j - other_j)) / 2
        assert values["unexpected difference"] == pytest.approx(apart - expected, abs=1e-4)
        assert values["difference of neighbours"] == pytest.approx(own_j - own_i, abs=1e-4)
        assert values["rarer than neighbours back"] == pytest.approx(np.log1p(j) - own_j, abs=1e-4)


def test_margins_by_definition() -> None:
    candidates = Candidates(np.arange(3), np.array([0, 3, 3, 4]), np.array([5, 6, 7, 5]))
    margin, rank = margins(candidates, np.array([0.2, 0.9, 0.5, 0.1], np.float32))
    np.testing.assert_allclose(margin, [-0.7, 0.4, -0.4, 0], atol=1e-6)
    np.testing.assert_array_equal(rank, [2, 0, 1, 0])


def test_both_directions_see_the_same(found: Neighbourhoods) -> None:
    pairs = found.lists.mutual()
    back = found.reversed()
    one, two = found.candidates(np.unique(pairs[:, 0])), back.candidates(np.unique(pairs[:, 1]))
    there = found.evidence(one)[one.are(pairs, 300)]
    other = back.evidence(two)[two.are(pairs[:, ::-1], 300)][np.argsort(np.argsort(pairs[:, 1]))]
    for name, of_back, sign in (
        ("csls", "csls", 1), ("margin", "margin back", 1), ("rank back", "rank", 1),
        ("unexpected difference", "unexpected difference", -1),
        ("rarer than neighbours", "rarer than neighbours back", 1),
    ):  # fmt: skip
        np.testing.assert_allclose(
            there[:, NAMES.index(name)], sign * other[:, NAMES.index(of_back)], atol=1e-4
        )


def test_rotated_spaces_are_the_same() -> None:
    made = made_up(300, noise=0.8)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((20, 20)))[0].astype(np.float32)
    turned = replace_rows(made, turn)
    one, two = neighbourhoods(made), neighbourhoods(turned)
    words = np.arange(300)
    first, second = one.candidates(words), two.candidates(words)
    np.testing.assert_array_equal(first.columns, second.columns)
    np.testing.assert_allclose(one.evidence(first), two.evidence(second), atol=2e-3)


def replace_rows(made: Made, turn: np.ndarray) -> Made:
    return made._replace(rows=(made.rows[0] @ turn, made.rows[1] @ turn))


@pytest.mark.slow
def test_words_that_are_spelled_by_chance_gain() -> None:
    made = made_up(
        2_000, noise=1.0, spelled="ids"
    )  # each word has one form, unlike those the trees learned from
    chosen = learn_answers(made.words, made.rows, rng=np.random.default_rng(0), pretrained=read_pretrained())
    by_csls = csls_answers(NeighbourLists.of(*made.rows)).first()
    assert [one.report.by for one in chosen] == ["all evidence"] * 2
    assert (chosen[0].answers.first() == made.gold).mean() > (by_csls == made.gold).mean() + 0.01
    assert set(chosen[0].report.decided) == {"vectors", "neighbours", "frequency"}
    alone = replace(read_pretrained(), unspelled=None)
    kept = learn_answers(made.words, made.rows, rng=np.random.default_rng(0), pretrained=alone)
    assert [one.report.by for one in kept] == ["csls"] * 2


@pytest.mark.slow
def test_sample_vectors_without_their_spelling_gain() -> None:
    source, target = (
        read_vectors(ROOT / f"embeddings/sample/{name}.vec.gz", language=name) for name in ("fr", "en")
    )
    own, other = source.index, target.index
    lexicon = read_lexicon(ROOT / "dictionaries" / "fr-en.sample.txt").pairs
    gold = np.array([(own[one], other[two]) for one, two in lexicon if one in own and two in other])
    gold = gold[(gold < MOST).all(axis=1)]
    known = gold[:, 0] % 2 == 0  # half of the words' pairs are given, the other half is asked
    x, y = (unit(np.asarray(side.matrix[:MOST], np.float32)) for side in (source, target))
    pairs = gold[known]
    for _ in range(2):
        turn, _ = orthogonal_procrustes(x[pairs[:, 0]], y[pairs[:, 1]])
        rows = x @ turn.astype(np.float32)
        lists = NeighbourLists.of(rows, y)
        pairs = lists.mutual()
    words = source.words[:MOST], [f"word{number}" for number in range(len(y))]
    random = np.random.default_rng(0)
    found = learn_answers(words, (rows, y), rng=random, pretrained=read_pretrained())
    asked, right = np.unique(gold[~known][:, 0]), {*map(tuple, gold.tolist())}
    ours, by_csls = (
        np.mean([(one, first[one]) in right for one in asked.tolist()])
        for first in (found[0].answers.first(), csls_answers(lists).first())
    )
    assert ours > by_csls + 0.04


@pytest.mark.slow
@pytest.mark.parametrize(("repeated", "both"), [(False, True), (False, False), (True, True)])
def test_pairs_that_decide_nothing_are_not_learned_from(repeated: bool, both: bool) -> None:
    made = made_up(2_000, noise=1.0, spelled="ids")
    right = np.flatnonzero(NeighbourLists.of(*made.rows).columns[:, 0] == made.gold)[:60]
    targets = made.gold[right]
    if repeated:  # too few targets to learn from, back
        targets = np.repeat(targets[::2], 2)
    given = KnownPairs(np.stack([right, targets], axis=1), np.ones(60))
    found = learn_answers(
        made.words, made.rows, given, rng=np.random.default_rng(0), pretrained=read_pretrained(), both=both,
        config=FEW,
    )  # fmt: skip
    assert [one.report.by for one in found] == ["all evidence"] * (1 + both)
    assert found[0].report.undecided
    assert found[0].report.as_json()["trained_on"] == 0
    assert "learned from other languages; decisive" in str(found[0].report)
