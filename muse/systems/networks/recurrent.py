"""Recurrent: the row of a sentence from the states of LSTMs or GRUs (Conneau, 2019, section 3.2.3)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from muse.systems.networks.pooling import masked_mean

RECURRENT = {"bilstm": (nn.LSTM, 2), "lstm": (nn.LSTM, 1), "bigru": (nn.GRU, 2), "gru": (nn.GRU, 1)}
POOLINGS = ("max", "mean", "last", "attention")
VIEWS = 4  # queries of inner attention


class Recurrent(nn.Module):
    """h_t of a forward LSTM or GRU, in "bi" forms beside those of a backward one, and the row made of them.

    It is max_t h_t, the mean, the last states, or sum_t a_t h_t for each of four queries u, where
    a = softmax_t(tanh(W h_t + b) . u). Sentences are packed: padding is never read.
    """

    def __init__(self, network: str, width: int, units: int, pooling: str) -> None:
        super().__init__()
        kind, directions = RECURRENT[network]
        layer = kind(width, units, batch_first=True, bidirectional=directions == 2)
        self._name = network.removeprefix("bi")
        self.add_module(self._name, layer)
        h = directions * units
        self.dimension = VIEWS * h if pooling == "attention" else h
        self._pooling = pooling
        if pooling == "attention":
            self.keys, self.queries = nn.Linear(h, h), nn.Linear(h, VIEWS, bias=False)

    def forward(self, rows: Tensor, mask: Tensor) -> Tensor:
        """The rows (b, d') of sentences with at least one word each.

        :param rows: (b, T, K), arbitrary in padding.
        :param mask: (b, T)
        """
        lengths = mask.sum(dim=1).cpu()  # (b,)
        packed = pack_padded_sequence(rows, lengths, batch_first=True, enforce_sorted=False)
        states, last = self.get_submodule(self._name)(packed)
        if self._pooling == "last":
            hidden = last[0] if isinstance(last, tuple) else last  # (directions, b, units)
            return torch.cat([*hidden], dim=1)
        padded, _ = pad_packed_sequence(states, batch_first=True)  # (b, T, h)
        return self._pooled(padded, mask[:, : padded.shape[1]])

    def _pooled(self, states: Tensor, mask: Tensor) -> Tensor:
        """The rows (b, d') from states (b, T, h)."""
        if self._pooling == "max":
            return states.masked_fill(~mask[..., None], -torch.inf).amax(dim=1)
        if self._pooling == "mean":
            return masked_mean(states, mask)
        scores = self.queries(torch.tanh(self.keys(states)))  # (b, T, 4)
        weights = scores.masked_fill(~mask[..., None], -torch.inf).softmax(dim=1)
        views: Tensor = weights.mT @ states  # (b, 4, h)
        return views.flatten(1)
