"""Blocks: the rows of a large matrix on a shared disk, block by block."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from muse.errors import BadSetting
from muse.files.parquet import VECTOR
from muse.files.parts import PartFolder
from muse.files.space_folder import VECTORS, folder_name
from muse.space import AlignedSpace

ROWS = 16_384  # in a block of words


class Blocks(Protocol):
    """Rows of unit length in blocks, which any machine can read.

    `starts` has the first row of each block and, last, the number of rows.
    """

    starts: tuple[int, ...]

    def read(self, block: int) -> Tensor:
        """The rows (b, d) of a block."""


@dataclass(frozen=True)
class WordBlocks(Blocks):
    """The rows of the most frequent words of a space, memory-mapped."""

    path: Path
    starts: tuple[int, ...]

    def read(self, block: int) -> Tensor:
        """The rows (b, d) of a block."""
        rows = np.load(self.path, mmap_mode="r")[self.starts[block] : self.starts[block + 1]]
        return torch.from_numpy(np.array(rows))


@dataclass(frozen=True)
class SentenceBlocks(Blocks):
    """The rows of encoded sentences, a part a block."""

    parts: PartFolder
    starts: tuple[int, ...]

    def read(self, block: int) -> Tensor:
        """The rows (b, d) of a block."""
        (rows,) = self.parts.read(block, VECTOR)
        return normalize(torch.from_numpy(np.array(rows)))


def word_blocks(space: AlignedSpace, language: str, most: int | None) -> WordBlocks:
    """The rows of the `most` frequent words (None: all) of a language of a saved space."""
    if space.folder is None:
        raise BadSetting("machines share a space on a disk, got one that is not saved; save it first")
    words = len(space.vectors(language).words[:most])
    path = space.folder.resolve() / folder_name(language) / VECTORS
    return WordBlocks(path, (*range(0, words, ROWS), words))


def sample_of(blocks: Blocks, size: int, rng: np.random.Generator) -> Tensor:
    """So many rows (size, d) at random, or all there are, from at most sixteen of the blocks."""
    drawn = np.sort(rng.permutation(len(blocks.starts) - 1)[:16])
    rows = torch.cat([blocks.read(int(block)) for block in drawn])
    return rows[torch.from_numpy(np.sort(rng.permutation(len(rows))[:size]))]
