"""Places: paths as a page shows them, which never says where on a machine something lies."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path, PurePath


def base_of(space: Path, current: Path) -> Path:
    """The folder that the commands of a report are run in: the current one, or else that of the space."""
    return current if space.resolve().is_relative_to(current.resolve()) else space.resolve().parent


def shown(text: str | PurePath, base: Path) -> str:
    """A path relative to `base`, or …/ and its name if it lies elsewhere; a text that is no path unchanged.

    >>> shown("/home/me/work/fr.vec", Path("/home/me/work")), shown("/data/fr.vec", Path("/home/me/work"))
    ('fr.vec', '…/fr.vec')
    """
    path = PurePath(text)
    if not path.is_absolute() and not str(text).startswith("~"):
        return str(text)
    root = base.resolve()
    return str(path.relative_to(root)) if path.is_relative_to(root) else f"…/{path.name}"


def command_line(words: Iterable[str], base: Path) -> str:
    """A command as one line to paste into a shell.

    >>> command_line(["muse", "serve", "/work/my space"], Path("/work"))
    "muse serve 'my space'"
    """
    return " ".join(
        text if text.startswith("…/") and shlex.quote(text[2:]) == text[2:] else shlex.quote(text)
        for text in (shown(word, base) for word in words)
    )
