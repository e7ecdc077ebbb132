"""The `muse` command, and `python -m muse`."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType

AGAIN = 0.05  # seconds until an interruption is tried again
CUT_SHORT = "a file of the installation is cut short, as on a disk that was full; install muse anew"


def main() -> None:
    """Run the command line; Ctrl-C ends it in one line from the first moment on."""
    _catch_interruptions()
    try:
        from muse.cli import main

        main()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    except EOFError as error:  # an import's; every reader of a file tells its own
        sys.stderr.write(f"error: {CUT_SHORT} ({error})\n")
        sys.exit(1)


def _catch_interruptions() -> None:
    here = threading.current_thread() is threading.main_thread()  # no other may
    if here and signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored
        signal.signal(signal.SIGINT, _interrupt)
        if hasattr(signal, "SIGALRM"):
            signal.signal(signal.SIGALRM, _interrupt)


def _interrupt(_: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, after the end of an import: numpy and torch cannot be imported by halves."""
    if _importing(frame) and hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, AGAIN)
        return
    raise KeyboardInterrupt


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


if __name__ == "__main__":
    main()
