"""How often words are linked in sentence pairs, as evidence for their translations (Shi et al., 2021).

The score of two words is the Dice coefficient of their links, with `SMOOTHED` more occurrences: of rare words
a link says less.
"""

from collections import Counter
from pathlib import Path

import numpy as np

from muse.links.parallel import linked_text
from muse.ranking.external_scores import ExternalScores
from muse.ranking.lookup import lookup_entry
from muse.space import Space

SMOOTHED = 20.0  # occurrences; from 0 to 20 were alike on a training list


def link_scores(space: Space, direction: tuple[str, str], path: Path) -> ExternalScores:
    """The scores of the words that are linked in the sentence pairs of a file, by the space's vectors."""
    vectors = [space.vectors(language) for language in direction]
    rows: tuple[dict[str, int], ...] = ({}, {})
    links, seen = Counter[tuple[int, int]](), (Counter[int](), Counter[int]())
    for tokens, found in linked_text(space, direction, path):
        sides = []
        for side, known, of, count in zip(tokens, rows, vectors, seen, strict=True):
            for token in side:
                if token not in known:
                    entry = lookup_entry(token, of)
                    known[token] = -1 if entry is None else of.index[entry]
            sides.append([known[token] for token in side])
            count.update(sides[-1])
        links.update((sides[0][i], sides[1][j]) for i, j, _ in found)
    pairs = np.array([pair for pair in links if min(pair) >= 0], np.int64).reshape(-1, 2)
    total = [seen[0][i] + seen[1][j] for i, j in pairs.tolist()]
    scores = np.array([2 * links[i, j] for i, j in pairs.tolist()]) / (np.array(total) + SMOOTHED)
    return ExternalScores.of_pairs(pairs, scores, (len(vectors[0]), len(vectors[1])))
