"""Weights of words in a weighted mean, from text or else from frequency ranks.

Without text, the word of rank r has the probability 1/r over the sum of 1/r for all ranks (Zipf's law); the
words of a space are sorted by frequency.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from muse.encoders.ragged import Ragged
from muse.errors import BadSetting, Mismatch

Weights = NDArray[np.float32]
Numbers = NDArray[np.float64]

WEIGHTINGS = ("idf", "sif")
SMOOTHING = 1e-3  # a of SIF, as published
TYPICAL = 10  # words in a sentence, assumed when there is no text


def weights_from_rank(weighting: str, n: int) -> Weights:
    """The weights (n + 1,) of n words by rank alone; the last one is that of an unknown word.

    idf: -log of the probability that a sentence of ten words contains the word. sif: a / (a + p).
    """
    _check(weighting)
    p = 1 / np.arange(1, n + 2)  # (n + 1,)
    p /= p.sum()
    if weighting == "sif":
        return _sif(p)
    return (-np.log1p(-((1 - p) ** TYPICAL))).astype(np.float32)


def weights_from_text(weighting: str, text: Iterable[Ragged], n: int) -> Weights:
    """The weights (n + 1,) of n words from the sentences of a text; the last one is that of an unknown word.

    idf: log((s + 1) / (f + 1/2)) for a word in f of s sentences. sif: a / (a + p), where p is its share of
    all words (Arora et al., 2017). Raises Mismatch if the text has none of the words.
    """
    _check(weighting)
    sentences, counts, total = 0, np.zeros(n + 1), 0
    for block in text:
        words = np.minimum(block.ids.numpy(), n)
        if weighting == "idf":
            of = np.repeat(np.arange(len(block)), block.lengths.numpy())
            words = np.unique(of * (n + 1) + words) % (n + 1)
        counts += np.bincount(words, minlength=n + 1)
        sentences += len(block)
        total += len(words)
    if not total:
        raise Mismatch(f"{weighting} needs text with words of the space, got none in {sentences} lines")
    counts[n] = 0  # each unknown word is rare, though together they are not
    return _sif(counts / total) if weighting == "sif" else _idf(counts, sentences)


def _check(weighting: str) -> None:
    if weighting not in WEIGHTINGS:
        raise BadSetting(f"the weighting must be one of {', '.join(WEIGHTINGS)}; got {weighting!r}")


def _sif(p: Numbers) -> Weights:
    return (SMOOTHING / (SMOOTHING + p)).astype(np.float32)


def _idf(counts: Numbers, sentences: int) -> Weights:
    # 1/2, not 1: a word in every sentence still has a positive weight, so that no mean is 0/0.
    return np.log((sentences + 1) / (counts + 0.5)).astype(np.float32)
