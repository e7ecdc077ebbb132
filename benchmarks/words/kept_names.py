"""The names of a text that a translation keeps, for benchmarks/words/translation.py."""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def names(line: str, reference: str) -> list[str]:
    """The capitalised words of a line that its reference has unchanged: Tom, Six, but not TOM or I."""
    unchanged = set(_WORD.findall(reference))
    found = _WORD.findall(line)
    return [w for w in found if len(w) > 1 and w[0].isupper() and not w.isupper() and w in unchanged]


def kept_names(lines: Sequence[str], references: Sequence[str], translated: Sequence[str]) -> tuple[int, int]:
    """How many of the names of all lines their translations keep, and how many names there are."""
    kept = total = 0
    for line, reference, translation in zip(lines, references, translated, strict=True):
        there, wanted = set(_WORD.findall(translation)), names(line, reference)
        kept, total = kept + sum(name in there for name in wanted), total + len(wanted)
    return kept, total
