"""Links between the words of two sentences: Pharaoh's `i-j`, and both directions made into one.

Places are counted from 0. With probabilities, a link is written `i-j:p`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from muse.errors import BadFile
from muse.vectors import Doubles, Flags, Matrix, Numbers

Symmetrisation = Literal["intersection", "union", "grow-diag", "grow-diag-final-and"]
TokenPair = tuple[Sequence[str], Sequence[str]]  # the words of a sentence and of its translation
_LINK = re.compile(r"(\d{1,9})-(\d{1,9})(?::(\d*\.?\d+(?:e-?\d+)?))?", re.ASCII)
_AROUND = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


@dataclass(frozen=True, eq=False)
class Links:
    """The links of a pair of sentences: places (l,) of source words and target words, and probabilities (l,).

    They are in the order of their places, and each is there once. `score` says how well the sentences
    translate each other (`muse.links.linker`), if it is known.
    """

    source: Numbers
    target: Numbers
    probability: Matrix
    score: float = float("nan")

    @classmethod
    def of(cls, chosen: Flags, probability: Matrix | Doubles) -> Links:
        """The links that are `chosen` (s, t), with their probabilities (s, t)."""
        source, target = np.nonzero(chosen)
        return cls(source, target, np.asarray(probability[source, target], np.float32))

    @classmethod
    def of_shares(cls, shares: Mapping[tuple[int, int], float]) -> Links:
        """The links of these pairs of places, each with its probability."""
        places = np.array(sorted(shares), np.int64).reshape(-1, 2)
        found = np.array([shares[i, j] for i, j in places.tolist()], np.float32)
        return cls(places[:, 0], places[:, 1], found)

    def __len__(self) -> int:
        return len(self.source)

    def __iter__(self) -> Iterator[tuple[int, int, float]]:
        return zip(self.source.tolist(), self.target.tolist(), self.probability.tolist(), strict=True)

    def __repr__(self) -> str:
        return f"Links({self.pharaoh()!r})"

    def pharaoh(self, *, probabilities: bool = False) -> str:
        """The links as `i-j i-j`, or as `i-j:p i-j:p`.

        >>> Links(np.array([0, 1]), np.array([1, 0]), np.float32([1, 0.5])).pharaoh(probabilities=True)
        '0-1:1.000 1-0:0.500'
        """
        if not probabilities:
            return " ".join(f"{i}-{j}" for i, j, _ in self)
        return " ".join(f"{i}-{j}:{p:.3f}" for i, j, p in self)


def read_pharaoh(line: str, where: str) -> Links:
    """The links in a line of Pharaoh's format, with probabilities or without; BadFile for anything else.

    >>> list(read_pharaoh("1-0:0.5 0-0", "a.links:1"))
    [(0, 0, 1.0), (1, 0, 0.5)]
    """
    found = dict[tuple[int, int], float]()
    for part in line.split():
        if (match := _LINK.fullmatch(part)) is None:
            raise BadFile(
                f"{where}: expected links such as 0-1 or 0-1:0.9, got {part[:40]!r}; check the format"
            )
        found[int(match[1]), int(match[2])] = float(match[3] or 1)
    return Links.of_shares(found)


def symmetrised(forward: Flags, backward: Flags, how: Symmetrisation) -> Flags:
    """The links (s, t) made of those of both directions (s, t).

    grow-diag adds to the intersection the links of the union beside a link, until there are none of a word
    that has none yet; final-and then adds those of two words that both have none (Koehn et al., 2003; 2005).

    >>> one, two = np.eye(2, dtype=bool), np.array([[True, True], [False, False]])
    >>> symmetrised(one, two, "grow-diag").astype(int).tolist()
    [[1, 1], [0, 1]]
    """
    if how == "union":
        return np.array(forward | backward, np.bool_)
    links = np.array(forward & backward, np.bool_)
    if how == "intersection":
        return links
    union = np.array(forward | backward, np.bool_)
    free = np.asarray(~links.any(axis=1)), np.asarray(~links.any(axis=0))
    queue = list(zip(*(one.tolist() for one in np.nonzero(links)), strict=True))
    for i, j in queue:  # which grows
        for down, right in _AROUND:
            one, two = i + down, j + right
            inside = 0 <= one < links.shape[0] and 0 <= two < links.shape[1]
            if inside and union[one, two] and not links[one, two] and (free[0][one] or free[1][two]):
                links[one, two], free[0][one], free[1][two] = True, False, False
                queue.append((one, two))
    if how == "grow-diag-final-and":
        for way in (forward, backward):
            for i, j in zip(*(one.tolist() for one in np.nonzero(way)), strict=True):
                if free[0][i] and free[1][j]:
                    links[i, j], free[0][i], free[1][j] = True, False, False
    return links
