"""Streaming: rows mapped block by block are what mapping them at once gives; nothing is half written."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from muse.errors import BadFile, BadSetting, Mismatch
from muse.files import read_vectors, write_vectors_text
from muse.files.row_writers import RowFormat, store_writer
from muse.files.vectors.formats import open_table
from muse.files.vectors.parquet import write_parquet
from muse.files.vectors.table import Block, ReadOptions, Table
from muse.progress import Progress
from muse.space import Space
from muse.space.new_words import StoreFiles, map_rows
from muse.vectors import Matrix
from tests.support.parallel import toy_space
from tests.support.references import unit
from tests.support.spaces import plain_space, raw_rows, rotation, saved

QUIET = Progress(quiet=True)


@pytest.fixture
def space(tmp_path: Path) -> Space:
    return toy_space(tmp_path / "space")


def _rows(space: Space, count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    dimension = space.side("fr").mapping.shape[1]
    return np.random.default_rng(0).standard_normal((count, dimension)).astype(np.float32)


def in_space(raw: Matrix) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Raw rows of fr in the space of `spaces`, by its definition: unit, centred, unit, then rotated."""
    mean = unit(raw_rows(1, 39).astype(np.float64)).mean(axis=0)
    return unit(unit(raw.astype(np.float64)) - mean) @ rotation(1).T.astype(np.float64)


@pytest.mark.parametrize("suffix", ["npy", "parquet"])
def test_rows_are_centred_and_rotated_as_the_words_were(tmp_path: Path, suffix: str) -> None:
    space, raw = saved(tmp_path / "space", "fr", plain=True), raw_rows(5, 25_000)  # three blocks or more
    path, out = (tmp_path / f"{name}.{suffix}" for name in ("raw", "mapped"))
    if suffix == "npy":
        np.save(path, raw)
    else:
        pytest.importorskip("pyarrow")
        write_parquet(path, [f"r{row}" for row in range(len(raw))], raw)
    assert map_rows(space, "fr", StoreFiles(path, out), progress=QUIET) == len(raw)
    np.testing.assert_allclose(read_vectors(out, language="fr").matrix, in_space(raw), atol=1e-5)


def test_each_block_is_written_before_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space, events = saved(tmp_path / "space", "fr", plain=True), list[str]()

    def noted(blocks: Iterator[Block]) -> Iterator[Block]:
        for block in blocks:
            events.append(f"read {len(block[0])}")
            yield block

    @contextmanager
    def opened(path: Path, options: ReadOptions) -> Iterator[Table]:
        with open_table(path, options) as table:
            yield replace(table, blocks=noted(table.blocks))

    @contextmanager
    def written(
        path: Path, dimension: int, form: RowFormat
    ) -> Iterator[Callable[[Sequence[str], Matrix], None]]:
        with store_writer(path, dimension, form) as write:

            def told(ids: Sequence[str], rows: Matrix) -> None:
                events.append(f"write {len(rows)}")
                write(ids, rows)

            yield told

    monkeypatch.setattr("muse.space.new_words.open_table", opened)
    monkeypatch.setattr("muse.files.row_writers.store_writer", written)
    np.save(tmp_path / "a.npy", raw_rows(5, 20_000))
    map_rows(space, "fr", StoreFiles(tmp_path / "a.npy", tmp_path / "b.npy"), progress=QUIET)
    sizes = (8_192, 8_192, 3_616)
    assert events == [f"{what} {size}" for size in sizes for what in ("read", "write")]


def test_blank_lines_are_no_rows(space: Space, tmp_path: Path) -> None:
    rows = _rows(space, 30)
    text = "".join(f"r{row} {' '.join(map(str, one))}\n" for row, one in enumerate(rows))
    (tmp_path / "a.vec").write_text(text + "\n" * 400_000)  # more than is read at once
    assert map_rows(space, "fr", StoreFiles(tmp_path / "a.vec", tmp_path / "b.npy"), progress=QUIET) == 30
    np.testing.assert_allclose(np.load(tmp_path / "b.npy"), space.map_words("fr", rows), atol=1e-6)


