"""Supervision: how a mapping was learned from the pairs of a dictionary, as recorded in the manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class MethodRecord:
    """A method of learning from pairs, with its fields in `muse align --json`."""

    fields: Mapping[str, Any]
    chosen: bool

    @property
    def interval(self) -> tuple[float, float, float] | None:
        """P@1 and the bounds of its interval, in percent; None if one is missing or no percentage."""
        bounds = self.fields.get("ci95")
        if not isinstance(bounds, list) or len(bounds) != 2:
            return None
        found = [float(one) for one in (self.fields.get("held_out_p_at_1"), *bounds) if _is_percentage(one)]
        return (found[0], found[1], found[2]) if len(found) == 3 else None


@dataclass(frozen=True)
class SupervisionRecord:
    """The entry of the manifest, and the methods tried, in its order."""

    fields: Mapping[str, Any]
    methods: tuple[MethodRecord, ...]

    @property
    def tested(self) -> bool:
        """Whether any word was held out: a single pair leaves none."""
        return any(method.fields.get("words") for method in self.methods)

    @property
    def chosen(self) -> str:
        """The method chosen."""
        return str(self.fields.get("chosen", "?"))


def supervision_of(entry: Mapping[str, Any]) -> SupervisionRecord | None:
    """The record in the entry of a language; None if it was learned without a dictionary."""
    fields = entry.get("supervision")
    if not isinstance(fields, Mapping):
        return None
    tried = fields.get("candidates")
    methods = (one for one in (tried if isinstance(tried, list) else []) if isinstance(one, Mapping))
    return SupervisionRecord(
        fields, tuple(MethodRecord(one, one.get("name") == fields.get("chosen")) for one in methods)
    )


def _is_percentage(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 100
