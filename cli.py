"""From a checkout: `python cli.py ...` is the `muse` command."""

from muse.cli import main

main()
