"""The hold-out draw: a partition of all examples, drawn at random, of a limited size."""

from __future__ import annotations

import pytest
import torch

from muse.sentences.training.pairs import hold_out


@pytest.mark.parametrize(
    ("examples", "count"), [(2, 1), (20, 1), (39, 1), (40, 2), (4_000, 200), (9_000, 200)]
)
def test_every_example_is_on_one_side(examples: int, count: int) -> None:
    generator = torch.Generator().manual_seed(5)
    training, held_out = hold_out(examples, generator)
    assert len(held_out) == count
    assert sorted([*training.tolist(), *held_out.tolist()]) == list(range(examples))
    # One permutation is drawn, of which the first are held out: what is drawn next depends on it.
    again = torch.Generator().manual_seed(5)
    assert torch.cat([held_out, training]).equal(torch.randperm(examples, generator=again))
    assert torch.rand(3, generator=generator).equal(torch.rand(3, generator=again))
