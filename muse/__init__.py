"""Aligns the words of two languages without parallel data."""

from __future__ import annotations

from typing import Any

from muse.errors import MuseError
from muse.version import __version__

__all__ = [
    "AlignConfig",
    "MuseError",
    "__version__",
    "align",
    "embed",
    "load_encoder",
    "load_space",
    "read_vectors",
]

_HOMES = {
    "AlignConfig": "muse.learn.settings",
    "align": "muse.api.run",
    "embed": "muse.embedding",
    "load_encoder": "muse.sentences.loading",
    "load_space": "muse.space",
    "read_vectors": "muse.files",
}


def __getattr__(name: str) -> Any:
    # On first use, not on import: `muse --help` must not wait for torch.
    if name not in _HOMES:
        raise AttributeError(f"module 'muse' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
