"""README.md and the pages of docs/pages as programs: their code blocks, run in order in a folder."""

import contextlib
import io
import logging
import re
import shlex
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from muse import cli

KINDS = ("console", "python", "text")
_FENCE = re.compile(r"^( *)```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_ANY_NUMBER = r"((?:-|(?<!\d))\d+(?:\.\d+)?)"
NEAR = 0.05  # of a figure: other processors round differently, and a word more or less is found


@dataclass(frozen=True)
class Block:
    """A fenced block: console (commands and what they print), python, or text, which may be a file."""

    kind: str
    title: str
    text: str


def blocks(page: Path) -> list[Block]:
    """The code blocks of a page, in order."""
    found = _FENCE.findall(page.read_text(encoding="utf-8"))
    return [Block(kind, title, dedent(text)) for _, kind, title, text in found]


def commands(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with the output that is shown."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


@dataclass
class Reader:
    """Somebody who does in a folder what a page says; python blocks share their variables.

    `done` has commands, each with the output shown, that ran in this folder before: they are left out.
    `printed` is what each command that ran has printed.
    """

    folder: Path
    variables: dict[str, Any] = field(default_factory=dict)
    done: Collection[tuple[str, str]] = ()
    printed: dict[str, str] = field(default_factory=dict)

    def follow(self, page: Path) -> None:
        """Runs every block of a page; AssertionError where something else comes out than is shown."""
        found = blocks(page)
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            for block, following in zip(found, [*found[1:], None], strict=True):
                if block.title:
                    Path(block.title).write_text(block.text, encoding="utf-8")
                elif block.kind == "console":
                    for command, shown in commands(block.text):
                        if (command, shown) in self.done:
                            continue
                        printed, told = run(command, patch)
                        assert bool(told) == shown.startswith("error: "), told or f"{command} did not fail"
                        agree(printed + told, shown)
                        self.printed[command] = printed
                elif block.kind == "python":
                    printed = self._python(block.text)
                    if following is not None and following.kind == "text" and not following.title:
                        agree(printed, following.text)

    def _python(self, text: str) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(text, "a block", "exec"), self.variables)  # noqa: S102 - our own pages
        return out.getvalue()


def run(command: str, patch: pytest.MonkeyPatch) -> tuple[str, str]:
    """What `muse ...`, with < and > as in a shell, prints on stdout and, where it fails, what on stderr."""
    words = shlex.split(command)
    assert words[0] == "muse", f"a page may only run muse, got: {command}"
    source, target = _file_behind("<", words), _file_behind(">", words)
    streams = {name: io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for name in ("stdout", "stderr")}
    given = io.BytesIO(b"" if source is None else source.read_bytes())
    with patch.context() as inner:
        inner.setattr(sys, "argv", words)
        inner.setattr(sys, "stdin", io.TextIOWrapper(given, encoding="utf-8"))
        for name, stream in streams.items():
            inner.setattr(sys, name, stream)
        code = _exit_code()
    printed, told = (stream.buffer.getvalue().decode() for stream in streams.values())
    if target is not None:
        target.write_text(printed, encoding="utf-8")
        printed = ""
    return printed, (told or f"exit code {code}") if code else ""


def _file_behind(sign: str, words: list[str]) -> Path | None:
    # Takes the redirection off the words of the command.
    if sign not in words:
        return None
    place = words.index(sign)
    path = Path(words[place + 1])
    del words[place : place + 2]
    return path


def _exit_code() -> object:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        cli.main()
    except SystemExit as ended:
        return ended.code
    finally:  # the command took pytest's own handlers away
        root.handlers[:] = handlers
        root.setLevel(level)
    return 0


def agree(printed: str, shown: str) -> None:
    """The text is the one shown, its figures nearly so, whatever stands where "..." is shown."""
    parts = [
        re.escape(part) if number % 2 == 0 else _ANY_NUMBER
        for number, part in enumerate(re.split(f"({_NUMBER.pattern})", shown.strip()))
    ]
    pattern = "".join(parts).replace(r"\.\.\.", ".*?")
    found = re.fullmatch(pattern, printed.strip(), re.DOTALL)
    assert found, f"{printed}\nis not\n{shown}"
    for figure, text in zip(found.groups(), _NUMBER.findall(shown), strict=True):
        digits = len(text.partition(".")[2])
        allowed = max(NEAR * abs(float(text)), 2 * 10.0**-digits if digits else 0)
        assert abs(float(figure) - float(text)) <= allowed + 1e-9, f"{figure} is not {text} in\n{printed}"
