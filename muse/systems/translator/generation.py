"""Generation: the best translations of sentences by beam search, many sentences at once."""

from __future__ import annotations

import torch

from muse.encoders.ragged import Ragged
from muse.systems.networks.beam import best_sequences, most_pieces
from muse.systems.networks.transformer import Memory
from muse.systems.pieces import BOS, EOS
from muse.systems.translator.network import TranslatorNetwork


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
    """The memory with every sentence so many times in turn."""
    if times == 1:
        return memory
    mask = None if memory.mask is None else memory.mask.repeat_interleave(times, dim=0)
    return Memory(memory.vectors.repeat_interleave(times, dim=0), mask)
