"""The public names, and that importing them waits for nothing heavy."""

import importlib
import pkgutil
import subprocess
import sys

import pytest

import muse

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
