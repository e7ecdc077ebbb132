"""The `muse` command, and `python -m muse`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; Ctrl-C ends it in one line from the first moment on."""
    try:
        from muse.cli import main
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    main()


if __name__ == "__main__":
    main()
