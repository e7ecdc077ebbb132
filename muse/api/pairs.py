"""Pairs of words that a caller gives: as a file, a Lexicon, a DataFrame, or as they are."""

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from textwrap import shorten
from typing import Any

from muse.errors import BadSetting
from muse.exchange import lexicon_of
from muse.files import read_lexicon
from muse.lexicon import Lexicon


def lexicon_from(given: Any, languages: tuple[str, str] | None = None, form: str | None = None) -> Lexicon:
    """The pairs of a file, a Lexicon, a DataFrame, or pairs of words; BadSetting for anything else.

    `languages`, of the source and of the target, are wanted of a file that names its own. `form` is the
    format of a file.

    >>> lexicon_from([("roi", "king"), ("reine", "queen")])
    Lexicon(2 pairs: roi king, reine queen)
    """
    if isinstance(given, Lexicon):
        return given
    if isinstance(given, str | PathLike):
        return read_lexicon(Path(given), languages=languages, form=form)
    if hasattr(type(given), "columns"):
        return lexicon_of(given)
    pairs = (
        list(given.items() if isinstance(given, Mapping) else given) if isinstance(given, Iterable) else []
    )
    if not pairs or not all(
        isinstance(pair, tuple | list) and len(pair) == 2 and all(isinstance(word, str) for word in pair)
        for pair in pairs
    ):
        raise BadSetting(
            "a dictionary must be a file, a Lexicon, a DataFrame or pairs of words, got "
            f"{shorten(repr(given), 60)}; give [(word, translation), ...]"
        )
    return Lexicon(tuple((pair[0], pair[1]) for pair in pairs))
