"""Seeding: generators by the seed and a stream, so that a resumed run draws what it would have drawn.

A stream is a few numbers that say what is drawn: in training, the epoch and what of it. No generator's state
has to be saved.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


def generator_for(seed: int, *stream: int, device: str = "cpu") -> torch.Generator:
    """A generator for one stream of random numbers, such as an epoch's batches."""
    return torch.Generator(device).manual_seed(_mixed(seed, *stream))


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
