"""BGT as a sentence system: its sizes, what it is trained on, and how it is restored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from muse.files.parallel_text import ParallelText, read_pairs
from muse.space import AlignedSpace
from muse.systems.bgt.config import BgtConfig
from muse.systems.bgt.learner import BgtLearner
from muse.systems.bgt.network import BgtNetwork
from muse.systems.bgt.tokens import PieceTokens, SpaceWords, Tokens, missing_tokens, restored_tokens
from muse.systems.network_encoder import SentenceNetwork
from muse.systems.pieces import Pieces
from muse.systems.system import Fitted, Job, Preset, System
from muse.training.pairs import make_pairs
from muse.training.schedule import Schedule
from muse.training.seeding import generator_for
from muse.training.trainer import TrainerConfig, train

# Small is a bag: what costs is the softmax, of which a bag has one a sentence and a Transformer one a token;
# and the paper found that deep decoders harm, and that a latent serves best at the scores.
# Its steps of annealing are, as the paper's 2^16, about three times those that it takes, on 160,000 pairs:
# the divergence never counts for more than a third. Counted are the 100 signs and as many words.
# What the paper does not say is as in its authors' program: latents and feed-forward parts of 1024, 8 heads,
# dropout 0.3, no tables shared. A batch of 1,000 pairs has their 25,000 tokens a side.
PRESETS = {
    "small": Preset(BgtConfig(), TrainerConfig(epochs=5, batch=256, rate=3e-3)),
    "paper": Preset(
        BgtConfig(
            semantic=1_024, language=1_024, vocabulary=20_000, encoder_layers=5, decoder_layers=1,
            hidden=1_024, feed_forward=1_024, dropout=0.3, annealing=2**16,
        ),
        TrainerConfig(
            epochs=20, batch=1_000, rate=5e-4, beta2=0.98, schedule=Schedule("inverse-sqrt", warmup=4_000)
        ),
    ),
}  # fmt: skip


def train_bgt(job: Job) -> Fitted:
    """A BGT on parallel text."""
    request, config, languages = job.request, job.config, job.languages
    text = read_pairs(request.parallel)
    tokens = _tokens(job, text)
    rng, device = np.random.default_rng(request.seed), job.runtime.device
    readers = [tokens.reader(language) for language in languages]
    pairs = make_pairs(text, readers, rng=rng, device=device, progress=job.runtime.progress)
    network = BgtNetwork(config, languages, tokens, generator_for(request.seed, 1)).to(device)
    learner = BgtLearner(network, languages, pairs)
    epochs = train(learner, job.trainer, seed=request.seed, runtime=job.runtime)
    return Fitted(
        encoder=job.encoder(
            _label(config),
            network,
            languages,
            {"network": asdict(config), "pair": list(languages), "tokens": dict(tokens.settings)},
        ),
        epochs=epochs,
        metric="P@1",
        held_out=len(pairs.held_out),
        hits=learner.eval().hits(),
        counts=pairs.counts,
    )


def make_bgt(settings: Mapping[str, Any], space: AlignedSpace) -> SentenceNetwork:
    """The network of a saved BGT."""
    config = BgtConfig(**settings["network"])
    first, second = settings["pair"]
    tokens = restored_tokens(settings["tokens"], space, config.longest)
    return BgtNetwork(config, (first, second), tokens, generator_for(0))


def _tokens(job: Job, text: ParallelText) -> Tokens:
    space, config = job.request.space, job.config
    texts = dict(zip(job.languages, text, strict=True))
    if config.encoder_layers:
        pieces = Pieces.learned(texts, config.vocabulary, generator_for(job.request.seed, 0))
        return PieceTokens(pieces, config.longest)
    return SpaceWords(space, missing_tokens(texts, space), config.longest)


def _label(config: BgtConfig) -> str:
    layers = f"{config.encoder_layers}/{config.decoder_layers}"
    return f"bgt[{config.semantic}+{config.language},{layers},prior:{config.prior:g}]"


BGT = System("bgt", PRESETS, ("parallel",), train_bgt, make_bgt)
