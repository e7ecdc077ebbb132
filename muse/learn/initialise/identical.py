"""Identical strings: names, numerals and loanwords that both vocabularies spell alike.

The cheapest fallback between languages that share an alphabet (Soegaard et al., 2018), and not
strictly unsupervised: the name of the method is shown with every result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from muse.alignment import Alignment
from muse.errors import Mismatch
from muse.learn.criterion import Criterion
from muse.learn.initialise.dictionary import DictionaryConfig, dictionary
from muse.lexicon import Lexicon
from muse.run.runtime import Runtime
from muse.vectors import Vectors


@dataclass(frozen=True)
class IdenticalConfig:
    """How many of the most frequent words to compare, and the minimum number of shared strings."""

    words: int = 20_000
    minimum: int = 10


def identical(
    source: Vectors,
    target: Vectors,
    *,
    config: IdenticalConfig,
    criterion: Criterion,
    rng: np.random.Generator,
    runtime: Runtime,
) -> Iterator[Alignment]:
    """Yields one Alignment: Procrustes on the strings that occur in both languages; `rng` is not used.

    Raise Mismatch if fewer than `config.minimum` strings are shared.
    """
    lexicon = identical_strings(source.most_frequent(config.words), target.most_frequent(config.words))
    if len(lexicon) < config.minimum:
        raise Mismatch(
            f"identical strings need at least {config.minimum} words spelt alike in both languages, "
            f"got {len(lexicon)}; use another initialisation (--init auto --no-identical)"
        )
    chosen = DictionaryConfig(lexicon, method="identical")
    yield from dictionary(source, target, config=chosen, criterion=criterion, rng=rng, runtime=runtime)


def identical_strings(source: Vectors, target: Vectors) -> Lexicon:
    """The words that occur in both vocabularies, each paired with itself, in the source's order."""
    return Lexicon(tuple((word, word) for word in source.words if word in target.index))
