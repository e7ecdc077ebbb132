"""Kept files are used as they were written, and of what they were made from, or not at all."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from muse.embedding.pretrained import PretrainedEncoder
from muse.files.kept import (
    Origin,
    keep_arrays,
    keep_numbers,
    keep_rows,
    read_arrays,
    read_numbers,
    read_rows,
)
from muse.progress import Progress
from muse.ranking.probability import find_calibration, known_calibration
from muse.search.retrieval import Retrieval
from muse.space import load_space
from tests.support.spaces import best, saved

ORIGIN = Origin("0123abcd", "of these vectors")
ROWS = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)


def _fits(rows: np.ndarray) -> bool:
    return rows.shape == ROWS.shape


KEEP: dict[str, Callable[[Path, Origin], None]] = {
    "rows.0123abcd.npy": lambda path, origin: keep_rows(path, ROWS, origin),
    "arrays.0123abcd.npz": lambda path, origin: keep_arrays(path, {"rows": ROWS}, origin),
    "numbers.0123abcd.json": lambda path, origin: keep_numbers(path, {"one": 1.0, "other": -0.5}, origin),
}
READ: dict[str, Callable[[Path, Origin], Any]] = {
    ".npy": lambda path, origin: read_rows(path, origin, _fits),
    ".npz": lambda path, origin: read_arrays(path, 10_000, origin, lambda parts: parts["rows"]),
    ".json": lambda path, origin: read_numbers(path, origin, dict[str, float]),
}


def read(path: Path, origin: Origin = ORIGIN) -> Any:
    """What is read of a kept file of any kind; None if it is not used."""
    return READ[path.suffix](path, origin)


@pytest.mark.parametrize("name", KEEP)
def test_read_as_written(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert read(path) is None
    KEEP[name](path, ORIGIN)
    expected: Any = {"one": 1.0, "other": -0.5} if path.suffix == ".json" else ROWS
    np.testing.assert_array_equal(read(path), expected)


@pytest.mark.parametrize("name", KEEP)
def test_what_was_made_from_something_else_or_lay_elsewhere_is_not_used(tmp_path: Path, name: str) -> None:
    path = tmp_path / "fr" / name
    path.parent.mkdir()
    KEEP[name](path, ORIGIN)
    assert read(path, Origin("0123abcd", "of other vectors")) is None
    (tmp_path / "en").mkdir()
    for place in (tmp_path / "fr" / f"other{path.suffix}", tmp_path / "en" / name):
        shutil.copy(path, place)
        assert read(place) is None
    assert read(path) is not None


@pytest.mark.parametrize("name", KEEP)
def test_no_changed_byte_is_read_in_silence(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / name
    KEEP[name](path, ORIGIN)
    right, written = read(path), path.read_bytes()
    for place in range(0, len(written), 7):
        path.write_bytes(written[:place] + bytes([written[place] ^ 4]) + written[place + 1 :])
        found = read(path)
        if found is not None:  # a byte of the archive that no array is read from
            np.testing.assert_array_equal(found, right)
    caplog.clear()
    path.write_bytes(written[: len(written) // 2])
    assert read(path) is None
    assert f"{path}: not used" in caplog.text


def test_a_digest_of_the_content_alone_is_no_seal(tmp_path: Path) -> None:
    # The answers of another language, in the place of these, have such a digest as well.
    content = hashlib.sha256(b"rows" + ROWS.tobytes()).hexdigest()
    np.savez(tmp_path / "arrays.npz", rows=ROWS, digest=np.array([content]))
    assert read(tmp_path / "arrays.npz") is None
    np.savez(tmp_path / "arrays.npz", rows=ROWS)
    assert read(tmp_path / "arrays.npz") is None


def test_a_header_that_asks_for_too_much_memory_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "arrays.0123abcd.npz"
    header = io.BytesIO()
    huge = {"descr": "<i8", "fortran_order": False, "shape": (1 << 50,)}
    np.lib.format.write_array_header_1_0(header, huge)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("rows.npy", header.getvalue())
    assert read(path) is None


def test_numpy_reads_kept_rows(tmp_path: Path) -> None:
    keep_rows(tmp_path / "rows.npy", ROWS, Origin("", "x"))
    np.testing.assert_array_equal(np.load(tmp_path / "rows.npy"), ROWS)


@pytest.mark.parametrize("value", [1.4, -1.4, np.nan, np.inf])
def test_hubness_that_is_no_mean_cosine_is_found_again(tmp_path: Path, value: float) -> None:
    space = saved(tmp_path / "s")
    expected = space.bias("fr", "en", Retrieval())
    (path,) = (tmp_path / "s" / "en").glob("hubness.*.npy")
    rows = np.load(path)
    rows[3] = value
    keep_rows(path, rows, space.origin("fr", "en"))  # with the right seal
    found = load_space(tmp_path / "s").bias("fr", "en", Retrieval())
    assert found is not None and expected is not None
    assert torch.equal(found, expected)


def test_other_numbers_in_the_place_of_hubness_change_no_answer(tmp_path: Path) -> None:
    space = saved(tmp_path / "s", plain=True)
    right = best(space, "fr3", source="fr", target="en")
    for path in (tmp_path / "s").glob("*/hubness.*.npy"):
        kept = np.load(path)
        np.save(path, np.random.default_rng(0).uniform(-1, 1, kept.shape).astype(np.float32))
    again = load_space(tmp_path / "s")
    assert best(again, "fr3", source="fr", target="en") == right
    # What was computed again is kept again.
    assert load_space(tmp_path / "s").hubness("en", "fr") is not None


IMPOSSIBLE = [{"closed_set": 1e-9}, {"open_set": 20.0}, {"none": 5.0}, {"none": float("nan")}]


@pytest.mark.parametrize(
    ("change", "sealed"), [({"none": 0.9}, False), *((one, True) for one in IMPOSSIBLE)], ids=str
)
def test_another_calibration_is_not_used(tmp_path: Path, change: Mapping[str, float], sealed: bool) -> None:
    space = saved(tmp_path / "s", plain=True)
    expected = find_calibration(space, "fr", "en")
    (path,) = (tmp_path / "s" / "fr").glob("calibration.*.json")
    changed = {**json.loads(path.read_text()), **change}
    if sealed:
        del changed["digest"]
        keep_numbers(path, changed, space.origin("fr", "en"))
    else:
        path.write_text(json.dumps(changed))
    again = load_space(tmp_path / "s")
    assert known_calibration(again, "fr", "en") is None
    assert find_calibration(again, "fr", "en") == expected


def test_encoded_words_that_were_changed_are_encoded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Model:
        def encode(self, texts: list[str], **_: object) -> np.ndarray:
            return np.array([[len(text), text.count("e")] for text in texts], np.float32)

    monkeypatch.setattr("muse.embedding.pretrained._load", lambda folder, device: Model())
    (tmp_path / "model").mkdir()
    encoder, words = PretrainedEncoder(tmp_path / "model"), {"fr": ["été", "hiver"]}

    def encode() -> list[list[float]]:
        (found,) = encoder.encode(
            words, cache=tmp_path / ".s.encoded", device="cpu", progress=Progress(quiet=True)
        )
        return [[float(number) for number in row] for row in found]

    right = encode()
    (path,) = (tmp_path / ".s.encoded").iterdir()
    np.save(path, np.zeros((2, 2), np.float32))
    assert encode() == right == [[3, 0], [5, 1]]
