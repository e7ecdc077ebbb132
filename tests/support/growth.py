"""Growth: whether the time of something is in proportion to its size, which needs no quiet machine."""

import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

Made = TypeVar("Made")

# Four times the text takes 4 times as long if the time is linear, and 16 times if it is quadratic.
FOUR_TIMES, MOST = 4, 8.0
AT_LEAST = 2e-4  # seconds that a clock can measure


def seconds(run: Callable[[], object], turns: int) -> float:
    """The least time of several turns."""
    return min(_seconds(run) for _ in range(turns))


def _seconds(run: Callable[[], object]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


def is_linear(run: Callable[[str], object], repeated: str, count: int) -> bool:
    """Whether the time of `run` grows as its text does; measured again, and longer, where it does not."""
    return is_in_proportion(run, lambda size: repeated * size, count)


def is_in_proportion(run: Callable[[Made], object], make: Callable[[int], Made], count: int) -> bool:
    """Whether the time of `run` grows as the size of what is made for it, which is not timed.

    Measured again, and longer, where it does not.
    """
    for turns, factor in ((1, 1), (3, 1), (3, 4)):
        short, long = (make(factor * times * count) for times in (1, FOUR_TIMES))
        first = seconds(partial(run, short), turns)
        if seconds(partial(run, long), turns) <= MOST * max(first, AT_LEAST):
            return True
    return False
