"""Settings: those of a run as text, as far as the manifest records them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any


def settings(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The settings by name; empty if none were recorded."""
    recorded = manifest.get("settings")
    if not isinstance(recorded, Mapping):
        return []
    return [(str(name).replace("_", " "), as_text(value)) for name, value in recorded.items()]


def as_text(value: Any) -> str:
    """A value in words; what repeats is counted.

    >>> as_text({"cutoffs": [4000, 10000], "share": 0.75}), as_text([{"k": 1}, {"k": 2}, {"k": 2}])
    ('cutoffs 4000, 10000; share 0.75', '(k 1), 2 × (k 2)')
    >>> as_text(None), as_text(True), as_text([])
    ('none', 'yes', 'none')
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "; ".join(f"{str(name).replace('_', ' ')} {_inner(one)}" for name, one in value.items())
    if isinstance(value, list):
        runs = ((text, len(list(same))) for text, same in groupby(map(_inner, value)))
        return ", ".join(text if count == 1 else f"{count} × {text}" for text, count in runs) or "none"
    return str(value)


def _inner(value: Any) -> str:
    return f"({as_text(value)})" if isinstance(value, Mapping) else as_text(value)
