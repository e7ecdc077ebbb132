"""The calibration of a space: found once, kept in its folder, and found again where the file is broken."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from muse.ranking.probability import (
    Calibration,
    calibrate_rows,
    calibrate_space,
    find_calibration,
    known_calibration,
)
from muse.ranking.ranker import translate_words
from muse.search.retrieval import Retrieval
from muse.space import load_space
from tests.support.spaces import plain_space, saved


def test_the_same_as_of_the_rows_and_kept_for_each_direction(tmp_path: Path) -> None:
    space = saved(tmp_path / "s", plain=True)
    assert known_calibration(space, "fr", "en") is None
    found = find_calibration(space, "fr", "en")
    expected = calibrate_rows(space.tensor("fr"), space.tensor("en"), rng=np.random.default_rng(0))
    assert found == expected
    assert calibrate_space(space, "fr", "en", rng=np.random.default_rng(0), retrieval=Retrieval()) == expected
    again = load_space(tmp_path / "s")
    assert known_calibration(again, "fr", "en") == expected
    assert known_calibration(again, "en", "fr") is None


def test_it_is_not_found_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = find_calibration(saved(tmp_path / "s", plain=True), "fr", "en")

    def never(*_: object, **__: object) -> Calibration:
        raise AssertionError("calibrated again")

    monkeypatch.setattr("muse.ranking.probability.calibrate_rows", never)
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


def test_what_is_kept_of_other_vectors_is_removed(tmp_path: Path) -> None:
    languages = ("fr", "en.0123abcd")  # a name that looks like one with a digest
    folder, was, others = tmp_path / "s", "0123abcd", "deadbeef"
    space = saved(folder, *languages, plain=True)
    digest = space.digest("fr", "en")
    stay = [
        folder / "fr" / name
        for name in (
            f"hubness.en.0123abcd.{others}.npy",  # against the language of that name
            f"calibration.en.0123abcd.{others}.json",
            f"hubness.en.{others}.approximate.npy",
            "hubness.en.mine.npy",
            "hubness.en.DEADBEEF.npy",
        )
    ]
    gone = [folder / "fr" / f"hubness.en.{was}.npy", folder / "fr" / f"hubness.en.{others}.npy"]
    gone += [folder / "fr" / f"calibration.en.{was}.json", folder / "en" / f"hubness.fr.{others}.npy"]
    for path in (*stay, *gone):
        path.write_bytes(b"an older one")
    with gone[0].open("rb") as reading:  # as another process may be
        translate_words(space, ["fr1"], source="fr", target="en")  # finds hubness
        assert find_calibration(space, "fr", "en") is not None
        assert reading.read() == b"an older one"
    assert not [path for path in gone if path.exists()]
    assert all(path.read_bytes() == b"an older one" for path in stay)
    for name in (f"fr/hubness.en.{digest}.npy", f"en/hubness.fr.{digest}.npy"):
        assert (folder / name).exists()
    assert (folder / "fr" / f"calibration.en.{digest}.json").exists()
