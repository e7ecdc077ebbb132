"""The corpus of a language model: the text of each language, and translations, as sources of masked batches.

A source is a text in one language, as streams, or translation pairs. In streams the sentences of a language
stand end to end, cut into sequences of a fixed length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from muse.errors import BadSetting, Contradiction, Mismatch
from muse.run.runtime import Runtime
from muse.run.seeds import TrainingStream, generator_for
from muse.sentences.encoders.ragged import Ragged, passes, token_batches
from muse.sentences.files.sentence_text import ParallelText, read_documents, read_pairs, read_sentences
from muse.sentences.systems.networks.masked_prediction import Masking, rarity
from muse.sentences.systems.pieces import BOS, EOS, PieceReader, Pieces
from muse.sentences.systems.system import TrainingRequest
from muse.sentences.systems.xlm.language_model import (
    TLM,
    Hiding,
    MaskedBatch,
    MaskedSide,
    XlmConfig,
    following,
    masked,
    side_by_side,
)
from muse.sentences.training.pairs import Pairs, hold_out, make_pairs

FEWEST_STREAMS = 20  # in a language
Documents = Sequence[Sequence[str]]
HELD_OUT_PAIRS = 400  # pairs scored after every epoch
_AT_ONCE = 64  # held-out streams or pairs in a batch
Batches = Iterator[Tensor]
Direction = tuple[str, str]  # the pivot and another language


@dataclass(frozen=True)
class XlmCorpus:
    """The documents of each language, and parallel text by its two languages, pivot first."""

    documents: Mapping[str, Documents]
    parallel: Mapping[Direction, ParallelText] = field(default_factory=dict)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages; their places are their numbers."""
        return tuple(self.documents)

    @property
    def sentences(self) -> dict[str, list[str]]:
        """The sentences of each language."""
        return {name: list(chain.from_iterable(texts)) for name, texts in self.documents.items()}


def check_texts(config: XlmConfig, request: TrainingRequest) -> None:
    """Raise BadSetting if the given files do not fit the objective."""
    pivot, language = request.space.pivot, request.language
    if language not in request.texts:
        raise Contradiction(f"xlm needs text of --lang {language}; give --text {language}=FILE")
    if config.judged and config.judged not in request.texts:
        raise BadSetting(
            f"judged must be a language with --text, one of {', '.join(request.texts)}; got {config.judged!r}"
        )
    if config.objective != TLM:
        if request.parallel_files:
            raise Contradiction(
                f"{config.objective} does not use --parallel; leave it out, or --set objective=mlm+tlm"
            )
        return
    if not request.parallel or pivot not in request.texts:
        raise Contradiction(
            f"mlm+tlm needs --parallel and --text of both its languages, {pivot} and {language}; give them, "
            "or --set objective=mlm"
        )
    for name in request.further:
        if name not in request.texts:
            raise Contradiction(
                f"--parallel {name}=FILE needs text of {name}; give --text {name}=FILE, or leave it out"
            )


def read_corpus(config: XlmConfig, request: TrainingRequest) -> XlmCorpus:
    """The corpus in the files of a request."""
    read = _documents if config.documents else _one_document
    documents = {language: read(path) for language, path in request.texts.items()}
    pairs = {(request.space.pivot, name): read_pairs(files) for name, files in request.parallel_files.items()}
    return XlmCorpus(documents, pairs)


def _one_document(path: Path) -> Documents:
    return [[line for line in read_sentences(path) if line.strip()]]


def _documents(path: Path) -> Documents:
    return list(read_documents(path).values())


