"""Learns the trees that choose where no pairs are known, from word pairs of other languages.

    python -m benchmarks.words.pretrained --spaces FOLDER [--pairs en-de] [--out FILE.npz]
        [--first FILE.npz] [--unspelled en-fr.none,en-de.none] [--shared ../shared]

FOLDER has the space of each pair, aligned without pairs, as PAIR.none. The labels are the words that choose
each other by Dice's coefficient in Tatoeba's training sentences, as in benchmarks/align/unseen.py; candidates
that often stand in the same sentences without being chosen are left out: they may be right or wrong. Columns
that depend on the number of words or on the dimension are blanked, so that no tree uses them; and all rows
are used twice, the second time as though the scripts had no letter in common.

With --unspelled, the trees that choose where spelling says nothing are learned instead, from the vectors and
ranks alone of spaces of several pairs, PAIR.HELP each; the others stay those of --first. Every space has the
same weight. The labels are the translations with a share of at least RIGHT of a word's in these sentences
(`benchmarks.words.translation_shares`): of words that choose each other one form is known of each, and trees
learned from them expect both words of a pair to be equally frequent.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.align.unseen import Sentences, dice, sentences
from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.pairs import SHARED, Pair, find_pair
from benchmarks.words.translation_shares import TranslationShares
from muse.files import read_lexicon
from muse.ranking.candidates import NeighbourLists, share_no_word
from muse.ranking.completed import MadeRows
from muse.ranking.features import NAMES, KnownPairs, evidence_of
from muse.ranking.model import PRETRAINED, read_pretrained, write_pretrained
from muse.ranking.neighbourhoods import Neighbourhoods
from muse.ranking.train_ranker import FIRST_WORDS, RefinedViews
from muse.ranking.trees import BoostedTrees, fit_trees
from muse.space import load_space
from muse.space.inflections import learn_suffix_rules
from muse.vectors import Vectors

BLANKED = (
    "nearest of its neighbours", "among the nearest of its neighbours", "hubness", "hubness back", "cosine",
    "commonness", "commonness back",
)  # fmt: skip
LETTERS = (
    "edit", "edit margin", "prefix", "prefix share", "suffix", "same string", "in both", "in both back",
)  # fmt: skip
LEAST_TOGETHER = 3
DOUBTFUL_DICE, DOUBTFUL_SHARE = 0.05, 0.3  # at least, and of the best of either word
RIGHT, DOUBTFUL = 0.3, 0.03  # shares of a word's translations, where spelling is left out
MISSING = 2**31 - 1  # the row of a word that a space has not
MOST_WORDS = 3_000  # of a space, where spelling is left out
NO_PAIRS = np.zeros((0, 2), np.int64)
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


def sides(pair: Pair, folder: Path) -> tuple[Vectors, Vectors]:
    """The vectors of both languages in a space."""
    space = load_space(folder)
    return space.vectors(pair.source), space.vectors(pair.target)


def completed(side: Vectors) -> NDArray[np.float32]:
    """The rows (n, d) of the most frequent words, completed by their forms."""
    rows = np.asarray(side.matrix)
    rules = learn_suffix_rules(side.words, rows, np.zeros(len(rows), bool))
    return MadeRows.of(side.words, rows, rules).completed()[:FIRST_WORDS]


def known(pairs: list[Words], source: Vectors, target: Vectors) -> Numbers:
    """The row numbers (p, 2) of the pairs of words that both languages have."""
    found = [(source.index[x], target.index[y]) for x, y in pairs if x in source.index and y in target.index]
    return np.array(found, np.int64).reshape(-1, 2)


def labelled(
    name: str, folder: Path, shared: Path, first: BoostedTrees
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """The evidence (c, f) and the labels (c,) of the candidates of labelled words, in both directions.

    The rows are refined by answers of the `first` trees, as they are where the new ones will choose.
    """
    pair = find_pair(name, shared)
    source, target = sides(pair, folder / f"{name}.none")
    chosen, doubtful = (known(some, source, target) for some in chosen_and_doubtful(sentences(pair, shared)))
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


def unspelled_rows(
    name: str, folder: Path, shared: Path
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.bool_]]]:
    """The evidence (c, f) of neighbourhoods and the labels (c,) in a space, in each direction.

    They are those of the most frequent words, as where the first answers are chosen. The rows are refined by
    mutual neighbours and the pairs that the mapping was learned from, whose words are left out.
    """
    pair = find_pair(name.split(".")[0], shared)
    source, target = sides(pair, folder / name)
    given_file = folder / f"{name}.txt"
    given = known([*read_lexicon(given_file).pairs], source, target) if given_file.exists() else NO_PAIRS
    shares = TranslationShares.of(sentences(pair, shared))
    rows_of = np.array(
        [(source.index.get(x, MISSING), target.index.get(y, MISSING)) for x, y in shares.pairs]
    )
    rows = completed(source), completed(target)
    given = given[(given < FIRST_WORDS).all(axis=1)]
    neighbours = NeighbourLists.of(*rows)
    start = Neighbourhoods.of(
        rows, neighbours, *KnownPairs(given, np.ones(len(given))).with_others(neighbours.mutual())
    )
    known_rows = (rows_of < FIRST_WORDS).all(axis=1) & share_no_word(rows_of, given)
    for side, own, other, way in (
        (start, shares.of_source, shares.of_target, 1),
        (start.reversed(), shares.of_target, shares.of_source, -1),
    ):
        right = known_rows & (own >= RIGHT) & (shares.counts >= LEAST_TOGETHER)
        unsure = known_rows & ~right & ((own >= DOUBTFUL) | (other >= RIGHT))
        words = np.unique(rows_of[right][:, ::way][:, 0])
        drawn = np.sort(np.random.default_rng(0).permutation(words)[:MOST_WORDS])
        candidates = side.candidates(drawn)
        labels = candidates.are(rows_of[right][:, ::way], len(side.target))
        kept = ~candidates.are(rows_of[unsure][:, ::way], len(side.target))
        yield side.evidence(candidates)[kept], labels[kept]


def learn_unspelled(parts: list[tuple[NDArray[np.float32], NDArray[np.bool_]]]) -> BoostedTrees:
    """Trees over the evidence of neighbourhoods; every space has the same weight."""
    evidence, labels = (np.concatenate(side) for side in zip(*parts, strict=True))
    weights = np.concatenate([np.full(len(one), 1 / len(one)) for _, one in parts])
    return fit_trees(evidence, labels, weights / weights.mean(), rng=np.random.default_rng(0))


def main() -> None:
    """Learns and writes the trees."""
    asked = command_line(
        __doc__, spaces=NEEDED, pairs="en-de", out=PRETRAINED, shared=SHARED, unspelled="",
        first=(PRETRAINED, "trees learned on other languages"),
    )  # fmt: skip
    first = read_pretrained(asked.first)
    if asked.unspelled:
        parts = [
            part
            for name in asked.unspelled.split(",")
            for part in unspelled_rows(name, asked.spaces, asked.shared)
        ]
        write_pretrained(first, asked.out, learn_unspelled(parts))
    else:
        parts = [labelled(name, asked.spaces, asked.shared, first) for name in asked.pairs.split(",")]
        evidence, labels = (np.concatenate(side) for side in zip(*parts, strict=True))
        write_pretrained(learn(evidence, labels), asked.out, first.unspelled)
    right = [int(labels.sum()) for _, labels in parts]
    print(f"{sum(len(labels) for _, labels in parts)} candidates, {sum(right)} right: {asked.out}")


if __name__ == "__main__":
    main()
