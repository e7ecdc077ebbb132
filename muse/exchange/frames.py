"""Frames: dictionaries as pandas DataFrames, and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from muse.errors import Mismatch, MissingExtra
from muse.installation import install_extra
from muse.lexicon import Entry, Lexicon

COLUMNS = list(Entry._fields)


def dictionary_frame(entries: Iterable[Entry] | Lexicon) -> Any:
    """A pandas.DataFrame with a row for each entry: source, target, score, rank, probability.

    >>> dictionary_frame(Lexicon((("cat", "chat"), ("cat", "matou")))).target.tolist()
    ['chat', 'matou']
    """
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra(f"a DataFrame needs pandas; run {install_extra('exchange')}") from None
    rows = _entries(entries) if isinstance(entries, Lexicon) else list(entries)
    frame = pd.DataFrame(rows, columns=COLUMNS)
    # Unknown values are NaN in a column of numbers, not None in one of objects.
    return frame.astype({"score": "float64", "rank": "int64", "probability": "float64"})


def lexicon_of(frame: Any) -> Lexicon:
    """The Lexicon in a DataFrame with the columns source and target.

    It has the scores and the probabilities of columns of these names in which none is missing.
    """
    missing = {"source", "target"} - set(frame.columns)
    if missing:
        raise Mismatch(
            f"a dictionary needs the columns source and target, got {list(frame.columns)}; rename them"
        )
    words = [frame[side].tolist() for side in ("source", "target")]
    for column in words:
        if not all(isinstance(word, str) and word for word in column):
            raise Mismatch("a dictionary needs a word in every row, got something else; drop those rows")
    return Lexicon(tuple(zip(*words, strict=True)), _numbers(frame, "score"), _numbers(frame, "probability"))


def _numbers(frame: Any, column: str) -> tuple[float, ...] | None:
    known = column in frame.columns and len(frame) and frame[column].notna().all()
    return tuple(float(number) for number in frame[column]) if known else None


def _entries(lexicon: Lexicon) -> list[Entry]:
    ranks: Counter[str] = Counter()
    nothing = (None,) * len(lexicon)
    scores, probabilities = lexicon.scores or nothing, lexicon.probabilities or nothing
    found = []
    for (source, target), score, probability in zip(lexicon.pairs, scores, probabilities, strict=True):
        ranks[source] += 1
        found.append(Entry(source, target, score, ranks[source], probability))
    return found
