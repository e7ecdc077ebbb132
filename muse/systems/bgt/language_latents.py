"""Language latents: how a sentence is said in its language, as the rows of an encoder of their own."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from muse.encoders.encoder import SentenceEncoder
from muse.encoders.names import LANGUAGE
from muse.encoders.ragged import Ragged
from muse.encoders.reading import Reader
from muse.errors import BadSetting
from muse.systems.bgt.network import BgtNetwork
from muse.systems.network_encoder import NetworkEncoder, SentenceNetwork


class LanguageLatents(SentenceNetwork):
    """A sentence network whose rows are the means of the language latents."""

    def __init__(self, network: BgtNetwork) -> None:
        super().__init__()
        self.network = network

    @property
    def dimension(self) -> int:
        """The dimensions of a language latent."""
        return self.network.config.own

    def reader(self, language: str) -> Reader:
        """The reader of the network."""
        return self.network.reader(language)

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The means (b, k) of the language posterior."""
        return self.network.language_posterior(batch, language).mean


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
