"""Identical strings: names, numerals and loanwords that both vocabularies spell alike.

The cheapest fallback between languages that share an alphabet (Soegaard et al., 2018), and not
strictly unsupervised: the name of the method is shown with every result. Some are spelt alike by chance
("but", "on" in French and English): a pair is left out if the vectors of the others contradict it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import normalize

from muse.alignment import Alignment
from muse.errors import Mismatch
from muse.learn.pair import Criterion, LanguagePair
from muse.lexicon import Lexicon
from muse.procrustes import cross_fitted, procrustes
from muse.vectors import Vectors


@dataclass(frozen=True)
class IdenticalConfig:
    """How many of the most frequent words to compare, and the minimum number of shared strings."""

    words: int = 20_000
    minimum: int = 10
    folds: int = 5
    chance: float = 0.95  # a pair must be more similar than this share of random pairs


def identical(
    pair: LanguagePair, score: Criterion, rng: np.random.Generator, *, config: IdenticalConfig
) -> Iterator[Alignment]:
    """Yields one Alignment: Procrustes on the strings of both languages that the others confirm.

    A pair is confirmed if it is more similar than most random pairs, by a rotation that was not fitted to it.
    Raise Mismatch if fewer than `config.minimum` strings are shared.
    """
    source, target = pair.sides
    lexicon = identical_strings(source.most_frequent(config.words), target.most_frequent(config.words))
    if len(lexicon) < config.minimum:
        raise Mismatch(
            f"identical strings need at least {config.minimum} words spelt alike in both languages, "
            f"got {len(lexicon)}; if one side has capitals, add --lower, else use another initialisation "
            "(--init auto --no-identical)"
        )
    device = pair.runtime.device
    own, other = torch.from_numpy(lexicon.indices(source.index, target.index)).to(device).T  # (p,)
    x, y = pair.rows()
    x, y, rows = x[own], y[other], torch.arange(len(own), device=device)
    folds = torch.from_numpy(rng.permutation(len(x)) % config.folds).to(device)
    mapped = normalize(cross_fitted(x, y, torch.stack([rows, rows], dim=1), folds))  # (p, e)
    mixed = torch.from_numpy(rng.permutation(len(x))).to(device)
    least = (mapped * y[mixed]).sum(dim=1).quantile(config.chance)
    confirmed = (mapped * y).sum(dim=1) > least  # (p,)
    if int(confirmed.sum()) < config.minimum:  # then the vectors say nothing about any pair
        confirmed = torch.ones_like(confirmed)
    x, y = pair.fitted_rows()
    mapping = procrustes(x[own[confirmed]], y[other[confirmed]]).cpu().numpy()
    yield Alignment(mapping, method="identical", criterion=score(mapping))


def identical_strings(source: Vectors, target: Vectors) -> Lexicon:
    """The words of `source` that `target` has too, each paired with itself as it is there, in order."""
    entries = [(word, target.index.entry(word)) for word in source.words]
    return Lexicon(tuple((word, entry) for word, entry in entries if entry is not None))
