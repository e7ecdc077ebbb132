"""The `muse` command, and `python -m muse`."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

CUT_SHORT = "a file of the installation is cut short, as on a disk that was full; install muse anew"


def main() -> None:
    """Run the command line; Ctrl-C ends it in one line from the first moment on."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored
        signal.signal(signal.SIGINT, _interrupt)
    try:
        from muse.cli import main

        main()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    except EOFError as error:  # an import's; every reader of a file tells its own
        sys.stderr.write(f"error: {CUT_SHORT} ({error})\n")
        sys.exit(1)


def _interrupt(_: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt or, while a module is imported, exit: numpy cannot be imported by halves."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            os.write(2, b"interrupted\n")
            os._exit(130)
        frame = frame.f_back
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
