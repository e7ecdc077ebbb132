"""The decoder: how probable a sentence is, given its latents."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from muse.encoders.ragged import Padded
from muse.errors import BadSetting
from muse.systems.bgt.config import OF_WRITERS
from muse.systems.bgt.length import Length
from muse.systems.networks.incremental import Incremental
from muse.systems.networks.transformer import Inputs, Memory, TransformerLayers, draw_
from muse.systems.pieces import BOS, MASK, PAD, UNK


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


class Decoder(nn.Module):
    """p(x | z): each token but the first given those before it and the latents, in a vocabulary of v tokens.

    The latents come in twice, where the paper found them to serve best: as the memory that every layer reads,
    a vector each, and beside the state that the scores are made of. Without layers that is all, and the n
    tokens are a bag, of which `length` says how many they are, where it is given:

        log p(x | z) = log p(n | z) + sum_t log softmax(U z + b)[x_t]

    With layers, <eos> says it. `scores` makes scores (..., v) of states.
    """

    def __init__(
        self, scores: Scores, layers: TransformerLayers | None = None, length: Length | None = None
    ) -> None:
        super().__init__()
        self._scores, self._layers, self._length = scores, layers, length

    def writing(self, latents: Sequence[Tensor], beam: int) -> tuple[Incremental, Callable[[Tensor], Tensor]]:
        """States of s sequences, each `beam` times, token by token, and what scores (b, h) of them.

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
