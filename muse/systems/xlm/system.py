"""The cross-lingual language model as a sentence system: its presets, training and restoring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from muse.space import AlignedSpace
from muse.systems.guessed_language import warn_of_another_language
from muse.systems.pieces import Pieces
from muse.systems.system import TEXT_OF_MORE, Fitted, Job, Preset, System
from muse.systems.xlm.config import XlmConfig
from muse.systems.xlm.corpus import check_texts, make_sources, read_corpus
from muse.systems.xlm.initialisation import untrained_network
from muse.systems.xlm.learner import XlmLearner
from muse.systems.xlm.network import XlmNetwork, network_of
from muse.training.seeding import generator_for
from muse.training.trainer import TrainerConfig, train

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
        warn_of_another_language(text, language, request.texts[language], job.core, request.space)
    pieces = Pieces.learned(sentences, config.pieces, generator_for(request.seed, 2))
    sources = make_sources(config, corpus, pieces, seed=request.seed, runtime=job.runtime)
    network = untrained_network(config, pieces, sources.counts, request.space, request.seed)
    network.to(job.runtime.device)
    judged = [config.judged] if config.judged else ()
    learner = XlmLearner(network.model, sources.streams, sources.pairs, judged, config.exponent)
    epochs = train(learner, job.trainer.with_warmup(config.warmup), seed=request.seed, runtime=job.runtime)
    predicted = learner.predictions()
    perplexities = {f"perplexity_{name}": round(part.perplexity) for name, part in predicted.items()}
    return Fitted(
        encoder=job.encoder(
            f"xlm[{config.objective},{config.initial},{config.pooling}]",
            network,
            corpus.languages,
            {"network": asdict(config), "pieces": pieces.to_json()},
        ),
        epochs=epochs,
        metric="100/perplexity",
        held_out=sum(part.asked for part in predicted.values()),
        hits=None,
        counts={"pieces": len(pieces)} | sources.sizes() | perplexities,
        scored=tuple(judged),
    )


def make_xlm(settings: Mapping[str, Any], _: AlignedSpace) -> XlmNetwork:
    """The network of a saved model, with rows of nothing yet."""
    return network_of(settings)


XLM = System(
    "xlm", PRESETS, ("text",), train_xlm, make_xlm,
    uses=("parallel",), several=True, idle=XlmConfig.idle,
    of_texts={TEXT_OF_MORE: ("exponent", "judged")},
)  # fmt: skip
