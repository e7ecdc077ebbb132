"""muse induce --ray: the dictionary of one direction, whose search is divided among machines."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import astuple, dataclass
from functools import cache, cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from torch import Tensor

from muse.cluster.run import Run, Site, spaces_as_settings
from muse.cluster.shards import Blocks, KeySearch, look_up, word_blocks
from muse.commands.options import one_machine_only
from muse.ranking.induction import Counts, InductionConfig, check_found, entries, summary
from muse.search.approximate import Approximation
from muse.search.exact import Neighbours
from muse.search.retrieval import Retrieval
from muse.space import Space
from muse.space.direction import Direction, Search, candidates, search_among

if TYPE_CHECKING:
    from muse.commands.induce import InduceOptions

SOURCE, TARGET = 0, 1
ENTRIES = 65_536  # in a part of the dictionary


def induce_on_cluster(
    space: Space, languages: tuple[str, str], limits: InductionConfig, approximation: Approximation,
    options: InduceOptions,
) -> dict[str, Any]:  # fmt: skip
    """The summary of a dictionary written in parts: row, source, target, score, rank and probability."""
    one_machine_only("form", "both", "backend", "device")
    if options.retrieval == "isf":
        raise click.UsageError(
            "--retrieval isf needs all words on one machine; leave out --ray, or use csls."
        )
    run = Run(options.out, str(options.ray), {
        "command": "induce", "spaces": spaces_as_settings(options.space), "languages": list(languages),
        "limits": list(astuple(limits))[:-2],  # without a list of words, which --ray does not take
        "method": options.retrieval, "search": options.search, "seed": options.seed,
    }, space.progress)  # fmt: skip
    if (done := run.result()) is not None:
        return done
    with run.begun(0) as site:
        counts, number = Counts(), 0
        found = counts.counted(entries(
            space, *languages, limits=limits, retrieval=Retrieval(options.retrieval),
            rng=np.random.default_rng(options.seed),
            search=lambda *wanted: _search(site, approximation, *wanted),
        ))  # fmt: skip
        while batch := list(islice(found, ENTRIES)):
            first = number * ENTRIES
            site.parts.write(number, {
                "row": np.arange(first, first + len(batch)),
                "source": [entry.source for entry in batch], "target": [entry.target for entry in batch],
                "score": np.array([entry.score for entry in batch], np.float32),
                "rank": np.array([entry.rank for entry in batch], np.int64),
                "probability": np.array([entry.probability for entry in batch], np.float64),
            })  # fmt: skip
            number += 1
        if not counts.pairs:
            shutil.rmtree(site.parts.folder, ignore_errors=True)  # there is nothing in it to resume
        check_found(counts.pairs, " to ".join(languages), run.out)
        words = len(space.vectors(languages[SOURCE]).words[: limits.source_max])
        return site.finish(**summary(words, counts, counts))


def _search(
    site: Site, approximation: Approximation, direction: Direction, retrieval: Retrieval, most: int
) -> Search:
    """The search of a direction, exact unless `approximation` applies."""
    spread = _Spread(site, direction, approximation)
    if not approximation.applies(*(blocks.starts[-1] for blocks in spread.blocks)):
        biases = direction.biases(spread.hubs(retrieval.k), retrieval)
        best = cache(lambda: spread.nearest("targets", SOURCE, most, biases.of_target))  # of all sources

        def targets(rows: Tensor, top: int) -> Neighbours:
            found = best().of(rows)
            return Neighbours(found.scores[:, :top], found.indices[:, :top])

        return Search(biases, targets, lambda top: spread.nearest("sources", TARGET, top, biases.of_source))
    count = candidates(most, retrieval)
    found = spread.nearest("targets", SOURCE, count), spread.nearest("sources", TARGET, count)
    return search_among(*found, direction.biases(lambda side: found[side], retrieval))


@dataclass(frozen=True, eq=False)
class _Spread:
    """One direction on a cluster."""

    site: Site
    direction: Direction
    approximation: Approximation

    @cached_property
    def blocks(self) -> tuple[Blocks, Blocks]:
        """The rows of source and target."""
        sides = zip(self.direction.languages, self.direction.most, strict=True)
        source, target = (word_blocks(self.direction.space, language, most) for language, most in sides)
        return source, target

    def nearest(
        self, name: str, side: int, k: int, bias: Tensor | None = None, keys: Blocks | None = None
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
