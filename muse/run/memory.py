"""Memory: the peak memory of this process, as the operating system counts it."""

from __future__ import annotations

import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")


def peak_memory_mb() -> float | None:
    """The largest resident set of this process so far, in MB (10^6 bytes); None if it is unknown."""
    # On Linux a child inherits ru_maxrss (getrusage(2)): a process started by a larger one would
    # report the peak of the larger one. VmHWM starts at zero with each program.
    if _STATUS.exists():
        for line in _STATUS.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e6
