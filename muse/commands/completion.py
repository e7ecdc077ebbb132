"""Completion with the tab key: paths, spaces and languages. None of it may import torch, which is slow."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    AnyType = click.ParamType[Any]
else:  # which older versions of click cannot subscript
    AnyType = click.ParamType

Found = Sequence[str | CompletionItem]


@final
class Completed(AnyType):
    """A type of click, whose values are completed by a function of the context and the text so far.

    A path is one on this machine. What must be there is checked later, with messages of our own.
    """

    def __init__(self, plain: AnyType, complete: Callable[[click.Context, str], Found]) -> None:
        self.plain, self.name, self.complete = plain, plain.name, complete
        if is_path(plain):
            self.name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value that the plain type makes of it; a usage error for a path that is a web address."""
        if is_path(self.plain) and isinstance(value, str) and re.match(r"\w+://", value):
            self.fail(f"a file on this machine is needed, got {value!r}; download it first.", param, ctx)
        return self.plain.convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The values that begin with the text so far, or what kind of path the shell should look for."""
        return [
            CompletionItem(one) if isinstance(one, str) else one for one in self.complete(ctx, incomplete)
        ]


def is_path(found: AnyType) -> bool:
    """Whether a type makes paths."""
    return isinstance(found, click.types.FuncParamType) and found.func is Path


def complete(command: click.Command) -> None:
    """Gives the parameters of a command their completion: by their metavar, and else files for paths."""
    for parameter in command.params:
        if isinstance(parameter.type, click.IntRange):
            parameter.type.name = "whole number"  # in messages, in place of "integer range"
        shown = parameter.metavar or (parameter.name or "").upper()
        found = BY_METAVAR.get(shown, files if is_path(parameter.type) else None)
        if found is not None:
            parameter.type = Completed(parameter.type, found)


def files(context: click.Context, incomplete: str) -> Found:
    """Whatever files and folders the shell finds."""
    return [CompletionItem(incomplete, type="file")]


def folders(context: click.Context, incomplete: str) -> Found:
    """Whatever folders the shell finds."""
    return [CompletionItem(incomplete, type="dir")]


def spaces(context: click.Context, incomplete: str) -> Found:
    """The spaces in embeddings/aligned and in the folder that is being typed; without any, folders."""
    from muse.files.space_manifest import nearby_spaces

    typed = Path(incomplete if incomplete.endswith("/") else Path(incomplete).parent)
    found = map(str, nearby_spaces(typed))
    return [path for path in found if path.startswith(incomplete)] or folders(context, incomplete)


def languages(context: click.Context, incomplete: str) -> Found:
    """The languages of the space that is named before; in a command without one, those with vectors."""
    from muse.errors import MuseError
    from muse.files.space_manifest import aligned_spaces, read_manifest
    from muse.files.vectors.locate import known_languages

    found = known_languages()
    if any(parameter.name == "space" for parameter in context.command.params):
        # click leaves what it has not come to parse in args.
        named = context.params.get("space") or next(iter(context.args), "")
        candidates = [Path(named)] if named else aligned_spaces()
        try:
            found = list(read_manifest(candidates[0]).languages) if len(candidates) == 1 else []
        except MuseError:
            found = []
    return [name for name in found if name.startswith(incomplete)]


BY_METAVAR = {
    "FILE|LANG=FILE": files,
    "FOLDER": folders,
    "NAME|FOLDER": folders,
    "SPACE": spaces,
    "LANG": languages,
}
