"""The command from its first moment on; and the public names, whose import waits for nothing heavy."""

import importlib
import os
import pkgutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import muse
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
    ("encoding", "printed"), [("utf-8", b"\xe6\xbc\xa2\xff.html"), ("latin-1", b"\\u6f22\\udcff.html")]
)
def test_a_path_that_the_terminal_cannot_show(tmp_path: Path, encoding: str, printed: bytes) -> None:
    saved(tmp_path / "space")
    ended = subprocess.run(
        [sys.executable, "-m", "muse", "report", "space", "--out", "漢\udcff.html"],
        cwd=tmp_path, env={**os.environ, "PYTHONIOENCODING": encoding}, capture_output=True, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert printed in ended.stdout


def run_until(code: str, line: str, *signals: int, **more: Any) -> tuple[int, str]:
    """The exit code and the errors of Python with this code, sent signals once it has printed the line."""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        try:
            for number in signals:
                assert process.stdout.readline() == f"{line}\n"
                process.send_signal(number)
            return process.wait(60), process.stderr.read()
        finally:
            process.kill()


COMMAND = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import muse.__main__, muse.cli
from pathlib import Path
from typing import Any
from muse.files.atomic import atomic_path, only_writer

def command(**_):
    with only_writer(Path("out")), atomic_path(Path("out/file")) as partial:
        try:
            print("ready", flush=True)
            time.sleep(60)
        finally:
            if "linger" in sys.argv:
                print("ready", flush=True)
                time.sleep(60)

muse.cli.commands.main = command
muse.__main__.main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize(
    ("number", "code", "said"),
    [(signal.SIGTERM, 143, "stopped by SIGTERM\n"), (signal.SIGINT, 130, "interrupted\n")],
)
def test_a_signal_ends_it_in_one_line_and_leaves_nothing(
    tmp_path: Path, number: int, code: int, said: str
) -> None:
    (tmp_path / "out").mkdir()
    assert run_until(COMMAND, "ready", number, cwd=tmp_path) == (code, said)
    assert [path.name for path in tmp_path.rglob("*")] == ["out"]


IMPORTING = """
import signal, sys, types
signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in a script's background job
import muse.__main__
from pathlib import Path
Path("slow.py").write_text("import time\\nprint('ready', flush=True)\\ntime.sleep(0.3)")
Path("work.py").write_text("import atexit, slow, sys, time\\ndef main(): time.sleep(60)")
sys.path.insert(0, ".")
import muse
sys.modules["muse.cli"] = types.SimpleNamespace(main=lambda: __import__("work").main())
muse.__main__.main()
"""


# What the command does after its imports: it ends before it is interrupted again, in several ways, or waits.
AFTER_IMPORTS = {
    "waits": "time.sleep(60)", "is done": "sys.exit(0)", "is done in the end": "sys.exit()",
    "imports at its end": "atexit.register(__import__, 'slow2'); sys.exit(0)",
    "takes long to end": "atexit.register(time.sleep, 0.3); sys.exit(0)",
    "is interrupted": "raise KeyboardInterrupt('stopped by SIGTERM')",
}  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("after", AFTER_IMPORTS)
def test_a_signal_during_imports_in_a_background_job(tmp_path: Path, after: str) -> None:
    (tmp_path / "slow2.py").write_text("import time\ntime.sleep(0.3)")
    code = IMPORTING.replace("time.sleep(60)", AFTER_IMPORTS[after])
    assert run_until(code, "ready", signal.SIGTERM, cwd=tmp_path) == (143, "stopped by SIGTERM\n")


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_command_in_a_folder_that_was_removed(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    code = f"import os, sys, muse.__main__ as m; os.rmdir({str(gone)!r}); sys.argv[1:] = ['doctor']; m.main()"
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=gone, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("error: expected a working folder, got none")
    assert ended.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="a shell")
@pytest.mark.parametrize(("typed", "code"), [("--version", 0), ("nosuch", 2)])
def test_closed_streams_take_what_is_written(typed: str, code: int) -> None:
    line = f"{sys.executable} -m muse {typed}"
    for shut in (">&-", "2>&-", ">&- 2>&-"):
        ended = subprocess.run(f"{line} {shut}", shell=True, capture_output=True, check=False)
        assert (ended.returncode, b"Traceback" in ended.stdout + ended.stderr) == (code, False)


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_second_interruption_ends_it_at_once(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    lingering = COMMAND.replace("import signal, sys, time", "import signal, sys, time\nsys.argv = ['linger']")
    ended = run_until(lingering, "ready", signal.SIGINT, signal.SIGINT, cwd=tmp_path)
    assert ended == (130, "interrupted\n")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the C locale is ASCII, and /dev/full is full")
def test_words_are_found_in_a_locale_of_ascii(tmp_path: Path) -> None:
    saved(tmp_path / "space")
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ended = subprocess.run(
        [sys.executable, "-m", "muse", "translate", "space", "été", "--src", "fr", "--tgt", "en"],
        cwd=tmp_path, env={**os.environ, **plain}, capture_output=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0
    assert ended.stdout.decode().startswith("été\t")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("more", [[], ["--out", "pairs.tsv"]], ids=["printed", "saved"])
def test_a_full_stdout_is_named(tmp_path: Path, more: list[str]) -> None:
    saved(tmp_path / "space", plain=True)
    command = ["induce", "space", *more] if more else ["translate", "space", "fr3", "--src", "fr"]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "muse", *command], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE,
            text=True, check=False,
        )  # fmt: skip
    assert ended.returncode == 1
    (line,) = ended.stderr.strip().splitlines()
    assert line.startswith("error: stdout must take what is printed, got a full disk; what the command saved")
    assert (tmp_path / "pairs.tsv").exists() == bool(more)


HEAVY = ("torch", "scipy", "faiss", "fasttext")


def test_the_names_are_sorted_and_there() -> None:
    assert list(muse.__all__) == sorted(muse.__all__)
    for name in muse.__all__:
        assert getattr(muse, name) is not None


@pytest.mark.slow
@pytest.mark.parametrize("order", ["sorted", "reversed"])
def test_public_names_are_what_they_are_whatever_was_imported_before(order: str) -> None:
    # Importing a module binds its name in its package, and would hide a function of that name.
    code = (
        "import importlib, pkgutil, muse\n"
        "names = [found.name for found in pkgutil.walk_packages(muse.__path__, 'muse.')]\n"
        f"for name in {order}(names):\n"
        "    if not name.endswith('__main__'):\n"
        "        importlib.import_module(name)\n"
        "    hidden = [n for n in muse.__all__ if type(getattr(muse, n)) is type(muse)]\n"
        "    assert not hidden, (name, hidden)\n"
        "assert all(map(callable, (muse.align, muse.load_space, muse.read_vectors, muse.load_encoder)))\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=120, check=True)


def test_no_package_exports_the_name_of_one_of_its_modules() -> None:
    for found in pkgutil.walk_packages(muse.__path__, "muse."):
        if found.ispkg:
            package = importlib.import_module(found.name)
            modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
            assert not modules & set(getattr(package, "__all__", ())), found.name
    assert not {module.name for module in pkgutil.iter_modules(muse.__path__)} & set(muse.__all__)


def test_no_other_name() -> None:
    with pytest.raises(AttributeError, match="module 'muse' has no attribute 'nosuch'"):
        _ = muse.nosuch


@pytest.mark.parametrize(
    "code",
    [
        "import muse",
        "import muse.cli",
        "import sys, muse.cli; sys.argv = ['muse', '--help']\ntry: muse.cli.main()\nexcept SystemExit: pass",
        "import sys, muse.cli; sys.argv[1:] = ['align', '-h']\ntry: muse.cli.main()\nexcept SystemExit: pass",
    ],
    ids=["muse", "muse.cli", "help", "help of align"],
)
def test_nothing_heavy_is_imported(code: str) -> None:
    shown = f"{code}\nimport sys; print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    ended = subprocess.run(
        [sys.executable, "-c", shown], capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stderr.splitlines()[-1] == "[]"
