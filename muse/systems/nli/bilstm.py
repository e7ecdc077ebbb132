"""BiLSTM: the row of a sentence from a forward and a backward LSTM."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

POOLINGS = ("max", "last")


class BiLSTM(nn.Module):
    """h_t = [forward h_t; backward h_t]; the row is max_t h_t, or the last states of both LSTMs.

    (Conneau, 2019, section 3.2.3.) Sentences are packed: neither LSTM ever sees padding.
    """

    def __init__(self, width: int, units: int, pooling: str) -> None:
        super().__init__()
        self.lstm = nn.LSTM(width, units, batch_first=True, bidirectional=True)
        self.dimension = 2 * units
        self._pooling = pooling

    def forward(self, rows: Tensor, mask: Tensor) -> Tensor:
        """The rows (b, 2 units) of sentences with at least one word each.

        :param rows: (b, T, K), arbitrary in padding.
        :param mask: (b, T)
        """
        lengths = mask.sum(dim=1).cpu()  # (b,)
        packed = pack_padded_sequence(rows, lengths, batch_first=True, enforce_sorted=False)
        states, (last, _) = self.lstm(packed)  # last (2, b, units)
        if self._pooling == "last":
            return torch.cat([*last], dim=1)
        padded, _ = pad_packed_sequence(states, batch_first=True, padding_value=-torch.inf)
        return padded.amax(dim=1)
