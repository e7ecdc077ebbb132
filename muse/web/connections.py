"""Connections: uvicorn on the address of the explorer, with its limits and the headers of every answer."""

from __future__ import annotations

import gc
import socket

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

LARGEST_HEAD = 32 * 1024  # bytes of a request's line and headers
AT_ONCE = 100  # connections and requests: more than the browsers of a person open
# No resources or scripts from other sites, no inline scripts, no framing.
HEADERS = [
    ("content-security-policy", "default-src 'self'; base-uri 'none'; form-action 'none'; "
     "frame-ancestors 'none'; object-src 'none'"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-cache"),
]  # fmt: skip


class Connection(H11Protocol):
    """A connection that is closed in silence where something else than HTTP follows an answer that has begun.

    uvicorn answers it all the same, and then logs the traceback of its own error.
    """

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP, if no answer has begun, and close."""
        if self.cycle is not None:
            self.cycle.disconnected = True  # what the application answers later must not be sent
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()


def make_server(app: ASGIApp) -> uvicorn.Server:
    """The server of an application; it logs errors alone, and adds HEADERS to every answer."""
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        log_level="error",
        access_log=False,
        server_header=False,
        headers=HEADERS,
        limit_concurrency=AT_ONCE,
        h11_max_incomplete_event_size=LARGEST_HEAD,
    )
    return uvicorn.Server(config)


def serve(app: ASGIApp, listening: socket.socket) -> None:
    """Answer requests until interrupted."""
    # Looking through all that is loaded would stop every thread for a tenth of a second, again and again.
    gc.collect()
    gc.freeze()
    make_server(app).run(sockets=[listening])
