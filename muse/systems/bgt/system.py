"""BGT as a sentence system: its sizes, what it is trained on, and how it is restored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from muse.encoders.names import LANGUAGE
from muse.encoders.reading import Reader, blocks
from muse.errors import Mismatch
from muse.files.parallel_text import ParallelText, read_pairs
from muse.space import AlignedSpace
from muse.systems.bgt.config import BgtConfig
from muse.systems.bgt.language_latents import LanguageLatents
from muse.systems.bgt.learner import BgtLearner
from muse.systems.bgt.network import BgtNetwork
from muse.systems.bgt.tokens import (
    PieceTokens,
    SpaceWords,
    Tokens,
    bag_of_pieces,
    missing_tokens,
    restored_tokens,
)
from muse.systems.network_encoder import SentenceNetwork
from muse.systems.pieces import Pieces
from muse.systems.system import Fitted, Job, Preset, System
from muse.training.pairs import Pairs, make_pairs
from muse.training.schedule import Schedule
from muse.training.seeding import generator_for
from muse.training.trainer import TrainerConfig, train

# Small is a bag: what costs is the softmax, of which a bag has one a sentence and a Transformer one a token;
# and the paper found that deep decoders harm, and that a latent serves best at the scores. Pieces
# instead of words and the rate were chosen by the P@1 of held-out pairs of fr-en.
# Its steps of annealing are, as the paper's 2^16, more than those that it takes, on 160,000 pairs: the
# divergence never has its whole weight. Of words it counts the 100 signs and as many words; of pieces the
# single characters, signs among them, and those merged first.
# What the paper does not say is as in its authors' program: latents and feed-forward parts of 1024, 8 heads,
# dropout 0.3, no tables shared. A batch has 25,000 tokens a side.
PRESETS = {
    "small": Preset(
        BgtConfig(bag="pieces", punctuation=False), TrainerConfig(epochs=10, batch=256, rate=1e-2)
    ),
    "paper": Preset(
        BgtConfig(
            semantic=1_024, language=1_024, vocabulary=20_000, encoder_layers=5, decoder_layers=1,
            hidden=1_024, feed_forward=1_024, dropout=0.3, annealing=2**16, sides="pairs", tokens=25_000,
            shortest=5, bag="pieces",
        ),
        TrainerConfig(
            epochs=20, batch=1_000, rate=5e-4, patience=20, beta2=0.98,
            schedule=Schedule("inverse-sqrt", warmup=4_000),
        ),
    ),
}  # fmt: skip


def train_bgt(job: Job) -> Fitted:
    """A BGT on parallel text."""
    request, config, languages = job.request, job.config, job.languages
    text = read_pairs(request.parallel)
    tokens = _tokens(job, text)
    device, pairs = job.runtime.device, _pairs(job, text, tokens)
    network = BgtNetwork(config, languages, tokens, generator_for(request.seed, 1)).to(device)
    learner = BgtLearner(network, languages, pairs, job.trainer)
    epochs = train(learner, job.trainer, seed=request.seed, runtime=job.runtime)
    return Fitted(
        encoder=job.encoder(
            _label(config),
            network,
            languages,
            {"network": asdict(config), "pair": list(languages), "tokens": dict(tokens.settings)},
        ),
        epochs=epochs,
        metric=learner.metric,
        held_out=len(pairs.held_out),
        hits=learner.eval().hits(),
        counts=pairs.counts,
    )


def _pairs(job: Job, text: ParallelText, tokens: Tokens) -> Pairs:
    """The pairs, of which with `shortest` only those whose sides have a length within the limits."""
    config, rng, runtime = job.config, np.random.default_rng(job.request.seed), job.runtime
    count, readers = len(text.pivot), [tokens.reader(language) for language in job.languages]
    if config.shortest:
        uncut = restored_tokens(tokens.settings, job.request.space, config.longest + 1)
        text = _within(text, [uncut.reader(language) for language in job.languages], config)
    found = make_pairs(text, readers, rng=rng, device=runtime.device, progress=runtime.progress)
    return replace(found, skipped=found.skipped + count - len(text.pivot))


def _within(text: ParallelText, readers: Sequence[Reader], config: BgtConfig) -> ParallelText:
    """The pairs of which both sides have from `shortest` to `longest` tokens; the readers read one more."""
    kept = np.ones(len(text.pivot), bool)
    for side, reader in zip(text, readers, strict=True):
        places = 0
        for block in blocks(side):
            lengths = reader.read(block).sentences.lengths.numpy()
            kept[places : places + len(block)] &= (config.shortest <= lengths) & (lengths <= config.longest)
            places += len(block)
    chosen = np.flatnonzero(kept).tolist()
    if not chosen:
        raise Mismatch(
            f"both sides of a pair must have {config.shortest} to {config.longest} tokens, got none of "
            f"{len(kept)} pairs; lower shortest or raise longest"
        )
    return ParallelText(*([side[place] for place in chosen] for side in text))


def make_bgt(settings: Mapping[str, Any], space: AlignedSpace) -> SentenceNetwork:
    """The network of a saved BGT, or that of its language latents if these were saved."""
    config = BgtConfig(**settings["network"])
    first, second = settings["pair"]
    tokens = restored_tokens(settings["tokens"], space, config.longest)
    network = BgtNetwork(config, (first, second), tokens, generator_for(0))
    return LanguageLatents(network) if settings.get("latents") == LANGUAGE else network


def _tokens(job: Job, text: ParallelText) -> Tokens:
    space, config = job.request.space, job.config
    texts = dict(zip(job.languages, text, strict=True))
    if config.encoder_layers or config.bag == "pieces":
        pieces = Pieces.learned(texts, config.vocabulary, generator_for(job.request.seed, 0))
        if config.encoder_layers:
            return PieceTokens(pieces, config.longest)
        return bag_of_pieces(pieces, job.languages, space, config.longest, job.request.seed)
    return SpaceWords(space, missing_tokens(texts, space), config.longest)


def _label(config: BgtConfig) -> str:
    layers = f"{config.encoder_layers}/{config.decoder_layers}"
    weight = "" if config.reconstruction == 1 else f",reconstruction:{config.reconstruction:g}"
    weight += "" if config.translation == 1 else f",translation:{config.translation:g}"
    reads = "" if config.read_from == "both" else f",read_from:{config.read_from}"
    translates = "" if config.translates == "mean" else f",translates:{config.translates}"
    reads += "" if config.encoder_layers or config.bag == "words" else f",bag:{config.bag}"
    reads += ",punctuation:no" if config.leaves_punctuation else ""
    return f"bgt[{config.semantic}+{config.own},{layers},prior:{config.prior:g}{weight}{reads}{translates}]"


BGT = System("bgt", PRESETS, ("parallel",), train_bgt, make_bgt, idle=BgtConfig.idle)
