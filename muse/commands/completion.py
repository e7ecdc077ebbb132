"""Completion with the tab key: paths, spaces and languages. None of it may import torch, which is slow."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem


def completed(parameter: Any, context: click.Context, incomplete: str) -> list[CompletionItem]:
    """What the shell offers for a declared parameter: by its metavar, and else files for paths."""
    shown = parameter.metavar or (parameter.name or "").upper()
    offer = BY_METAVAR.get(shown, files if parameter.declared.kind.typed is Path else None)
    found = offer(context, incomplete) if offer else ()
    return [CompletionItem(one) if isinstance(one, str) else one for one in found]


def files(context: click.Context, incomplete: str) -> list[CompletionItem]:
    """Whatever files and folders the shell finds."""
    return [CompletionItem(incomplete, type="file")]


def folders(context: click.Context, incomplete: str) -> list[CompletionItem]:
    """Whatever folders the shell finds."""
    return [CompletionItem(incomplete, type="dir")]


def spaces(context: click.Context, incomplete: str) -> Sequence[str | CompletionItem]:
    """The spaces in embeddings/aligned and in the folder that is being typed; without any, folders."""
    from muse.files.space_manifest import ALIGNED, spaces_in

    typed = Path(incomplete if incomplete.endswith("/") else Path(incomplete).parent)
    found = map(str, spaces_in(typed, Path(), ALIGNED))
    return [path for path in found if path.startswith(incomplete)] or folders(context, incomplete)


def languages(context: click.Context, incomplete: str) -> list[str]:
    """The languages of the space that is named before; in a command without one, those with vectors."""
    from muse.errors import MuseError
    from muse.files.space_manifest import ALIGNED, read_manifest, spaces_in
    from muse.files.vectors.locate import known_languages

    found = known_languages()
    if any(parameter.name == "space" for parameter in context.command.params):
        # click leaves what it has not come to parse in args.
        named = context.params.get("space") or next(iter(context.args), "")
        candidates = [Path(named)] if named else spaces_in(ALIGNED)
        try:
            found = list(read_manifest(candidates[0]).languages) if len(candidates) == 1 else []
        except MuseError:
            found = []
    return [name for name in found if name.startswith(incomplete)]


BY_METAVAR: dict[str, Callable[[click.Context, str], Sequence[str | CompletionItem]]] = {
    "FILE|LANG=FILE": files,
    "FOLDER": folders,
    "NAME|FOLDER": folders,
    "SPACE": spaces,
    "LANG": languages,
}
