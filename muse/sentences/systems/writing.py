"""Writing: lines translated or rewritten by a model, sentence by sentence, with the best sequences of pieces.

A Transformer decoder writes many sequences at once, by beam search. It reads one token at a time and keeps
the keys and values of the tokens before it. The states are those of its full pass, at a cost that grows with
the length, not with its square.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from muse.errors import BadSetting, NotConverged
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.encoders.reading import Reading
from muse.sentences.systems.networks.transformer import Inputs, Memory, TransformerLayers
from muse.sentences.systems.pieces import BOS, EOS, PAD, Pieces
from muse.text.strings import all_strings

MORE_PIECES, LENGTH_RATIO = 5, 1.5  # n pieces become at most 1.5 n + 5
_SENTENCE = re.compile(r"(?<=[.!?…])\s+")


@dataclass
class PieceCounts:
    """The numbers of pieces read so far, of unknown ones among them, and of lines cut into parts."""

    pieces: int = 0
    unknown: int = 0
    cut: int = 0


@dataclass(eq=False)
class LineWriter(ABC):
    """Translates or rewrites lines of text with a model, a batch of sentences at a time."""

    network: Any
    direction: tuple[str, str]
    beam: int = field(default=4, kw_only=True)
    batch: int = field(default=32, kw_only=True)
    counts: PieceCounts = field(default_factory=PieceCounts, init=False)

    def __post_init__(self) -> None:
        """Raise BadSetting if the model lacks one of the languages of the direction."""
        for language in self.direction:
            if language not in self.network.languages:
                known = ", ".join(map(str, self.network.languages))  # of a damaged file they may be anything
                raise BadSetting(f"the model knows {known}, got {language!r}; train one with text of it")

    @property
    def pieces(self) -> Pieces:
        """The pieces that the model reads and writes."""
        found: Pieces = self.network.pieces
        return found

    @property
    def longest(self) -> int:
        """The largest number of pieces that it reads."""
        return int(self.network.config.longest)

    @abstractmethod
    def read(self, sentences: Sequence[str]) -> Reading:
        """The sentences as it learned to read them, without <bos> and <eos>; a long one is cut."""

    @abstractmethod
    def write(self, source: Ragged, beam: int) -> Ragged:
        """The sentence written for each of the sentences; neither has <bos> or <eos>."""

    def translate(self, lines: Iterable[str]) -> list[str]:
        """The translation of each line; an empty line stays empty."""
        parts = [self._parts(line) for line in all_strings(lines, "lines")]
        self.counts.cut += sum(len(own) > 1 for own in parts)
        found = self._translated(list(chain.from_iterable(parts)))
        return [" ".join(islice(found, len(own))) for own in parts]

    def _parts(self, line: str) -> list[str]:
        """The line, or its sentences or parts of them, each short enough for the model."""
        if not line.strip():
            return []
        if len(self.pieces.encode([line])[0]) <= self.longest:
            return [line]
        sentences = _SENTENCE.split(line.strip())
        if len(sentences) > 1:
            return [part for sentence in sentences for part in self._parts(sentence)]
        words = line.split()
        if len(words) == 1:
            return words  # one word of many pieces is cut by the reader
        half = len(words) // 2
        return [part for some in (words[:half], words[half:]) for part in self._parts(" ".join(some))]

    def _translated(self, parts: Sequence[str]) -> Iterator[str]:
        """The translation of each part; empty if the model knows nothing in it."""
        reading = self.read(parts)
        self.counts.pieces += reading.tokens
        self.counts.unknown += reading.unknown
        lengths = reading.sentences.lengths  # (s,)
        order = lengths.argsort(stable=True)
        found = [""] * len(parts)
        for chosen in torch.split(order[lengths[order] > 0], min(self.batch, max(1, len(order)))):
            made = self.write(reading.sentences.take(chosen), self.beam)
            written = torch.split(made.ids.cpu(), made.lengths.tolist())
            for place, ids in zip(chosen.tolist(), written, strict=True):
                found[place] = self.pieces.decode(ids.tolist())
        yield from found


@torch.no_grad()
def best_sequences(
    decoding: "Incremental", score: Callable[[Tensor], Tensor], limits: Tensor, beam: int
) -> Ragged:
    """The best sequences of s decodings, without <bos> and <eos>, none of them empty.

    Of the `beam` best that are kept, the one with the highest log-probability a piece, <bos> counted, is
    taken; a beam of 1 takes the best piece every time. Raises NotConverged if scores are not numbers.

    :param decoding: s * beam decodings, those of one sequence side by side
    :param score: the scores (s * beam, v) of the next piece from the states (s * beam, h)
    :param limits: (s,), the largest numbers of pieces
    """
    size, device = len(limits), limits.device
    limits = limits.repeat_interleave(beam)  # (b k,)
    begun = torch.full((size * beam, 1), BOS, device=device)  # (b k, t)
    totals = torch.full((size, beam), -torch.inf, device=device)
    totals[:, 0] = 0.0  # initially there is one sequence in the beam
    ended = torch.zeros(size * beam, dtype=torch.bool, device=device)
    for place in range(int(limits.max()) + 1):  # with <eos>
        scores = score(decoding.step(begun[:, -1]))
        only_end = torch.arange(scores.shape[1], device=device) == EOS  # (v,)
        scores.masked_fill_((place >= limits)[:, None] & ~only_end, -torch.inf)
        if not place:
            scores[:, EOS] = -torch.inf  # no sequence is empty
        steps = scores.log_softmax(dim=-1)  # (b k, v)
        # A sequence that has ended continues with padding alone, at no cost.
        steps = steps.masked_fill(ended[:, None], -torch.inf)
        steps[ended, PAD] = 0.0
        rows, pieces, totals = _best(totals, steps)
        if bool(totals.isnan().any()):
            raise NotConverged("the scores of pieces must be numbers, got nan; train with a lower --rate")
        begun = torch.cat([begun[rows], pieces[:, None]], dim=1)
        if beam > 1:
            decoding.keep(rows)
        ended = ended[rows] | (pieces == EOS)
        if bool(ended.all()):
            break
    lengths = (begun != PAD).sum(dim=1).view(size, beam)
    chosen = (totals / lengths).argmax(dim=1) + beam * torch.arange(size, device=device)
    found = [[piece for piece in row[1:] if piece not in (EOS, PAD)] for row in begun[chosen].tolist()]
    return Ragged.of(found).to(str(device))


def most_pieces(lengths: Tensor, longest: int) -> Tensor:
    """The largest numbers of pieces (s,) to write for sequences of these lengths (s,)."""
    return (LENGTH_RATIO * lengths + MORE_PIECES).long().clamp(max=longest)


def _best(totals: Tensor, steps: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The rows (b k,) that are kept, their next pieces (b k,), and their log-probabilities (b, k).

    `totals` (b, k) are those so far, `steps` (b k, v) those of every next piece.
    """
    (size, beam), v = totals.shape, steps.shape[1]
    found = (totals.view(-1, 1) + steps).view(size, beam * v).topk(beam, dim=1)
    own = beam * torch.arange(size, device=steps.device)[:, None]  # (b, 1)
    return (own + found.indices // v).flatten(), (found.indices % v).flatten(), found.values


class Incremental:
    """A decoder in evaluation mode that reads b translations token by token, each with its memory."""

    def __init__(self, decoder: TransformerLayers, memory: Memory, languages: Tensor) -> None:
        self._decoder, self._languages = decoder, languages
        self._mask = None if memory.mask is None else memory.mask[:, None, None, :]  # (b, 1, 1, m)
        self._memory = [_keys_values(layer.multihead_attn, memory.vectors) for layer in decoder.layers]
        self._read: list[tuple[Tensor, Tensor]] = []  # keys and values (b, heads, t, d) of each layer
        self._place = 0

    def step(self, tokens: Tensor) -> Tensor:
        """The states (b, h) after these next tokens (b,)."""
        place = torch.tensor([self._place], device=tokens.device)
        inputs = Inputs(tokens[:, None], positions=place, languages=self._languages)
        states, read = self._decoder.embedded(inputs), []  # (b, 1, h)
        for number, layer in enumerate(self._decoder.layers):
            keys, values = _keys_values(layer.self_attn, states)
            if self._read:
                keys = torch.cat([self._read[number][0], keys], dim=2)
                values = torch.cat([self._read[number][1], values], dim=2)
            read.append((keys, values))
            states = layer.norm1(states + _attention(layer.self_attn, states, (keys, values), None))
            attended = _attention(layer.multihead_attn, states, self._memory[number], self._mask)
            states = layer.norm2(states + attended)
            wide = layer.activation(layer.linear1(states))
            states = layer.norm3(states + layer.linear2(wide))
        self._read, self._place = read, self._place + 1
        return states[:, 0]

    def keep(self, rows: Tensor) -> None:
        """Replaces the translations by those with these indices (b,); the memory of each place stays."""
        self._read = [(keys[rows], values[rows]) for keys, values in self._read]


def _keys_values(attention: Any, vectors: Tensor) -> tuple[Tensor, Tensor]:
    """The keys and values (b, heads, t, d) of vectors (b, t, h)."""
    h = attention.embed_dim
    found = functional.linear(vectors, attention.in_proj_weight[h:], attention.in_proj_bias[h:])
    b, t, _ = found.shape
    keys, values = found.view(b, t, 2, attention.num_heads, -1).permute(2, 0, 3, 1, 4)
    return keys, values


def _attention(attention: Any, states: Tensor, read: tuple[Tensor, Tensor], mask: Tensor | None) -> Tensor:
    """The output (b, 1, h) of an attention layer for each of the states (b, 1, h)."""
    h = attention.embed_dim
    queries = functional.linear(states, attention.in_proj_weight[:h], attention.in_proj_bias[:h])
    queries = queries.view(len(queries), 1, attention.num_heads, -1).transpose(1, 2)  # (b, heads, 1, d)
    found = functional.scaled_dot_product_attention(queries, *read, attn_mask=mask)
    attended: Tensor = attention.out_proj(found.transpose(1, 2).flatten(2))
    return attended
