"""Seeding: where what is random in training comes from, so that a resumed run draws what it would have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor


def generator_for(seed: int, *stream: int, device: str = "cpu") -> torch.Generator:
    """A generator for one stream, such as an epoch, so that a resumed run needs no generator's state."""
    return torch.Generator(device).manual_seed(_mixed(seed, *stream))


def generator_of(order: Tensor) -> torch.Generator:
    """A generator for the batches of an epoch, of whose random order (n,) they are a function."""
    return torch.Generator().manual_seed(int(order[0]))


@contextmanager
def torch_seeded(seed: int, *stream: int, device: str = "cpu") -> Iterator[None]:
    """Seeds torch's global generators inside the context and restores their state afterwards."""
    mixed = _mixed(seed, *stream)
    with torch.random.fork_rng(["cuda"] if device == "cuda" else []):
        torch.default_generator.manual_seed(mixed)
        if device == "cuda":
            torch.cuda.manual_seed(mixed)
        yield


def _mixed(*numbers: int) -> int:
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])
