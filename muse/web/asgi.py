"""ASGI: the types of an application, and errors that are answered before FastAPI has the request."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Header = tuple[bytes, bytes]

JSON: Header = (b"content-type", b"application/json")
WAIT: Header = (b"retry-after", b"1")  # seconds


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
