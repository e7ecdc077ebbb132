"""Several processes that train together, as torchrun would start them."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from torch.distributed import TCPStore  # type: ignore[attr-defined]

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, SpawnContext

# What torch's optimisers and the tokeniser import when they are first used: once for all processes.
PRELOADED = ["muse.sentences.systems.registry", "torch._dynamo", "sacremoses"]


def run_together(work: Callable[[Path], None], folder: Path, count: int) -> None:
    """Runs work(folder) in `count` processes, each with the environment that torchrun would give it."""
    # As torchrun does it: whoever starts the processes holds what they meet at, on a port that is free.
    met_at = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    environment = {
        "WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(met_at.port),
        "TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RESTART_COUNT": "0",
    }  # fmt: skip
    # One process imports torch, and the others are forks of it where the system has forks.
    forks = "forkserver" in multiprocessing.get_all_start_methods()
    context: SpawnContext | ForkServerContext = (
        multiprocessing.get_context("forkserver") if forks else multiprocessing.get_context("spawn")
    )
    context.set_forkserver_preload(PRELOADED)
    started = [
        context.Process(
            target=_begin, args=(work, folder, {**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)})
        )
        for rank in range(count)
    ]
    for process in started:
        process.start()
    for process in started:
        process.join(300)
    assert [process.exitcode for process in started] == [0] * count


def _begin(work: Callable[[Path], None], folder: Path, environment: dict[str, str]) -> None:
    os.environ.update(environment)
    work(folder)
