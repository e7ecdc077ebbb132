"""Options: the command line of a benchmark, declared as the names and defaults of its options."""

import argparse
from pathlib import Path
from typing import Any

NEEDED, POSITIONAL = object(), object()  # paths that must be given, by the option or by their place
REPEATED = object()  # any number of values, each by the option


def command_line(doc: str | None, **declared: Any) -> argparse.Namespace:
    """What the command line asks for; `doc` is the benchmark's own docstring.

    An option is declared by its default, which tells its type, by a type alone where it may be left out, as
    False where it is a switch, or by one of these and its help.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, spec in declared.items():
        default, told = spec if isinstance(spec, tuple) else (spec, None)
        flag = f"--{name.replace('_', '-')}"
        if default is POSITIONAL:
            parser.add_argument(name, type=Path, help=told)
        elif default is NEEDED:
            parser.add_argument(flag, type=Path, required=True, metavar="PATH", help=told)
        elif default is REPEATED:
            parser.add_argument(flag, action="append", default=[], help=told)
        elif default is False:
            parser.add_argument(flag, action="store_true", help=told)
        elif isinstance(default, type):
            parser.add_argument(flag, type=default, help=told)
        else:
            parser.add_argument(flag, type=type(default), default=default, help=told)
    return parser.parse_args()