@dataclass(frozen=True, eq=False)
class Sources:
    """A corpus as masked batches, and the `counts` (v,) of the pieces in the streams of each language."""

    streams: tuple[StreamSource, ...]
    pairs: tuple[PairSource, ...]
    counts: Mapping[str, Tensor]

    def sizes(self) -> dict[str, int]:
        """The counts of training examples to report."""
        found = {"streams": sum(source.examples for source in self.streams)}
        if self.pairs:
            found["pairs"] = sum(source.examples for source in self.pairs)
            found["skipped"] = sum(source.pairs.skipped for source in self.pairs)
            found["truncated"] = sum(source.pairs.truncated for source in self.pairs)
        return found


def make_sources(
    config: XlmConfig, corpus: XlmCorpus, pieces: Pieces, *, seed: int, runtime: Runtime
) -> Sources:
    """The sources of a corpus; Mismatch if it is too small."""
    generator = generator_for(seed, *TrainingStream.SECOND)
    cut = {
        name: make_streams(name, texts, pieces, config.length, generator, runtime.device)
        for name, texts in corpus.documents.items()
    }
    counts = {name: _counts(streams, len(pieces)) for name, streams in cut.items()}
    distribution = None
    if not config.causal:
        weights = rarity(torch.stack(list(counts.values())).sum(dim=0))
        distribution = MaskingDistribution(config.masking(len(pieces)), weights)
    streams = tuple(
        StreamSource(name, place, found, distribution) for place, (name, found) in enumerate(cut.items())
    )
    if distribution is None:
        return Sources(streams, (), counts)
    reader, found = PieceReader(pieces, config.length), list[PairSource]()
    for languages, text in corpus.parallel.items():
        rng = np.random.default_rng(seed)
        pairs = make_pairs(text, [reader, reader], rng=rng, device=runtime.device, progress=runtime.progress)
        first, second = (corpus.languages.index(name) for name in languages)
        found.append(PairSource(languages, (first, second), pairs, config.pair_tokens, distribution))
    return Sources(streams, tuple(found), counts)


def _counts(streams: Streams, vocabulary: int) -> Tensor:
    return torch.bincount(streams.ragged.take(streams.training).ids, minlength=vocabulary)


@dataclass(frozen=True, eq=False)
class MaskingDistribution:
    """The shares of pieces to hide, and the `weights` (v,) by which they are drawn."""

    masking: Masking
    weights: Tensor

    def hiding(self, generator: torch.Generator) -> Hiding:
        """The masking with these weights, drawn by this generator."""
        return Hiding(self.masking, self.weights, generator)


class TextSource(Protocol):
    """The interface of sources: examples to train on and held-out ones, as masked batches."""

    @property
    def name(self) -> str:
        """The language or languages of the source."""

    @property
    def examples(self) -> int:
        """The number n of training examples."""

    def batches(self, size: int, generator: torch.Generator) -> Batches:
        """Endless batches of the indices (b,) of examples, in random order and each equally often."""

    def masked_batch(self, rows: Tensor, generator: torch.Generator) -> MaskedBatch:
        """The training examples with these numbers (b,), masked."""

    def held_out(self, generator: torch.Generator) -> Iterator[MaskedBatch]:
        """The held-out examples, masked, batch by batch."""


@dataclass(frozen=True, eq=False)
class StreamSource(TextSource):
    """Streams of the language with this number, for MLM or, without a distribution, CLM."""

    language: str
    number: int
    streams: Streams
    distribution: MaskingDistribution | None

    @property
    def name(self) -> str:
        """The language."""
        return self.language

    @property
    def examples(self) -> int:
        """The number of streams that train."""
        return len(self.streams.training)

    def batches(self, size: int, generator: torch.Generator) -> Batches:
        """Endless batches of `size` streams; the last one of a pass may be smaller."""
        return passes(self.examples, size, generator)

    def masked_batch(self, rows: Tensor, generator: torch.Generator) -> MaskedBatch:
        """The training examples with these numbers (b,), masked."""
        return self._masked_batch(self.streams.training[rows], generator)

    def held_out(self, generator: torch.Generator) -> Iterator[MaskedBatch]:
        """The held-out streams, masked, batch by batch."""
        return (self._masked_batch(rows, generator) for rows in torch.split(self.streams.held_out, _AT_ONCE))

    def _masked_batch(self, rows: Tensor, generator: torch.Generator) -> MaskedBatch:
        text = self.streams.ragged.take(rows).padded()
        if self.distribution is None:
            return side_by_side(following(text, self.number))
        return side_by_side(masked(text, self.number, self.distribution.hiding(generator)))


