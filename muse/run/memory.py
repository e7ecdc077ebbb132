"""Memory: the peak of this process, as the operating system counts it, and how freed memory is kept."""

from __future__ import annotations

import ctypes
import platform
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")
_MMAP_MAX, _TRIM_THRESHOLD = -4, -1  # parameters of mallopt(3)
_NEVER = -1  # instead of the bytes of free memory above which the C library returns some


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


def keep_freed_memory() -> None:
    """Make this process reuse the memory it frees, where the C library has a setting for it (glibc).

    By default each large array is mapped anew, and the system zeroes its pages: a seventh of the time
    of an alignment. For a process that ends with its work; the peak grows by what lies free in between.
    """
    if platform.libc_ver()[0] == "glibc":
        libc = ctypes.CDLL(None)
        libc.mallopt(_MMAP_MAX, 0)
        libc.mallopt(_TRIM_THRESHOLD, _NEVER)
