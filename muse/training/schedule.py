"""Schedules: the factor of the learning rate at each step of training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from muse.errors import BadSetting


@dataclass(frozen=True)
class Schedule:
    """A factor of the learning rate for each step t, counted from 1.

    With w steps of `warmup`, T `steps` in total and D the `width` of the model:

    * constant        min(1, t / w)
    * linear          t / w, then (T - t) / (T - w) down to 0
    * inverse-sqrt    t / w, then sqrt(w / t)
    * noam            D^-1/2 min(t^-1/2, t w^-3/2); this is the whole rate, so use a learning rate of 1
                      (Vaswani et al., 2017, eq. 3)

    >>> [Schedule("linear", warmup=2, steps=6)(step) for step in (1, 2, 4, 6)]
    [0.5, 1.0, 0.5, 0.0]
    """

    name: str = "constant"
    warmup: int = 0
    steps: int = 0
    width: int = 0

    def __post_init__(self) -> None:
        if self.name not in FACTORS:
            raise BadSetting(f"schedule must be one of {', '.join(FACTORS)}; got {self.name!r}")
        fewest = 1 if self.name in ("noam", "inverse-sqrt") else 0
        if self.warmup < fewest:
            raise BadSetting(f"{self.name} needs {fewest} or more steps of warm-up, got {self.warmup}")
        if self.name == "linear" and self.steps <= self.warmup:
            raise BadSetting(f"linear needs more steps than the {self.warmup} of warm-up, got {self.steps}")
        if self.name == "noam" and self.width < 1:
            raise BadSetting(f"noam needs the width of the model, 1 or more, got {self.width}")

    def __call__(self, step: int) -> float:
        """The factor at a step, counted from 1."""
        return FACTORS[self.name](self, step)


def _warming(schedule: Schedule, step: int) -> float:
    return min(1.0, step / max(schedule.warmup, 1))


def _linear(schedule: Schedule, step: int) -> float:
    left = (schedule.steps - step) / (schedule.steps - schedule.warmup)
    return _warming(schedule, step) if step <= schedule.warmup else max(0.0, left)


def _inverse_sqrt(schedule: Schedule, step: int) -> float:
    return float(min(step / schedule.warmup, (schedule.warmup / step) ** 0.5))


def _noam(schedule: Schedule, step: int) -> float:
    return float(schedule.width**-0.5 * min(step**-0.5, step * schedule.warmup**-1.5))


FACTORS: dict[str, Callable[[Schedule, int], float]] = {
    "constant": _warming,
    "linear": _linear,
    "inverse-sqrt": _inverse_sqrt,
    "noam": _noam,
}