@dataclass(frozen=True, eq=False)
class PairSource(TextSource):
    """Sentences and their translations in two languages, in batches of `tokens` pieces: TLM."""

    languages: tuple[str, str]
    numbers: tuple[int, int]
    pairs: Pairs
    tokens: int
    distribution: MaskingDistribution

    @property
    def name(self) -> str:
        """Both languages, such as en-fr."""
        return "-".join(self.languages)

    @property
    def examples(self) -> int:
        """The number of pairs that train."""
        return len(self.pairs.training)

    def batches(self, size: int, generator: torch.Generator) -> Batches:
        """Endless batches of pairs of similar lengths, limited by `tokens` instead of `size`."""
        both = self.pairs.pivot, self.pairs.other
        lengths = [side.lengths[self.pairs.training] for side in both]
        longer = torch.maximum(*lengths).cpu()  # (n,)
        while True:
            yield from token_batches(2 * longer, self.tokens, generator)

    def masked_batch(self, rows: Tensor, generator: torch.Generator) -> MaskedBatch:
        """The training examples with these numbers (b,), masked."""
        return side_by_side(*self.sides(self.pairs.training[rows], generator))

    def held_out(self, generator: torch.Generator) -> Iterator[MaskedBatch]:
        """The first held-out pairs, masked, batch by batch."""
        parts = torch.split(self.pairs.held_out[:HELD_OUT_PAIRS], _AT_ONCE)
        return (side_by_side(*self.sides(rows, generator)) for rows in parts)

    def sides(self, rows: Tensor, generator: torch.Generator) -> list[MaskedSide]:
        """Both sides of the pairs with these indices (b,) in the text, masked independently."""
        hiding = self.distribution.hiding(generator)
        sides = zip((self.pairs.pivot, self.pairs.other), self.numbers, strict=True)
        return [masked(side.take(rows).padded(), number, hiding) for side, number in sides]


@dataclass(frozen=True, eq=False)
class Streams:
    """The streams of one language, and the indices of the training (n,) and held-out ones."""

    ragged: Ragged
    training: Tensor
    held_out: Tensor


def make_streams(
    language: str, texts: Documents, pieces: Pieces, length: int, generator: torch.Generator, device: str
) -> Streams:
    """The streams of a language, which do not cross documents; Mismatch if there are too few."""
    cut = chain.from_iterable(cut_streams(pieces.encode(text), length) for text in texts)
    found = [stream for stream in cut if len(stream) > 2]  # <bos> and one piece are useless
    if len(found) < FEWEST_STREAMS:
        raise Mismatch(
            f"{language} needs text for at least {FEWEST_STREAMS} streams of {length} pieces, got "
            f"{len(found)}; give more text, or set a smaller length"
        )
    training, held_out = (part.sort().values.to(device) for part in hold_out(len(found), generator))
    return Streams(Ragged.of(found).to(device), training, held_out)


def cut_streams(sentences: Iterable[Sequence[int]], length: int) -> Iterator[list[int]]:
    """The ids of the sentences, each with <eos> after it, in pieces of `length` that begin with <bos>.

    >>> list(cut_streams([[7, 8, 9], [5], [6, 7]], 5))
    [[2, 7, 8, 9, 3], [2, 5, 3, 6, 7], [2, 3]]
    """
    ids = list(chain.from_iterable((*sentence, EOS) for sentence in sentences))
    for begin in range(0, len(ids), length - 1):
        yield [BOS, *ids[begin : begin + length - 1]]
