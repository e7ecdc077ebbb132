"""The vectors of one language of a run, as they are read: words and rows of zeros."""

from pathlib import Path

import numpy as np
import pytest

from muse.api.inputs import read_side
from muse.files import write_vectors_text
from muse.learn.settings import AlignConfig, RowArray, VectorSource
from muse.normalise import normalise
from muse.progress import Progress
from muse.space import SideToSave
from muse.vectors import Matrix
from tests.support.spaces import raw_rows


def rows_with_zeros() -> Matrix:
    rows = raw_rows(0, 9)
    rows[[2, 5]] = 0
    return rows


def read(given: VectorSource) -> SideToSave:
    return read_side(AlignConfig(src=("fr",), tgt="en"), "fr", given, Progress(quiet=True))


def test_words_with_vectors_of_zeros_are_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows, path = rows_with_zeros(), tmp_path / "fr.vec"
    write_vectors_text(path, [f"w{row}" for row in range(9)], rows)
    vectors = read(path).vectors
    assert list(vectors.words) == [f"w{row}" for row in (0, 1, 3, 4, 6, 7, 8)]
    np.testing.assert_allclose(vectors.matrix, normalise(np.delete(rows, [2, 5], axis=0))[0], atol=1e-5)
    assert caplog.messages == [f"{path}: left out 2 of 9 words (fr), with vectors of zeros"]


def test_rows_of_zeros_keep_their_numbers(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows, path = rows_with_zeros(), tmp_path / "fr.npy"
    np.save(path, rows)
    for given, name in ((path, str(path)), (RowArray(rows), "the array")):
        caplog.clear()
        vectors = read(given).vectors
        assert list(vectors.words) == [str(row) for row in range(9)]
        assert not vectors.matrix[[2, 5]].any()
        expected = "no counterpart will be found for 2 of 9 rows (fr), with vectors of zeros"
        assert caplog.messages == [f"{name}: {expected}"]


def test_nothing_is_said_of_other_vectors(caplog: pytest.LogCaptureFixture) -> None:
    rows = rows_with_zeros()
    rows[[2, 5], 3] = 1e-30
    assert len(read(RowArray(rows)).vectors) == 9
    assert not caplog.messages
