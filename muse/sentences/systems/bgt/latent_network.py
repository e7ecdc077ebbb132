"""BgtNetwork: the inference networks, which give the posteriors of latents, and the decoders of sentences."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from muse.errors import BadSetting
from muse.sentences.encoders.ragged import Padded, Ragged
from muse.sentences.encoders.words import TYPICAL
from muse.sentences.systems.bgt.inputs import OF_WRITERS, BgtConfig, Tokens
from muse.sentences.systems.network_encoder import SentenceNetwork
from muse.sentences.systems.networks.sentence_rows import masked_mean
from muse.sentences.systems.networks.transformer import Inputs, Memory, TransformerLayers, draw_
from muse.sentences.systems.pieces import BOS, EOS, MASK, PAD, SPECIALS, UNK, space_of_words
from muse.sentences.systems.writing import Incremental
from muse.space import Space


class Terms(NamedTuple):
    """The terms of the loss of b pairs, in nats (b,) each.

    `reconstruction`: each sentence from the semantic latent and its own. `divergence`: all latents from the
    prior. `translated`: each from the semantic mean of the other alone, for a bag without their number, which
    would press the length into the meaning. `translation_divergence`: of the posteriors sampled for it.
    """

    reconstruction: Tensor
    divergence: Tensor
    translated: Tensor
    translation_divergence: Tensor


class BgtNetwork(SentenceNetwork):
    """One semantic encoder for both languages; an encoder, a decoder and a translator for each of the two.

    Parts that the loss does not need are not made. `punctuation` (v,) is True for pieces that do not count in
    the meaning; None if all do.
    """

    punctuation: Tensor | None

    def __init__(
        self, config: BgtConfig, languages: tuple[str, str], tokens: Tokens, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.config, self.languages = config, languages
        for place, language in enumerate(languages):
            # These rows come from the space and are not saved.
            self.register_buffer(f"rows_{place}", tokens.rows.get(language), persistent=False)
        first = tokens.first_rows
        self.table = None if first is None else nn.Parameter(first.clone())
        self.pieces, self.dimension, self.reader = tokens.pieces, config.semantic, tokens.readers.__getitem__
        unread = self.pieces.punctuation if self.pieces and config.leaves_punctuation else None
        self.register_buffer("punctuation", unread, persistent=False)  # (v,)
        self.semantic = self._encoder(config.semantic, generator)
        surface = 1 + config.counted if config.features and not config.encoder_layers else 0
        self.own = nn.ModuleList(
            self._encoder(config.own, generator, surface=surface) for _ in languages if config.own
        )
        self.decoders = nn.ModuleList(
            self._decoder(place, config.semantic + config.own, generator, counts=not config.decoder_layers)
            for place in config.reconstructed
        )
        self.translators = nn.ModuleList(
            self._decoder(place, config.semantic, generator) for place in config.translated
        )

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The means (b, k) of the semantic posterior."""
        return self.semantic_posterior(batch, language).mean

    def word_space(self, space: Space) -> Space:
        """The words of a space with unit-length rows: the meanings of their pieces, if it reads bags."""
        if self.table is None or self.pieces is None:
            return super().word_space(space)

        def means(ids: Tensor) -> Tensor:  # (t, k) of the semantic posteriors of single pieces (t,)
            each = Ragged(ids.to(self.device), torch.arange(len(ids) + 1, device=self.device))
            return self(each, self.languages[0])

        return space_of_words(self.pieces, self.languages, space, means)

    def semantic_posterior(self, batch: Ragged, language: str) -> "Gaussian":
        """q(z_sem | x)."""
        return self._meaning(batch, self.languages.index(language))

    def language_posterior(self, batch: Ragged, language: str) -> "Gaussian":
        """q(z_l | x), if there are language latents."""
        place = self.languages.index(language)
        found: Gaussian = self.own[place](*self._seen(batch, place))
        return found

    def _meaning(self, batch: Ragged, place: int, seen: "Observed | None" = None) -> "Gaussian":
        """The semantic posterior of sentences; `seen` are their inputs, unless punctuation is left out."""
        if self.punctuation is not None:
            seen = self._seen(batch.keep_some(~self.punctuation[batch.ids]), place)
        found: Gaussian = self.semantic(*(self._seen(batch, place) if seen is None else seen))
        return found

    def terms(self, pair: tuple[Ragged, Ragged], side: int | Tensor, generator: torch.Generator) -> Terms:
        """The terms of the loss of b pairs; the semantic latent is inferred from one side of each (b,).

        The side is 0 where only the pivot is read.
        """
        read = pair if self.config.read_from == "both" else pair[:1]
        seen = [self._seen(batch, place) for place, batch in enumerate(read)]
        meanings = [self._meaning(batch, place, seen[place]) for place, batch in enumerate(read)]
        own = [encode(*seen[place]) for place, encode in enumerate(self.own)]
        if isinstance(side, int):
            meaning = meanings[side]
        else:
            first = side[:, None] == 0  # (b, 1)
            both = zip(*meanings, strict=True)
            meaning = Gaussian(*(torch.where(first, one, other) for one, other in both))
        latents = [[meaning.sample(generator)]] * 2
        for place, posterior in enumerate(own):
            latents[place] = [*latents[place], posterior.sample(generator)]
        sentences = [
            (batch.framed(BOS, EOS) if self.config.decoder_layers else batch).padded() for batch in pair
        ]
        reconstruction = [
            decode(latents[place], sentences[place])
            for place, decode in zip(self.config.reconstructed, self.decoders, strict=True)
        ]
        sampled = self.config.translates == "sample"
        sources = [meanings[1 - place] for place in self.config.translated]
        translated = [
            decode([one.sample(generator) if sampled else one.mean], sentences[place], self.config.smoothing)
            for place, decode, one in zip(self.config.translated, self.translators, sources, strict=True)
        ]
        divergence = sum((one.divergence() for one in own), meaning.divergence())
        nothing = torch.zeros_like(divergence)
        of_sources = sum((one.divergence() for one in sources), nothing) if sampled else nothing
        return Terms(sum(reconstruction, nothing), divergence, sum(translated, nothing), of_sources)

    def _seen(self, batch: Ragged, place: int) -> "Observed":
        """The inputs of the encoders: framed ids, or rows with surface features."""
        rows = self._of_bag(place)
        if rows is None:
            return *batch.framed(BOS, EOS).padded(), None
        sentences = batch.padded()
        vectors = functional.embedding(sentences.ids, rows)
        return vectors, sentences.mask, surface(sentences, self.config.counted)

    def _encoder(self, latent: int, generator: torch.Generator, *, surface: int = 0) -> "Encoder":
        config, rows = self.config, self._of_bag(0)
        width = config.hidden if rows is None else rows.shape[1]
        layers = config.encoder_layers
        body = TransformerLayers(config.transformer(layers), generator) if layers else None
        return Encoder(width, latent, body, generator, surface=surface)

    def _decoder(
        self, place: int, latents: int, generator: torch.Generator, *, counts: bool = False
    ) -> "Decoder":
        config, layers = self.config, self.config.decoder_layers
        body = TransformerLayers(config.transformer(layers, decoder=True), generator) if layers else None
        width = latents + (config.hidden if layers else 0)
        scores = Scores(width, config.vocabulary, self._rows(place), generator)
        return Decoder(scores, body, Length(latents, generator) if counts else None)

    def _of_bag(self, place: int) -> Tensor | None:
        """The rows (v, d) whose mean a sentence is; None if layers read it."""
        return self._rows(place) if self.table is None else self.table

    def _rows(self, place: int) -> Tensor | None:
        rows: Tensor | None = getattr(self, f"rows_{place}")
        return rows


