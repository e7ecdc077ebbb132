"""The map: points of both languages, lines between translations, labels that cover nothing."""

import numpy as np
import pytest
import torch

from muse.report.charts import extent, labels, map_drawing
from muse.report.word_map import Picture

SIZE = (400.0, 300.0)


def picture(pairs: list[tuple[str, str]], seed: int = 0) -> Picture:
    places = np.random.default_rng(seed).uniform(-1, 1, (2 * len(pairs), 2))
    return Picture("fr", "en", tuple(pairs), places, torch.zeros(2 * len(pairs), 3))


def crowd(count: int) -> list[tuple[str, str]]:
    return [(f"motlong{row}", f"longword{row}") for row in range(count)]


@pytest.mark.parametrize("seed", range(5))
def test_labels_cover_neither_points_nor_one_another_nor_the_edge(seed: int) -> None:
    drawing = map_drawing(picture(crowd(60), seed), *SIZE)
    assert drawing is not None
    boxes = [extent(one.at, one.text, one.anchor) for one in drawing.captions]
    assert 10 < len(boxes) < 120
    for place, (left, top, right, bottom) in enumerate(boxes):
        assert left >= 0 and top >= 0 and right <= SIZE[0] and bottom <= SIZE[1]  # noqa: PT018
        for other in boxes[place + 1 :]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
        for dot in drawing.dots:
            assert not (left < dot.at[0] < right and top < dot.at[1] < bottom)


def test_each_pair_is_joined_and_each_language_has_its_shape() -> None:
    drawing = map_drawing(picture(crowd(3)), *SIZE)
    assert drawing is not None
    assert [dot.diamond for dot in drawing.dots] == [False] * 3 + [True] * 3
    for row, stroke in enumerate(drawing.strokes):
        assert stroke.points == (drawing.dots[row].at, drawing.dots[row + 3].at)
    assert "3 words of fr and their translations into en" in drawing.alt


def test_any_script_is_labelled_and_wide_signs_need_more_room() -> None:
    words = ["火車", "поезд", "قطار", "tre\u0301n"]
    found = list(labels([(100.0, 50.0 * row + 40) for row in range(4)], words, ["one"] * 4, SIZE))
    assert [caption.text for caption in found] == words
    left, _, right, _ = extent((0, 0), "火車", "start")
    assert right - left > extent((0, 0), "ab", "start")[2] - extent((0, 0), "ab", "start")[0]
    assert extent((0, 0), "tre\u0301n", "start") == extent((0, 0), "tren", "start")


def test_nothing_is_drawn_of_nothing() -> None:
    assert map_drawing(picture([]), *SIZE) is None
