"""The command from its first moment on."""

from __future__ import annotations

import subprocess
import sys

# Ctrl-C while the command line is being imported.
EARLY = """
import sys

class Interrupt:
    def find_spec(self, name, *_):
        if name == "muse.cli":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
from muse.__main__ import main
main()
"""


def test_an_early_interruption_is_one_line() -> None:
    ended = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "interrupted\n")
