"""Target: a reader, and good inputs of it, which are damaged and given to it."""

import random
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.fuzz.archives import closed, opened, sealed
from tests.fuzz.mutators import Files, mutated

FLOOR = 64 << 20  # bytes of memory that any input may take
ONLY_INSIDE, ONLY_OUTSIDE = 0.7, 0.9  # of the inputs: below the first, then up to the second; the rest both


@dataclass(frozen=True, eq=False)
class Target:
    """A reader by its name: `seeds` writes good inputs into folders of a folder, `read` reads such an input.

    An input may take `floor` bytes of memory, beyond what its size allows.
    What `read` yields must be finite wherever it is a number or an array of numbers.
    """

    name: str
    seeds: Callable[[Path], object]
    read: Callable[[Path], Iterable[Any]]
    floor: int = FLOOR

    @cached_property
    def inputs(self) -> tuple[Files, ...]:
        """The good inputs, archives in them opened."""
        with tempfile.TemporaryDirectory() as name:
            self.seeds(Path(name))
            return tuple(opened(contents(folder)) for folder in sorted(Path(name).iterdir()))

    @property
    def good(self) -> Iterator[Files]:
        """The good inputs as they were written."""
        for files in self.inputs:
            yield sealed(closed(files, random.Random(0)))

    def numbered(self, seed: int, number: int) -> Files:
        """The damaged input with this number in the campaign with this seed."""
        return self.input(random.Random(f"{seed} {self.name} {number}"))

    def input(self, drawn: random.Random) -> Files:
        """A damaged input: within its archives, behind good checksums, or in its very bytes."""
        files, share = drawn.choice(self.inputs), drawn.random()
        if share < ONLY_INSIDE or share >= ONLY_OUTSIDE:
            files = mutated(files, self.inputs, drawn)
        files = closed(files, drawn)
        if drawn.random() < 0.9:
            files = sealed(files)
        if share >= ONLY_INSIDE:
            files = mutated(files, [files], drawn)
        return files


def contents(folder: Path) -> Files:
    """The content of every file in a folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
