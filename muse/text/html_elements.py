"""HTML elements: those that need not be closed on a line, and their attributes without a value."""

from __future__ import annotations

from collections.abc import Iterable

_UNCLOSED = frozenset(
    "area audio base br button col details dialog embed fieldset form hr iframe img input link meta ol "
    "optgroup option param script select source textarea track video wbr".split()
)
_BOOLEAN = {
    "audio": "autoplay controls loop muted",
    "button": "autofocus disabled formnovalidate hidden",
    "details": "open",
    "dialog": "open",
    "fieldset": "disabled",
    "form": "novalidate",
    "hr": "noshade",
    "iframe": "allowfullscreen",
    "img": "hidden ismap",
    "input": "autofocus checked disabled formnovalidate hidden multiple readonly required",
    "ol": "reversed",
    "optgroup": "disabled",
    "option": "disabled selected",
    "script": "async defer nomodule",
    "select": "autofocus disabled multiple required",
    "textarea": "autofocus disabled readonly required",
    "track": "default",
    "video": "autoplay controls loop muted playsinline",
}


def need_not_close(name: str) -> bool:
    """Whether an element has no end, or often none on the line where it begins."""
    return name.lower() in _UNCLOSED


def has_attributes(name: str, attributes: Iterable[str]) -> bool:
    """Whether an element has all of these attributes without a value.

    >>> has_attributes("INPUT", ["disabled"]), has_attributes("source", ["file"])
    (True, False)
    """
    known = _BOOLEAN.get(name.lower(), "").split()
    return all(attribute.lower() in known for attribute in attributes)
