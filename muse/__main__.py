"""The `muse` command, and `python -m muse`."""

import os
import signal
import sys
import threading
from types import FrameType

TERMINATED = "stopped by SIGTERM"
_received: list[int] = []  # the signals that asked this process to end, in order
AGAIN = 0.05  # seconds until an interruption is tried again
CUT_SHORT = "a file of the installation is cut short, as on a disk that was full; install muse anew"


def main() -> None:
    """Run the command line; Ctrl-C and SIGTERM end it in one line from the first moment on."""
    _ensure_utf8()
    for name in ("stdout", "stderr"):  # None where it is closed, as by >&-: what is written is not wanted
        setattr(sys, name, getattr(sys, name) or open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123
    _catch_interruptions()
    try:
        try:
            from muse.cli import main

            main()
        finally:
            if hasattr(signal, "SIGALRM") and signal.getsignal(signal.SIGALRM) is _interrupt:
                signal.signal(signal.SIGALRM, signal.SIG_IGN)  # else one that is due would kill it at its end
    except KeyboardInterrupt as error:
        sys.stderr.write(f"{str(error) or 'interrupted'}\n")
        sys.exit(_exit_code(130))
    except SystemExit as error:
        if _received and not error.code:  # after the last import it was done before it could be interrupted
            sys.stderr.write(f"{TERMINATED if signal.SIGTERM in _received else 'interrupted'}\n")
            error.code = 130
        error.code = _exit_code(error.code)
        raise
    except EOFError as error:  # an import's; every reader of a file tells its own
        sys.stderr.write(f"error: {CUT_SHORT} ({error})\n")
        sys.exit(1)


def _ensure_utf8() -> None:
    """Begin again in Python's UTF-8 mode where the locale knows ASCII alone: words and paths have letters."""
    if sys.getfilesystemencoding() == "ascii" and not (sys.flags.utf8_mode or sys.flags.ignore_environment):
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, sys.orig_argv)  # noqa: S606 - the same command


def _catch_interruptions() -> None:
    if threading.current_thread() is not threading.main_thread():  # no other may
        return
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _interrupt)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored
        signal.signal(signal.SIGINT, _interrupt)
    if os.name == "posix" and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _interrupt)
        os.register_at_fork(after_in_child=_end_at_once)


def _end_at_once() -> None:
    """Let SIGTERM end a child of this process, as it ends others."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, after the end of an import: numpy and torch cannot be imported by halves.

    The second Ctrl-C ends the process at once, as a kill does: the next run removes what it was writing.
    """
    if number == signal.SIGINT and signal.SIGINT in _received:
        os.write(2, b"interrupted\n")
        os._exit(130)
    if number in (signal.SIGINT, signal.SIGTERM):
        _received.append(number)
    if _importing(frame) and hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, AGAIN)
        return
    raise KeyboardInterrupt(*([TERMINATED] if signal.SIGTERM in _received else []))


def _exit_code(code: str | int | None) -> str | int | None:
    """The exit code: that of SIGTERM where the command was interrupted by it, not by Ctrl-C."""
    terminated = code == 130 and signal.SIGTERM in _received
    return 128 + signal.SIGTERM if terminated else code


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


if __name__ == "__main__":
    main()
