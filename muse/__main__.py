"""`python -m muse` is the `muse` command."""

from muse.cli import main

main()
