"""The command from its first moment on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.spaces import saved

# An import of {name} that ends in {error}.
ENDING = """
import sys

class Ending:
    def find_spec(self, name, *_):
        if name == "{name}":
            raise {error}

sys.meta_path.insert(0, Ending())
sys.argv = ["muse", "doctor"]
from muse.__main__ import main
main()
"""


def ended(name: str, error: str) -> tuple[int, str, str]:
    """Return the exit code, the output and the errors of `muse doctor` whose import of `name` ends so."""
    code = ENDING.format(name=name, error=error)
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return process.returncode, process.stdout, process.stderr


def test_an_early_interruption_is_one_line() -> None:
    assert ended("muse.cli", "KeyboardInterrupt") == (130, "", "interrupted\n")


def test_an_interruption_waits_for_the_end_of_an_import(tmp_path: Path) -> None:
    # A library that is imported by halves may end in any way when something imports it again.
    (tmp_path / "slow.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nimport csv\n")
    # A shell in the background ignores Ctrl-C, and so would what it starts.
    code = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import muse.__main__, muse.cli

def command():
    import slow, time
    print("whole", flush=True)
    time.sleep(60)

muse.cli.main = command
muse.__main__.main()
"""
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (process.returncode, process.stdout, process.stderr) == (130, "whole\n", "interrupted\n")


def test_it_may_run_in_any_thread() -> None:
    code = "import sys, threading, muse.__main__ as m; sys.argv = ['muse', '--version']\n"
    code += "thread = threading.Thread(target=m.main); thread.start(); thread.join()"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert process.stdout.startswith("muse, version") and "Traceback" not in process.stderr


@pytest.mark.parametrize("name", ["muse.cli", "muse.commands.doctor"])
def test_an_installation_cut_short_is_named(name: str) -> None:
    code, output, errors = ended(name, 'EOFError("marshal data too short")')
    (line,) = errors.strip().splitlines()
    assert (code, output) == (1, "")
    assert line.startswith("error: a file of the installation is cut short") and "install muse anew" in line


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoding", "printed"),
    [
        ("utf-8", b"\xe6\xbc\xa2\xff.html"),
        ("latin-1", b"\\u6f22\\udcff.html"),
    ],
)
def test_a_path_that_the_terminal_cannot_show(tmp_path: Path, encoding: str, printed: bytes) -> None:
    saved(tmp_path / "space")
    ended = subprocess.run(
        [sys.executable, "-m", "muse", "report", "space", "--out", "漢\udcff.html"],
        cwd=tmp_path, env={**os.environ, "PYTHONIOENCODING": encoding}, capture_output=True, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert printed in ended.stdout
