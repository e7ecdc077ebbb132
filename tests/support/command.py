"""The command line, run inside this process or as a process of its own."""

import contextlib
import io
import json
import logging
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest

from muse import cli

# What other programs read of a score of word translation (shared/interface.md).
SCORE_FIELDS = [
    *("p_at_1", "p_at_5", "p_at_10", "ci95"),
    *("queries", "covered", "coverage", "p_at_1_all", "signature"),
]


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def errors(self) -> list[str]:
        """The lines of stderr that report an error."""
        return [line for line in self.err.splitlines() if line.startswith("error: ")]

    @property
    def json(self) -> Any:
        """What --json printed, which must be all there is."""
        assert self.out.count("\n") == 1  # a word may hold any other end of line
        return json.loads(self.out)


@dataclass(frozen=True)
class Command:
    """`muse` with these arguments, in this process."""

    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *arguments: object, stdin: str | bytes | None = None) -> Ended:
        self.capsys.readouterr()
        self.monkeypatch.setattr(sys, "argv", ["muse", *map(str, arguments)])
        if stdin is not None:
            given = io.BytesIO(stdin if isinstance(stdin, bytes) else stdin.encode())
            self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(given, encoding="utf-8"))
        root = logging.getLogger()
        handlers, level = root.handlers[:], root.level
        try:
            with pytest.raises(SystemExit) as exit_:
                cli.main()
        finally:  # basicConfig took pytest's own handlers away
            root.handlers[:] = handlers
            root.setLevel(level)
        out, err = self.capsys.readouterr()
        code = exit_.value.code
        return Ended(code if isinstance(code, int) else 0, out, err)


def every_command() -> dict[str, click.Command]:
    """Each command by its name, those of groups too: evaluate words."""
    found: dict[str, click.Command] = {}
    for name, command in cli.commands.commands.items():
        inner = command.commands if isinstance(command, click.Group) else {}
        found |= {f"{name} {task}": one for task, one in inner.items()} or {name: command}
    return found


def inside(*arguments: object) -> Ended:
    """`muse` with these arguments, in this process; for fixtures that serve several tests."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    code: object = 0
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(io.StringIO()) as err,
    ):
        patch.setattr(sys, "argv", ["muse", *map(str, arguments)])
        try:
            cli.main()
        except SystemExit as ended:
            code = ended.code
        finally:  # basicConfig took pytest's own handlers away
            root.handlers[:] = handlers
            root.setLevel(level)
    return Ended(code if isinstance(code, int) else 0, out.getvalue(), err.getvalue())


def align_arguments(source_file: Path, target_file: Path, out: Path, *more: object) -> list[object]:
    """The arguments of `muse align` for a file of fr and one of en."""
    files = ["--src-emb", source_file, "--tgt-emb", target_file]
    return ["align", "--src", "fr", "--tgt", "en", *files, "--out", out, *more]


def process(*arguments: object, cwd: Path | None = None, stdin: str = "") -> Ended:
    """`python -m muse` with these arguments."""
    return python("-m", "muse", *arguments, cwd=cwd, stdin=stdin)


def python(*arguments: object, cwd: Path | None = None, stdin: str = "") -> Ended:
    """Python with these arguments."""
    ended = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def refused(ended: Ended, *parts: str, code: int = 1) -> None:
    """The command said what is wrong, in one line unless it was used wrongly (code 2), and nothing else."""
    assert (ended.code, ended.out) == (code, ""), ended.err
    assert len(ended.errors) == (code == 1)
    for part in parts:
        assert part in (ended.errors[0] if code == 1 else ended.err)


def tree(folder: Path) -> dict[str, bytes | None]:
    """Every file below a folder with its bytes, and every folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def refused_leaving(folder: Path, muse: Command, arguments: list[object], *parts: str, code: int = 1) -> None:
    """The command said what is wrong, and all below the folder is as it was."""
    before = tree(folder)
    refused(muse(*arguments), *parts, code=code)
    assert tree(folder) == before
