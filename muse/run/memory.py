"""Memory: the peak of this process, how freed memory is kept, and whether the address space is large enough.

Where the address space is limited (ulimit -v) to less than they need, numerical libraries hang, abort or say
something unintelligible, each in its own way. So the limit is compared with the need of the libraries and of
their threads before the first of them is loaded.
"""

import ctypes
import logging
import os
import platform
import sys
from importlib.util import find_spec
from pathlib import Path

from muse.errors import BadSetting

log = logging.getLogger(__name__)

# Bytes that commands need with one thread and small vectors: without torch, and beside its own files.
WITHOUT_TORCH = 250_000_000
BESIDE_TORCH = 850_000_000
# Bytes for another thread: its stack, its part of the C library's heap, and buffers of each linear algebra.
THREAD = 200_000_000
_STATUS = Path("/proc/self/status")
_MMAP_MAX, _TRIM_THRESHOLD = -4, -1  # parameters of mallopt(3)
_NEVER = -1  # instead of the bytes of free memory above which the C library returns some


def fit_threads(threads: int | None, *, torch: bool = True) -> int | None:
    """The number of threads to use: `threads`, or fewer if a limit of address space has no room for them.

    None is one for each core, as the libraries choose. BadSetting if there is no room for one. `torch` is
    whether it will be imported. To be called before that, and before numpy is: their threads are set in the
    environment.
    """
    limit = address_space()
    if limit is None:
        return threads
    least = least_space(torch=torch)
    if limit < least:
        raise BadSetting(
            f"the address space (ulimit -v) must have at least {least // 10**6:,} MB, "
            f"got {limit // 10**6:,} MB; raise the limit, or remove it with ulimit -v unlimited"
        )
    given = os.environ.get("OMP_NUM_THREADS", "")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = threads or (int(given) if given.isdecimal() and int(given) else cores)
    fitting = min(wanted, 1 + (limit - least) // THREAD)
    if fitting == wanted:
        return threads
    log.info("%d of %d threads, since the address space is limited (ulimit -v)", fitting, wanted)
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = str(fitting)
    return fitting


def least_space(*, torch: bool) -> int:
    """The bytes of address space that a command needs, with torch or without it."""
    return BESIDE_TORCH + _size_of_torch() if torch else WITHOUT_TORCH


def address_space() -> int | None:
    """The limit of this process's address space in bytes; None if it has none."""
    if sys.platform == "win32":
        return None
    import resource  # Unix

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _size_of_torch() -> int:
    # Its files differ by gigabytes from build to build, and are mapped as a whole.
    found = find_spec("torch")
    if found is None or found.origin is None:
        return 0
    folder = Path(found.origin).parent
    libraries = [*folder.glob("lib/*.so*"), *folder.parent.glob("nvidia/**/lib/*.so*")]
    return sum(path.stat().st_size for path in libraries)


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
