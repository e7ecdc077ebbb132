"""Runtime: what a stage of learning is lent: the device, the progress line, the checkpoints."""

from __future__ import annotations

from dataclasses import dataclass, field

from muse.checkpoint import Checkpoint
from muse.progress import Progress


@dataclass(frozen=True)
class Runtime:
    """The device ("cpu" or "cuda"), the progress line and the checkpoint store of one run."""

    device: str = "cpu"
    progress: Progress = field(default_factory=lambda: Progress(quiet=True))
    checkpoint: Checkpoint = field(default_factory=Checkpoint)
