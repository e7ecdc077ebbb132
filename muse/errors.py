"""All errors that a user can cause, as one tree.

* MuseError
  x BadFile        a file is missing, broken, or of another kind than expected
  x BadSetting     an option has an invalid value
    x Contradiction  options exclude or need one another
    x UnknownWord    a word is in no vocabulary; a KeyError too
  x Mismatch       two inputs do not fit each other
  x NotConverged   training diverged (not a number) or collapsed
  x MissingExtra   an optional package is needed and not installed

A message says what must hold, what was found, where, and what to do. It names a setting as its option,
--max-vocab; what is called in Python names it as Python does, max_vocab (`named_as_in_python`).
The command line catches `MuseError` once, prints one line and exits with 1; a `Contradiction` is wrong usage
and exits with 2.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TypeVar

_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]*)( (?=[A-Z]{2}))?")  # a value in capitals may follow
_COMMAND = re.compile(r"\bmuse [a-z]")
# Options that are called otherwise in Python.
_OTHERWISE = {"no-refine": "refine=False", "no-reweight": "reweight=False"}


LONGEST_RUN, LONGEST_MESSAGE = 300, 1_000  # characters; a path that is longer is hardly one
_RUN = re.compile(rf"\S{{{LONGEST_RUN + 1},}}")


def shortened(message: str) -> str:
    """The message without the middle of what it quotes at length, and of all that is too long for one.

    >>> len(shortened(f"expected a word, got {'x' * 100_000}; check it"))
    151
    """
    if len(message) > LONGEST_RUN:
        message = _RUN.sub(lambda run: f"{run[0][:100]}…{run[0][-20:]}", message)
    half = LONGEST_MESSAGE // 2
    return message if len(message) <= LONGEST_MESSAGE else f"{message[: half - 1]}…{message[-half:]}"


def counted(count: int, one: str) -> str:
    """The number and what it counts, whose plural is regular.

    >>> counted(1, "pair"), counted(2, "pair")
    ('1 pair', '2 pairs')
    """
    return f"{count} {one}" if count == 1 else f"{count} {one}s"


E = TypeVar("E", bound="MuseError")


class MuseError(Exception):
    """The root: an error that the user caused and can fix."""

    def __str__(self) -> str:
        """The message on one line, however long what it quotes is."""
        # Of Exception: KeyError would quote it.
        return shortened(" ".join(map(str.strip, Exception.__str__(self).splitlines())))


class BadFile(MuseError):
    """A file is missing, broken, or of another kind than expected."""


class BadSetting(MuseError):
    """An option has an invalid value."""


class Contradiction(BadSetting):
    """Options exclude or need one another, whatever the input: wrong usage on the command line."""


class UnknownWord(BadSetting, KeyError):
    """A word is in no vocabulary where it is looked up."""


class Mismatch(MuseError):
    """Two inputs are each valid but do not fit each other."""


class NotConverged(MuseError):
    """Training failed: a value is not a number, or the mapping collapsed."""


class MissingExtra(MuseError):
    """An optional package is needed and not installed."""


def did_you_mean(found: str, known: Iterable[str]) -> str:
    """The end of a message that names the known name which was probably meant; empty if none is close.

    >>> did_you_mean("FR", ["en", "fr"]), did_you_mean("french", ["en", "fr"]), did_you_mean("xx", ["fr"])
    ('; did you mean fr?', '; did you mean fr?', '')
    """
    names = {name.lower().replace("_", "-"): name for name in known}
    wanted = found.lower().replace("_", "-")
    close = get_close_matches(wanted, names, n=1)
    begun = [name for name in names if len(name) > 1 and wanted.startswith(name)]  # fra, fr_FR, french
    best = max(begun, key=len, default=close[0] if close else None)
    return "" if best is None else f"; did you mean {names[best]}?"


def reworded(error: E, message: str) -> E:
    """The error itself, of whatever kind and with all that it knows, with another message."""
    error.args = (message, *error.args[1:])
    return error


@contextmanager
def named_as_in_python() -> Iterator[None]:
    """A block, or a function it decorates, whose errors name settings as Python does."""
    try:
        yield
    except MuseError as error:
        raise reworded(error, in_python(str(error))) from error.__cause__


def in_python(message: str) -> str:
    """The message with the names of settings in Python for options, but for those of a command it gives.

    >>> in_python("--max-vocab must be at least 2; give --dictionary FILE, or run muse fetch --list")
    'max_vocab must be at least 2; give dictionary=FILE, or run muse fetch --list'
    """

    def name(found: re.Match[str]) -> str:
        return _OTHERWISE.get(found[1], found[1].replace("-", "_")) + ("=" if found[2] else "")

    clauses = re.split(r"(?<=[;,]) ", message)
    return " ".join(one if _COMMAND.search(one) else _OPTION.sub(name, one) for one in clauses)
