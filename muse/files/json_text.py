"""JSON as muse reads it, whoever wrote it: a value, or a ValueError, never another error; lists of YAML."""

import json
import re
from contextlib import suppress
from typing import Any

DEEPEST = 100  # lists and objects in one another; what muse writes is not nested a tenth as deep
_DEEP = "lists or objects nested too deeply"
_BYTE = re.compile(r"\\x([0-9A-Fa-f]{2})")
_ITEM, _NO_ITEM = re.compile(r"\s*-[ \t]+(\S.*)"), re.compile(r"\s*(?:---|\.\.\.|# .*|\w+:|)\s*")


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


def yaml_string(text: str) -> str:
    """The text of a string in YAML, which may have quotation marks."""
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        with suppress(ValueError):
            return str(json.loads(_BYTE.sub(r"\\u00\1", text)))
        return text[1:-1]
    return text


def yaml_item(line: str) -> str | None:
    """The text of an item of a list in YAML, "" of a line without one, as of a key; None of another line.

    >>> list(map(yaml_item, ["vocab:", "- roi", "  - 'a b'", "roi"]))
    ['', 'roi', 'a b', None]
    """
    if found := _ITEM.fullmatch(line):
        return yaml_string(found[1].rstrip())
    return "" if _NO_ITEM.fullmatch(line) else None


def _inside(value: Any) -> list[Any]:
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [inner for inner in held if isinstance(inner, dict | list)]
