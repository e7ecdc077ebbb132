"""Generation: the best translations of sentences by beam search, many sentences at once."""

from __future__ import annotations

import torch
from torch import Tensor

from muse.encoders.ragged import Ragged
from muse.systems.networks.transformer import Memory
from muse.systems.pieces import BOS, EOS, PAD
from muse.systems.translator.network import TranslatorNetwork

_MORE, _FACTOR = 5, 1.5  # a translation has at most 1.5 n + 5 pieces, for n of the source


@torch.no_grad()
def generate(
    network: TranslatorNetwork, source: Ragged, direction: tuple[str, str], *, beam: int = 1
) -> Ragged:
    """The translations of sentences, framed by <bos> and <eos> like the source.

    Of the `beam` best translations that are kept, the one with the highest mean log-probability is taken; a
    beam of 1 takes the best piece every time.
    """
    sentences, size = source.padded(), len(source)
    limits = (_FACTOR * source.lengths + _MORE).long().clamp(max=network.config.longest)
    limits = limits.repeat_interleave(beam)  # (b k,)
    memory = _repeated(network.memory(sentences, direction[0]), beam)
    decoding = network.decoding(memory, direction[1])
    begun = torch.full((size * beam, 1), BOS, device=source.ids.device)  # (b k, t)
    totals = torch.full((size, beam), -torch.inf, device=source.ids.device)
    totals[:, 0] = 0.0  # the beam begins with one translation
    ended = torch.zeros(size * beam, dtype=torch.bool, device=source.ids.device)
    for place in range(int(limits.max())):
        scores = network.scores(decoding.step(begun[:, -1]), direction[1])
        only_end = torch.arange(scores.shape[1], device=scores.device) == EOS  # (v,)
        scores.masked_fill_((place + 1 >= limits)[:, None] & ~only_end, -torch.inf)
        if not place:
            scores[:, EOS] = -torch.inf  # no translation is empty
        steps = scores.log_softmax(dim=-1)  # (b k, v)
        # One that has ended goes on with padding alone, which costs nothing.
        steps = steps.masked_fill(ended[:, None], -torch.inf)
        steps[ended, PAD] = 0.0
        rows, pieces, totals = _best(totals, steps)
        begun = torch.cat([begun[rows], pieces[:, None]], dim=1)
        if beam > 1:
            decoding.keep(rows)
        ended = ended[rows] | (pieces == EOS)
        if bool(ended.all()):
            break
    lengths = (begun != PAD).sum(dim=1).view(size, beam)
    chosen = (totals / lengths).argmax(dim=1) + beam * torch.arange(size, device=begun.device)
    return _without_frames(begun[chosen]).framed(BOS, EOS)


def _best(totals: Tensor, steps: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The rows (b k,) that are kept, their next pieces (b k,), and their log-probabilities (b, k).

    `totals` (b, k) are those so far, `steps` (b k, v) those of every next piece.
    """
    (size, beam), v = totals.shape, steps.shape[1]
    found = (totals.view(-1, 1) + steps).view(size, beam * v).topk(beam, dim=1)
    own = beam * torch.arange(size, device=steps.device)[:, None]  # (b, 1)
    return (own + found.indices // v).flatten(), (found.indices % v).flatten(), found.values


def _repeated(memory: Memory, times: int) -> Memory:
    """The memory with every sentence so many times in turn."""
    if times == 1:
        return memory
    mask = None if memory.mask is None else memory.mask.repeat_interleave(times, dim=0)
    return Memory(memory.vectors.repeat_interleave(times, dim=0), mask)


def _without_frames(ids: Tensor) -> Ragged:
    """The sequences of ids (b, t) without <bos>, <eos> and padding."""
    found = [[piece for piece in row[1:] if piece not in (EOS, PAD)] for row in ids.tolist()]
    return Ragged.of(found).to(str(ids.device))
