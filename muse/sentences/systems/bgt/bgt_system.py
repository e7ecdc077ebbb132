"""BGT as a sentence system: its presets, training and restoring, its language latents, and what it writes.

A sentence is written from its semantic latent, without the language latent of its own wording: from that
latent alone by the decoder of the translation loss, or with a language latent beside it. That is the mean of
the prior, a draw from it, or of another sentence, whose style is taken (Wieting et al., 2020, 5.3).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from muse.errors import BadSetting, Contradiction, Mismatch
from muse.run.seeds import TrainingStream, generator_for
from muse.sentences.encoders.encoder import SentenceEncoder
from muse.sentences.encoders.ragged import Ragged, encoding_batches, token_batches
from muse.sentences.encoders.reading import Reading, blocks
from muse.sentences.files.sentence_text import ParallelText, read_pairs
from muse.sentences.systems.bgt import inputs
from muse.sentences.systems.bgt.latent_network import BgtNetwork, Decoder
from muse.sentences.systems.network_encoder import NetworkEncoder, SentenceNetwork, open_network
from muse.sentences.systems.pieces import Pieces, aligned_rows
from muse.sentences.systems.system import Fitted, Job, Preset, System
from muse.sentences.systems.writing import LineWriter, best_sequences, most_pieces
from muse.sentences.training.optimising import Schedule
from muse.sentences.training.pair_learner import held_out_precision
from muse.sentences.training.pairs import Pairs, ParallelCorpus, make_pairs
from muse.sentences.training.trainer import HeldOutScore, Learner, TrainerConfig
from muse.space import Space

LANGUAGE = "language"  # after a +, the language latents of a model are meant
# Small is a bag, because the softmax dominates the cost: a bag needs one for each sentence, a Transformer one
# for each token. The paper found that deep decoders harm, and that a latent serves best at the scores. Pieces
# instead of words and the rate were chosen by the P@1 of held-out pairs of fr-en.
# On 160,000 pairs it takes fewer steps than its annealing, as does the paper with its 2^16: the divergence
# never has its whole weight. Counted are 100 signs and 100 words or, of pieces, the single characters, signs
# among them, and those merged first.
# Where the paper is silent, the settings are from its authors' program: latents and feed-forward parts of
# 1024, 8 heads, dropout 0.3, no tables shared. A batch has 25,000 tokens a side.
PRESETS = {
    "small": Preset(
        inputs.BgtConfig(bag="pieces", punctuation=False), TrainerConfig(epochs=10, batch=256, rate=1e-2)
    ),
    "paper": Preset(
        inputs.BgtConfig(
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
    text = read_pairs(request.parallel, request.space, request.language)
    tokens = _tokens(job, text)
    pairs = _pairs(job, text, tokens)
    generator = generator_for(request.seed, *TrainingStream.SECOND)
    network = BgtNetwork(config, languages, tokens, generator).to(job.runtime.device)
    learner = BgtLearner(network, languages, pairs, job.trainer)
    epochs = job.train(learner)
    settings = {
        "network": asdict(config),
        "pair": languages,
        "languages": languages,
        "tokens": dict(tokens.settings),
    }
    return job.fitted(learner, epochs, network, _label(config), settings, pairs.counts)


def _tokens(job: Job, text: ParallelText) -> inputs.Tokens:
    space, config, languages = job.request.space, job.config, job.languages
    texts = dict(zip(languages, text, strict=True))
    if not config.encoder_layers and config.bag == "words":
        return inputs.space_words(space, languages, inputs.missing_tokens(texts, space), config.longest)
    generator = generator_for(job.request.seed, *TrainingStream.FIRST)
    pieces = Pieces.learned(texts, config.vocabulary, generator)
    if config.encoder_layers:
        return inputs.piece_tokens(pieces, languages, config.longest)
    # A sentence must stand out from the noise of its posterior, whose initial variance is 1: with rows of
    # unit length the decoders ignore the latents for epochs.
    rows = aligned_rows(pieces, languages, space, space.vectors(space.pivot).dimension, job.request.seed)
    return inputs.piece_tokens(pieces, languages, config.longest, inputs.SPREAD * functional.normalize(rows))


def _pairs(job: Job, text: ParallelText, tokens: inputs.Tokens) -> Pairs:
    """The pairs; with `shortest`, only those with `shortest` to `longest` tokens on both sides."""
    config, rng, runtime = job.config, np.random.default_rng(job.request.seed), job.runtime
    kept = np.ones(len(text.pivot), bool)
    if config.shortest:
        uncut = inputs.restored_tokens(tokens.settings, job.request.space, job.languages, config.longest + 1)
        for side, language in zip(text, job.languages, strict=True):
            read = map(uncut.readers[language].read, blocks(side))
            lengths = np.concatenate([block.sentences.lengths.numpy() for block in read])
            kept &= (config.shortest <= lengths) & (lengths <= config.longest)
        if not kept.any():
            raise Mismatch(
                f"both sides of a pair must have {config.shortest} to {config.longest} tokens, got none of "
                f"{len(kept)} pairs; lower shortest or raise longest"
            )
    chosen, readers = (
        [[*compress(side, kept)] for side in text],
        [tokens.readers[name] for name in job.languages],
    )
    found = make_pairs(chosen, readers, rng=rng, device=runtime.device, progress=runtime.progress)
    return replace(found, skipped=found.skipped + len(kept) - int(kept.sum()))


def _label(config: inputs.BgtConfig) -> str:
    """The name, with the settings that are not the usual ones."""
    bag = not config.encoder_layers and config.bag != "words"
    unusual = {
        f",reconstruction:{config.reconstruction:g}": config.reconstruction != 1,
        f",translation:{config.translation:g}": config.translation != 1,
        f",read_from:{config.read_from}": config.read_from != "both",
        f",bag:{config.bag}": bag,
        ",punctuation:no": config.leaves_punctuation,
        f",translates:{config.translates}": config.translates != "mean",
    }
    layers = f"{config.encoder_layers}/{config.decoder_layers},prior:{config.prior:g}"
    return f"bgt[{config.semantic}+{config.own},{layers}{''.join(text for text in unusual if unusual[text])}]"


def make_bgt(settings: Mapping[str, Any], space: Space) -> SentenceNetwork:
    """The network of a saved BGT, or of its language latents if these were saved."""
    network = _untrained(settings, space)
    return LanguageLatents(network) if settings.get("latents") == LANGUAGE else network


def _untrained(settings: Mapping[str, Any], space: Space | None) -> BgtNetwork:
    config = inputs.BgtConfig(**settings["network"])
    first, second = settings["pair"]
    tokens = inputs.restored_tokens(settings["tokens"], space, (first, second), config.longest)
    return BgtNetwork(config, (first, second), tokens, generator_for(0))


def load_bgt(folder: Path, device: str = "cpu") -> BgtNetwork:
    """The network of a BGT saved in a folder, which writes sentences; BadSetting if it cannot."""
    needed = f"expected a bgt of word pieces with decoder layers, trained with {inputs.OF_WRITERS}"

    def make(settings: Mapping[str, Any]) -> BgtNetwork:
        if not settings["network"]["decoder_layers"] or "pieces" not in settings["tokens"]:
            raise BadSetting(f"{folder}: {needed}, got one that writes nothing")
        return _untrained(settings, None)

    return open_network(folder, BGT.name, needed, make).to(device)


class BgtLearner(Learner):
    """Minimises the negative evidence lower bound of pairs (x_1, x_2), plus w times the translation loss.

        - log p(x_1 | z_sem, z_1) - log p(x_2 | z_sem, z_2) + c sum_z KL(q(z) || N(0, I)) + w translated

    c rises linearly from 0 to the weight of the prior, and applies to translations from samples too. The
    semantic posterior is of the first and the second sentences in alternate steps or, with `sides` by pairs,
    of a side drawn for each pair. Held-out pairs are scored by the P@1 of their semantic means or, if
    only the pivot is read, by minus the loss with the weight that c has at the end of what `trainer`
    describes: with that of each epoch the score would fall as it rises.
    """

    def __init__(
        self, network: BgtNetwork, languages: tuple[str, str], pairs: Pairs, trainer: TrainerConfig
    ) -> None:
        super().__init__()
        self.network = network
        self._corpus, self._pairs, self._step = ParallelCorpus(languages[0], {languages[1]: pairs}), pairs, 0
        self.examples = len(pairs.training)
        self._found = network.config.read_from == "both"  # whether translations are
        self.metric = "P@1" if self._found else "-loss"
        order = torch.arange(trainer.examples_in_epoch(self.examples))
        batches = len(self.batches(order, trainer.batch, torch.Generator()))
        self._last = trainer.epochs * batches  # the step whose weight of the divergence the score has

    def begin(self, step: int) -> None:
        """Stores the step, which determines the weight of the divergence and the semantic side."""
        self._step = step

    def loss(self, rows: Tensor, generator: torch.Generator) -> Tensor:
        """The loss (), in nats a pair, of the training pairs with these numbers (b,)."""
        chosen, config = self._pairs.training[rows], self.network.config
        side: int | Tensor = self._step % 2 if config.read_from == "both" else 0
        if config.sides == "pairs" and config.read_from == "both" and config.reconstruction:
            device = chosen.device
            side = torch.randint(2, (len(rows),), generator=generator, device=generator.device).to(device)
        return self._nats(chosen, side, self._step, generator).mean()

    def _nats(self, chosen: Tensor, side: int | Tensor, step: int, generator: torch.Generator) -> Tensor:
        """The loss (b,) of chosen pairs, with the weight of the divergence at a step."""
        config = self.network.config
        pair = self._pairs.pivot.take(chosen), self._pairs.other.take(chosen)
        terms = self.network.terms(pair, side, generator)
        weight = config.prior * min(1.0, step / config.annealing)
        bound = terms.reconstruction + weight * terms.divergence
        translated = terms.translated + weight * terms.translation_divergence
        return config.reconstruction * bound + config.translation * translated

    def batches(self, order: Tensor, size: int, generator: torch.Generator) -> Sequence[Tensor]:
        """Batches of `size` pairs or, with `tokens`, of pairs of similar length within that limit."""
        limit = self.network.config.tokens
        if not limit:
            return torch.split(order, size)
        chosen = self._pairs.training[order.to(self._pairs.training.device)]
        lengths = [side.lengths[chosen] for side in (self._pairs.pivot, self._pairs.other)]
        framed = torch.maximum(*lengths).cpu() + 2  # (n,)
        return [order[places] for places in token_batches(framed, limit, generator)]

    @torch.no_grad()
    def held_out(self) -> HeldOutScore:
        """The P@1 of the held-out pairs by the semantic means, or minus their mean loss in nats."""
        if self._found:
            return held_out_precision(self.network, self._corpus)
        held_out, pairs, total = self._pairs.held_out, self._pairs, 0.0
        generator = generator_for(0, device=str(held_out.device))
        lengths = torch.maximum(pairs.pivot.lengths, pairs.other.lengths)[held_out]
        for batch in encoding_batches(lengths):
            chosen = held_out[batch.to(held_out.device)]
            total += float(self._nats(chosen, 0, self._last, generator).sum())
        return HeldOutScore(len(held_out), -total / len(held_out))


def language_latents(encoder: SentenceEncoder) -> NetworkEncoder:
    """The encoder of the language latents of a BGT, which can be saved; BadSetting if there are none.

    Each language has latents of its own: rows of two languages cannot be compared.
    """
    network = encoder.network if isinstance(encoder, NetworkEncoder) else None
    if not isinstance(encoder, NetworkEncoder) or not isinstance(network, BgtNetwork):
        raise BadSetting(f"+{LANGUAGE} needs the folder of a bgt, got that of {encoder.name}; leave it out")
    if not network.config.own:
        raise BadSetting(
            f"+{LANGUAGE} needs a bgt with language latents, got {encoder.name}; train one with language and "
            "reconstruction above 0"
        )
    return replace(
        encoder,
        label=f"{encoder.name}+{LANGUAGE}",
        network=LanguageLatents(network).eval(),
        settings={**encoder.settings, "latents": LANGUAGE},
    )


class LanguageLatents(SentenceNetwork):
    """A sentence network whose rows are the means of the language latents."""

    def __init__(self, network: BgtNetwork) -> None:
        super().__init__()
        self.network, self.dimension, self.reader = network, network.config.own, network.reader

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The means (b, k) of the language posterior."""
        return self.network.language_posterior(batch, language).mean


