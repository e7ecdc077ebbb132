"""Learns the trees that choose where no pairs are known, from word pairs of other languages.

    python -m benchmarks.words.pretrained --spaces FOLDER [--pairs en-de] [--out FILE.npz]
        [--first FILE.npz] [--shared ../shared]

FOLDER has the space of each pair, aligned without pairs, as PAIR.none. The labels are the words that choose
each other by Dice's coefficient in Tatoeba's training sentences, as in benchmarks/align/unseen.py; candidates
that often stand in the same sentences without being chosen are left out: they may be right or wrong. Columns
that depend on the number of words or on the dimension are blanked, so that no tree uses them; and all rows
are used twice, the second time as though the scripts had no letter in common.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.align.unseen import Sentences, dice, sentences
from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.pairs import SHARED, find_pair
from muse.ranking.features import NAMES, KnownPairs, evidence_of
from muse.ranking.model import PRETRAINED, read_pretrained, write_pretrained
from muse.ranking.train_ranker import RefinedViews
from muse.ranking.trees import BoostedTrees, fit_trees
from muse.space import load_space

BLANKED = (
    "nearest of its neighbours", "among the nearest of its neighbours", "hubness", "hubness back", "cosine",
    "commonness", "commonness back",
)  # fmt: skip
LETTERS = (
    "edit", "edit margin", "prefix", "prefix share", "suffix", "same string", "in both", "in both back",
)  # fmt: skip
LEAST_TOGETHER = 3
DOUBTFUL_DICE, DOUBTFUL_SHARE = 0.05, 0.3  # at least, and of the best of either word
UNLIKE = 0.5  # the weight of a row without common letters

Numbers = NDArray[np.int64]
Words = tuple[str, str]


def chosen_and_doubtful(text: Sentences) -> tuple[list[Words], list[Words]]:
    """The pairs of words that choose each other by Dice's coefficient, and other pairs that may be right."""
    found = dice(text, together_at_least=LEAST_TOGETHER)
    chosen = set(found.chosen())
    doubtful = [
        (x, y)
        for (x, y), value in found.values.items()
        if (x, y) not in chosen
        and value >= max(DOUBTFUL_DICE, DOUBTFUL_SHARE * min(found.of_source[x][0], found.of_target[y][0]))
    ]
    return [pair for pair in found.values if pair in chosen], doubtful


def labelled(
    name: str, folder: Path, shared: Path, first: BoostedTrees
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """The evidence (c, f) and the labels (c,) of the candidates of labelled words, in both directions.

    The rows are refined by answers of the `first` trees, as they are where the new ones will choose.
    """
    pair = find_pair(name, shared)
    space = load_space(folder / f"{name}.none")
    source, target = space.vectors(pair.source), space.vectors(pair.target)
    chosen, doubtful = (
        np.array(
            [(source.index[x], target.index[y]) for x, y in some if x in source.index and y in target.index]
        )
        for some in chosen_and_doubtful(sentences(pair, shared))
    )
    words, rows = (source.words, target.words), (np.asarray(source.matrix), np.asarray(target.matrix))
    none = KnownPairs.none()
    start = RefinedViews.of(words, rows, none, rng=np.random.default_rng(0), pretrained=first)
    parts = []
    for side, right, unsure in (
        (start, chosen, doubtful),
        (start.reversed(), chosen[:, ::-1], doubtful[:, ::-1]),
    ):
        candidates, evidence = evidence_of(side.refined, side.halves, np.unique(right[:, 0]))
        labels = candidates.are(right, len(side.refined.target))
        kept = labels | ~candidates.are(unsure, len(side.refined.target))
        parts.append((evidence[kept], labels[kept]))
    return np.concatenate([one for one, _ in parts]), np.concatenate([one for _, one in parts])


def learn(evidence: NDArray[np.float32], labels: NDArray[np.bool_]) -> BoostedTrees:
    """Trees that do not use what depends on the number of the vectors or their dimension."""
    rows = evidence.copy()
    rows[:, [NAMES.index(name) for name in BLANKED]] = 0
    unlike = rows.copy()
    unlike[:, [NAMES.index(name) for name in LETTERS]] = 0
    weights = np.repeat([1.0, UNLIKE], len(rows))
    both = np.concatenate([rows, unlike]), np.concatenate([labels, labels])
    return fit_trees(*both, weights, rng=np.random.default_rng(0))


def main() -> None:
    """Learns and writes the trees."""
    asked = command_line(
        __doc__, spaces=NEEDED, pairs="en-de", out=PRETRAINED, shared=SHARED,
        first=(PRETRAINED, "trees learned on other languages"),
    )  # fmt: skip
    first = read_pretrained(asked.first)
    found = [labelled(name, asked.spaces, asked.shared, first) for name in asked.pairs.split(",")]
    evidence, labels = (np.concatenate(parts) for parts in zip(*found, strict=True))
    write_pretrained(learn(evidence, labels), asked.out)
    print(f"{len(labels)} candidates, {int(labels.sum())} right: {asked.out}")


if __name__ == "__main__":
    main()
