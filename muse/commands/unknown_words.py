"""Unknown words: a warning where much of a text has no vector, or is unknown to a model of word pieces."""

from __future__ import annotations

import logging

log = logging.getLogger(__name__)


def warn_if_unknown(unknown: int, tokens: int, language: str) -> None:
    """Warns if most tokens of a text have no vector."""
    if unknown > tokens / 2:
        log.warning("%d of %d tokens have no vector: is the text in %s?", unknown, tokens, language)


def warn_if_unreadable(unknown: int, pieces: int, language: str) -> None:
    """Warns if half of a text is of word pieces that the model does not have: it is in another script."""
    # An alphabet is known to the model whole: of another language in its script nearly no piece is unknown.
    if unknown and 2 * unknown >= pieces:
        log.warning(
            "%d of %d word pieces are unknown to the model: is the text in %s?", unknown, pieces, language
        )
