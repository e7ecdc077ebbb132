"""Picture: pairs together, groups apart, a word outside where its neighbours are; and how it is drawn."""

import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from muse.report import word_map
from muse.report.charts import extent, labels, map_drawing
from muse.report.word_map import Picture
from muse.search.retrieval import Retrieval
from muse.space import Space
from muse.space.derived import AnswerTable
from tests.support.spaces import plain_space

GROUPS, SIZE = 4, 8


@pytest.fixture(scope="module")
def space() -> Space:
    """GROUPS clouds far apart; row i of one language translates row i of the other."""
    rng = np.random.default_rng(0)
    middles = 4 * np.eye(GROUPS, 10, dtype=np.float32)
    rows = np.repeat(middles, SIZE, axis=0) + rng.normal(0, 0.5, (GROUPS * SIZE, 10)).astype(np.float32)
    others = rows + rng.normal(0, 0.02, rows.shape).astype(np.float32)
    letters = "abcdefghijklmnopqrstuvwxyzABCDEF"
    words = [f"word{letters[row]}" for row in range(len(rows))]
    return plain_space(rows, others, words, [f"{word}x" for word in words])


def test_pairs_are_mutual_and_groups_lie_apart(space: Space) -> None:
    pairs = word_map.frequent_pairs(space, "fr", "en")
    assert len(pairs) == GROUPS * SIZE
    assert (pairs[:, 0] == pairs[:, 1]).all()
    chosen = word_map.grouped_pairs(space, "fr", "en", groups=GROUPS, size=3)
    clouds = (chosen[:, 0] // SIZE).reshape(GROUPS, 3)
    assert all(len(set(cloud)) == 1 for cloud in clouds.tolist())
    assert len(np.unique(clouds)) == GROUPS


def test_a_word_lies_beside_its_translation(space: Space) -> None:
    drawn = word_map.draw_picture(space, "fr", "en", word_map.frequent_pairs(space, "fr", "en"), seed=0)
    p = len(drawn.pairs)
    apart = np.linalg.norm(drawn.places[:p] - drawn.places[p:], axis=1)
    others = np.linalg.norm(drawn.places[:p, None] - drawn.places[None, p:], axis=2)
    assert np.median(apart) < 0.2 * np.median(others)
    assert np.abs(drawn.places).max() == pytest.approx(1)


def test_regions_are_the_clouds_and_are_named_by_their_middle(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muse.report.word_map.REGION", SIZE)
    drawn = word_map.draw_picture(space, "fr", "en", word_map.frequent_pairs(space, "fr", "en"), seed=0)
    found = word_map.regions(drawn, seed=0)
    assert [region.pairs for region in found] == [SIZE] * GROUPS
    named = [space.vectors("fr").index[drawn.pairs[region.name][0]] // SIZE for region in found]
    assert sorted(named) == list(range(GROUPS))
    p = len(drawn.pairs)
    for region in found:
        members = [
            row
            for row in range(p)
            if space.vectors("fr").index[drawn.pairs[row][0]] // SIZE == named[found.index(region)]
        ]
        middle = (drawn.places[members] + drawn.places[[row + p for row in members]]).mean(axis=0) / 2
        assert (region.x, region.y) == pytest.approx(tuple(middle))


def test_a_region_is_named_by_a_probable_pair(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muse.report.word_map.REGION", SIZE)
    drawn = word_map.draw_picture(space, "fr", "en", word_map.frequent_pairs(space, "fr", "en"), seed=0)
    named = {region.name for region in word_map.regions(drawn, seed=0)}
    doubted = np.array([0.1 if row in named else 0.9 for row in range(len(drawn.pairs))], np.float32)
    others = {region.name for region in word_map.regions(drawn, 0, doubted)}
    assert len(others) == GROUPS
    assert not named & others
    assert word_map.regions(drawn, 0, doubted - 0.1) == ()  # none that is trusted


def test_pairs_are_those_of_the_answers_where_there_are_some(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = GROUPS * SIZE
    swapped = np.array([1, 0, *range(2, count)])  # the first two answer each other's neighbour

    def answers(_: Space, source: str, target: str, retrieval: Retrieval) -> AnswerTable:
        ones = np.ones(count, np.float32)
        return AnswerTable(np.arange(count + 1), swapped, ones, ones)

    monkeypatch.setattr(Space, "answers", answers)
    assert word_map.frequent_pairs(space, "fr", "en")[:3].tolist() == [[0, 1], [1, 0], [2, 2]]


def test_a_picture_without_pairs_has_no_regions(space: Space) -> None:
    drawn = word_map.draw_picture(space, "fr", "en", np.empty((0, 2), dtype=np.int64), seed=0)
    assert word_map.regions(drawn, seed=0) == ()


def test_the_same_seed_gives_the_same_places(space: Space) -> None:
    rows = np.asarray(space.vectors("fr").matrix)
    np.testing.assert_array_equal(word_map.on_a_plane(rows, 5), word_map.on_a_plane(rows, 5))
    assert not np.array_equal(word_map.on_a_plane(rows, 5), word_map.on_a_plane(rows, 6))


@pytest.mark.parametrize("seed", range(3))
def test_no_word_is_thrown_far_from_its_cloud(space: Space, seed: int) -> None:
    places = word_map.on_a_plane(np.asarray(space.vectors("fr").matrix), seed).reshape(GROUPS, SIZE, 2)
    middles = places.mean(axis=1)
    own = np.linalg.norm(places - middles[:, None], axis=2).max()
    apart = np.linalg.norm(middles[:, None] - middles, axis=2)
    assert own < 0.6 * apart[apart > 0].min()


def test_equal_rows_have_finite_places() -> None:
    places = word_map.on_a_plane(np.tile(np.eye(1, 5, dtype=np.float32), (6, 1)), 0)
    assert np.isfinite(places).all()


@pytest.mark.parametrize("seed", range(3))
def test_clusters_are_those_that_lie_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    middles = np.array([(0, 0), (0, 1), (1, 0), (1, 1), (3, 3)], dtype=float)
    found = word_map.clusters(np.repeat(middles, 9, axis=0) + rng.normal(0, 0.05, (45, 2)), 5, seed)
    of_clouds = found.reshape(5, 9)
    assert (of_clouds == of_clouds[:, :1]).all()
    assert len(set(of_clouds[:, 0].tolist())) == 5
    assert word_map.clusters(middles, 1, seed).tolist() == [0] * 5
    assert sorted(word_map.clusters(middles, 5, seed).tolist()) == list(range(5))


@pytest.mark.slow
def test_the_first_picture_waits_for_no_library() -> None:
    lines = (  # scikit-learn takes as long to load as the map to be drawn
        "import numpy as np, sys",
        "from muse.report.word_map import on_a_plane",
        "on_a_plane(np.random.default_rng(0).normal(size=(50, 9)).astype(np.float32), 0)",
        "print('sklearn' in sys.modules)",
    )
    assert subprocess.check_output([sys.executable, "-c", "; ".join(lines)], text=True) == "False\n"


@pytest.mark.slow
def test_a_thousand_words_are_placed_quickly_and_beside_their_neighbours() -> None:
    from sklearn.manifold import trustworthiness  # a dependency of muse, which takes a second to load

    rng = np.random.default_rng(0)
    rows = np.repeat(rng.normal(size=(50, 100)), 20, axis=0) + rng.normal(0, 0.7, (1_000, 100))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    word_map.on_a_plane(rows[:10], 0)  # what is loaded for the first picture is no part of the drawing
    began = time.thread_time()
    places = word_map.on_a_plane(rows, 0)
    assert time.thread_time() - began < 2  # scikit-learn's takes 1 s, and another to be loaded
    assert trustworthiness(rows, places, n_neighbors=12, metric="cosine") > 0.93


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5])
def test_few_words_have_places_too(count: int) -> None:
    rows = np.random.default_rng(0).normal(size=(count, 3)).astype(np.float32)
    places = word_map.on_a_plane(rows, 0)
    assert places.shape == (count, 2)
    assert np.isfinite(places).all()


def test_what_is_readable() -> None:
    assert [word_map.is_readable(word) for word in ("cat", "été", "火車站", "of", "a1b", "", "x y z")] == [
        True, True, True, False, False, False, False,
    ]  # fmt: skip


DRAWN = (400.0, 300.0)


def picture(pairs: list[tuple[str, str]], seed: int = 0) -> Picture:
    places = np.random.default_rng(seed).uniform(-1, 1, (2 * len(pairs), 2))
    return Picture("fr", "en", tuple(pairs), places, torch.zeros(2 * len(pairs), 3))


def crowd(count: int) -> list[tuple[str, str]]:
    return [(f"motlong{row}", f"longword{row}") for row in range(count)]


@pytest.mark.parametrize("seed", range(5))
def test_labels_cover_neither_points_nor_one_another_nor_the_edge(seed: int) -> None:
    drawing = map_drawing(picture(crowd(60), seed), *DRAWN)
    assert drawing is not None
    boxes = [extent(one.at, one.text, one.anchor) for one in drawing.captions]
    assert 10 < len(boxes) < 120
    for place, (left, top, right, bottom) in enumerate(boxes):
        assert left >= 0 and top >= 0 and right <= DRAWN[0] and bottom <= DRAWN[1]  # noqa: PT018
        for other in boxes[place + 1 :]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
        for dot in drawing.dots:
            assert not (left < dot.at[0] < right and top < dot.at[1] < bottom)


def test_each_pair_is_joined_and_each_language_has_its_shape() -> None:
    drawing = map_drawing(picture(crowd(3)), *DRAWN)
    assert drawing is not None
    assert [dot.diamond for dot in drawing.dots] == [False] * 3 + [True] * 3
    for row, stroke in enumerate(drawing.strokes):
        assert stroke.points == (drawing.dots[row].at, drawing.dots[row + 3].at)
    assert "3 words of fr and their translations into en" in drawing.alt


def test_any_script_is_labelled_and_wide_signs_need_more_room() -> None:
    words = ["火車", "поезд", "قطار", "tre\u0301n"]
    found = list(labels([(100.0, 50.0 * row + 40) for row in range(4)], words, ["one"] * 4, DRAWN))
    assert [caption.text for caption in found] == words
    left, _, right, _ = extent((0, 0), "火車", "start")
    assert right - left > extent((0, 0), "ab", "start")[2] - extent((0, 0), "ab", "start")[0]
    assert extent((0, 0), "tre\u0301n", "start") == extent((0, 0), "tren", "start")


def test_nothing_is_drawn_of_nothing() -> None:
    assert map_drawing(picture([]), *DRAWN) is None
