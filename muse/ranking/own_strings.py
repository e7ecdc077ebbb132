"""Own strings: the company that a word which both languages have as a string keeps in the other language.

*Hello* in French novels is a foreign word: there it stands beside *dear* and *sir*, which are as rare in
French as they are frequent in English. *Table* and *Paris* stand beside words that are as frequent at home.
"""

from __future__ import annotations

import numpy as np
import torch

from muse.ranking.candidates import BLOCK, Candidates
from muse.ranking.features import BilingualViews
from muse.vectors import Doubles, Numbers

COMPANY = 20  # nearest words in the other language
COMPARED = 3_000  # of those that both have, the most frequent at home
HIGHEST = float(np.log(100))  # of a logarithm of ranks


def foreign_company(views: BilingualViews) -> Doubles:
    """How much rarer abroad than at home the company of each source is that has its own string there, (n,).

    It is the mean, over the nearest of the targets that are sources too, of the logarithm of both ranks'
    ratio, of those rarer abroad; 0 for a source without its own string.
    """
    same, found = views.written.same[0], np.zeros(len(views.source))
    own = np.flatnonzero(same >= 0)
    count = min(COMPANY, min(COMPARED, len(own)) - 1)
    if count < 1:
        return found
    rows = views.target[same[own]]
    rarer = np.clip(np.log1p(same[own]) - np.log1p(own), 0, HIGHEST)
    for begin in range(0, len(own), BLOCK):
        cosines = torch.from_numpy(rows[begin : begin + BLOCK]) @ torch.from_numpy(rows[:COMPARED]).T
        itself = np.arange(begin, min(begin + BLOCK, cosines.shape[1]))
        cosines[itself - begin, itself] = -np.inf
        near = cosines.topk(count, dim=1, sorted=False).indices.numpy()  # in half of numpy's time
        found[own[begin : begin + BLOCK]] = rarer[near].mean(axis=1)
    return found


def doubt(company: Doubles, same: Numbers, candidates: Candidates) -> Doubles:
    """What is to be subtracted from the log odds of candidates (c,): more than 0 for own strings alone.

    `company` (n,) is the `foreign_company` of the sources, `same` (n,) their own strings among the targets.
    On the training lists of en-de, en-it, web French and Zhang's pairs, in both directions, as it is it left
    most right among the trusted, as many being trusted as before.
    """
    rows = candidates.rows
    return np.where(same[rows] == candidates.columns, company[rows], 0.0)
