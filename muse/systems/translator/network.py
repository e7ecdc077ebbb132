"""The network: an encoder and a decoder of all languages, each with a table of pieces.

The decoder's table is tied to the output.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from muse.encoders.ragged import Padded, Ragged
from muse.systems.network_encoder import SentenceNetwork
from muse.systems.networks.incremental import Incremental
from muse.systems.networks.pooling import masked_mean
from muse.systems.networks.token_table import TokenTable
from muse.systems.networks.transformer import Inputs, Memory, TransformerLayers
from muse.systems.pieces import BOS, MASK, PAD, UNK, PieceReader, Pieces
from muse.systems.translator.config import TranslatorConfig

NEVER_WRITTEN = [PAD, BOS, UNK, MASK]


class TranslatorNetwork(SentenceNetwork):
    """Translates between its languages; as an encoder of sentences, the mean of the encoder's states.

    `tables` are the rows (v, h) of encoder and decoder at the start, one tensor for both or two. `written`
    (languages, v) says which pieces each language may be written with.
    """

    written: Tensor

    def __init__(
        self,
        config: TranslatorConfig,
        pieces: Pieces,
        languages: Sequence[str],
        tables: tuple[Tensor, Tensor],
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.config, self.pieces, self.languages = config, pieces, tuple(languages)
        ours, theirs = (TokenTable(rows, config.hidden) for rows in tables)
        sizes = [config.network(len(pieces), len(self.languages), memory=memory) for memory in (False, True)]
        self.encoder = TransformerLayers(sizes[0], generator, ours)
        self.decoder = TransformerLayers(sizes[1], generator, theirs)
        self.bias = nn.Parameter(torch.zeros(len(pieces)))
        everything = torch.ones(len(self.languages), len(pieces), dtype=torch.bool)
        self.register_buffer("written", everything)

    @property
    def dimension(self) -> int:
        """The width of the states."""
        return self.config.hidden

    def reader(self, language: str) -> PieceReader:
        """The reader of pieces, the same for all languages."""
        return PieceReader(self.pieces, self.config.longest + 2)

    def forward(self, batch: Ragged, language: str) -> Tensor:
        """The rows (b, h) of sentences, the means of their states."""
        sentences = batch.padded()
        return masked_mean(self.memory(sentences, language).vectors, sentences.mask)

    def memory(self, sentences: Padded, language: str) -> Memory:
        """The states (b, t, h) of sentences (b, t) in a language, for the decoder."""
        ids, mask = sentences
        return Memory(self.encoder(Inputs(ids, mask, languages=self._number(language))), mask)

    def states(self, begun: Tensor, memory: Memory, language: str) -> Tensor:
        """The states (b, t, h) after each piece of translations (b, t) that begin with <bos>."""
        found: Tensor = self.decoder(Inputs(begun, languages=self._number(language)), memory)
        return found

    def decoding(self, memory: Memory, language: str) -> Incremental:
        """The same, a piece at a time; in evaluation mode alone."""
        return Incremental(self.decoder, memory, self._number(language))

    def scores(self, states: Tensor, language: str) -> Tensor:
        """The scores (..., v) of the next piece; minus infinity for those that the language does not use."""
        found = self.decoder.table.scores(states) + self.bias
        return found.masked_fill(~self.written[self.languages.index(language)], -torch.inf)

    def predictions(
        self, source: Ragged, target: Ragged, direction: tuple[str, str]
    ) -> tuple[Tensor, Tensor]:
        """The scores (p, v) of the pieces (p,) of the targets, each given those before it and the source.

        Sentences are framed by <bos> and <eos>.
        """
        memory = self.memory(source.padded(), direction[0])
        ids, mask = target.padded()
        read = self.states(ids[:, :-1], memory, direction[1])[mask[:, 1:]]  # (p, h)
        return self.scores(read, direction[1]), ids[:, 1:][mask[:, 1:]]

    def loss(self, source: Ragged, target: Ragged, direction: tuple[str, str]) -> Tensor:
        """The mean cross-entropy () of the targets' pieces, without unknown ones: none is ever written."""
        scores, answers = self.predictions(source, target, direction)
        return functional.cross_entropy(scores, answers, ignore_index=UNK)

    def only_written_with(self, counts: Tensor) -> None:
        """Lets each language be written only with the pieces of its text, by their counts (languages, v)."""
        found = counts > 0
        found[:, NEVER_WRITTEN] = False
        self.written.copy_(found)

    def also_written_with(self, language: str, ids: Tensor) -> None:
        """Lets a language be written with these pieces (t,) too, as those of parallel text."""
        found = torch.zeros_like(self.written[0])
        found[ids.to(found.device)] = True
        found[NEVER_WRITTEN] = False
        self.written[self.languages.index(language)] |= found

    def _number(self, language: str) -> Tensor:
        return torch.full((1, 1), self.languages.index(language), device=self.bias.device)
