"""Current: the explorer of a space as its folder has it now.

The space is in memory, so nothing that happens to its files changes an answer. At each request the marks of
its files are compared with those it was loaded with. If another process has replaced or overwritten them, the
space is loaded again, its checksums compared, and requests are refused meanwhile: no answer comes from a copy
that is not complete.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from muse.errors import MuseError
from muse.files.space_manifest import Marks, marks_of
from muse.web.explorer import Explorer

log = logging.getLogger(__name__)


class Changed(MuseError):
    """The files of the space have changed, and it has not been loaded again yet."""


class Explored(Protocol):
    """Whatever has an explorer at the moment."""

    def now(self) -> Explorer:
        """The explorer to answer one request with; Changed if there is none."""


@dataclass
class CurrentExplorer:
    """The explorer of the space in a folder; `load` makes a new one, or raises MuseError."""

    folder: Path
    load: Callable[[], Explorer]
    _explorer: Explorer | None = field(init=False, repr=False)
    _languages: tuple[str, ...] = field(init=False)
    _refused: tuple[Marks, str] | None = field(default=None, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _loading: threading.Thread | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self._explorer = self.load()
        self._languages = self._explorer.space.languages

    def now(self) -> Explorer:
        """The explorer while the files of its space are the same; else Changed, and the space is loaded."""
        explorer = self._explorer
        if explorer is not None and explorer.space.is_current:
            return explorer
        with self._lock:
            if self._loading is None and not self._is_refused():
                self._explorer = None  # requests that have it go on with it; then its memory is free
                self._loading = threading.Thread(target=self._load_again, daemon=True)
                self._loading.start()
            reason = "it is being loaded again" if self._refused is None else self._refused[1]
        raise Changed(f"the files of the space have changed: {reason}")

    def _is_refused(self) -> bool:
        """Whether the files are those that could not be loaded the last time."""
        return self._refused is not None and self._marks() == self._refused[0]

    def _marks(self) -> Marks:
        return marks_of(self.folder, self._languages)

    def _load_again(self) -> None:
        marks = self._marks()
        try:
            explorer, refused = self.load(), None
        except MuseError as error:
            explorer, refused = None, (marks, str(error))
        except Exception:
            log.exception("%s", self.folder)
            explorer, refused = None, (marks, "the terminal of muse serve says more")
        with self._lock:
            self._explorer, self._refused, self._loading = explorer, refused, None
            self._languages = self._languages if explorer is None else explorer.space.languages
