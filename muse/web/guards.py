"""Requests: which of them the application gets, and in what form, as plain ASGI.

ASGI: the types of an application, and errors that are answered before FastAPI has the request.

Limits: of each client's rate, and of the work that waits; and security headers, as plain ASGI.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Header = tuple[bytes, bytes]
JSON: Header = (b"content-type", b"application/json")
WAIT: Header = (b"retry-after", b"1")  # seconds
CLIENTS = 10_000  # whose requests are counted; the least recent one is dropped beyond
WORK = "/api/"  # the paths of what takes work; all else is answered at once
AT_ONCE = 4  # requests that threads work on; the others wait without one
EACH = 100  # characters of a sentence, which take as long as all of a request but its text
MOST_WORK = 10_000  # such characters: five of the longest sentences, or about a hundred words
# No resources or scripts from other sites, no inline scripts, no framing.
HEADERS = [
    (b"content-security-policy", b"default-src 'self'; base-uri 'none'; form-action 'none'; "
     b"frame-ancestors 'none'; object-src 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-cache"),
]  # fmt: skip
LARGEST_BODY = 32 * 1024  # bytes, which nothing reads: no endpoint takes a body


def problem(error: str) -> bytes:
    """The JSON of an error: what answers.Problem is, which this does not need.

    >>> problem("busy")
    b'{"error":"busy","suggestions":[],"languages":[]}'
    """
    fields = {"error": error, "suggestions": [], "languages": []}
    return json.dumps(fields, separators=(",", ":")).encode()


async def refuse(send: Send, status: int, error: str, headers: Iterable[Header] = ()) -> None:
    """Answer a request with an error."""
    body = problem(error)
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [JSON, length, *headers]})
    await send({"type": "http.response.body", "body": body})


@dataclass
class Bucket:
    """A token bucket: `burst` requests at once, refilled by `rate` a second."""

    rate: float
    burst: float
    tokens: float = field(init=False)
    filled: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self.tokens = self.burst

    def take(self, now: float) -> bool:
        """Whether there was a token left at the time `now`, in seconds; it is used up."""
        self.tokens = min(self.burst, self.tokens + self.rate * max(0.0, now - self.filled))
        self.filled = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


class RateLimit:
    """An ASGI app that wraps another: it limits the rate of requests (429) and adds HEADERS to answers."""

    def __init__(self, app: App, rate: float, burst: float) -> None:
        self.app, self.rate, self.burst = app, rate, burst
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *HEADERS]
            await send(message)

        if self._bucket(scope).take(time.monotonic()):
            await self.app(scope, receive, with_headers)
            return
        await refuse(with_headers, 429, "too many requests; wait a second and try again", [WAIT])

    def _bucket(self, scope: Scope) -> Bucket:
        client = (scope.get("client") or ("",))[0]
        bucket = self._buckets.setdefault(client, Bucket(self.rate, self.burst))
        self._buckets.move_to_end(client)
        if len(self._buckets) > CLIENTS:
            self._buckets.popitem(last=False)
        return bucket


class WorkLimit:
    """An ASGI app that wraps another: it limits the work that waits, by the length of what is asked (503).

    The time that a sentence takes is proportional to its length. A request that finds none waiting is never
    refused.
    """

    def __init__(self, app: App) -> None:
        self.app = app
        self.waiting = 0
        self._turn = asyncio.Semaphore(AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or not scope["path"].startswith(WORK):
            await self.app(scope, receive, send)
            return
        work = EACH + len(unquote(scope["query_string"].decode("latin-1")))
        if self.waiting and self.waiting + work > MOST_WORK:
            await refuse(send, 503, "too much work is waiting; wait a second and try again", [WAIT])
            return
        self.waiting += work
        try:
            async with self._turn:
                await self.app(scope, receive, send)
        finally:
            self.waiting -= work


class KnownHosts:
    """An ASGI app that wraps another and rejects requests to other hosts.

    A page of another site could reach this server under a host name that it points to this machine (DNS
    rebinding); the Host header reveals that.
    """

    def __init__(self, app: App, hosts: Sequence[str]) -> None:
        self.app, self.hosts = app, frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http" and _host(scope) not in self.hosts:
            await refuse(send, 421, "unknown host: the address must be the one that muse serve prints")
            return
        await self.app(scope, receive, send)


class SmallBodies:
    """An ASGI app that wraps another and rejects requests whose body is large or of unstated length (413)."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers = dict(scope["headers"]) if scope["type"] == "http" else {}
        # The server has checked that the length is a number.
        if b"transfer-encoding" in headers or int(headers.get(b"content-length", 0)) > LARGEST_BODY:
            await refuse(send, 413, f"a body must have a stated length of at most {LARGEST_BODY:,} bytes")
            return
        await self.app(scope, receive, send)


class HeadAsGet:
    """An ASGI app that wraps another: HEAD is answered wherever GET is, by the headers alone.

    A Range is ignored, as servers may do: the files of the page are small.
    """

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        head = scope["method"] == "HEAD"

        async def without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        headers = [header for header in scope["headers"] if header[0] != b"range"]
        passed = {**scope, "headers": headers, "method": "GET" if head else scope["method"]}
        await self.app(passed, receive, without_body if head else send)


def _host(scope: Scope) -> str:
    host = dict(scope["headers"]).get(b"host", b"").decode("latin-1").lower()
    return str(host.rsplit(":", 1)[0] if host.rpartition(":")[2].isdigit() else host)
