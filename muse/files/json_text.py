"""JSON as muse reads it, whoever wrote it: a value, or a ValueError, never another error."""

import json
from typing import Any

DEEPEST = 100  # lists and objects in one another; what muse writes is not nested a tenth as deep
_DEEP = "lists or objects nested too deeply"


def parse_json(text: bytes | str, errors: str = "strict") -> Any:
    """The value of a JSON text; ValueError if it is broken, too deep or has strings that are no text.

    With the `errors` "surrogateescape", strings may have what Python makes of the bytes in a path that are
    not UTF-8 (PEP 383); with "surrogatepass", any half of a surrogate pair.

    >>> parse_json('{"parts": 2}')
    {'parts': 2}
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(_DEEP) from None
    level = [value]
    for _ in range(DEEPEST):
        if not (level := [inner for outer in level for inner in _inside(outer)]):
            json.dumps(value, ensure_ascii=False).encode(errors=errors)  # a ValueError for other halves
            return value
    raise ValueError(_DEEP)


def without_surrogates(text: str) -> str:
    """The text with "?" for each half of a surrogate pair, as of a byte of a path that is no UTF-8."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def _inside(value: Any) -> list[Any]:
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [inner for inner in held if isinstance(inner, dict | list)]
