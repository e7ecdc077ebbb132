"""Direction: from one language of a space into another; all words of both are looked up at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from torch import Tensor

from muse.search.approximate import Approximation, Prepared
from muse.search.exact import Keys, Neighbours, nearest
from muse.search.retrieval import Retrieval
from muse.space.aligned import Space
from muse.space.hubness import HUBNESS_K

HUBS = 10_000  # of very many words, the most frequent ones


class Search(Protocol):
    """A search of one direction, whose sources are looked up in batches."""

    def best(self, rows: Tensor, top: int) -> Neighbours:
        """The `top` best targets (b, k), with scores, of the sources at these rows (b,)."""

    def back(self, top: int) -> Neighbours:
        """The `top` best sources (m, k) of every target, with their cosines less the bias of a source."""


# From the direction, the method of retrieval, and how many translations of a word are wanted at most.
MakeSearch = Callable[["Direction", Retrieval, int], Search]


@dataclass(frozen=True, eq=False)
class Biases:
    """What is subtracted from the cosines of each source (n,) and target (m,), by the method of retrieval."""

    of_source: Tensor | None
    of_target: Tensor | None
    method: str

    def scored(self, found: Neighbours, rows: Tensor) -> Neighbours:
        """The neighbours of sources at rows (b,), scored; `found` has cosines minus the targets' bias."""
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

    def best(self, rows: Tensor, top: int) -> Neighbours:
        """The `top` best targets (b, k), with scores, of the sources at these rows (b,)."""
        return self.biases.scored(self._targets.nearest(self.x[rows], top), rows)

    def back(self, top: int) -> Neighbours:
        """The `top` best sources (m, k) of every target, with their cosines less the bias of a source."""
        return nearest(self.y, self.x, top, bias=self.biases.of_source, backend=self.backend)

    @cached_property
    def _targets(self) -> Keys:
        return Keys(self.y, self.biases.of_target, self.backend)


@dataclass(frozen=True, eq=False)
class Approximate:
    """A search among the nearest found: targets for each source (n, c), sources for each target (m, c)."""

    of_source: Neighbours
    of_target: Neighbours
    biases: Biases

    def best(self, rows: Tensor, top: int) -> Neighbours:
        """The `top` best targets (b, k), with scores, of the sources at these rows (b,)."""
        return self.biases.scored(self.of_source.of(rows).minus_bias(self.biases.of_target, top), rows)

    def back(self, top: int) -> Neighbours:
        """The `top` best sources (m, k) of every target, with their cosines less the bias of a source."""
        return self.of_target.minus_bias(self.biases.of_source, top)


@dataclass(frozen=True, eq=False)
class Direction:
    """Source and target, each cut to its most frequent words (None: all).

    Which words are looked up changes no translation: hubness is measured against all words of the other side
    or, where these are too many for an exact search, HUBS of them at least.
    """

    space: Space
    languages: tuple[str, str]
    most: tuple[int | None, int | None] = (None, None)

    @cached_property
    def rows(self) -> tuple[Tensor, Tensor]:
        """The rows of the source (n, d) and of the target (m, d)."""
        source, target = self.languages
        return self.space.tensor(source)[: self.most[0]], self.space.tensor(target)[: self.most[1]]

    def search(self, retrieval: Retrieval, approximation: Approximation, most: int) -> Search:
        """The search, for at most `most` translations of a word; isf, a sum over all words, is exact.

        It is exact too if an approximate search of neither side finds enough: otherwise only candidates would
        be searched, and the best words once their bias is subtracted need not be among them.
        """
        x, y = self.rows
        if approximation.applies(len(x), len(y), on_gpu=y.is_cuda) and retrieval.method != "isf":
            count = candidates(most, retrieval)
            prepared = approximation.prepared(x, y, count), approximation.prepared(y, x, count)
            if any(one.index is not None for one in prepared):
                return self._approximate(retrieval, prepared)
            approximation = replace(approximation, mode="auto")  # hubness as without --search
        return self._exact(retrieval, approximation)

    def _exact(self, retrieval: Retrieval, approximation: Approximation) -> Exact:
        (x, y), (source, target) = self.rows, self.languages
        n, m = self.reference(approximation)
        if (n, m) == self._counts:
            whole = self.space.bias(target, source, retrieval), self.space.bias(source, target, retrieval)
            biases = tuple(
                None if of is None else of[:most] for of, most in zip(whole, self.most, strict=True)
            )
        else:
            among = self.space.tensor(source)[:n], self.space.tensor(target)[:m]
            biases = retrieval.bias(among[1], x), retrieval.bias(among[0], y)
        return Exact(x, y, Biases(biases[0], biases[1], retrieval.method), retrieval.backend)

    def reference(self, approximation: Approximation) -> tuple[int, int]:
        """The numbers of frequent words of source and target that the other's hubness is measured against.

        All of them, unless that takes an approximate search.
        """
        counts = self._counts
        if not approximation.applies(*counts, on_gpu=self.rows[1].is_cuda):
            return counts
        n, m = (max(len(rows), min(HUBS, count)) for rows, count in zip(self.rows, counts, strict=True))
        return n, m

    @property
    def _counts(self) -> tuple[int, int]:
        """The numbers of all words of source and target."""
        source, target = (len(self.space.vectors(language)) for language in self.languages)
        return source, target

    def _approximate(self, retrieval: Retrieval, prepared: tuple[Prepared, Prepared]) -> Approximate:
        (x, y), (source, target) = self.rows, self.languages
        with self.space.progress.stage(f"nearest {target} of {source}", len(x), "words") as tick:
            of_source = prepared[0].search(x, tick)
        with self.space.progress.stage(f"nearest {source} of {target}", len(y), "words") as tick:
            of_target = prepared[1].search(y, tick)
        found = of_source, of_target
        return Approximate(*found, self.biases(lambda side: found[side], retrieval))

    def biases(self, found: Callable[[int], Neighbours], retrieval: Retrieval) -> Biases:
        """The biases by the hubness that the space has kept, or else that the search of all words has found.

        `found` gives the nearest of the other side, k or more, for side 0, the source, and for side 1.
        """
        if retrieval.method == "nn":
            return Biases(None, None, "nn")
        known: tuple[Tensor | None, Tensor | None] = None, None
        if tuple(map(len, self.rows)) == self._counts and retrieval.k == HUBNESS_K:
            source, target = self.languages
            known = self.space.hubness(source, target), self.space.hubness(target, source)
        own, other = (
            (found(side).scores[:, : retrieval.k].mean(dim=1) if kept is None else kept) / 2
            for side, kept in enumerate(known)
        )
        return Biases(own, other, retrieval.method)


def candidates(most: int, retrieval: Retrieval) -> int:
    """The number of nearest keys to search for the `most` best: CSLS reorders them."""
    return 2 * max(most, retrieval.k)


def search_with(approximation: Approximation) -> MakeSearch:
    """The search of a direction, exact unless an `approximation` says when it need not be."""
    return lambda direction, retrieval, most: direction.search(retrieval, approximation, most)
