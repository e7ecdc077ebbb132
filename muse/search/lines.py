"""Lines: the rows of a matrix, or its columns, searched by the maxima of groups of entries.

The k largest entries of a line lie in the k groups of largest maximum: an entry of any other group is no
larger than k maxima. And where each entry has a bias, the maximum of a group less its least bias bounds what
the group can offer, so that only groups that may hold more than what is known are looked through.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from muse.search.found import Neighbours

BLOCK = 512  # lines looked through at a time
GROUP = 8  # entries whose maximum is kept
APART = 32  # between those of a row's group: a maximum over such groups is taken for many at once
WORTHWHILE = 4  # groups for each of the k: with fewer, maxima save nothing


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines of entries in groups: `maxima` (n, g) of each line, `members` (g, e), the places of the entries.

    Of the `entries` of the whole matrix, the one at place j of line i has the number i strides[0] +
    j strides[1]. Only the first `length` places are real; the entries at others are -inf.
    """

    entries: Tensor
    strides: tuple[int, int]
    length: int
    maxima: Tensor
    members: Tensor

    def __len__(self) -> int:
        return len(self.maxima)

    def nearest(self, k: int) -> Neighbours:
        """The k largest entries of every line, (n, k), largest first."""
        k, groups = min(k, self.length), min(k, len(self.members))
        found = []
        for start in range(0, len(self), BLOCK):
            best = self.maxima[start : start + BLOCK].topk(groups, dim=1).indices  # (b, groups)
            lines = torch.arange(start, start + len(best), device=best.device)[:, None]
            places = self.members[best].flatten(1)  # (b, groups * e)
            largest = self._at(lines, places).topk(k, dim=1)
            found.append(Neighbours(largest.values, places.gather(1, largest.indices)))
        return Neighbours.joined(found)

    def best(self, bias: Tensor, known: Neighbours, *, first: int = 0) -> Neighbours:
        """The best of every line, (n, 1): `known`, or the largest entry less its bias where that is larger.

        `bias` (length,) is that of the places, `known` (n, 1) has a bias subtracted. Places in the result
        are counted from `first`, and the lowest of equals is taken.
        """
        biases = pad(bias, (0, self.members.numel() - len(bias)), value=torch.inf)
        least = biases[self.members].amin(dim=1)  # (g,)
        scores, places = known.scores[:, 0].clone(), known.indices[:, 0].clone()
        for start in range(0, len(self), BLOCK):
            block = slice(start, start + BLOCK)
            before = scores[block].clone()
            lines, groups = (self.maxima[block] - least >= before[:, None]).nonzero().unbind(1)  # (c,)
            where = self.members[groups]  # (c, e)
            found, entry = (self._at(start + lines[:, None], where) - biases[where]).max(dim=1)  # (c,)
            now = before.scatter_reduce(0, lines, found, "amax")
            places[block][now > before] = torch.iinfo(torch.long).max
            right = found == now[lines]
            place = first + where.gather(1, entry[:, None])[:, 0]
            places[block].scatter_reduce_(0, lines[right], place[right], "amin")
            scores[block] = now
        return Neighbours(scores[:, None], places[:, None])

    def _at(self, lines: Tensor, places: Tensor) -> Tensor:
        return torch.take(self.entries, lines * self.strides[0] + places * self.strides[1])


def largest_in_rows(scores: Tensor, columns: int, k: int) -> Neighbours:
    """The k largest of the first `columns` entries of every row (b, t); the others, if any, are -inf.

    t is the `row_length` of as many columns or more.
    """
    groups = scores.shape[1] // GROUP
    if scores.is_cuda or groups < WORTHWHILE * k:
        return Neighbours(*scores[:, :columns].topk(min(k, columns), dim=1))
    maxima = scores.new_empty(len(scores), groups)
    maxima_of_rows(scores, maxima)
    every = members(scores.shape[1], APART, scores.device)
    return Lines(scores.view(-1), (scores.shape[1], 1), columns, maxima, every).nearest(k)


def row_length(columns: int) -> int:
    """The length of rows with room for so many columns, in whole groups."""
    return whole(columns, GROUP * APART)


def whole(count: int, size: int) -> int:
    """The least multiple of `size` that is no less than `count`."""
    return -(-count // size) * size


def maxima_of_rows(rows: Tensor, out: Tensor) -> None:
    """Write to `out` (b, t / GROUP) the maxima of the groups of every row (b, t), whose members are APART."""
    torch.amax(rows.view(len(rows), -1, GROUP, APART), dim=2, out=out.view(len(rows), -1, APART))


def members(places: int, apart: int, device: torch.device) -> Tensor:
    """The places (g, GROUP) of the entries of each group, `apart` from one another."""
    every = torch.arange(places, device=device).view(-1, GROUP, apart)
    return every.transpose(1, 2).reshape(-1, GROUP)
