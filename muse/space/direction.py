"""Direction: from one language of a space into another; all words of both are looked up at once."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from torch import Tensor

from muse.search.approximate import Approximation, Prepared
from muse.search.exact import Keys, Neighbours, nearest
from muse.search.retrieval import Retrieval
from muse.space.aligned import Space
from muse.space.derived import HUBNESS_K

HUBS = 10_000  # of very many words, the most frequent ones


@dataclass(frozen=True, eq=False)
class Biases:
    """What is subtracted from the cosines of each source (n,) and target (m,), by the method of retrieval."""

    of_source: Tensor | None
    of_target: Tensor | None
    method: str


@dataclass(frozen=True, eq=False)
class Search:
    """A search of one direction, whose sources are looked up in batches.

    `targets` finds the `top` best targets (b, k) of the sources at rows (b,), with their cosines less the
    bias of a target; `back` the `top` best sources (m, k) of every target, less the bias of a source.
    """

    biases: Biases
    targets: Callable[[Tensor, int], Neighbours]
    back: Callable[[int], Neighbours]

    def best(self, rows: Tensor, top: int) -> Neighbours:
        """The `top` best targets (b, k), with scores, of the sources at these rows (b,)."""
        found, biases = self.targets(rows, top), self.biases
        if biases.method != "csls" or biases.of_source is None:
            return found
        # CSLS is 2 cos - r(x) - r(y), and a bias is r / 2.
        return Neighbours(2 * (found.scores - biases.of_source[rows, None]), found.indices)


def search_among(of_source: Neighbours, of_target: Neighbours, biases: Biases) -> Search:
    """A search among the nearest found: targets for each source (n, c), sources for each target (m, c)."""
    return Search(
        biases,
        lambda rows, top: of_source.of(rows).minus_bias(biases.of_target, top),
        lambda top: of_target.minus_bias(biases.of_source, top),
    )


# From the direction, the method of retrieval, and how many translations of a word are wanted at most.
MakeSearch = Callable[["Direction", Retrieval, int], Search]


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

    def _exact(self, retrieval: Retrieval, approximation: Approximation) -> Search:
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
        keys, backend = Keys(y, biases[1], retrieval.backend), retrieval.backend
        return Search(
            Biases(biases[0], biases[1], retrieval.method),
            lambda rows, top: keys.nearest(x[rows], top),
            lambda top: nearest(y, x, top, bias=biases[0], backend=backend),
        )

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
        source, target = (len(self.space.vectors(language)) for language in self.languages)
        return source, target

    def _approximate(self, retrieval: Retrieval, prepared: tuple[Prepared, Prepared]) -> Search:
        found = list[Neighbours]()
        for side, rows in enumerate(self.rows):
            name = f"nearest {self.languages[1 - side]} of {self.languages[side]}"
            with self.space.progress.stage(name, len(rows), "words") as tick:
                found.append(prepared[side].search(rows, tick))
        return search_among(found[0], found[1], self.biases(found.__getitem__, retrieval))

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