class Gaussian(NamedTuple):
    """N(mean, exp(log_variance)) for each of b sentences, both (b, k)."""

    mean: Tensor
    log_variance: Tensor

    def sample(self, generator: torch.Generator) -> Tensor:
        """A draw (b, k), mean + deviation * noise: gradients reach both (Kingma and Welling, 2013)."""
        noise = torch.empty_like(self.mean).normal_(generator=generator)
        return self.mean + (self.log_variance / 2).exp() * noise

    def divergence(self) -> Tensor:
        """KL(N(mean, variance) || N(0, I)), in nats (b,): 1/2 sum(mean^2 + variance - 1 - log variance)."""
        # With the digits of bf16, variance - 1 - log variance would come out negative near a variance of 1.
        mean, log_variance = self.mean.float(), self.log_variance.float()
        return (mean**2 + log_variance.exp() - 1 - log_variance).sum(dim=-1) / 2


# The inputs of an encoder for b sentences: ids (b, t) for layers, otherwise rows (b, t, h), the mask (b, t)
# that is False at padding, and features (b, s), used only without layers.
Observed = tuple[Tensor, Tensor, Tensor | None]


def surface(sentences: Padded, counted: int) -> Tensor:
    """The features (b, 1 + counted) of b sentences: log n for n tokens, and log(1 + count) for some tokens.

    Counted are the first tokens after the special ones: signs and the most frequent words or, of pieces, the
    single characters, signs among them, and those merged first. Logarithms, since a sentence of 6 words
    differs from one of 3 as one of 12 does from it.

    :param sentences: ids and mask (b, t), each of one token or more

    >>> ids, mask = torch.tensor([[5, 9, 5, 6]]), torch.ones(1, 4, dtype=torch.bool)
    >>> surface(Padded(ids, mask), 3).exp().round()
    tensor([[4., 3., 2., 1.]])
    """
    first, last = len(SPECIALS), len(SPECIALS) + counted
    ids = sentences.ids.clamp(max=last)  # (b, t), one id for all tokens that are not counted
    ones = torch.ones_like(ids, dtype=torch.get_default_dtype())
    counts = ones.new_zeros(len(ids), last + 1).scatter_add_(1, ids, ones)
    lengths = sentences.mask.sum(dim=1, keepdim=True)
    return torch.cat([lengths.log(), counts[:, first:last].log1p()], dim=1)


