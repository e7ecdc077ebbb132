"""Counts of pairs of words in a table of fixed size, and the file that they are kept in.

A pair has a place by a hash of both words; two pairs that share one are counted together, as in a count
sketch (Charikar, Chen and Farach-Colton, 2002). So the memory is the same however long the text is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile
from muse.files.archive import open_archive
from muse.files.source import DAMAGED, cannot_open
from muse.files.writing import replaced
from muse.links.positions import LONGEST_JUMP
from muse.vectors import Doubles, Numbers

SLOTS = 1 << 24
LEAST = 1e-3  # a smaller share of a link is not counted
VERSION = 1
_SHAPES: dict[str, tuple[int, ...]] = {
    "version": (1,), "size": (1,), "temperature": (1,), "jumps": (2, 2 * LONGEST_JUMP + 1),
    "slots": (), "values": (),
}  # fmt: skip
_WORDS, _OF_WORDS = ("words0", "words1"), ("seen0", "seen1", "sums0", "sums1")
_HASH = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
Arrays = Mapping[str, NDArray[Any]]


class PairCounts:
    """Counts of pairs of words by the numbers of both: the table (SLOTS,), and the sums of each side (n,)."""

    def __init__(self, slots: int = SLOTS) -> None:
        self.table = np.zeros(slots, np.float32)
        self.sums = [np.zeros(0), np.zeros(0)]
        self._shift = np.uint64(64 - int(np.log2(slots)))

    def places(self, source: Numbers, target: Numbers) -> Numbers:
        """The place (c,) in the table of pairs of words (c,)."""
        mixed = (source.astype(np.uint64) + np.uint64(1)) * _HASH[0] ^ (target.astype(np.uint64) * _HASH[1])
        mixed ^= mixed >> np.uint64(29)
        return np.asarray((mixed * _HASH[0]) >> self._shift, np.int64)

    def grow(self, counts: Sequence[int]) -> None:
        """Make room for so many words of each side."""
        for side, count in enumerate(counts):
            self.sums[side] = np.append(self.sums[side], np.zeros(count - len(self.sums[side])))

    def add(self, source: Numbers, target: Numbers, values: Doubles) -> None:
        """Add values (c,) to the counts of pairs (c,)."""
        np.add.at(self.table, self.places(source, target), values.astype(np.float32))
        for side, numbers in enumerate((source, target)):
            self.sums[side] += np.bincount(numbers, values, len(self.sums[side]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The counts as named arrays, for an .npz."""
        filled = np.flatnonzero(self.table >= LEAST)
        sums = {f"sums{side}": values for side, values in enumerate(self.sums)}
        size = np.array([len(self.table)])
        return {"slots": filled.astype(np.uint32), "values": self.table[filled], "size": size, **sums}

    @classmethod
    def of_arrays(cls, arrays: Arrays) -> PairCounts:
        """The counts from named arrays."""
        found = cls(int(arrays["size"][0]))
        found.table[arrays["slots"]] = arrays["values"]
        found.sums = [arrays[f"sums{side}"].astype(np.float64) for side in (0, 1)]
        return found


def save_table(path: Path, arrays: Arrays) -> None:
    """Write what a linker learned to an .npz, which appears once it is complete."""
    with replaced(path) as stream:
        np.savez_compressed(stream, version=np.array([VERSION]), **arrays)  # type: ignore[arg-type]


def load_table(path: Path) -> Arrays:
    """What a linker learned; BadFile for any other file."""
    try:
        path.open("rb").close()
    except OSError as error:
        raise BadFile(cannot_open(path, error)) from error
    try:
        with open_archive(path) as arrays:
            found = {name: arrays[name] for name in (*_SHAPES, *_WORDS, *_OF_WORDS, "languages")}
        words = [len(strings_of(found[name])) for name in _WORDS]
        filled = len(found["slots"])
        shapes = _SHAPES | {"slots": (filled,), "values": (filled,)}
        shapes |= {name: (words[int(name[-1])],) for name in _OF_WORDS}
        for name, shape in shapes.items():
            if found[name].shape != shape or not (np.isfinite(found[name]) & (found[name] >= 0)).all():
                raise ValueError(f"expected finite numbers {shape} as {name}")
        strings_of(found["languages"])
        if (int(found["version"][0]), int(found["size"][0])) != (VERSION, SLOTS):
            raise ValueError(f"expected version {VERSION} with {SLOTS} counts")
        found["slots"] = found["slots"].astype(np.int64, casting="safe")
        if not found["temperature"].all() or not found["jumps"].all() or (found["slots"] >= SLOTS).any():
            raise ValueError("expected probabilities above 0, and places in the table")
    except DAMAGED as error:
        raise BadFile(
            f"{path}: expected what muse link learned, got something else ({error}); save it again with "
            "--save-table"
        ) from error
    return found


def of_strings(words: Iterable[str]) -> NDArray[np.uint8]:
    """Words without line ends as bytes (b,)."""
    return np.frombuffer("\n".join(words).encode("utf-8", "surrogatepass"), np.uint8)


def strings_of(content: NDArray[np.uint8]) -> list[str]:
    """The words in bytes (b,)."""
    return content.tobytes().decode("utf-8", "surrogatepass").split("\n")
