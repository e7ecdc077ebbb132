"""Standard input: the lines that arrive there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from muse.files.plain_text import Stream

STDIN = "standard input"


def lines_on_stdin() -> Iterator[list[str]]:
    """The lines on stdin in blocks, as they arrive; BadFile if it is closed."""
    from muse.errors import BadFile
    from muse.files.plain_text import read_blocks

    if sys.stdin is None:
        raise BadFile(f"{STDIN}: expected text, but it is closed; send text")
    return read_blocks(cast("Stream", sys.stdin.buffer), STDIN)
