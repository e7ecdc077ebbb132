"""Memory: the peak of this process, as the operating system counts it."""

from __future__ import annotations

import sys


def peak_memory_mb() -> float | None:
    """The largest resident set of this process so far, in MB (10^6 bytes); None where it is not known."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e6
