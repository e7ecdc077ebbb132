"""Download: one file over HTTP, resumed after an interruption and retried after temporary errors.

Partial content is kept in a hidden file beside the target, with the validator (ETag or Last-Modified) of its
version. If the server has another version by now, the download starts again. Only a complete file of the
expected kind gets the target's name.
"""

from __future__ import annotations

import errno
import gzip
import http.client
import io
import json
import logging
import math
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast
from urllib.parse import urljoin, urlsplit

from muse.errors import BadFile
from muse.files import read_lexicon
from muse.files.atomic import FULL
from muse.files.json_text import parse_json
from muse.files.source import is_stream
from muse.installation import __version__

if TYPE_CHECKING:
    import requests

log = logging.getLogger(__name__)

BLOCK = 1 << 20
AGAIN = "nothing was kept: download it again, or try --mirror"
CHUNK = 256 * 1024
LARGEST = 20 << 30  # bytes of a file: three times the largest that is published
PROGRESS = 10_000  # bytes: fewer, before a connection fails or while it is slow, are none
REDIRECTS = 5  # one leads to the newest version, one to the place where it is kept
RETRIED = {408, 425, 429, 500, 502, 503, 504}  # status codes of temporary errors
_SAID = {
    **dict.fromkeys(("IncompleteRead", "ProtocolError"), "it ended too early"),
    **dict.fromkeys(("ConnectTimeout", "ReadTimeout", "ReadTimeoutError"), "no answer in time"),
}
Tick = Callable[[int, int], None]  # bytes so far, bytes in total (0: unknown)


def check_content(path: Path, name: str, kind: str) -> None:
    """Raise BadFile if `path` is not a complete file of the given kind; `name` is its final name."""
    with path.open("rb") as file:
        head = file.read(512).lstrip().lower()
    if head.startswith((b"<!doctype", b"<html", b"<?xml", b"<head")):
        raise BadFile(f"{name}: expected {kind}, got a web page; {AGAIN}")
    if kind == "dictionary":
        try:
            read_lexicon(path)
        except BadFile as error:
            raise BadFile(f"{name}: expected a dictionary ({error}); {AGAIN}") from error
        return
    # Reading a .gz to its end verifies its checksum.
    opened = cast("IO[bytes]", gzip.open(path, "rb")) if name.endswith(".gz") else path.open("rb")
    try:
        with opened as file:
            first = file.readline(100).split()
            if len(first) != 2 or not all(field.isdigit() for field in first):
                raise BadFile(f"{name}: expected two numbers in line 1, got something else; {AGAIN}")
            lines = sum(block.count(b"\n") for block in iter(lambda: file.read(BLOCK), b""))
    except (OSError, EOFError, zlib.error) as error:
        raise BadFile(f"{name}: expected a complete file, got a broken one ({error}); {AGAIN}") from error
    if lines < int(first[0]):
        raise BadFile(f"{name}: expected {int(first[0])} words, got {lines}; {AGAIN}")


@dataclass(frozen=True)
class RetryPolicy:
    """How long to wait, in seconds, and how often to try without progress."""

    tries: int = 6
    connect: float = 10.0
    read: float = 30.0
    first_wait: float = 1.0
    longest_wait: float = 60.0
    slow: float = 60.0
    answer: float = 60.0  # until the headers are there, and at each read of what follows