class Encoder(nn.Module):
    """q(z | x): a map to k dimensions of the mean of the states (b, t, h) of a sentence's tokens.

    Without layers the states are the tokens' own rows. With a `surface` above 0, the map also reads that many
    features.
    """

    def __init__(
        self,
        width: int,
        latent: int,
        layers: TransformerLayers | None,
        generator: torch.Generator,
        *,
        surface: int = 0,
    ) -> None:
        super().__init__()
        self._layers, self._surface = layers, surface
        # A bias would become a direction common to all means and make all cosines similar. Only surface
        # features need one, since their mean is not 0.
        self._out = nn.Linear(width + surface, 2 * latent, bias=surface > 0)
        draw_(self._out, generator)

    def forward(self, tokens: Tensor, mask: Tensor, surface: Tensor | None = None) -> Gaussian:
        """The posterior of each of b sentences, as they are Observed."""
        states = tokens if self._layers is None else self._layers(Inputs(tokens, mask))
        known = masked_mean(states, mask)  # (b, h)
        if self._surface and surface is not None:
            known = torch.cat([known, surface], dim=-1)  # (b, h + s)
        return Gaussian(*self._out(known).chunk(2, dim=-1))


class Decoder(nn.Module):
    """p(x | z): each token but the first given those before it and the latents, in a vocabulary of v tokens.

    The latents are read twice, where the paper found them to serve best: as the memory of every layer, a
    vector each, and beside the state that the scores are made of. Without layers only the latter is left, and
    the n tokens are a bag; `length`, if given, predicts n:

        log p(x | z) = log p(n | z) + sum_t log softmax(U z + b)[x_t]

    With layers, <eos> says it. `scores` makes scores (..., v) of states.
    """

    def __init__(
        self, scores: "Scores", layers: TransformerLayers | None = None, length: "Length | None" = None
    ) -> None:
        super().__init__()
        self._scores, self._layers, self._length = scores, layers, length

    def writing(self, latents: Sequence[Tensor], beam: int) -> tuple[Incremental, Callable[[Tensor], Tensor]]:
        """The decoder of s sequences, each `beam` times, and the function from its states (b, h) to scores.

        :param latents: each (s, k)
        """
        if self._layers is None:
            raise BadSetting(
                f"a decoder without layers has no order of words to write; train one with {OF_WRITERS}"
            )
        repeated = [latent.repeat_interleave(beam, dim=0) for latent in latents]  # (b, k)
        beside, device = torch.cat(repeated, dim=-1), latents[0].device
        no_language = torch.zeros(1, 1, dtype=torch.long, device=device)
        decoding = Incremental(self._layers, Memory(torch.stack(repeated, dim=1)), no_language)

        def scores(states: Tensor) -> Tensor:
            found: Tensor = self._scores(torch.cat([states, beside], dim=-1))
            found[:, [PAD, UNK, BOS, MASK]] = -torch.inf
            return found

        return decoding, scores

    def forward(self, latents: Sequence[Tensor], sentences: Padded, smoothing: float = 0.0) -> Tensor:
        """The nats -log p(x | z) (b,) of b sentences.

        :param latents: each (b, k)
        :param sentences: ids and mask (b, t); for layers, from <bos> to <eos>
        :param smoothing: the share of the probability that all tokens have alike (Szegedy et al., 2016)
        """
        ids = sentences.ids.where(sentences.ids < self._scores.vocabulary, UNK)  # (b, t)
        answers, mask = ids, sentences.mask
        states = torch.cat([*latents], dim=-1)[:, None]  # (b, 1, k)
        if self._layers is not None:
            answers, mask = ids[:, 1:], mask[:, 1:]
            read = self._layers(Inputs(ids[:, :-1], mask), Memory(torch.stack([*latents], dim=1)))
            states = torch.cat([read, states.expand(-1, read.shape[1], -1)], dim=-1)  # (b, t, h + k)
        log_probabilities = functional.log_softmax(self._scores(states), dim=-1)  # (b, t or 1, v)
        flat = log_probabilities.flatten(0, 1)
        likely = flat.gather(1, answers.reshape(len(flat), -1)).view_as(answers)  # (b, t)
        nats = -likely
        if smoothing:
            nats = (1 - smoothing) * nats - smoothing * log_probabilities.mean(dim=-1)
        nats = (nats * mask).sum(dim=1)
        return nats if self._length is None else nats + self._length(states[:, 0], mask.sum(dim=1))


