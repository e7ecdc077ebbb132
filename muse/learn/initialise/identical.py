"""Identical strings: names, numerals and loanwords that both vocabularies spell alike.

The cheapest rescue between languages that share an alphabet (Soegaard et al., 2018), and not
strictly unsupervised: the method's name says so wherever the result is shown.
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
    """Among how many of the most frequent words to look, and how few finds are too few."""

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
    """Yields one Alignment: Procrustes on the strings that both sides hold; `rng` is not used.

    Raises Mismatch where fewer than `config.minimum` strings are shared.
    """
    lexicon = identical_strings(source.most_frequent(config.words), target.most_frequent(config.words))
    if len(lexicon) < config.minimum:
        raise Mismatch(
            f"identical strings need at least {config.minimum} words spelt alike in both languages, "
            f"got {len(lexicon)}; use another way in (--init auto --no-identical)"
        )
    chosen = DictionaryConfig(lexicon, method="identical")
    yield from dictionary(source, target, config=chosen, criterion=criterion, rng=rng, runtime=runtime)


def identical_strings(source: Vectors, target: Vectors) -> Lexicon:
    """The words that both vocabularies hold, each paired with itself, in the source's order."""
    return Lexicon(tuple((word, word) for word in source.words if word in target.index))
