"""JSON as muse reads it, whoever wrote it: a value, or a ValueError, never another error."""

from __future__ import annotations

import json
from typing import Any


def parse_json(text: bytes | str) -> Any:
    """The value of a JSON text; ValueError if it is broken or nested too deeply.

    >>> parse_json('{"parts": 2}')
    {'parts': 2}
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("lists or objects nested too deeply") from None
