"""Every error a user can cause, as one tree.

* MuseError
  x BadFile        a file is missing, broken, or not what it says it is
  x BadSetting     an option has a value that cannot work
  x Mismatch       two inputs do not fit each other
  x NotConverged   training broke down: not a number, or collapse
  x MissingExtra   an optional package is needed and absent

A message says what must hold, what was found, where, and what to do.
The command line catches `MuseError` once, prints one line and exits with 1.
"""

from __future__ import annotations


class MuseError(Exception):
    """The root: whatever a user can cause and can mend."""


class BadFile(MuseError):
    """A file is missing, broken, or not what it says it is."""


class BadSetting(MuseError):
    """An option has a value that cannot work."""


class Mismatch(MuseError):
    """Two inputs are each fine and do not fit each other."""


class NotConverged(MuseError):
    """Training broke down: a value is not a number, or the mapping collapsed."""


class MissingExtra(MuseError):
    """An optional package is needed and not installed."""
