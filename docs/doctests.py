"""Examples in docstrings as code blocks: Markdown takes their `>>>` for quotations."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)


class Doctests(griffe.Extension):
    """Fences every example of every docstring; called by griffe, which mkdocstrings reads the code with."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Changes the docstring of one module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)
