"""Incremental decoding: the states of one more token at a time, with the keys and values of those before it.

They are the states of the decoder's full pass, at a cost that grows with the length and not with its square.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from muse.systems.networks.transformer import Inputs, Memory, TransformerLayers


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
        """Replaces the translations by those of these numbers (b,); the memory of each place stays."""
        self._read = [(keys[rows], values[rows]) for keys, values in self._read]


def _keys_values(attention: Any, vectors: Tensor) -> tuple[Tensor, Tensor]:
    """The keys and values (b, heads, t, d) of vectors (b, t, h)."""
    h = attention.embed_dim
    found = functional.linear(vectors, attention.in_proj_weight[h:], attention.in_proj_bias[h:])
    b, t, _ = found.shape
    keys, values = found.view(b, t, 2, attention.num_heads, -1).permute(2, 0, 3, 1, 4)
    return keys, values


def _attention(attention: Any, states: Tensor, read: tuple[Tensor, Tensor], mask: Tensor | None) -> Tensor:
    """What each of the states (b, 1, h) attends to (b, 1, h)."""
    h = attention.embed_dim
    queries = functional.linear(states, attention.in_proj_weight[:h], attention.in_proj_bias[:h])
    queries = queries.view(len(queries), 1, attention.num_heads, -1).transpose(1, 2)  # (b, heads, 1, d)
    found = functional.scaled_dot_product_attention(queries, *read, attn_mask=mask)
    attended: Tensor = attention.out_proj(found.transpose(1, 2).flatten(2))
    return attended
