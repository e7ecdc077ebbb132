"""Own strings: a foreign word is told by its company, whatever its own rank."""

import numpy as np
import pytest

from muse.ranking import own_strings
from muse.ranking.candidates import Candidates, NeighbourLists
from muse.ranking.features import BilingualViews
from muse.ranking.own_strings import doubt, foreign_company
from muse.ranking.spelling import Spellings

COUNT = 60


@pytest.fixture
def views() -> BilingualViews:
    """Targets in two regions: words that are as frequent at home, and, last and reversed, foreign ones."""
    rng = np.random.default_rng(0)
    both = [f"common{row}" for row in range(COUNT)]
    foreign = [f"foreign{row}" for row in range(COUNT)]
    own = [f"own{row}" for row in range(COUNT)]
    words = [*foreign, *both], [*own, *both, *foreign[::-1]]
    middle = np.eye(2, 8)[[0] * 2 * COUNT + [1] * COUNT]
    rows = middle + 0.1 * rng.normal(size=middle.shape)
    target = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    source = target[COUNT:]
    written = Spellings.of(*words, rng)
    whole, ends = written.correspondences(np.zeros((0, 2), np.int64), np.zeros(0))
    return BilingualViews(source, target, NeighbourLists.of(source, target), written, whole, ends)


def by_brute_force(views: BilingualViews, row: int) -> float:
    """The mean over the nearest of the shared targets, found one after the other."""
    same, rows = views.written.same[0], views.target
    near = [
        (float(rows[same[row]] @ rows[same[other]]), np.log1p(same[other]) - np.log1p(other))
        for other in range(len(same)) if same[other] >= 0 and other != row
    ]  # fmt: skip
    best = sorted(near, reverse=True)[: own_strings.COMPANY]
    return float(np.mean([np.clip(rarer, 0, own_strings.HIGHEST) for _, rarer in best]))


@pytest.mark.parametrize("block", [7, 2_048])
def test_the_company_is_that_of_the_nearest(
    views: BilingualViews, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(own_strings, "BLOCK", block)
    found = foreign_company(views)
    assert found == pytest.approx([by_brute_force(views, row) for row in range(len(found))])
    assert found[:COUNT].min() > 1 > found[COUNT:].max()  # foreign words, and common ones
    assert not foreign_company(views.reversed()).any()  # there, the foreign words are at home


def test_only_own_strings_are_doubted(views: BilingualViews) -> None:
    same = views.written.same[0]
    words = np.arange(len(same))
    candidates = Candidates.of(
        words, [(words, same), (words, (same + 1) % len(views.target))], len(views.target)
    )
    company = foreign_company(views)
    found = doubt(company, same, candidates)
    own = same[candidates.rows] == candidates.columns
    assert (found[~own] == 0).all()
    np.testing.assert_array_equal(found[own], company)


def test_without_shared_words_there_is_no_company(views: BilingualViews) -> None:
    none = np.full(len(views.source), -1)
    views.written.same[0][:] = none
    assert not foreign_company(views).any()