def test_what_does_not_fit_writes_nothing(space: Space, tmp_path: Path) -> None:
    rows = _rows(space, 30)
    np.save(tmp_path / "wide.npy", np.hstack([rows, rows]))
    rows[17, 0] = np.nan
    np.save(tmp_path / "nan.npy", rows)
    with pytest.raises(Mismatch, match="need .* numbers each, got"):
        map_rows(space, "fr", StoreFiles(tmp_path / "wide.npy", tmp_path / "b.npy"), progress=QUIET)
    with pytest.raises(BadFile, match="nan or inf in row 17"):
        map_rows(space, "fr", StoreFiles(tmp_path / "nan.npy", tmp_path / "b.npy"), progress=QUIET)
    with pytest.raises(BadSetting, match=r"ends in \.npy, \.parquet"):
        map_rows(space, "fr", StoreFiles(tmp_path / "nan.npy", tmp_path / "b.txt"), progress=QUIET)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("b.")]


def test_a_word_that_was_cut_writes_nothing(space: Space, tmp_path: Path) -> None:
    path = tmp_path / "a.vec"
    write_vectors_text(path, ["é", "cut"], _rows(space, 2))
    path.write_bytes(path.read_bytes().replace(b"cut", "語".encode()[:2]))
    assert len(read_vectors(path, language="fr")) == 1
    with pytest.raises(BadFile, match=r"a.vec:3: expected UTF-8"):  # rows stay in their places
        map_rows(space, "fr", StoreFiles(path, tmp_path / "b.npy"), progress=QUIET)
    assert not (tmp_path / "b.npy").exists()


def test_a_file_with_ids_may_lack_a_broken_word(
    space: Space, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, words = tmp_path / "a.vec", ["é", "a", "broken", "b"]
    write_vectors_text(path, words, _rows(space, 4))
    path.write_bytes(path.read_bytes().replace(b"broken", b"br\xffken"))
    assert map_rows(space, "fr", StoreFiles(path, tmp_path / "b.parquet"), progress=QUIET) == 3
    assert list(read_vectors(tmp_path / "b.parquet", language="fr").words) == ["é", "a", "b"]
    assert "a.vec: dropped 1 word that is not UTF-8, br\\xffken (line 4)" in caplog.text
    path.write_bytes(path.read_bytes().replace(b"a ", b"\xff "))
    with pytest.raises(BadFile, match=r"a.vec:3: expected UTF-8"):
        map_rows(space, "fr", StoreFiles(path, tmp_path / "c.parquet"), progress=QUIET)
    assert not (tmp_path / "c.parquet").exists()


def test_words_of_another_model_write_nothing(tmp_path: Path) -> None:
    of = saved(tmp_path / "words", plain=True)
    words, rows = of.vectors("fr").words, raw_rows(1, 39)
    for name, matrix in (("own.vec", rows), ("other.vec", raw_rows(5, 39))):
        write_vectors_text(tmp_path / name, words, matrix)
    assert map_rows(of, "fr", StoreFiles(tmp_path / "own.vec", tmp_path / "a.npy"), progress=QUIET) == 39
    with pytest.raises(Mismatch, match="need vectors of the model that the space was learned"):
        map_rows(of, "fr", StoreFiles(tmp_path / "other.vec", tmp_path / "b.npy"), progress=QUIET)
    assert not (tmp_path / "b.npy").exists()


def test_numbers_of_rows_are_no_words(tmp_path: Path) -> None:
    numbers = [str(number) for number in range(40)]  # words of the space, as 1 and 2005 are
    of = plain_space(raw_rows(0, 40), raw_rows(1, 40), numbers, [f"en{i}" for i in range(40)])
    np.save(tmp_path / "a.npy", raw_rows(5, 30))
    assert map_rows(of, "fr", StoreFiles(tmp_path / "a.npy", tmp_path / "b.npy"), progress=QUIET) == 30
