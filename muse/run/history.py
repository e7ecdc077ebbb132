"""History: the figures that the stages of learning reported, for the report of a run."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

POINTS = 200  # kept of a stage: as many as a chart can show


@dataclass
class Trace:
    """The numbers (s,) of the steps of one stage, the figures of each, and when the last one ended."""

    stage: str
    seconds: float
    steps: list[int] = field(default_factory=list)
    figures: list[Mapping[str, float]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """The trace as JSON can hold it: every k-th step and the last, where there are too many."""
        every = max(1, -(-len(self.steps) // POINTS))
        chosen = range((len(self.steps) - 1) % every, len(self.steps), every)
        names = dict.fromkeys(name for figures in self.figures for name in figures)
        figures = {name: [_short(self.figures[i].get(name)) for i in chosen] for name in names}
        steps = [self.steps[i] for i in chosen]
        return {"stage": self.stage, "seconds": round(self.seconds, 2), "steps": steps, "figures": figures}


class History:
    """The traces of the stages of one run, in order; `record` is a callback for a Progress.

    >>> history = History()
    >>> history.record("refine", 1, {"objective": 0.5})
    >>> history.record("refine", 2, {"objective": 0.75})
    >>> history.as_json()[0]["figures"]
    {'objective': [0.5, 0.75]}
    """

    def __init__(self) -> None:
        self._traces: list[Trace] = []
        self._began = time.perf_counter()

    def record(self, stage: str, done: int, figures: Mapping[str, float]) -> None:
        """Records one step of a stage; a stage whose count starts again is another one."""
        trace = self._traces[-1] if self._traces else None
        if trace is None or trace.stage != stage or done <= trace.steps[-1]:
            trace = Trace(stage, 0.0)
            self._traces.append(trace)
        trace.steps.append(done)
        trace.figures.append(dict(figures))
        trace.seconds = time.perf_counter() - self._began

    def as_json(self) -> list[dict[str, Any]]:
        """Each trace as JSON can hold it; `seconds` runs from the start of the history to its last step."""
        return [trace.as_json() for trace in self._traces]


def _short(value: float | None) -> float | None:
    # Five digits are more than a chart shows, and a manifest stays small.
    return None if value is None else float(f"{value:.5g}")
