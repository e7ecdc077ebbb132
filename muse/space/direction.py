"""Direction: from a language of a space into another, all words of which are looked up at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from torch import Tensor

from muse.search.approximate import Approximation
from muse.search.found import Neighbours
from muse.search.neighbours import nearest
from muse.search.retrieval import Retrieval
from muse.space.aligned import AlignedSpace
from muse.space.hubness import HUBNESS_K


class Search(Protocol):
    """A search of one direction, whose sources are looked up in batches."""

    def best(self, rows: slice, top: int) -> Neighbours:
        """The `top` best targets (b, k), with scores, of a batch of sources."""

    def back(self, top: int) -> Tensor:
        """The `top` best sources (m, k) of every target."""


@dataclass(frozen=True, eq=False)
class Biases:
    """What is subtracted from the cosines of each source (n,) and target (m,), by the method of retrieval."""

    of_source: Tensor | None
    of_target: Tensor | None
    method: str

    def scored(self, found: Neighbours, rows: slice) -> Neighbours:
        """The scores of what these rows of the source have found, by cosines less the targets' bias."""
        if self.method != "csls" or self.of_source is None:
            return found
        # CSLS is 2 cos - r(x) - r(y), and a bias is r / 2.
        return Neighbours(2 * (found.scores - self.of_source[rows, None]), found.indices)


@dataclass(frozen=True, eq=False)
class Exact:
    """A search of all rows x (n, d) and y (m, d)."""

    x: Tensor
    y: Tensor
    biases: Biases
    backend: str

    def best(self, rows: slice, top: int) -> Neighbours:
        """The `top` best targets (b, k), with scores, of a batch of sources."""
        found = nearest(self.x[rows], self.y, top, bias=self.biases.of_target, backend=self.backend)
        return self.biases.scored(found, rows)

    def back(self, top: int) -> Tensor:
        """The `top` best sources (m, k) of every target."""
        return nearest(self.y, self.x, top, bias=self.biases.of_source, backend=self.backend).indices


@dataclass(frozen=True, eq=False)
class Approximate:
    """A search among the nearest found: targets for each source (n, c), sources for each target (m, c)."""

    of_source: Neighbours
    of_target: Neighbours
    biases: Biases

    def best(self, rows: slice, top: int) -> Neighbours:
        """The `top` best targets (b, k), with scores, of a batch of sources."""
        return self.biases.scored(self.of_source.of(rows).less(self.biases.of_target, top), rows)

    def back(self, top: int) -> Tensor:
        """The `top` best sources (m, k) of every target."""
        return self.of_target.less(self.biases.of_source, top).indices


@dataclass(frozen=True, eq=False)
class Direction:
    """Source and target, each cut to so many of its most frequent words (None: all)."""

    space: AlignedSpace
    languages: tuple[str, str]
    most: tuple[int | None, int | None] = (None, None)

    @cached_property
    def rows(self) -> tuple[Tensor, Tensor]:
        """The rows of the source (n, d) and of the target (m, d)."""
        source, target = self.languages
        return self.space.tensor(source)[: self.most[0]], self.space.tensor(target)[: self.most[1]]

    def search(self, retrieval: Retrieval, approximation: Approximation, most: int) -> Search:
        """The search, for at most so many translations of a word; isf, a sum over all words, is exact."""
        if approximation.applies(*self.rows) and retrieval.method != "isf":
            return self._approximate(retrieval, approximation, most)
        (x, y), (source, target) = self.rows, self.languages
        if self._whole:
            biases = self.space.bias(target, source, retrieval), self.space.bias(source, target, retrieval)
        else:
            biases = retrieval.bias(y, x), retrieval.bias(x, y)
        return Exact(x, y, Biases(*biases, retrieval.method), retrieval.backend)

    @property
    def _whole(self) -> bool:
        """Whether these are all words: the hubness kept with the space is against all of them."""
        pairs = zip(self.rows, self.languages, strict=True)
        return all(len(rows) == len(self.space.vectors(language)) for rows, language in pairs)

    def _approximate(self, retrieval: Retrieval, approximation: Approximation, most: int) -> Approximate:
        # CSLS reorders the nearest: it chooses among twice as many as are asked for.
        (x, y), (source, target), count = self.rows, self.languages, 2 * max(most, retrieval.k)
        with self.space.progress.stage(f"nearest {target} of {source}", len(x)) as tick:
            of_source = approximation.nearest(x, y, count, tick)
        with self.space.progress.stage(f"nearest {source} of {target}", len(y)) as tick:
            of_target = approximation.nearest(y, x, count, tick)
        if retrieval.method == "nn":
            return Approximate(of_source, of_target, Biases(None, None, "nn"))
        own = self._bias(source, target, of_source, retrieval.k)
        other = self._bias(target, source, of_target, retrieval.k)
        return Approximate(of_source, of_target, Biases(own, other, "csls"))

    def _bias(self, language: str, against: str, found: Neighbours, k: int) -> Tensor:
        """Half the hubness (n,) of the words of a language, kept with the space or of what was found."""
        kept = self.space.hubness(language, against) if self._whole and k == HUBNESS_K else None
        return (found.scores[:, :k].mean(dim=1) if kept is None else kept) / 2
