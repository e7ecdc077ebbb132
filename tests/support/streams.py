"""Pipes as a shell opens them for <(command): paths that can be read once, from the start."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def piped(content: bytes) -> Iterator[Path]:
    """A path that a thread writes this content to; it ends even if nobody reads it."""
    reading, writing = os.pipe()

    def write() -> None:
        with suppress(BrokenPipeError), os.fdopen(writing, "wb") as stream:
            stream.write(content)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield Path(f"/dev/fd/{reading}")
    finally:
        os.close(reading)
        thread.join()
