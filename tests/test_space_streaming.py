"""Streaming: rows mapped block by block are what mapping them at once gives; nothing is half written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadFile, BadSetting, Mismatch
from muse.files import read_vectors
from muse.progress import Progress
from muse.space import AlignedSpace
from muse.space.streaming import map_rows
from tests.command import Command, refused
from tests.parallel import toy_space

QUIET = Progress(quiet=True)


@pytest.fixture
def space(tmp_path: Path) -> AlignedSpace:
    return toy_space(tmp_path / "space")


def _rows(space: AlignedSpace, count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    dimension = space.side("fr").mapping.shape[1]
    return np.random.default_rng(0).standard_normal((count, dimension)).astype(np.float32)


def test_more_rows_than_a_block(space: AlignedSpace, tmp_path: Path) -> None:
    rows = _rows(space, 20_000)
    np.save(tmp_path / "a.npy", rows)
    assert map_rows(space, "fr", tmp_path / "a.npy", tmp_path / "b.npy", progress=QUIET) == 20_000
    np.testing.assert_allclose(np.load(tmp_path / "b.npy"), space.map_words("fr", rows), atol=1e-6)


def test_ids_are_kept_in_parquet(space: AlignedSpace, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    rows = _rows(space, 30)
    np.savez(tmp_path / "a.npz", ids=np.array([f"doc-{row}" for row in range(30)]), vectors=rows)
    map_rows(space, "fr", tmp_path / "a.npz", tmp_path / "b.parquet", progress=QUIET)
    found = read_vectors(tmp_path / "b.parquet", language="fr")
    assert found.words == tuple(f"doc-{row}" for row in range(30))
    assert not found.ranked
    np.testing.assert_allclose(found.matrix, space.map_words("fr", rows), atol=1e-6)


def test_blank_lines_are_no_rows(space: AlignedSpace, tmp_path: Path) -> None:
    rows = _rows(space, 30)
    text = "".join(f"r{row} {' '.join(map(str, one))}\n" for row, one in enumerate(rows))
    (tmp_path / "a.vec").write_text(text + "\n" * 400_000)  # more than is read at once
    assert map_rows(space, "fr", tmp_path / "a.vec", tmp_path / "b.npy", progress=QUIET) == 30
    np.testing.assert_allclose(np.load(tmp_path / "b.npy"), space.map_words("fr", rows), atol=1e-6)


def test_what_does_not_fit_writes_nothing(space: AlignedSpace, tmp_path: Path) -> None:
    rows = _rows(space, 30)
    np.save(tmp_path / "wide.npy", np.hstack([rows, rows]))
    rows[17, 0] = np.nan
    np.save(tmp_path / "nan.npy", rows)
    with pytest.raises(Mismatch, match="need .* numbers each, got"):
        map_rows(space, "fr", tmp_path / "wide.npy", tmp_path / "b.npy", progress=QUIET)
    with pytest.raises(BadFile, match="nan or inf in row 17"):
        map_rows(space, "fr", tmp_path / "nan.npy", tmp_path / "b.npy", progress=QUIET)
    with pytest.raises(BadSetting, match=r"\.npy or \.parquet"):
        map_rows(space, "fr", tmp_path / "nan.npy", tmp_path / "b.txt", progress=QUIET)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("b.")]


def test_on_the_command_line(muse: Command, space: AlignedSpace, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", _rows(space, 40))
    line = ("map", tmp_path / "space", "--lang", "fr", "--vectors", tmp_path / "a.npy")
    ended = muse(*line, "--out", tmp_path / "b.npy", "--json")
    assert ended.json == {"rows": 40, "out": str(tmp_path / "b.npy")}
    refused(muse(*line), "rows without words", "--out")
    refused(muse(*line, "--out", tmp_path / "b.npy", "--fit"), "--fit")
