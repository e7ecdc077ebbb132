"""Strings that a caller gives: several of them, never a lone one, a mapping or a table.

Iterated over, these yield letters, keys, and the names of columns (pandas) or whole columns (polars), from
which all else would follow without an error.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from textwrap import shorten

from muse.errors import BadSetting


def check_strings(given: object, what: str) -> None:
    """Raise BadSetting unless `given`, `what` in the plural, is an iterable whose items may be strings.

    >>> check_strings("un chat", "sentences")
    Traceback (most recent call last):
    muse.errors.BadSetting: sentences must be a list of str, got 'un chat'; put one into a list
    """
    found = type(given)
    shown, advice = found.__name__, "put one into a list"
    if isinstance(given, str):
        shown = repr(given)
    elif isinstance(given, Mapping):
        shown = f"a {shown} with the keys {_some(given)}"
        advice = "give one of its values, or all as list(mapping.values())"
    elif (names := _column_names(given)) is not None:
        shown = f"a {shown} with the columns {_some(names)}"
        advice = f'give the column of the {what}, as in frame["text"]'
    elif isinstance(given, Iterable) and not isinstance(given, bytes):
        return
    raise BadSetting(f"{what} must be a list of str, got {shorten(shown, 90)}; {advice}")


def all_strings(given: Iterable[str], what: str) -> list[str]:
    """All of them, as a list; BadSetting as of check_strings and check_each."""
    check_strings(given, what)
    found = list(given)
    check_each(found, what)
    return found


def check_each(given: Sequence[object], what: str, begin: int = 0) -> None:
    """Raise BadSetting for the first item that is no str; they are numbered after the first `begin`."""
    if set(map(type, given)) <= {str}:
        return
    for number, one in enumerate(given, begin + 1):
        if not isinstance(one, str):
            raise BadSetting(
                f"{what} must be str, got {shorten(repr(one), 60)} as number {number}; leave out or "
                "fill in what is missing, and turn all else into str"
            )


def check_word(given: object) -> None:
    """Raise BadSetting unless `given` is one str.

    >>> check_word(None)
    Traceback (most recent call last):
    muse.errors.BadSetting: a word must be str, got None
    """
    if not isinstance(given, str):
        raise BadSetting(f"a word must be str, got {shorten(repr(given), 60)}")


def _column_names(table: object) -> Iterable[object] | None:
    # Asked of the type: what the index of a pandas series names are attributes of the series too.
    for name in ("column_names", "columns"):  # Arrow's are the former
        names = getattr(table, name) if hasattr(type(table), name) else None
        if isinstance(names, Iterable):
            return names
    return None


def _some(names: Iterable[object]) -> str:
    return ", ".join(map(repr, islice(names, 4))) or "none"
