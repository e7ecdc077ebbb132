"""The search for translations of sentences by an encoder's rows, as they are and less their mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.sentence_sets import PIVOT, Aligned, retrieval_sets, training
from muse.search.retrieval import PairScore
from muse.sentences.encoders.composed import Corrected, Correction
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.evaluation.retrieval import Queries, different, sentence_ranks
from muse.sentences.loading import load_encoder
from muse.space import Space

TAUGHT = 5_000  # sentences of each language that the weights of words are learned from
CENTRED = 1_000  # those that the mean of all rows is taken of


def answered(
    encoder: SentenceEncoder, text: Aligned, language: str, ways: Iterable[PairScore]
) -> list[NDArray[np.bool_]]:
    """Which queries (q,) find their translation first among all English sentences, by each score."""
    targets, gold = different(text.english)
    rows = encoder.encode(text.other, language).matrix, encoder.encode(targets, PIVOT).matrix
    return [sentence_ranks(Queries(*rows, gold), how) == 1 for how in ways]


class Search:
    """Tatoeba's sentences of a language to find in English, and its training text."""

    def __init__(self, data: Path, language: str) -> None:
        self._language, self._text = language, training(data, language)
        self._sets = [(one, one.unseen(self._text)) for one in retrieval_sets(data, language)[:2]]

    @property
    def columns(self) -> list[str]:
        """The sets, all of each and what is unseen of it, with the number of queries."""
        names = [((f"{one.name} ({len(fresh)})"), f"unseen ({fresh.sum()})") for one, fresh in self._sets]
        return [name for both in names for name in both]

    def rows(self, encoder: SentenceEncoder) -> Iterator[list[object]]:
        """P@1 by the rows of an encoder as they are, and less the mean of each language."""
        centred = self._taught(Corrected(encoder, Correction("centre")), CENTRED)
        for after, one in (("none", encoder), ("centre", centred)):
            yield [after, *(figure for found in self._sets for figure in self._p_at_1(one, *found))]

    def plain(self, space: Space, trained: Path | None) -> Iterator[SentenceEncoder]:
        """What a Transformer is held against: mean, SIF, and X-CBOW where there is one."""
        for name in ("mean", "sif"):
            yield self._taught(load_encoder(name, space), TAUGHT)
        if trained is not None:
            yield load_encoder(trained, space)

    def _taught(self, encoder: SentenceEncoder, most: int) -> SentenceEncoder:
        sides = (self._language, self._text.other), (PIVOT, self._text.english)
        for language, sentences in sides:
            encoder = encoder.fit(sentences[:most], language)
        return encoder

    def _p_at_1(
        self, encoder: SentenceEncoder, text: Aligned, fresh: NDArray[np.bool_]
    ) -> tuple[float, float]:
        """P@1 of all queries, and of the fresh ones."""
        (correct,) = answered(encoder, text, self._language, [PairScore("nn")])
        return 100 * float(correct.mean()), 100 * float(correct[fresh].mean())
