"""Derived files: what is computed of a space once, and written beside its vectors by who writes the space.

The manifest has their checksums, as of all files. A file that is damaged, or whose values cannot be, is not
used: what can be computed again then is, in memory. Using a space writes nothing.
"""

from __future__ import annotations

import hashlib
import io
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from muse.files.archive import strictly
from muse.files.source import DAMAGED

log = logging.getLogger(__name__)

Made = TypeVar("Made")
Arrays = Mapping[str, NDArray[Any]]
COMPUTED = "it is computed again"
# A damaged header may ask for any amount of memory.
_FAILURES = (OSError, *DAMAGED, ValueError, TypeError, KeyError, IndexError, OverflowError, MemoryError)


@dataclass(frozen=True)
class DerivedFiles:
    """The derived files in the folder of a space, by the checksums of its manifest, or their `contents`."""

    folder: Path | None = None
    checksums: Mapping[str, str] = field(default_factory=dict)
    contents: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    def read(self, name: str, made: Callable[[bytes], Made], remedy: str = COMPUTED) -> Made | None:
        """What is `made` of the content of a file; None if the space was saved without it.

        None, with a warning, for one with another checksum, or that `made` refuses with a ValueError.
        """
        if self.folder is None or name not in self.checksums:
            return None
        try:
            content = self.contents.get(name) or (self.folder / name).read_bytes()
            if hashlib.sha256(content).hexdigest() != self.checksums[name]:
                raise ValueError("another content than was written")
            return made(content)
        except _FAILURES as error:
            found = f"a part is missing: {error}" if isinstance(error, KeyError) else str(error)
            log.warning("%s: not used, %s; %s", self.folder / name, found or type(error).__name__, remedy)
            return None


def arrays_of(content: bytes) -> Arrays:
    """The named arrays of an .npz; ValueError or another of the errors of a damaged archive."""
    with strictly(), np.load(io.BytesIO(content), allow_pickle=False) as found:
        return {name: found[name] for name in found.files}


def write_arrays(path: Path, parts: Arrays) -> None:
    """Write named arrays to an .npz, where its folder may be missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content: dict[str, Any] = dict(parts)
    np.savez(path, **content)
