"""Numbers as options: within a range, finite, and not so large that a figure of float32 overflows."""

from __future__ import annotations

import math
from typing import Any

import click

MOST_BEAM = 1_000  # a beam takes memory for each sentence it keeps
LARGEST = 1e30  # times a logarithm or a distance it is still a number of float32


class Finite(click.FloatRange):
    """A number up to LARGEST, within a range if one is given; click alone takes nan for any range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; a usage error if it is none, not finite, or out of range."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        if abs(number) > LARGEST:
            self.fail(f"{value} is too large, expected at most {LARGEST:g}.", param, ctx)
        return number

    def _describe_range(self) -> str:
        # Of click, for its help: without bounds it would read "x<=None".
        return "" if self.min is None and self.max is None else super()._describe_range()
