"""Reasons: what spoke for the first answer to a word, and against the next.

The log odds of an answer come from trees, in which the kinds of evidence (`muse.ranking.features`) interact.
What a kind contributes to the lead of the first answer over the next is its Shapley value (Shapley, 1953;
Lundberg and Lee, 2017): the mean of what the log odds gain where its values become those of the first
answer, over all orders in which the kinds do. The contributions sum to the lead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from muse.ranking.completed import MadeRows
from muse.ranking.features import KINDS, NAMES, OUTSIDE
from muse.ranking.model import kinds_of
from muse.ranking.oov import UnseenWords, find_unseen, targets_of
from muse.space import Space
from muse.space.inflections import find_rules
from muse.vectors import Doubles, Matrix


@dataclass(frozen=True)
class JudgedTarget:
    """A target among those of a word, as the evidence has it.

    `nearer` counts the targets, up to 20, that are nearer to the word, `nearer_back` the words that are
    nearer to the target; `alike` is the share of letters that both have, `rank` that of the target by
    frequency, from 1.
    """

    word: str
    nearer: int
    nearer_back: int
    alike: float
    rank: int


@dataclass(frozen=True)
class Reasons:
    """The first answer to a word, of frequency rank `rank`, and the next, and what each kind contributed.

    The contributions are to the log odds of the first less those of the next. There are none where these
    cannot be told by the vectors alone: where others scored translations too, or the order is another.
    """

    rank: int | None
    first: JudgedTarget
    second: JudgedTarget
    contributions: Mapping[str, float]


def reasons_of(space: Space, direction: tuple[str, str], word: str) -> Reasons | None:
    """The reasons for the answer to a word; None if CSLS chose it, or if there is no other answer."""
    table, unseen = space.answers(*direction), find_unseen(space, direction)
    source = space.single_words(direction[0])
    row = source.index.get(word)
    if table is None or unseen is None or row is None:
        return None
    targets = targets_of(space, direction, unseen)
    rows = np.asarray(source.matrix)
    if unseen.completed:
        made = lambda: MadeRows.of(source.words, rows, find_rules(space, direction[0])).completed()  # noqa: E731
        rows = space.once("completed rows", direction, made)
    answers = table.columns[table.pointers[row] : table.pointers[row + 1]][:2]
    if len(answers) < 2:
        return None
    asked = UnseenWords([word], rows[[row]])
    candidates, evidence = unseen.evidence(asked, targets, (source.index, answers))
    first, second = evidence[np.searchsorted(candidates.columns, answers)]
    found = shapley_values(first, second, unseen.model.log_odds, kinds_of(evidence))
    told = OUTSIDE not in table.report.get("evidence", {}) and sum(found.values()) > 0
    both = [
        _judged(targets.words[column], one, column)
        for column, one in zip(answers.tolist(), (first, second), strict=True)
    ]
    return Reasons(
        source.frequency_rank(row), both[0], both[1], {kind: found[kind] for kind in KINDS} if told else {}
    )


def _judged(word: str, evidence: Matrix, column: int) -> JudgedTarget:
    nearer, back, alike = (float(evidence[NAMES.index(name)]) for name in ("rank", "rank back", "edit"))
    return JudgedTarget(word, int(nearer), int(back), alike, column + 1)


def shapley_values(
    first: Matrix, second: Matrix, value: Callable[[Matrix], Doubles], kinds: Mapping[str, Sequence[int]]
) -> dict[str, float]:
    """What the columns of each of k kinds contribute to the value of `first` (f,) less that of `second` (f,).

    >>> kinds, ones = {"one": [0], "other": [1, 2]}, np.ones(3)
    >>> shapley_values(ones, 0 * ones, lambda rows: rows[:, 0] * (1 + rows[:, 1:].sum(axis=1)), kinds)
    {'one': 2.0, 'other': 1.0}
    """
    count, subsets = len(kinds), np.arange(1 << len(kinds))
    has = (subsets[:, None] >> np.arange(count) & 1).astype(bool)  # (2^k, k)
    rows = np.repeat(second[None], len(subsets), axis=0)
    for kind, columns in enumerate(kinds.values()):
        rows[np.ix_(has[:, kind], np.array(columns))] = first[columns]
    values, sizes = value(rows), has.sum(axis=1)
    weights = np.array([1 / (count * comb(count - 1, size)) for size in range(count)])
    found = {}
    for kind, name in enumerate(kinds):
        without = subsets[~has[:, kind]]
        gains = values[without | 1 << kind] - values[without]
        found[name] = float(weights[sizes[without]] @ gains)
    return found
