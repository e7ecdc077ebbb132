"""Unknown words: a warning where most tokens of a text have no vector."""

from __future__ import annotations

import logging

log = logging.getLogger(__name__)


def warn_if_unknown(unknown: int, tokens: int, language: str) -> None:
    """Warns if most tokens of a text have no vector."""
    if unknown > tokens / 2:
        log.warning("%d of %d tokens have no vector: is the text in %s?", unknown, tokens, language)
