"""Record: what a report says of how a language was mapped, as its manifest records it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from muse.files.space_manifest import UNKNOWN, LanguageRecord, Reason

LABELS = ("failed", "doubtful", UNKNOWN, "aligned")  # from worst to best
REASONS = {
    Reason.FIRST_ALIGNED: "it was the first to be judged aligned, which ends the search",
    Reason.ONLY: "no other was tried",
    Reason.CRITERION: "none was judged aligned, and it has the highest criterion",
    Reason.VERDICT: "none was judged aligned, and it has the best verdict",
    Reason.PAIRS: "the pairs of the dictionary decided, as shown below",
    Reason.DETOUR: "the mapping over another language was judged better than the direct one",
}


def why_chosen(record: LanguageRecord) -> str:
    """Why the chosen candidate was chosen, as its run recorded it; empty in a space of an older muse."""
    return REASONS[Reason(record.reason)] if record.reason in set(Reason) else record.reason


def supervision_json(found: Sequence[LanguageRecord]) -> dict[str, Any]:
    """The entries on learning from a dictionary, placed as in `muse align --json`; none without one."""
    entries = {
        record.language: {"supervision": dict(record.supervision.fields)}
        for record in found
        if record.supervision is not None
    }
    if len(found) == 1:
        return next(iter(entries.values()), {})
    return {"languages": entries} if entries else {}


def least_certain(found: Sequence[LanguageRecord]) -> LanguageRecord | None:
    """The record with the worst verdict and, among equals, the lowest confidence; None if there are none."""
    return min(found, key=_certainty, default=None)


def _certainty(record: LanguageRecord) -> tuple[int, float]:
    place = LABELS.index(record.label if record.label in LABELS else UNKNOWN)
    return place, 1.0 if record.confidence is None else record.confidence
