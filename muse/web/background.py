"""Background: work that is done once, in a thread of its own, while the server answers."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

log = logging.getLogger(__name__)
NICE = 10  # of threads that take long: a query that is awaited comes first


@dataclass
class Background:
    """Results by key, each computed in a daemon thread that is started when it is first asked for."""

    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _futures: dict[Hashable, Future[Any]] = field(default_factory=dict, repr=False)

    def once(self, key: Hashable, work: Callable[[], Any]) -> Future[Any]:
        """The result of `work`, or of what was given for this key before; errors are kept as results are."""
        with self._lock:
            if key in self._futures:
                return self._futures[key]
            future = self._futures[key] = Future()
        # Not an executor: its threads are waited for when the server stops.
        name = "-".join(map(str, key)) if isinstance(key, tuple) else str(key)
        threading.Thread(target=_do, args=[future, work, name], name=name, daemon=True).start()
        return future


def step_back() -> None:
    """Lower the priority of this thread, and of those it starts, where the system has one for each thread."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


def _do(future: Future[Any], work: Callable[[], Any], name: str) -> None:
    try:
        future.set_result(work())
    except Exception as error:  # noqa: BLE001 - it would be lost in a thread
        log.debug("%s", name, exc_info=error)
        future.set_exception(error)
