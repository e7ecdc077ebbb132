"""Unknown words: a warning where much of a text has no vector, or is unknown to a model of word pieces."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence

log = logging.getLogger(__name__)

SAMPLE = 1_000  # lines that tell whether words stand without spaces


class Sampled:
    """Blocks of lines as they come; the first lines are kept as a `sample`."""

    def __init__(self, blocks: Iterable[list[str]]) -> None:
        self._blocks = blocks
        self.sample: list[str] = []

    def __iter__(self) -> Iterator[list[str]]:
        for block in self._blocks:
            self.sample += block[: SAMPLE - len(self.sample)]
            yield block


def warn_if_unknown(unknown: int, tokens: int, language: str, sample: Sequence[str]) -> None:
    """Warns if most tokens of a text have no vector; a sample of its lines tells why."""
    from muse.text.segmentation import unspaced_advice

    if unknown > tokens / 2:
        why = unspaced_advice(sample[:SAMPLE], language) or f"is the text in {language}?"
        log.warning("%d of %d tokens have no vector: %s", unknown, tokens, why)


def warn_if_unreadable(unknown: int, pieces: int, language: str) -> None:
    """Warns if half of a text is of word pieces that the model does not have: it is in another script."""
    # An alphabet is known to the model whole: of another language in its script nearly no piece is unknown.
    if unknown and 2 * unknown >= pieces:
        log.warning(
            "%d of %d word pieces are unknown to the model: is the text in %s?", unknown, pieces, language
        )
