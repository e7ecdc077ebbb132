"""The contract of a reader: finite numbers or a MuseError, soon, in little memory, without a warning."""

import os
import resource
import signal
import traceback
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch

from muse.errors import MuseError
from tests.fuzz.archives import unpacked_size
from tests.fuzz.mutators import Files
from tests.fuzz.target import Target

SECONDS, PER_BYTE = 2.0, 0.5e-6  # of the processor, for one input
TIMES = 4  # the bytes of an input once it is unpacked, above the floor of its target
SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # where folders are made and removed fast
READ, REFUSED = "read", "refused"


@dataclass(frozen=True)
class Defect:
    """What is wrong, where in muse, and the whole story; two of the same `kind` have one cause."""

    kind: str
    story: str = field(default="", compare=False)


class _Late(BaseException):
    # Not an Exception: readers catch many of those.
    pass


def examine(target: Target, files: Files, folder: Path) -> str | Defect:
    """READ or REFUSED, as the contract has it, or what is wrong; `folder` is new and empty."""
    put(files, folder)
    unpacked = unpacked_size(files)
    peak, before = peak_memory(), resident_memory()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            with _limit(SECONDS + PER_BYTE * unpacked):
                finite = all(map(_finite, target.read(folder)))
            outcome = READ
        except MuseError as error:
            finite, outcome = True, REFUSED
            if "\n" in str(error):
                return Defect("message of several lines", str(error))
        except _Late:
            return Defect("too slow")
        except Exception as error:  # noqa: BLE001  # any other is the defect that is looked for
            return Defect(
                f"{type(error).__name__} {_place(error)}", "".join(traceback.format_exception(error))
            )
    if said:
        return Defect(f"{said[0].category.__name__} {Path(said[0].filename).name}", str(said[0].message))
    if not finite:
        return Defect("nan or inf in what was read")
    return _memory(peak, before, target.floor + TIMES * unpacked) or outcome


def put(files: Files, folder: Path) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _memory(peak: int, before: int, most: int) -> Defect | None:
    # Where the peak of the process has not risen, this input took no more than an earlier one.
    taken = peak_memory() - before if peak_memory() > peak else 0
    return Defect("too much memory", f"{taken} bytes, where {most} are allowed\n") if taken > most else None


def peak_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def resident_memory() -> int:
    return int(Path("/proc/self/statm").read_bytes().split()[1]) * resource.getpagesize()


@contextmanager
def _limit(seconds: float) -> Iterator[None]:
    def late(signum: int, frame: FrameType | None) -> None:
        raise _Late

    handler = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)


def _place(error: BaseException) -> str:
    # The innermost line of muse: different lines are different defects.
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/muse/" in frame.filename]
    return f"{frames[-1].filename.rpartition('/muse/')[2]} {frames[-1].name}" if frames else "outside muse"


def _finite(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return not value.is_floating_point() or bool(value.isfinite().all())
    if isinstance(value, Mapping):
        return all(map(_finite, value.values()))
    if isinstance(value, float | np.ndarray | np.generic):
        array = np.asarray(value)
        return array.dtype.kind != "f" or bool(np.isfinite(array).all())
    return True
