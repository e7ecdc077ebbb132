"""Induction on a cluster: the search of one direction of a space, divided among machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from torch import Tensor

from muse.cluster.parts import PartFolder
from muse.cluster.run import Run, Site
from muse.cluster.shards import KeySearch, WordBlocks, look_up, word_blocks
from muse.errors import BadSetting
from muse.lexicon import Entry
from muse.ranking.induction import Counts, InductionConfig, check_found, entries, summary
from muse.search.approximate import Approximation
from muse.search.exact import Neighbours
from muse.search.retrieval import Retrieval
from muse.space import Space
from muse.space.direction import Approximate, Biases, Direction, MakeSearch, Search, candidates

SOURCE, TARGET = 0, 1
ENTRIES = 65_536  # in a part of the dictionary


def search_on(site: Site, approximation: Approximation) -> MakeSearch:
    """The maker of the search of a direction on a cluster, exact unless `approximation` applies."""

    def make(direction: Direction, retrieval: Retrieval, most: int) -> Search:
        if retrieval.method == "isf":
            raise BadSetting("the inverted softmax needs all words on one machine, got a cluster; take csls")
        spread = _Spread(site, direction, approximation)
        if not spread.approximate:
            return _Exact(spread, direction.biases(spread.hubs(retrieval.k), retrieval), most)
        count = candidates(most, retrieval)
        found = spread.nearest("targets", SOURCE, count), spread.nearest("sources", TARGET, count)
        return Approximate(*found, direction.biases(lambda side: found[side], retrieval))

    return make


@dataclass(frozen=True, eq=False)
class _Spread:
    """One direction on a cluster."""

    site: Site
    direction: Direction
    approximation: Approximation

    @cached_property
    def blocks(self) -> tuple[WordBlocks, WordBlocks]:
        """The rows of source and target."""
        sides = zip(self.direction.languages, self.direction.most, strict=True)
        source, target = (word_blocks(self.direction.space, language, most) for language, most in sides)
        return source, target

    @property
    def approximate(self) -> bool:
        """Whether it is not exact."""
        return self.approximation.applies(*(blocks.starts[-1] for blocks in self.blocks))

    def nearest(
        self, name: str, side: int, k: int, bias: Tensor | None = None, keys: WordBlocks | None = None
    ) -> Neighbours:
        """The k nearest (n, k) for a whole side, on the other side or among `keys`, minus their `bias`."""
        queries, keys = self.blocks[side], self.blocks[1 - side] if keys is None else keys
        k = min(k, keys.starts[-1])
        less = None if bias is None else bias.cpu().numpy()
        return look_up(name, KeySearch(queries, keys, k, less, self.approximation), self.site)

    def hubs(self, k: int) -> Callable[[int], Neighbours]:
        """The function that finds the k nearest, whose mean is hubness, for all words of a side."""
        space, languages = self.direction.space, self.direction.languages
        among = self.direction.reference(self.approximation)

        def found(side: int) -> Neighbours:
            keys = word_blocks(space, languages[1 - side], among[1 - side])
            return self.nearest(f"hubs of {languages[side]}", side, k, keys=keys)

        return found


@dataclass(frozen=True, eq=False)
class _Exact:
    """An exact search on a cluster, whose results for all words are read once."""

    spread: _Spread
    biases: Biases
    most: int

    @cached_property
    def targets(self) -> Neighbours:
        """The `most` best targets (n, k) of all sources."""
        return self.spread.nearest("targets", SOURCE, self.most, self.biases.of_target)

    def best(self, rows: Tensor, top: int) -> Neighbours:
        """The `top` best targets (b, k), with scores, of the sources at these rows (b,)."""
        found = self.targets.of(rows)
        return self.biases.scored(Neighbours(found.scores[:, :top], found.indices[:, :top]), rows)

    def back(self, top: int) -> Neighbours:
        """The `top` best sources (m, k) of every target, with their cosines less the bias of a source."""
        return self.spread.nearest("sources", TARGET, top, self.biases.of_source)


def induce(
    space: Space,
    languages: tuple[str, str],
    run: Run,
    *,
    limits: InductionConfig,
    retrieval: Retrieval,
    approximation: Approximation,
) -> dict[str, Any]:
    """The summary of a dictionary written in parts: row, source, target, score, rank and probability."""
    if (done := run.result()) is not None:
        return done
    with run.begun(0) as site:
        rng = np.random.default_rng(approximation.seed)
        search = search_on(site, approximation)
        found = entries(space, *languages, limits=limits, retrieval=retrieval, rng=rng, search=search)
        counts = Counts()
        _write(site.parts, counts.counted(found))
        if not counts.pairs:
            site.give_up()
        check_found(counts.pairs, " to ".join(languages), run.out)
        words = len(space.vectors(languages[0]).words[: limits.source_max])
        return site.finish(**summary(words, counts, counts))


def _write(parts: PartFolder, found: Iterable[Entry]) -> None:
    """Write the entries of a dictionary to the parts, in order."""
    left, count, number = iter(found), 0, 0
    while batch := list(islice(left, ENTRIES)):
        parts.write(number, {
            "row": np.arange(count, count + len(batch)),
            "source": [entry.source for entry in batch], "target": [entry.target for entry in batch],
            "score": np.array([entry.score for entry in batch], np.float32),
            "rank": np.array([entry.rank for entry in batch], np.int64),
            "probability": np.array([entry.probability for entry in batch], np.float64),
        })  # fmt: skip
        count, number = count + len(batch), number + 1
