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
    """A type of click, whose values are completed by a function of the context and the text so far."""

    def __init__(self, plain: AnyType, complete: Callable[[click.Context, str], Found]) -> None:
        self.plain, self.name, self.complete = plain, plain.name, complete

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value that the plain type makes of it."""
        return self.plain.convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The values that begin with the text so far, or what kind of path the shell should look for."""
        return [
            CompletionItem(one) if isinstance(one, str) else one for one in self.complete(ctx, incomplete)
        ]


@final
class LocalPath(AnyType):
    """A path on this machine. What must be there is checked later, with messages of our own."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path; a usage error for a web address."""
        if isinstance(value, str) and re.match(r"\w+://", value):
            self.fail(f"a file on this machine is needed, got {value!r}; download it first.", param, ctx)
        return Path(value)


def complete(command: click.Command) -> None:
    """Gives the parameters of a command their completion: by their metavar, and else files for paths."""
    for parameter in command.params:
        if isinstance(parameter.type, click.IntRange):
            parameter.type.name = "whole number"  # in messages, in place of "integer range"
        shown = parameter.metavar or (parameter.name or "").upper()
        a_path = isinstance(parameter.type, click.types.FuncParamType) and parameter.type.func is Path
        found = BY_METAVAR.get(shown, files if a_path else None)
        if found is not None:
            parameter.type = Completed(LocalPath() if a_path else parameter.type, found)


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
    from muse.files.vectors.locate import known_languages

    if any(parameter.name == "space" for parameter in context.command.params):
        # click leaves what it has not come to parse in args.
        space = context.params.get("space") or next(iter(context.args), "")
        found = _in_space(Path(space)) if space else _in_only_space()
    else:
        found = known_languages()
    return [name for name in found if name.startswith(incomplete)]


def _in_only_space() -> list[str]:
    from muse.files.space_manifest import aligned_spaces

    found = aligned_spaces()
    return _in_space(found[0]) if len(found) == 1 else []


def _in_space(space: Path) -> list[str]:
    from muse.errors import MuseError
    from muse.files.space_manifest import read_manifest

    try:
        return list(read_manifest(space).languages)
    except MuseError:
        return []


BY_METAVAR = {
    "FILE|LANG=FILE": files,
    "FOLDER": folders,
    "NAME|FOLDER": folders,
    "SPACE": spaces,
    "LANG": languages,
}
