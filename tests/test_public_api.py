"""The public names, and that importing them waits for nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

import muse

HEAVY = ("torch", "scipy", "faiss", "fasttext")


def test_the_names_are_sorted_and_there() -> None:
    assert list(muse.__all__) == sorted(muse.__all__)
    for name in muse.__all__:
        assert getattr(muse, name) is not None


def test_align_stays_a_function() -> None:
    shown = "import muse; muse.align; assert callable(muse.align), muse.align"
    subprocess.run([sys.executable, "-c", shown], timeout=60, check=True)


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
