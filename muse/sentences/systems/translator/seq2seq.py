"""The translation model: an encoder and a decoder of all languages, each with a table of pieces.

The decoder's table is tied to the output. `generate` finds the best translations by beam search.
"""

from __future__ import annotations

import math
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
from muse.sentences.systems.pieces import BOS, EOS, MASK, PAD, UNK, PieceReader, Pieces, check_piece_count
from muse.sentences.training.checks import beside, check_fractions, check_least

RANDOM, SPACE = "random", "space"
ORDERED = "ordered"
NEVER_WRITTEN = [PAD, BOS, UNK, MASK]


@dataclass(frozen=True)
class TranslatorConfig:
    """The settings of a model with `pieces` word pieces, and how it is trained.

    `encoder` and `decoder` are the initialisations of the parts: random, space (its lookup table has the rows
    of the aligned space), or the folder of an xlm encoder, whose pieces and sizes the model then has.
    `attention` is the initialisation of the decoder's attention to the source: random or, if the space
    initialises both parts, ordered: word by word, so that the model translates at once as the space does.
    `longest`: the maximum number of pieces of a sentence. `drop` and `blank` are the shares of words that
    noise leaves out and hides, `window` how far it moves a word. `denoising`, `back_translation` and
    `translation` (of parallel text, if given) weigh the losses; in the first `words` steps text is translated
    word by word in the space, with a language model of the text, for back-translation.
    `warmup`: steps until the highest rate.
    """

    encoder: str = SPACE
    decoder: str = SPACE
    attention: str = RANDOM
    pieces: int = 8_000
    layers: int = 2
    heads: int = 4
    hidden: int = 128
    longest: int = 48
    dropout: float = 0.1
    drop: float = 0.1
    blank: float = 0.1
    window: int = 3
    denoising: float = 1.0
    back_translation: float = 1.0
    translation: float = 1.0
    words: int = 0
    warmup: int = 100

    def __post_init__(self) -> None:
        for name, least in (("warmup", 1), ("words", 0), ("window", 0), ("longest", 4)):
            check_least(self, least, name)
        check_fractions(self, "drop", "blank")
        for name in ("denoising", "back_translation", "translation"):
            if not 0 <= getattr(self, name) < math.inf:
                raise BadSetting(f"{name} must be at least 0, got {getattr(self, name):g}")
        self._check_attention()
        check_piece_count(self.pieces)
        self.network(1, 1, memory=False)

    def _check_attention(self) -> None:
        if self.attention not in (RANDOM, ORDERED):
            raise BadSetting(f"attention must be random or ordered, got {self.attention!r}")
        if self.attention == ORDERED and (self.encoder, self.decoder) != (SPACE, SPACE):
            raise BadSetting(
                f"attention=ordered needs --encoder space and --decoder space, got {self.encoder} and "
                f"{self.decoder}; leave it out, or initialise both with the space"
            )
        if self.attention == ORDERED and self.heads < 2:
            raise BadSetting(f"attention=ordered needs 2 heads or more, got {self.heads}")

    def ineffective_settings(self) -> dict[str, str]:
        """The settings that have no effect given the others, each with the reason."""
        found: dict[str, str] = {}
        if not self.denoising:
            found |= dict.fromkeys(("drop", "blank", "window"), beside(self, "denoising"))
        if not self.back_translation:
            found["words"] = beside(self, "back_translation")
        return found

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
