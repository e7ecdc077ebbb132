"""Incremental decoding gives the states of the full pass."""

import torch

from muse.run.seeds import generator_for
from muse.sentences.systems.networks.transformer import Inputs, Memory, TransformerConfig, TransformerLayers
from muse.sentences.systems.writing import Incremental

SIZES = TransformerConfig(30, 2, 4, 16, positions=9, causal=True, languages=2, memory=True)


def decoder() -> TransformerLayers:
    """An untrained decoder."""
    return TransformerLayers(SIZES, generator_for(0)).eval()


@torch.no_grad()
def test_states_are_those_of_the_full_pass_and_a_memory_may_be_padded() -> None:
    layers, generator = decoder(), generator_for(1)
    mask = torch.tensor([[True] * 5, [True] * 2 + [False] * 3, [True] * 4 + [False]])
    memory = Memory(torch.randn(3, 5, 16, generator=generator), mask)
    tokens = torch.randint(30, (3, 7), generator=generator)
    language = torch.ones(1, 1, dtype=torch.long)
    expected = layers(Inputs(tokens, languages=language), memory)
    found = Incremental(layers, memory, language)
    states = torch.stack([found.step(tokens[:, place]) for place in range(7)], dim=1)
    torch.testing.assert_close(states, expected, atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_kept_translations_go_on_from_what_they_were() -> None:
    layers, generator = decoder(), generator_for(2)
    memory = Memory(torch.randn(1, 4, 16, generator=generator).repeat(3, 1, 1))
    tokens, more = torch.randint(30, (3, 4), generator=generator), torch.tensor([3, 7, 9])
    language, rows = torch.zeros(1, 1, dtype=torch.long), torch.tensor([2, 0, 2])
    found = Incremental(layers, memory, language)
    for place in range(4):
        found.step(tokens[:, place])
    found.keep(rows)
    expected = layers(Inputs(torch.cat([tokens[rows], more[:, None]], 1), languages=language), memory)
    torch.testing.assert_close(found.step(more), expected[:, -1], atol=1e-5, rtol=1e-4)
