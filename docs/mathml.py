"""Equations as MathML, which browsers draw by themselves: no script, no font from elsewhere."""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert

# What pymdownx.arithmatex makes of $x$ and of $$x$$ outside code.
_EQUATION = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_content(text: str, **_: Any) -> str:
    """The HTML of a page with its equations drawn; called by mkdocs."""
    return _EQUATION.sub(_drawn, text)


def _drawn(equation: re.Match[str]) -> str:
    display = "block" if equation[1] == "div" else "inline"
    return convert(html.unescape(equation[2]).strip(), display=display)
