"""All errors that a user can cause, as one tree.

* MuseError
  x BadFile        a file is missing, broken, or of another kind than expected
  x BadSetting     an option has an invalid value
  x Mismatch       two inputs do not fit each other
  x NotConverged   training diverged (not a number) or collapsed
  x MissingExtra   an optional package is needed and not installed

A message says what must hold, what was found, where, and what to do.
The command line catches `MuseError` once, prints one line and exits with 1.
"""

from __future__ import annotations


class MuseError(Exception):
    """The root: an error that the user caused and can fix."""


class BadFile(MuseError):
    """A file is missing, broken, or of another kind than expected."""


class BadSetting(MuseError):
    """An option has an invalid value."""


class Mismatch(MuseError):
    """Two inputs are each valid but do not fit each other."""


class NotConverged(MuseError):
    """Training failed: a value is not a number, or the mapping collapsed."""


class MissingExtra(MuseError):
    """An optional package is needed and not installed."""
