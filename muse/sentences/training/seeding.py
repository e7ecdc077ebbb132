"""Seeding: generators by the seed and a stream, so that a resumed run draws what it would have drawn.

`muse.run.streams` numbers the streams: in training, by the epoch and what is drawn for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from muse.run.streams import mixed


def generator_for(seed: int, *stream: int, device: str = "cpu") -> torch.Generator:
    """A generator for one stream of random numbers, such as an epoch's batches."""
    return torch.Generator(device).manual_seed(mixed(seed, *stream))


@contextmanager
def torch_seeded(seed: int, *stream: int, device: str = "cpu") -> Iterator[None]:
    """Seeds torch's global generators inside the context and restores their state afterwards."""
    found = mixed(seed, *stream)
    with torch.random.fork_rng(["cuda"] if device == "cuda" else []):
        torch.default_generator.manual_seed(found)
        if device == "cuda":
            torch.cuda.manual_seed(found)
        yield
