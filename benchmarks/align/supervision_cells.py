"""The cells of benchmarks/align/supervision.py: a pair of languages, the help given, the draw, the tool."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from benchmarks.support.draws import IDENTICAL, NONE, write_draw
from benchmarks.support.pairs import Pair, find_pair
from muse.files import read_lexicon, write_vectors_text
from muse.lexicon import Lexicon
from muse.normalise import normalise
from muse.vectors import Vectors


class Cell(NamedTuple):
    """What one row is of."""

    pair: str
    help: str
    draw: int
    tool: str


@dataclass(frozen=True, eq=False)
class Loaded:
    """A pair's vectors as they are on file, and its gold list; `folder` is for files made of them."""

    pair: Pair
    source: Vectors
    target: Vectors
    gold: Lexicon
    folder: Path

    @property
    def sides(self) -> tuple[Vectors, Vectors]:
        """Source and target."""
        return self.source, self.target

    @cached_property
    def normalised(self) -> tuple[Tensor, Tensor]:
        """The rows of both, normalised as muse does: (n, d), (m, d)."""
        x, y = (torch.from_numpy(normalise(side.matrix)[0]) for side in self.sides)
        return x, y

    def tokens(self) -> tuple[list[str], list[str]]:
        """A token for each word, the same for the same string: some readers split words at any space."""
        strings = dict.fromkeys([*self.source.words, *self.target.words])
        numbers = {word: f"t{i}" for i, word in enumerate(strings)}
        source, target = ([numbers[word] for word in side.words] for side in self.sides)
        return source, target

    def files_of_tokens(self) -> list[Path]:
        """The vectors of both with their tokens as words, as text."""
        paths = [self.folder / f"{self.pair.name}.{side.language}.vec" for side in self.sides]
        for path, side, tokens in zip(paths, self.sides, self.tokens(), strict=True):
            if not path.exists():
                write_vectors_text(path, tokens, side.matrix)
        return paths


@dataclass(frozen=True, eq=False)
class Task:
    """A cell with its data; `dictionary` is None if no pairs are given, else the file every tool gets."""

    cell: Cell
    loaded: Loaded
    dictionary: Path | None

    @property
    def lines(self) -> int:
        """The number of pairs given."""
        return 0 if self.dictionary is None else len(read_lexicon(self.dictionary))

    def pairs(self) -> Tensor:
        """The pairs as row numbers (p, 2)."""
        if self.dictionary is None:
            raise RuntimeError(f"{self.cell.tool} needs pairs")
        source, target = self.loaded.sides
        return torch.from_numpy(read_lexicon(self.dictionary).indices(source.index, target.index))

    def dictionary_of_tokens(self) -> Path:
        """The pairs given, in the words of `files_of_tokens`."""
        source, target = self.loaded.tokens()
        path = self.loaded.folder / f"{self.cell.pair}.{self.cell.help}.{self.cell.draw}.tokens.txt"
        lines = [f"{source[i]}\t{target[j]}\n" for i, j in self.pairs().tolist()]
        path.write_text("".join(lines), encoding="utf-8")
        return path


@lru_cache(maxsize=1)
def load(name: str, shared: Path, folder: Path) -> Loaded:
    """The vectors and the gold list of a pair."""
    pair = find_pair(name, shared)
    return Loaded(pair, *pair.vectors(), read_lexicon(pair.gold_in(folder)), folder)


def task(cell: Cell, shared: Path, folder: Path) -> Task:
    """The cell with its data."""
    loaded = load(cell.pair, shared, folder)
    given = cell.help != NONE
    path = write_draw(loaded.pair, loaded.sides, cell.help, cell.draw, folder) if given else None
    return Task(cell, loaded, path)


def applies(tool: str, help_: str) -> bool:
    """Whether the tool has a mode for this help: Procrustes without pairs has none."""
    if tool == "muse":
        return True
    modes = {"vecmap-unsupervised": help_ == NONE, "vecmap-identical": help_ == IDENTICAL}
    return modes.get(tool, help_ != NONE and not (tool == "vecmap-semi-supervised" and help_ == IDENTICAL))