class Scores(nn.Module):
    """U z + b for v tokens; b starts as -log r by their numbers r, which for words is Zipf's law.

    With `rows` (v, d) that are frozen, U is their product with a map of the states to d dimensions.
    """

    _rows: Tensor | None

    def __init__(self, width: int, vocabulary: int, rows: Tensor | None, generator: torch.Generator) -> None:
        super().__init__()
        self.vocabulary = vocabulary if rows is None else min(vocabulary, len(rows))
        self.register_buffer("_rows", None if rows is None else rows[: self.vocabulary], persistent=False)
        self._map = nn.Linear(width, vocabulary if rows is None else rows.shape[1], bias=False)
        self._bias = nn.Parameter(-torch.arange(1.0, self.vocabulary + 1).log())
        draw_(self._map, generator)

    def forward(self, states: Tensor) -> Tensor:
        """The scores (..., v) of states (..., h)."""
        mapped: Tensor = self._map(states)
        return (mapped if self._rows is None else mapped @ self._rows.T) + self._bias


class Length(nn.Module):
    """p(n | z), a negative binomial distribution of a mean m that is log-linear in the latents.

        log p(n | z) = log (Gamma(n + r) / (Gamma(r) n!)) + n log (m / (m + r)) + r log (r / (m + r)),
        log m = a z + c

    n is the number of tokens if each token w arrives independently at the rate p(w | z) times a common rate
    with a Gamma distribution of mean m and shape r; given n, each token is w with p(w | z). So a bag's
    decoder is a distribution over bags of every length. For large r this is the Poisson distribution, but
    there a latent drawn far out costs m, and in the first steps, when nothing limits the variance of the
    draws, that ended the training: here the cost is proportional to log m. r is learned.
    """

    def __init__(self, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self._log_mean = nn.Linear(width, 1)
        draw_(self._log_mean, generator)
        nn.init.constant_(self._log_mean.bias, math.log(TYPICAL))
        self._log_shape = nn.Parameter(torch.tensor(math.log(TYPICAL)))

    def forward(self, latents: Tensor, lengths: Tensor) -> Tensor:
        """The nats -log p(n | z) (b,) of lengths n (b,), given latents (b, k)."""
        # At least in single precision: lgamma of a bfloat16 is off by nats, and it cannot represent every
        # integer above 256.
        log_mean = self._log_mean(latents)[:, 0]
        log_odds = log_mean.to(torch.promote_types(log_mean.dtype, torch.float32)) - self._log_shape  # (b,)
        n, r = lengths.to(log_odds.dtype), self._log_shape.exp()
        ways = torch.lgamma(n + r) - torch.lgamma(r) - torch.lgamma(n + 1)
        nats: Tensor = -(ways + n * functional.logsigmoid(log_odds) + r * functional.logsigmoid(-log_odds))
        return nats
