"""Natural language inference: the accuracy of a classifier of pairs of sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from muse.errors import Mismatch
from muse.evaluation.classifier import Labels
from muse.evaluation.score import Interval, Signature, bootstrap_interval, json_fields


@dataclass(frozen=True)
class InferenceScore:
    """The accuracy with its 95 % interval and the share of the most frequent label, in percent.

    `unread` is the number of pairs in which a sentence has no known word: these count as wrong.
    """

    accuracy: float
    ci95: Interval
    majority: float
    pairs: int
    unread: int
    signature: Signature

    def as_json(self) -> dict[str, Any]:
        """All fields, for JSON; `queries` are the pairs."""
        return {**json_fields(self), "queries": self.pairs}

    def __str__(self) -> str:
        """The lines to print."""
        low, high = self.ci95
        return (
            f"accuracy = {self.accuracy:.1f} [{low:.1f}, {high:.1f}] | {self.signature}\n"
            f"{self.pairs} pairs, {self.unread} of them without a known word on a side; the most frequent "
            f"label has {self.majority:.1f}"
        )


def evaluate_inference(
    found: Labels, labels: Labels, signature: Signature, *, rng: np.random.Generator
) -> InferenceScore:
    """The accuracy of the labels found (p,), -1 for a pair that was not read, given the right ones (p,).

    `rng` is for the bootstrap.
    """
    if not len(labels):
        raise Mismatch("accuracy needs at least one labelled pair, got none; check the file")
    hits = found == labels
    return InferenceScore(
        accuracy=100 * float(hits.mean()),
        ci95=bootstrap_interval(hits, rng),
        majority=100 * float(np.bincount(labels).max()) / len(labels),
        pairs=len(labels),
        unread=int((found < 0).sum()),
        signature=signature,
    )
