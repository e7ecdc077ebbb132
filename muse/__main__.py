"""The `muse` command, and `python -m muse`."""

from __future__ import annotations

import sys

CUT_SHORT = "a file of the installation is cut short, as on a disk that was full; install muse anew"


def main() -> None:
    """Run the command line; Ctrl-C ends it in one line from the first moment on."""
    try:
        from muse.cli import main

        main()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    except EOFError as error:  # an import's; every reader of a file tells its own
        sys.stderr.write(f"error: {CUT_SHORT} ({error})\n")
        sys.exit(1)


if __name__ == "__main__":
    main()
