"""Requests: which of them the application gets, and in what form, as plain ASGI."""

from __future__ import annotations

from collections.abc import Sequence

from muse.web.asgi import App, Message, Receive, Scope, Send, refuse

LARGEST_BODY = 32 * 1024  # bytes, which nothing reads: no endpoint takes a body


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
