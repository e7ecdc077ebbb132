"""Sentence rows: a sentence's row from the vectors of its tokens, by a mean, an LSTM or GRU, or convolutions.

(Conneau, 2019, section 3.2.3 and figure 3.4.)
"""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

RECURRENT = {"bilstm": (nn.LSTM, 2), "lstm": (nn.LSTM, 1), "bigru": (nn.GRU, 2), "gru": (nn.GRU, 1)}
POOLINGS = ("max", "mean", "last", "attention")
VIEWS = 4  # queries of inner attention
LAYERS, KERNEL = 4, 3


def masked_mean(states: Tensor, mask: Tensor) -> Tensor:
    """The means (b, h) of states (b, t, h) over the tokens, where `mask` (b, t) is True."""
    weights = mask[..., None].to(states.dtype)  # (b, t, 1)
    found: Tensor = (states * weights).sum(dim=1) / weights.sum(dim=1)
    return found


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
        states, _ = pad_packed_sequence(states, batch_first=True)  # (b, T, h)
        mask = mask[:, : states.shape[1]]
        if self._pooling == "max":
            return states.masked_fill(~mask[..., None], -torch.inf).amax(dim=1)
        if self._pooling == "mean":
            return masked_mean(states, mask)
        scores = self.queries(torch.tanh(self.keys(states)))  # (b, T, 4)
        weights = scores.masked_fill(~mask[..., None], -torch.inf).softmax(dim=1)
        views: Tensor = weights.mT @ states  # (b, 4, h)
        return views.flatten(1)


class HierarchicalConvolution(nn.Module):
    """The maximum over the sentence of every layer's maps, beside one another: u = [u_1, u_2, u_3, u_4].

    Each layer has 2 `units` maps of three words, and sees zeros beyond the ends of a sentence.
    """

    def __init__(self, width: int, units: int) -> None:
        super().__init__()
        widths = [width, *[2 * units] * LAYERS]
        self.layers = nn.ModuleList(
            nn.Conv1d(a, b, KERNEL, padding=KERNEL // 2) for a, b in zip(widths, widths[1:], strict=False)
        )
        self.dimension = 2 * units * LAYERS

    def forward(self, rows: Tensor, mask: Tensor) -> Tensor:
        """The rows (b, 8 units) of sentences (b, T, K), arbitrary in padding, with a mask (b, T)."""
        words = mask[:, None]  # (b, 1, T)
        states, found = rows.mT.masked_fill(~words, 0.0), []  # (b, K, T)
        for layer in self.layers:
            states = torch.relu(layer(states)).masked_fill(~words, 0.0)
            found.append(states.amax(dim=2))  # of a sentence with a word: ReLU is never below 0
        return torch.cat(found, dim=1)
