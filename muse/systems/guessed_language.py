"""The guessed language of a text: that whose words it has most of; a warning if it is not the one named."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from muse.space import AlignedSpace
from muse.systems.core import Core

log = logging.getLogger(__name__)

_LOOKED_AT = 2_000  # sentences


def warn_of_another_language(
    text: Sequence[str], language: str, path: Path, core: Core, space: AlignedSpace
) -> None:
    """Warns if more tokens of a text are words of another language of the space than of `language`."""
    known = {}
    for other in space.languages:
        reading = core.reader(other).read(text[:_LOOKED_AT])
        known[other] = reading.known / max(1, reading.tokens)
    best = max(known, key=lambda other: known[other])
    if known[best] > known[language]:
        log.warning(
            "%s: %.0f %% of the tokens are words of %s, %.0f %% of %s: is the text in %s?",
            path, 100 * known[best], best, 100 * known[language], language, language,
        )  # fmt: skip