class _Retry(Exception):
    """A temporary error; `wait` is the time that the server asked for, in seconds."""

    def __init__(self, reason: str, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.wait = wait


@dataclass(frozen=True)
class PartialFile:
    """The part of a file that is downloaded so far, and its version."""

    path: Path

    @property
    def notes(self) -> Path:
        """The file in which the version is recorded."""
        return self.path.with_name(f"{self.path.name}.json")

    def size(self) -> int:
        """The number of bytes downloaded so far."""
        return self.path.stat().st_size if self.path.exists() else 0

    def validator(self, url: str) -> str:
        """The validator for the server to compare; empty if there is nothing to resume."""
        try:
            noted = parse_json(self.notes.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return ""
        same = isinstance(noted, dict) and noted.get("url") == url
        return str(noted.get("validator", "")) if same and self.size() else ""

    def check(self) -> None:
        """Raise BadFile for a link, a pipe or a device in the place of the part or its version."""
        for path in (self.path, self.notes):
            if path.is_symlink() or is_stream(path):
                raise BadFile(f"{path}: expected a part of a file, got a link, a pipe or a device; remove it")

    def begin(self, url: str, validator: str) -> None:
        """Discard the content so far, and record the version of the new content."""
        self.path.write_bytes(b"")
        self.notes.write_text(json.dumps({"url": url, "validator": validator}), encoding="utf-8")

    def remove(self) -> None:
        """Remove the part and its version."""
        for path in (self.path, self.notes):
            path.unlink(missing_ok=True)


def download(url: str, part: PartialFile, retries: RetryPolicy, tick: Tick) -> None:
    """Complete `part`, to the length given by the server; BadFile if that fails."""
    failures, most = 0, part.size()  # bytes: those that are discarded and sent again are no progress
    while True:
        try:
            _attempt(url, part, retries, tick)
            return
        except _Retry as again:
            failures += 1
            if part.size() >= most + PROGRESS:
                failures, most = 0, part.size()
            if failures >= retries.tries:
                raise BadFile(
                    f"{url}: {again}, {failures} times in a row; run the command again later to resume"
                ) from again
            wait = retries.first_wait * 2 ** max(failures - 1, 0)
            pause = min(max(wait, again.wait), retries.longest_wait)
            log.warning("%s: %s; trying again in %.0f s", url, again, pause)
            time.sleep(pause)


def _attempt(url: str, part: PartialFile, retries: RetryPolicy, tick: Tick) -> None:
    import requests
    import urllib3

    validator, have = part.validator(url), part.size()
    # Without compression in transit, which would prevent resuming.
    headers = {"Accept-Encoding": "identity", "User-Agent": f"muse/{__version__}"}
    if validator:
        headers |= {"Range": f"bytes={have}-", "If-Range": validator}
    try:
        with requests.Session() as session:
            for adapter in session.adapters.values():
                _limit_answers(adapter, retries.answer)
            session.max_redirects = REDIRECTS
            session.hooks["response"].append(lambda answer, **_: _check_redirect(url, session, answer))
            patience = (retries.connect, retries.read)
            with session.get(url, headers=headers, stream=True, timeout=patience) as response:
                whole = _number(response.headers.get("Content-Range", "").rpartition("/")[2])
                same = _validator(response.headers) in ("", validator)
                if validator and response.status_code == 416 and same and 0 < have == whole:
                    return  # all of it is there: an earlier run ended before it was verified
                total = _check_answer(url, response, part, have if validator else 0)
                _write(response.raw, part, total, retries.slow, tick)
    except (requests.TooManyRedirects, ValueError) as error:  # of an address, or a length
        got = f"an unusable answer ({error})" if isinstance(error, ValueError) else "too many redirects"
        raise BadFile(f"{url}: expected a file, got {got}; try --mirror") from error
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
        if isinstance(error, OSError) and error.errno in FULL:
            raise  # of the disk, not of the connection
        raise _Retry(f"the connection failed ({_reason(error)})") from error


class _Answer(http.client.HTTPResponse):
    """An answer whose headers, and what one call of read1 waits for, must be there within `seconds`.

    The timeout of a socket is that of each packet: lines may be sent letter by letter, and without end.
    """

    seconds = 0.0

    def __init__(self, sock: Any, *args: Any, **more: Any) -> None:
        super().__init__(sock, *args, **more)
        self._bytes = _Bytes(self.fp.detach())
        self.fp = io.BufferedReader(self._bytes)

    def begin(self) -> None:
        """Read the headers."""
        self._bytes.until = time.monotonic() + self.seconds
        super().begin()
        self._bytes.until = math.inf

    def read1(self, n: int = -1) -> bytes:
        """The next bytes of the body, at most n."""
        self._bytes.until = time.monotonic() + self.seconds
        return super().read1(n)


class _Bytes(io.RawIOBase):
    """The bytes of a socket, which are read `until` a time."""

    def __init__(self, raw: Any) -> None:
        self._raw, self.until = raw, math.inf

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """The number of bytes that are read into a buffer; TimeoutError when it is too late."""
        if time.monotonic() > self.until:
            raise TimeoutError(errno.ETIMEDOUT, "no answer in time")
        read: int | None = self._raw.readinto(buffer)
        return read

    def close(self) -> None:
        """Close the socket too."""
        self._raw.close()
        super().close()


def _limit_answers(adapter: Any, seconds: float) -> None:
    """Let all answers that an adapter of requests gets be there in time."""
    answer = type("Answer", (_Answer,), {"seconds": seconds})
    classes = dict[str, type]()
    for scheme, pool in adapter.poolmanager.pool_classes_by_scheme.items():
        connection = type("Connection", (pool.ConnectionCls,), {"response_class": answer})
        classes[scheme] = type("Pool", (pool,), {"ConnectionCls": connection})
    adapter.poolmanager.pool_classes_by_scheme = classes


def _check_redirect(url: str, session: requests.Session, response: requests.Response) -> None:
    """Raise BadFile for a redirect, before it is followed, but to HTTPS or from HTTP to HTTP."""
    if (location := session.get_redirect_target(response)) is None:
        return
    response.close()  # else requests reads it to its end, if it has one
    found = urlsplit(urljoin(response.url, location))
    if not found.hostname or found.port == 0:  # which raises for what is no port
        raise ValueError(location)
    allowed = ("https",) if response.url.startswith("https:") else ("https", "http")
    if found.scheme not in allowed:
        raise BadFile(f"{url}: expected {allowed[0].upper()}, got a redirect to {location}; try --mirror")


def _check_answer(url: str, response: requests.Response, part: PartialFile, have: int) -> int:
    """The length of the whole file, 0 if unknown; an error if the response is not the file."""
    status = response.status_code
    if status in RETRIED:
        raise _Retry(f"the server answered {status}", _number(response.headers.get("Retry-After")))
    if status == 416:  # the part is longer than the file: it is of another version
        part.remove()
        raise _Retry("the file on the server has changed")
    if status not in (200, 206):
        raise BadFile(f"{url}: expected a file, the server answered {status}; check the name, try --mirror")
    if "html" in response.headers.get("Content-Type", "").lower():
        raise BadFile(f"{url}: expected a file, got a web page; the address may have changed: try --mirror")
    if status == 200:
        part.begin(url, _validator(response.headers))
        return _number(response.headers.get("Content-Length"))
    span, _, total = response.headers.get("Content-Range", "").removeprefix("bytes").strip().partition("/")
    if not span.startswith(f"{have}-"):
        part.remove()
        raise _Retry("the server sent another part of the file than requested")
    return _number(total)


def _write(stream: Any, part: PartialFile, total: int, slow: float, tick: Tick) -> None:
    size = before = part.size()
    read, begun = getattr(stream, "read1", stream.read), time.monotonic()  # read waits until a chunk is full
    with part.path.open("ab") as file:
        while chunk := read(CHUNK, decode_content=False):
            file.write(chunk)
            size += len(chunk)
            tick(size, total)
            if max(size, total) > LARGEST:
                part.remove()
                raise ValueError(f"more than {LARGEST >> 30} GB")
            if time.monotonic() - begun > slow:
                if size - before < PROGRESS:
                    raise _Retry(f"the server sent {size - before} bytes in {slow:.0f} s")
                before, begun = size, time.monotonic()
    if total and size > total:
        part.remove()
        raise _Retry(f"expected {total} bytes, got more")
    if total and size < total:
        raise _Retry(f"the connection closed after {size} of {total} bytes")


def _validator(headers: Mapping[str, str]) -> str:
    tag = headers.get("ETag", "")
    # A weak ETag means that two versions are equivalent, not that their bytes are equal.
    return tag if tag and not tag.startswith("W/") else headers.get("Last-Modified", "")


def _number(text: str | None) -> int:
    # No file has 10^18 bytes, and int() refuses to read several thousand digits.
    return int(text) if text is not None and text.isdecimal() and len(text) <= 18 else 0


def _reason(error: BaseException) -> str:
    """What the system said, such as "Connection refused", which requests and urllib3 wrap in long texts."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        if type(cause).__name__ in _SAID:
            return _SAID[type(cause).__name__]
        cause = cause.__cause__ or cause.__context__
    return type(error).__name__ if len(str(error)) > 100 else str(error)
