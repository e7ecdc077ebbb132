"""Beam search: the best sequences that a decoder writes, many at once."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from muse.encoders.ragged import Ragged
from muse.errors import NotConverged
from muse.systems.networks.incremental import Incremental
from muse.systems.pieces import BOS, EOS, PAD

_MORE, _FACTOR = 5, 1.5  # a sequence has at most 1.5 n + 5 pieces, for n of what it is made of


def most_pieces(lengths: Tensor, longest: int) -> Tensor:
    """The largest numbers of pieces (s,) of what is made of sequences of these lengths (s,)."""
    return (_FACTOR * lengths + _MORE).long().clamp(max=longest)


@torch.no_grad()
def best_sequences(
    decoding: Incremental, score: Callable[[Tensor], Tensor], limits: Tensor, beam: int
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
    totals[:, 0] = 0.0  # the beam begins with one sequence
    ended = torch.zeros(size * beam, dtype=torch.bool, device=device)
    for place in range(int(limits.max()) + 1):  # with <eos>
        scores = score(decoding.step(begun[:, -1]))
        only_end = torch.arange(scores.shape[1], device=device) == EOS  # (v,)
        scores.masked_fill_((place >= limits)[:, None] & ~only_end, -torch.inf)
        if not place:
            scores[:, EOS] = -torch.inf  # none is empty
        steps = scores.log_softmax(dim=-1)  # (b k, v)
        # One that has ended goes on with padding alone, which costs nothing.
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
    return _without_frames(begun[chosen])


def _best(totals: Tensor, steps: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The rows (b k,) that are kept, their next pieces (b k,), and their log-probabilities (b, k).

    `totals` (b, k) are those so far, `steps` (b k, v) those of every next piece.
    """
    (size, beam), v = totals.shape, steps.shape[1]
    found = (totals.view(-1, 1) + steps).view(size, beam * v).topk(beam, dim=1)
    own = beam * torch.arange(size, device=steps.device)[:, None]  # (b, 1)
    return (own + found.indices // v).flatten(), (found.indices % v).flatten(), found.values


def _without_frames(ids: Tensor) -> Ragged:
    """The sequences of ids (b, t) without <bos>, <eos> and padding."""
    found = [[piece for piece in row[1:] if piece not in (EOS, PAD)] for row in ids.tolist()]
    return Ragged.of(found).to(str(ids.device))
