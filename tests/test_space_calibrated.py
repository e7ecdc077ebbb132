"""The calibration of a space: found once, kept in its folder, and found again where the file is broken."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from muse.search.calibration import calibrate
from muse.search.probability import Calibration
from muse.search.retrieval import Retrieval
from muse.space import load_space
from muse.space.calibrated import calibrated, find_calibration, known_calibration
from tests.spaces import plain_space, saved


def test_the_same_as_of_the_rows_and_kept_for_each_direction(tmp_path: Path) -> None:
    space = saved(tmp_path / "s", plain=True)
    assert known_calibration(space, "fr", "en") is None
    found = find_calibration(space, "fr", "en")
    expected = calibrate(space.tensor("fr"), space.tensor("en"), rng=np.random.default_rng(0))
    assert found == expected
    assert calibrated(space, "fr", "en", rng=np.random.default_rng(0), retrieval=Retrieval()) == expected
    again = load_space(tmp_path / "s")
    assert known_calibration(again, "fr", "en") == expected
    assert known_calibration(again, "en", "fr") is None


def test_it_is_not_found_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = find_calibration(saved(tmp_path / "s", plain=True), "fr", "en")

    def never(*_: object, **__: object) -> Calibration:
        raise AssertionError("calibrated again")

    monkeypatch.setattr("muse.space.calibrated.calibrate", never)
    assert find_calibration(load_space(tmp_path / "s"), "fr", "en") == first


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "[" * 100_000,
        '{"closed_set": 1}',
        '{"closed_set": 0, "open_set": 1, "none": 0}',
        '{"closed_set": 1, "open_set": 1, "none": NaN}',
        '{"closed_set": "x", "open_set": 1, "none": 0}',
        '{"closed_set": {}, "open_set": 1, "none": 0}',
    ],
)
def test_a_broken_file_is_as_good_as_none(tmp_path: Path, content: str) -> None:
    space = saved(tmp_path / "s", plain=True)
    kept = tmp_path / "s" / "fr" / f"calibration.en.{space.digest('fr', 'en')}.json"
    kept.write_text(content, encoding="utf-8")
    assert known_calibration(space, "fr", "en") is None
    found = find_calibration(space, "fr", "en")
    assert found is not None
    assert json.loads(kept.read_text(encoding="utf-8"))["none"] == found.none


def test_a_space_that_is_too_small_has_none() -> None:
    eye = np.eye(1, dtype=np.float32)
    assert find_calibration(plain_space(eye, eye, ["a"], ["b"]), "fr", "en") is None
