"""The translation model: an encoder and a decoder of all languages, each with a table of pieces.

The decoder's table is tied to the output. `generate` finds the best translations by beam search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from muse.errors import BadSetting
from muse.sentences.encoders.ragged import Padded, Ragged
from muse.sentences.systems.network_encoder import SentenceNetwork
from muse.sentences.systems.networks.decoding import Incremental, best_sequences, most_pieces
from muse.sentences.systems.networks.sentence_rows import masked_mean
from muse.sentences.systems.networks.transformer import (
    Inputs,
    Memory,
    TokenTable,
    TransformerConfig,
    TransformerLayers,
)
from muse.sentences.systems.pieces import BOS, EOS, MASK, PAD, SPECIALS, UNK, PieceReader, Pieces
from muse.sentences.training.settings import Settings, Unused, setting

RANDOM, SPACE = "random", "space"
ORDERED = "ordered"
NEVER_WRITTEN = [PAD, BOS, UNK, MASK]


@dataclass(frozen=True)
class TranslatorConfig(Settings):
    """The settings of a model with word pieces, and how it is trained.

    `encoder` and `decoder` are the initialisations of the parts: random, space (its lookup table has the rows
    of the aligned space), or the folder of an xlm encoder, whose pieces and sizes the model then has.
    With `attention` ordered, the model translates at once, word by word, as the space does. In the first
    `words` steps a language model of the text chooses between the translations of a word.
    """

    encoder: str = setting(
        SPACE, "begins as: random, space, or the folder of an xlm", folder_unless=(RANDOM, SPACE)
    )
    decoder: str = setting(SPACE, "the same", folder_unless=(RANDOM, SPACE))
    attention: str = setting(
        RANDOM,
        "to the source begins random, or ordered: word by word",
        choices=(RANDOM, ORDERED),
    )
    pieces: int = setting(8_000, "word pieces, which both languages share", above=len(SPECIALS))
    layers: int = setting(2, "Transformer layers of each part")
    heads: int = setting(4, "attention heads")
    hidden: int = setting(128, "width of the states")
    longest: int = setting(48, "pieces of a sentence", least=4)
    dropout: float = setting(0.1, "share of values left out")
    drop: float = setting(0.1, "share of words that noise leaves out", least=0, below=1)
    blank: float = setting(0.1, "share of words that noise hides", least=0, below=1)
    window: int = setting(3, "how far noise moves a word", least=0)
    denoising: float = setting(1.0, "weight of that loss", least=0)
    back_translation: float = setting(1.0, "weight of back-translation", least=0)
    translation: float = setting(1.0, "weight of parallel text", least=0, needs="parallel")
    words: int = setting(0, "first steps, which translate back word by word", least=0)
    warmup: int = setting(100, "steps until the highest rate", least=1)

    def check(self) -> None:
        """Raise BadSetting for sizes that are inconsistent, and for ordered attention without the space."""
        self.network(1, 1, memory=False)
        if self.attention == ORDERED and (self.encoder, self.decoder) != (SPACE, SPACE):
            raise BadSetting(
                f"attention=ordered needs --encoder space and --decoder space, got {self.encoder} and "
                f"{self.decoder}; leave it out, or initialise both with the space"
            )
        if self.attention == ORDERED and self.heads < 2:
            raise BadSetting(f"attention=ordered needs 2 heads or more, got {self.heads}")

    def unused(self) -> tuple[Unused | None, ...]:
        """The noise, and words translated back, where their losses have no weight."""
        return (
            None if self.denoising else Unused("drop blank window", "denoising"),
            None if self.back_translation else Unused("words", "back_translation"),
        )

    def network(self, pieces: int, languages: int, *, memory: bool) -> TransformerConfig:
        """The sizes of the encoder or, with a memory, of the decoder."""
        return TransformerConfig(
            pieces, self.layers, self.heads, self.hidden, dropout=self.dropout,
            positions=self.longest + 2, causal=memory, languages=languages, memory=memory,
        )  # fmt: skip


class TranslatorNetwork(SentenceNetwork):
    """Translates between its languages; as an encoder of sentences, the mean of the encoder's states.

    `tables` are the initial rows (v, h) of encoder and decoder, one tensor for both or two. `written`
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
        self.dimension = config.hidden

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
        """The decoder that reads translations a piece at a time, in evaluation mode alone."""
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
        """The mean cross-entropy () of the targets' pieces, without unknown ones, which are never written."""
        scores, answers = self.predictions(source, target, direction)
        return functional.cross_entropy(scores, answers, ignore_index=UNK)

    def only_written_with(self, counts: Tensor) -> None:
        """Lets each language be written only with the pieces of its text, by their counts (languages, v)."""
        found = counts > 0
        found[:, NEVER_WRITTEN] = False
        self.written.copy_(found)

    def also_written_with(self, language: str, ids: Tensor) -> None:
        """Lets a language be written with these pieces (t,) too, such as pieces of parallel text."""
        found = torch.zeros_like(self.written[0])
        found[ids.to(found.device)] = True
        found[NEVER_WRITTEN] = False
        self.written[self.languages.index(language)] |= found

    def _number(self, language: str) -> Tensor:
        return torch.full((1, 1), self.languages.index(language), device=self.bias.device)


@torch.no_grad()
def generate(
    network: TranslatorNetwork, source: Ragged, direction: tuple[str, str], *, beam: int = 1
) -> Ragged:
    """The translations of sentences, framed by <bos> and <eos> like the source; see `best_sequences`."""
    limits = most_pieces(source.lengths, network.config.longest)
    memory = _repeated(network.memory(source.padded(), direction[0]), beam)
    decoding = network.decoding(memory, direction[1])
    found = best_sequences(decoding, lambda states: network.scores(states, direction[1]), limits, beam)
    return found.framed(BOS, EOS)


def _repeated(memory: Memory, times: int) -> Memory:
    """The memory with every sentence repeated this number of times in a row."""
    if times == 1:
        return memory
    mask = None if memory.mask is None else memory.mask.repeat_interleave(times, dim=0)
    return Memory(memory.vectors.repeat_interleave(times, dim=0), mask)
