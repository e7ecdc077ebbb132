"""The cross-lingual language model as a sentence system: its presets, training and restoring.

A batch has streams in one sampled language; batches of streams alternate with batches of translation pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from muse.run.seeds import TrainingStream, generator_for
from muse.sentences.systems.corpora import (
    BATCH_EXPONENT,
    Consecutive,
    draw_languages,
    language_shares,
    warn_of_another_language,
)
from muse.sentences.systems.networks.masked_prediction import Predicted, rarity
from muse.sentences.systems.networks.transformer import random_rows
from muse.sentences.systems.pieces import Pieces, aligned_rows
from muse.sentences.systems.system import Fitted, Job, Preset, System
from muse.sentences.systems.xlm.corpus import Source, check_texts, make_sources, read_corpus
from muse.sentences.systems.xlm.language_model import XlmConfig, XlmModel, XlmNetwork, network_of
from muse.sentences.training.trainer import Learner, TrainerConfig
from muse.space import Space

PRESETS = {
    "small": Preset(XlmConfig(), TrainerConfig(epochs=8, batch=32, rate=2e-3, clip=5.0, steps=150)),
    # The model for XNLI: 15 languages. An epoch is 3,000 steps, some 200,000 streams.
    "paper": Preset(
        XlmConfig(
            pieces=95_000,
            layers=12,
            heads=8,
            hidden=1_024,
            length=256,
            pair_tokens=4_000,
            initial="random",
            pooling="first",
            warmup=30_000,
        ),
        TrainerConfig(
            epochs=1_000, batch=64, rate=1e-4, patience=10, clip=5.0, precision="bf16", steps=3_000
        ),
    ),
}


def train_xlm(job: Job) -> Fitted:
    """A model trained with its objectives, with early stopping on the perplexity of held-out text."""
    request, config = job.request, job.config
    check_texts(config, request)
    corpus = read_corpus(config, request)
    sentences = corpus.sentences
    for language, text in sentences.items():
        warn_of_another_language(text, language, request.texts[language], job.backbone, request.space)
    pieces = Pieces.learned(sentences, config.pieces, generator_for(request.seed, *TrainingStream.PIECES))
    sources = make_sources(config, corpus, pieces, seed=request.seed, runtime=job.runtime)
    network = untrained_network(config, pieces, sources.counts, request.space, request.seed)
    network.to(job.runtime.device)
    judged = (config.judged,) if config.judged else ()
    learner = XlmLearner(network.model, sources.streams, sources.pairs, judged, config.exponent)
    epochs = job.train(learner, job.trainer.with_warmup(config.warmup))
    label = f"xlm[{config.objective},{config.initial},{config.pooling}]"
    settings = {"network": asdict(config), "pieces": pieces.to_json()}
    encoder = job.encoder(label, network, corpus.languages, settings)
    found = learner.predictions()
    perplexities = {f"perplexity_{name}": round(part.perplexity) for name, part in found.items()}
    counts = {"pieces": len(pieces)} | sources.sizes() | perplexities
    return Fitted.by(learner, epochs, encoder, counts, judged)


def untrained_network(
    config: XlmConfig, pieces: Pieces, counts: Mapping[str, Tensor], space: Space | None, seed: int
) -> XlmNetwork:
    """The network before training, with the bias of every piece initialised by how often it is masked.

    `counts` (v,) are the counts of the pieces in the text of each language; `space` gives aligned rows.
    """
    generator, languages = generator_for(seed, *TrainingStream.FIRST), tuple(counts)
    if config.initial == "random" or space is None:
        rows = random_rows(len(pieces), config.hidden, generator)
    else:
        rows = aligned_rows(pieces, languages, space, config.hidden, seed)
    model = XlmModel(config, rows, len(languages), generator)
    total = torch.stack(list(counts.values())).sum(dim=0)  # (v,)
    with torch.no_grad():
        predicted = total if config.causal else total * rarity(total)
        model.bias.copy_(predicted.clamp(min=1).log())
    return XlmNetwork(config, pieces, languages, model)


def make_xlm(settings: Mapping[str, Any], _: Space) -> XlmNetwork:
    """The network of a saved model, before its parameters are restored."""
    return network_of(settings)


class XlmLearner(Learner):
    """Trains a model with CLM, with MLM, or with MLM and TLM in turn.

    Its examples come from the stream sources, followed by the pair sources. It is scored on the
    `judged` sources, by default the streams of all languages.
    """

    metric = "100/perplexity"

    def __init__(
        self,
        model: XlmModel,
        streams: Sequence[Source],
        pairs: Sequence[Source] = (),
        judged: Sequence[str] = (),
        exponent: float = BATCH_EXPONENT,
    ) -> None:
        super().__init__()
        self.model = model
        self._judged = judged or [source.name for source in streams]
        self._reported = judged or [source.name for source in (*streams, *pairs)]
        self._kinds = [kind for kind in (streams, pairs) if kind]
        self._sources, self._exponent = [*streams, *pairs], exponent
        self._numbers = Consecutive({source.name: source.examples for source in self._sources})
        self.examples = len(self._numbers)

    @property
    def held_out(self) -> int:
        """The number of held-out pieces that are predicted."""
        return sum(part.targets for part in self.predictions().values())

    def batches(self, order: Tensor, size: int, generator: torch.Generator) -> Sequence[Tensor]:
        """One batch for every `size` examples of the order (n,): streams, alternating with pairs if any.

        Each batch is from one source, sampled by its share p^a / sum p^a of the examples of its kind.
        """
        count = max(1, len(order) // size)
        drawn = [self._drawn(kind, count, generator) for kind in self._kinds]
        endless = {source.name: source.batches(size, generator) for source in self._sources}
        names = [drawn[turn % len(drawn)][turn] for turn in range(count)]
        return [self._numbers.numbered(name, next(endless[name])) for name in names]

    def _drawn(self, sources: Sequence[Source], count: int, generator: torch.Generator) -> list[str]:
        sizes = {source.name: source.examples for source in sources}
        return draw_languages(language_shares(sizes, self._exponent), count, generator)

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The loss () of a batch (b,) of one source."""
        place, own = self._numbers.source(rows)
        return self.model.loss(self._sources[place].masked_batch(own, generator))

    def score(self) -> float:
        """100 / the mean perplexity of held-out pieces over all judged sources."""
        found = self._predicted(self._judged).values()
        return 100 * len(found) / sum(part.perplexity for part in found)

    def predictions(self) -> dict[str, Predicted]:
        """The counts of correct predictions of held-out pieces by source: the judged ones if named.

        The mask is the same at every call.
        """
        return self._predicted(self._reported)

    def _predicted(self, names: Sequence[str]) -> dict[str, Predicted]:
        self.model.eval()
        device, found = str(self.model.bias.device), {}
        for number, source in enumerate(self._sources):
            if source.name not in names:
                continue
            batches = source.held_out_batches(generator_for(0, number, device=device))
            found[source.name] = sum(map(self.model.predict, batches), Predicted())
        return found


XLM = System("xlm", PRESETS, ("text",), train_xlm, make_xlm, uses=("parallel",), several=True)
