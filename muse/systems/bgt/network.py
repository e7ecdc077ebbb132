"""BgtNetwork: the inference networks and the decoders together, as a sentence network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from muse.encoders.ragged import Ragged
from muse.encoders.reading import Reader
from muse.space import AlignedSpace
from muse.systems.bgt.config import BgtConfig
from muse.systems.bgt.decoder import Decoder, Scores
from muse.systems.bgt.encoder import Encoder, Observed
from muse.systems.bgt.gaussian import Gaussian
from muse.systems.bgt.length import Length
from muse.systems.bgt.surface import surface
from muse.systems.bgt.tokens import PieceTokens, Tokens
from muse.systems.network_encoder import SentenceNetwork
from muse.systems.networks.transformer import TransformerLayers
from muse.systems.piece_rows import space_of_words
from muse.systems.pieces import BOS, EOS, Pieces


class Terms(NamedTuple):
    """The terms of the loss of b pairs, in nats (b,) each.

    `reconstruction`: both sentences, each from the semantic latent of one of them and from its own.
    `divergence`: of all latents from the prior. `translated`: each from the semantic mean of the other alone;
    of a bag the words, not how many they are, which would press the length into the meaning; where it is from
    a sample instead of the mean, `translation_divergence` is that of all semantic posteriors sampled for it,
    otherwise 0. Where only the pivot is read, its sentence alone is reconstructed, and the other alone is
    translated.
    """

    reconstruction: Tensor
    divergence: Tensor
    translated: Tensor
    translation_divergence: Tensor


class BgtNetwork(SentenceNetwork):
    """One semantic encoder for both languages; an encoder, a decoder and a translator for each of the two.

    A part that the loss does not need is not made. `punctuation` (v,) is True for pieces that do not count in
    the meaning; None if all do.
    """

    punctuation: Tensor | None

    def __init__(
        self, config: BgtConfig, languages: tuple[str, str], tokens: Tokens, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.config, self.languages, self._tokens = config, languages, tokens
        for place, language in enumerate(languages):
            # These rows come from the space and are not saved.
            self.register_buffer(f"rows_{place}", tokens.rows(language), persistent=False)
        first = tokens.first_rows
        self.table = None if first is None else nn.Parameter(first.clone())
        unread = self.pieces.punctuation if self.pieces and config.leaves_punctuation else None
        self.register_buffer("punctuation", unread, persistent=False)  # (v,)
        self.semantic = self._encoder(config.semantic, generator)
        self.own = nn.ModuleList(
            self._encoder(config.own, generator, surface=config.surface) for _ in languages if config.own
        )
        self.decoders = nn.ModuleList(
            self._decoder(place, config.latents, generator, counts=not config.decoder_layers)
            for place in config.reconstructed
        )
        self.translators = nn.ModuleList(
            self._decoder(place, config.semantic, generator) for place in config.translated
        )

    @property
    def dimension(self) -> int:
        """The dimensions of the semantic latent."""
        return self.config.semantic

    @property
    def pieces(self) -> Pieces | None:
        """The word pieces that it reads and writes; None if it reads the words of a space."""
        return self._tokens.pieces if isinstance(self._tokens, PieceTokens) else None

    def reader(self, language: str) -> Reader:
        """The reader of the tokens of a language."""
        return self._tokens.reader(language)

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The means (b, k) of the semantic posterior."""
        return self.semantic_posterior(batch, language).mean

    def word_space(self, space: AlignedSpace) -> AlignedSpace:
        """The words of a space with unit-length rows: the meanings of their pieces, if it reads bags."""
        if self.table is None or self.pieces is None:
            return super().word_space(space)
        return space_of_words(self.pieces, self.languages, space, self._meanings)

    def _meanings(self, ids: Tensor) -> Tensor:
        """The means (t, k) of the semantic posteriors of single pieces (t,)."""
        each = Ragged(ids.to(self.device), torch.arange(len(ids) + 1, device=self.device))
        found: Tensor = self(each, self.languages[0])
        return found

    def semantic_posterior(self, batch: Ragged, language: str) -> Gaussian:
        """q(z_sem | x)."""
        return self._meaning(batch, self.languages.index(language))

    def language_posterior(self, batch: Ragged, language: str) -> Gaussian:
        """q(z_l | x), if there are language latents."""
        place = self.languages.index(language)
        found: Gaussian = self.own[place](self._seen(batch, place))
        return found

    def _meaning(self, batch: Ragged, place: int, seen: Observed | None = None) -> Gaussian:
        """The semantic posterior of sentences, as `seen` unless their punctuation is left out."""
        if self.punctuation is not None:
            seen = self._seen(batch.keep_some(~self.punctuation[batch.ids]), place)
        found: Gaussian = self.semantic(self._seen(batch, place) if seen is None else seen)
        return found

    def terms(self, pair: tuple[Ragged, Ragged], side: int | Tensor, generator: torch.Generator) -> Terms:
        """The terms of the loss of b pairs; the semantic latent is inferred from one side of each (b,).

        The side is 0 where only the pivot is read.
        """
        read = pair if self.config.read_from == "both" else pair[:1]
        seen = [self._seen(batch, place) for place, batch in enumerate(read)]
        meanings = [self._meaning(batch, place, seen[place]) for place, batch in enumerate(read)]
        own = [encode(seen[place]) for place, encode in enumerate(self.own)]
        meaning = meanings[side] if isinstance(side, int) else _of_each(meanings, side)
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

    def _seen(self, batch: Ragged, place: int) -> Observed:
        """The inputs of the encoders: framed ids, or rows with surface features."""
        rows = self._of_bag(place)
        if rows is None:
            return Observed(*batch.framed(BOS, EOS).padded())
        sentences = batch.padded()
        return Observed(
            nn.functional.embedding(sentences.ids, rows),
            sentences.mask,
            surface(sentences, self.config.counted),
        )

    def _encoder(self, latent: int, generator: torch.Generator, *, surface: int = 0) -> Encoder:
        config, rows = self.config, self._of_bag(0)
        width = config.hidden if rows is None else rows.shape[1]
        layers = config.encoder_layers
        body = TransformerLayers(config.transformer(layers), generator) if layers else None
        return Encoder(width, latent, body, generator, surface=surface)

    def _decoder(
        self, place: int, latents: int, generator: torch.Generator, *, counts: bool = False
    ) -> Decoder:
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


def _of_each(meanings: Sequence[Gaussian], sides: Tensor) -> Gaussian:
    """The posteriors of b pairs, each from the side (b,) that is named."""
    first, second = meanings
    chosen = sides[:, None] == 0  # (b, 1)
    pairs = zip(first, second, strict=True)
    return Gaussian(*(torch.where(chosen, one, other) for one, other in pairs))
