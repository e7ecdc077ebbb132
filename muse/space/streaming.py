"""Streaming: a file of rows of any length, mapped into a space block by block, to another file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from muse.errors import BadSetting
from muse.files.formats import open_table
from muse.files.row_files import check_row_file, row_writer
from muse.files.rows import is_rows
from muse.progress import Progress
from muse.space.aligned import AlignedSpace
from muse.space.new_words import check_same_model
from muse.vectors import Matrix

ID = "id"  # the column of a Parquet file


def map_rows(space: AlignedSpace, language: str, path: Path, out: Path, *, progress: Progress) -> int:
    """The number of rows of `path` that were mapped into the shared space and written to `out`.

    `out` is .npy or .parquet, with the columns `id` and `vector`, and appears once it is complete. Only one
    block of rows is in memory at a time. Raise Mismatch if the rows have another dimension than those the
    space was learned from, or words of the space other rows, BadSetting if `out` is no such file.
    """
    check_row_file(out)
    k = space.side(language).mapping.shape[0]
    with open_table(path) as table:
        space.check_raw(language, table.dimension, str(path))
        blocks = progress.through(
            f"mapping {language}", table.blocks, table.room, lambda block: len(block[0]), "rows"
        )
        count = 0
        with row_writer(out, k, ID) as write:
            for ids, rows in blocks:
                if not ids:  # a block of blank lines, whose rows have no width
                    continue
                mapped = space.map_words(language, rows)
                if not count:
                    _check_words(space, language, path, ids, mapped)
                write(ids, mapped)
                count += len(rows)
            if table.cut is not None and table.cut.fault is not None:
                raise table.cut.fault  # a row left out would move those after it
            if not count:  # in the block, so that nothing is written
                raise BadSetting(f"{path}: expected at least one row to map, got none")
    return count


def _check_words(space: AlignedSpace, language: str, path: Path, ids: Sequence[str], mapped: Matrix) -> None:
    # Ids are no words: a number may be the place of a row, and a word of the space.
    vectors = space.vectors(language)
    if is_rows(path) or not vectors.ranked:
        return
    common = [place for place, word in enumerate(ids) if word in vectors.index and not word.isdigit()]
    if common:
        check_same_model(space, language, path, [ids[place] for place in common], mapped[common])
