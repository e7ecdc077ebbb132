"""Generation: sentences written from latents, as translations, paraphrases, and in another's style.

A sentence is written from its semantic latent, without the language latent of its own wording: from that
latent alone by the decoder of the translation loss, or with a language latent beside it. That is the mean of
the prior, a draw from it, or of another sentence, whose style is taken (Wieting et al., 2020, 5.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from muse.errors import BadSetting, Contradiction
from muse.run.seeds import generator_for
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import Reading
from muse.sentences.systems.bgt.inputs import OF_WRITERS, BgtConfig, restored_tokens
from muse.sentences.systems.bgt.latent_network import BgtNetwork, Decoder
from muse.sentences.systems.line_writer import LineWriter
from muse.sentences.systems.network_encoder import open_network
from muse.sentences.systems.networks.decoding import best_sequences, most_pieces
from muse.sentences.systems.pieces import Pieces

SYSTEM = "bgt"


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
            raise BadSetting(f"a model that reads words has no pieces to write; train one with {OF_WRITERS}")
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


def load_bgt(folder: Path, device: str = "cpu") -> BgtNetwork:
    """The network of a BGT saved in a folder, which writes sentences; BadSetting if it cannot."""
    needed = f"expected a bgt of word pieces with decoder layers, trained with {OF_WRITERS}"

    def make(settings: Mapping[str, Any]) -> BgtNetwork:
        config = BgtConfig(**settings["network"])
        if not config.decoder_layers or "pieces" not in settings["tokens"]:
            raise BadSetting(f"{folder}: {needed}, got one that writes nothing")
        first, second = settings["pair"]
        tokens = restored_tokens(settings["tokens"], None, (first, second), config.longest)
        return BgtNetwork(config, (first, second), tokens, generator_for(0))

    return open_network(folder, SYSTEM, needed, make).to(device)
