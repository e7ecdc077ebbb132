"""Unknown words: a warning where a text is mostly of tokens without a vector, or of unknown pieces."""

from __future__ import annotations

import logging

log = logging.getLogger(__name__)


def warn_if_unknown(unknown: int, tokens: int, language: str) -> None:
    """Warns if most tokens of a text have no vector."""
    if unknown > tokens / 2:
        log.warning("%d of %d tokens have no vector: is the text in %s?", unknown, tokens, language)


def warn_if_unreadable(unknown: int, pieces: int, language: str) -> None:
    """Warns if so many of the word pieces of a text are unknown that it is hardly in the language."""
    from muse.training.pairs import UNKNOWN

    if unknown > UNKNOWN * pieces:
        log.warning("%d of %d word pieces are unknown: is the text in %s?", unknown, pieces, language)