BGT = System("bgt", PRESETS, ("parallel",), train_bgt, make_bgt)


@dataclass(eq=False)
class Rewriting(LineWriter):
    """Writes sentences of the first language of `direction` in the second, which may be the same.

    With a `style`, a sentence of the second language, they are written in its style. With a `seed`, the
    language latent of each sentence is drawn from the prior N(0, I). The draw depends on the seed and the
    pieces of the sentence alone, so that a sentence is written alike wherever it stands. Raises BadSetting
    for languages that the model does not read or write, for a style or a seed if it has no language latents,
    and for both.
    """

    network: BgtNetwork
    style: str | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        network, config = self.network, self.network.config
        source, target = map(network.languages.index, self.direction)
        written = {*config.reconstructed, *config.translated}
        if config.read_from == "pivot" and (source or target not in written):
            names = ", ".join(network.languages[place] for place in sorted(written))
            raise BadSetting(
                f"a model trained with read_from=pivot reads {network.languages[0]} and writes {names}, got "
                f"{self.direction[0]!r} to write in {self.direction[1]!r}; train one with read_from=both"
            )
        if self.style is not None and self.seed is not None:
            raise Contradiction("a style and a sample are both the language latent, got both; leave one out")
        for name, given in (("style", self.style), ("sample", self.seed)):
            if given is not None and not config.own:
                raise BadSetting(f"a {name} needs a language latent, and this model has none; leave it out")
        if self.style is not None and not len(self._style.ids):
            raise BadSetting(f"a style must be a sentence with known words, got {self.style!r}")

    @property
    def pieces(self) -> Pieces:
        """The pieces of the model."""
        if self.network.pieces is None:
            raise BadSetting(
                f"a model that reads words has no pieces to write; train one with {inputs.OF_WRITERS}"
            )
        return self.network.pieces

    def read(self, sentences: Sequence[str]) -> Reading:
        """The known pieces of the sentences, as the model learned to read them."""
        return self.network.reader(self.direction[0]).read(sentences)

    @torch.no_grad()
    def write(self, source: Ragged, beam: int) -> Ragged:
        """The sentences of the second language, of the posterior means of these."""
        source = source.to(self.network.device)
        meaning = self.network.semantic_posterior(source, self.direction[0]).mean  # (s, k)
        decoder, latents = self._decoder(meaning, source)
        lengths = source.lengths
        if self.style is not None:
            lengths = lengths.clamp(min=len(self._style.ids))
        decoding, scores = decoder.writing(latents, beam)
        return best_sequences(decoding, scores, most_pieces(lengths, self.longest), beam)

    def _decoder(self, meaning: Tensor, sentences: Ragged) -> tuple[Decoder, list[Tensor]]:
        """The decoder that writes sentences of these meanings (s, k), and all the latents that it reads."""
        network, config, (source, target) = self.network, self.network.config, self.direction
        place, plain = network.languages.index(target), self.style is None and self.seed is None
        translates = plain and source != target and place in config.translated
        if translates or place not in config.reconstructed:
            return cast("Decoder", network.translators[config.translated.index(place)]), [meaning]
        decoder = cast("Decoder", network.decoders[config.reconstructed.index(place)])
        if not config.own:
            return decoder, [meaning]
        own = torch.zeros(1, config.own)
        if self.style is not None:
            own = network.language_posterior(self._style.to(str(meaning.device)), target).mean  # (1, k)
        if self.seed is not None:  # drawn by the ids of each sentence: the same in any batch
            each = torch.split(sentences.ids.cpu(), sentences.lengths.tolist())
            drawn = (generator_for(self.seed, *ids.tolist()) for ids in each)
            own = torch.stack([torch.randn(config.own, generator=generator) for generator in drawn])  # (s, k)
        return decoder, [meaning, own.to(meaning).expand(len(meaning), -1)]

    @cached_property
    def _style(self) -> Ragged:
        return self.network.reader(self.direction[1]).read([self.style or ""]).sentences
