"""Runtime: the device, progress line, checkpoints and processes given to a stage of learning.

What a stage reports in return, step by step, is kept in a `History` for the report of a run.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from muse.errors import BadSetting
from muse.progress import Progress
from muse.run.checkpoint import Checkpoint
from muse.run.processes import Processes

POINTS = 200  # kept of each stage: as many as a chart can show


@dataclass(frozen=True)
class Runtime:
    """The device ("cpu" or "cuda"), progress line, checkpoint store and processes of one run."""

    device: str = "cpu"
    progress: Progress = field(default_factory=lambda: Progress(quiet=True))
    checkpoint: Checkpoint = field(default_factory=Checkpoint)
    processes: Processes = Processes()

    def of(self, language: str) -> "Runtime":
        """The same runtime, with the checkpoint of one of several languages."""
        return replace(self, checkpoint=self.checkpoint.of(language))

    def skip_parts(self, parts: int = 1) -> "Runtime":
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


@dataclass
class Trace:
    """What one stage reported: the numbers (s,) of its steps, the figures of each, the time of the last."""

    stage: str
    seconds: float
    steps: list[int] = field(default_factory=list)
    figures: list[Mapping[str, float]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """The trace for JSON, thinned to every k-th step and the last if there are too many."""
        every = max(1, -(-len(self.steps) // POINTS))
        chosen = range((len(self.steps) - 1) % every, len(self.steps), every)
        figures: dict[str, list[float | None]] = {name: [] for one in self.figures for name in one}
        for name, values in figures.items():
            found = (self.figures[place].get(name) for place in chosen)
            # Five digits are more than a chart shows, and keep the manifest small.
            values += [None if value is None else float(f"{value:.5g}") for value in found]
        steps = [self.steps[place] for place in chosen]
        return {"stage": self.stage, "seconds": round(self.seconds, 2), "steps": steps, "figures": figures}


class History:
    """The traces of the stages of one candidate or refinement, in order; `record` is a Progress callback.

    >>> history = History()
    >>> history.record("refine", 1, {"objective": 0.5})
    >>> history.record("refine", 2, {"objective": 0.75})
    >>> history.as_json()[0]["figures"]
    {'objective': [0.5, 0.75]}
    """

    def __init__(self) -> None:
        self._traces: list[Trace] = []
        self._restored: list[dict[str, Any]] = []
        self._began = time.perf_counter()

    def record(self, stage: str, done: int, figures: Mapping[str, float]) -> None:
        """Record one step of a stage; a stage that counts from the start again is a new one."""
        trace = self._traces[-1] if self._traces else None
        if trace is None or trace.stage != stage or done <= trace.steps[-1]:
            trace = Trace(stage, 0.0)
            self._traces.append(trace)
        trace.steps.append(done)
        trace.figures.append(dict(figures))
        trace.seconds = time.perf_counter() - self._began

    def restore(self, traces: Sequence[dict[str, Any]]) -> None:
        """Begin with the traces of the run that is resumed, as its `as_json` had them; else TypeError."""
        if not (isinstance(traces, list) and all(isinstance(trace, dict) for trace in traces)):
            raise TypeError("a history that is no list of traces")
        self._restored = list(traces)

    def as_json(self) -> list[dict[str, Any]]:
        """Each trace for JSON; `seconds` is the time of its last step since the history was created."""
        return [*self._restored, *(trace.as_json() for trace in self._traces)]
