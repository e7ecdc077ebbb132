"""Dictionaries with named fields: a table with a header, or a JSON object a line."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from muse.errors import BadFile
from muse.files.json_text import parse_json
from muse.lexicon import Pair


class PairLine(NamedTuple):
    """A pair with its score and its probability, None where the file has none."""

    pair: Pair
    score: float | None = None
    probability: float | None = None


ReadLine = Callable[[str, str], PairLine]  # from a line and its place, for errors

_BLANK = " \t\r\n"  # other kinds of space may be words
_ADVICE = "write the file again with muse induce"


def table_reader(header: str) -> ReadLine | None:
    """The reader of the lines below `header`; None if its fields are not source, target, ... score."""
    names = header.removesuffix("\r").split("\t")
    if names[:2] != ["source", "target"] or ("score" not in names and len(names) > 2):
        return None
    score = names.index("score") if "score" in names else None
    probability = names.index("probability") if "probability" in names else None

    def read(line: str, where: str) -> PairLine:
        fields = line.removesuffix("\r").split("\t")
        if len(fields) != len(names):
            raise BadFile(
                f"{where}: expected {len(names)} fields with tabs between as in line 1, got {len(fields)}; "
                f"{_ADVICE}"
            )
        known = None if probability is None else _probability(fields[probability] or None, where)
        rated = None if score is None else _score(fields[score] or None, where)
        return PairLine(_pair(fields[0], fields[1], where), rated, known)

    return read


def object_reader(first: str) -> ReadLine | None:
    """The reader of all lines of a file whose first line is `first`; None if that is no JSON object."""
    fields = _object(first) or {}  # "{ }" could be a pair of words
    return _read_object if {"source", "target"} <= fields.keys() else None


def _read_object(line: str, where: str) -> PairLine:
    fields = _object(line)
    words = [] if fields is None else [fields.get(name) for name in ("source", "target")]
    if fields is None or not all(isinstance(word, str) for word in words):
        raise BadFile(f"{where}: expected a JSON object with source and target, got {line[:60]!r}; {_ADVICE}")
    pair, probability = _pair(words[0], words[1], where), _probability(fields.get("probability"), where)
    return PairLine(pair, _score(fields.get("score"), where), probability)


def _pair(source: Any, target: Any, where: str) -> Pair:
    if not (source.strip(_BLANK) and target.strip(_BLANK)):
        raise BadFile(f"{where}: expected two words, got {source!r} and {target!r}; drop the line")
    return source, target


def _object(line: str) -> dict[str, Any] | None:
    try:
        fields = parse_json(line) if line.startswith("{") else None
    except ValueError:
        return None
    return fields if isinstance(fields, dict) else None


def _probability(field: Any, where: str) -> float | None:
    probability = _score(field, where, "probability")
    if probability is not None and not 0 <= probability <= 1:
        raise BadFile(f"{where}: expected a probability from 0 to 1, got {field!r}; {_ADVICE}")
    return probability


def _score(field: Any, where: str, name: str = "score") -> float | None:
    if field is None:
        return None
    try:
        score = float(field)
    except (TypeError, ValueError, OverflowError):
        score = math.nan
    if not math.isfinite(score):
        raise BadFile(f"{where}: expected a finite number as the {name}, got {field!r}; {_ADVICE}")
    return score
