"""Runtime: the device, progress line, checkpoints and processes given to a stage of learning."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import torch

from muse.errors import BadSetting
from muse.progress import Progress
from muse.run.checkpoint import Checkpoint
from muse.run.processes import Processes


@dataclass(frozen=True)
class Runtime:
    """The device ("cpu" or "cuda"), progress line, checkpoint store and processes of one run."""

    device: str = "cpu"
    progress: Progress = field(default_factory=lambda: Progress(quiet=True))
    checkpoint: Checkpoint = field(default_factory=Checkpoint)
    processes: Processes = Processes()

    def skip_parts(self, parts: int = 1) -> Runtime:
        """The same runtime, whose progress is some parts further."""
        return replace(self, progress=self.progress.skip_parts(parts))


def pick_device(device: str) -> str:
    """The device to run on: the one requested, or for "auto" a GPU if there is one."""
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise BadSetting(
            "--device cuda needs a CUDA GPU and a torch that sees it, found none; use --device cpu"
        )
    if device not in ("cpu", "cuda"):
        raise BadSetting(f"--device must be one of auto, cpu, cuda; got {device!r}")
    return device
