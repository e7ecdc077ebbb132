"""The corpus: the text of each language and the translations that a model is trained on, as sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from muse.errors import BadSetting, Contradiction
from muse.files.documents import read_documents
from muse.files.parallel_text import ParallelText, read_pairs
from muse.files.sentence_text import read_sentences
from muse.run.runtime import Runtime
from muse.systems.networks.masked_prediction import rarity
from muse.systems.pieces import PieceReader, Pieces
from muse.systems.system import TrainingRequest
from muse.systems.xlm.config import TLM, XlmConfig
from muse.systems.xlm.sources import MaskingDistribution, PairSource, StreamSource
from muse.systems.xlm.streams import Documents, Streams, make_streams
from muse.training.pairs import make_pairs
from muse.training.seeding import generator_for

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
    generator = generator_for(seed, 1)
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
