"""Limits: a rate limit for each client, and security headers, as plain ASGI."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

CLIENTS = 10_000  # whose requests are counted; the least recent one is dropped beyond
TOO_MANY = b'{"error":"too many requests; wait a second and try again","suggestions":[]}'
# No resources or scripts from other sites, no inline scripts, no framing.
HEADERS = [
    (b"content-security-policy", b"default-src 'self'; base-uri 'none'; form-action 'none'; "
     b"frame-ancestors 'none'; object-src 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-cache"),
]  # fmt: skip


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

        async def with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *HEADERS]
            await send(message)

        if self._bucket(scope).take(time.monotonic()):
            await self.app(scope, receive, with_headers)
            return
        headers = [(b"content-type", b"application/json"), (b"retry-after", b"1")]
        await with_headers({"type": "http.response.start", "status": 429, "headers": headers})
        await with_headers({"type": "http.response.body", "body": TOO_MANY})

    def _bucket(self, scope: Scope) -> Bucket:
        client = (scope.get("client") or ("",))[0]
        bucket = self._buckets.setdefault(client, Bucket(self.rate, self.burst))
        self._buckets.move_to_end(client)
        if len(self._buckets) > CLIENTS:
            self._buckets.popitem(last=False)
        return bucket
