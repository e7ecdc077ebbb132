"""Server: the address that the explorer listens on, by default of this machine only.

Connections: the HTTP server; a client gets no more of its time and connections than requests need.
"""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import socket
import sys
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from muse.errors import BadSetting, MissingExtra
from muse.installation import install_extra
from muse.web.guards import JSON, WAIT, App, Header, problem

LARGEST_HEAD = 32 * 1024  # bytes of a request's line and headers
PATIENCE = 10.0  # seconds until a request must be complete, and an answer read
ACCEPTED = 16  # new connections that are taken before others are answered
QUEUE = 4_096  # new connections that wait for that
CROWDED = "too many connections; wait a second and try again"
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


def at_once() -> int:
    """The most connections at once: half of the descriptors that the process may open, if those are few."""
    if sys.platform == "win32":
        return 400
    import resource  # Unix

    return min(400, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)


class Room:
    """The connections of a server by client, of at most `most` in all and `of_a_client` of one address.

    With more, one that waits for a request is closed: of those that have not been answered before, if there
    are any, that which has waited longest. So whoever holds many connections closes nobody else out.
    """

    def __init__(self, most: int, of_a_client: int) -> None:
        self.most, self.of_a_client = most, of_a_client
        self.count = 0
        self._held: dict[str, dict[Connection, None]] = {}  # those that have waited longest first

    def enter(self, one: Connection) -> None:
        """Admit a connection, and close another, or this one, if there are too many."""
        mine = self._held.setdefault(one.address, {})
        crowd = None
        if len(mine) >= self.of_a_client:
            crowd = mine
        elif self.count >= self.most:
            crowd = max(self._held.values(), key=len)
        closed = None if crowd is None else _least_needed(crowd) or one
        mine[one] = None
        self.count += 1
        if closed is not None:
            self.leave(closed)
            closed.refuse(503, CROWDED, [WAIT])

    def wait_again(self, one: Connection) -> None:
        """Note that a connection was answered and waits for the next request."""
        mine = self._held.get(one.address, {})
        if one in mine:
            mine[one] = mine.pop(one)

    def leave(self, one: Connection) -> None:
        """Forget a connection, if it is known."""
        mine = self._held.get(one.address, {})
        if one in mine:
            del mine[one]
            self.count -= 1
        if not mine:
            self._held.pop(one.address, None)


class Connection(H11Protocol):
    """A connection that is closed if its request is not complete, or its answer not read, within PATIENCE."""

    def __init__(self, room: Room, **given: Any) -> None:
        super().__init__(**given)
        self.room = room
        self.address = ""  # of the client
        self.answered = False  # at least once
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for a request."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._start_clock()
        self.room.enter(self)

    def data_received(self, data: bytes) -> None:
        """Read a part of a request; further parts do not extend its time."""
        self._start_clock()
        super().data_received(data)
        if not (self.waits() or self.flow.write_paused or self.transport.is_closing()):
            self._stop_clock()

    def pause_writing(self) -> None:
        """Wait until the client has read what it was sent."""
        super().pause_writing()
        self._start_clock()

    def resume_writing(self) -> None:
        """Continue the answer."""
        super().resume_writing()
        self._stop_clock()

    def on_response_complete(self) -> None:
        """Wait for the next request, or until the last answer is read."""
        self.answered = True
        self.room.wait_again(self)
        super().on_response_complete()
        if self.transport.is_closing():
            self._start_clock()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection without another request, whether or not its last answer was read."""
        super().timeout_keep_alive_handler()
        if self.transport.get_write_buffer_size():
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_clock()
        self.room.leave(self)
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP."""
        self.refuse(400, f"expected a request of HTTP/1.1 with at most {LARGEST_HEAD:,} bytes of headers")

    def waits(self) -> bool:
        """Whether it waits for a request, or for the rest of one."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def refuse(self, status: int, error: str, headers: list[Header] | None = None) -> None:
        """Answer with an error, unless an answer has begun, and close."""
        if self.cycle is not None:
            self.cycle.disconnected = True  # what the application answers later must not be sent
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = problem(error)
            length = (b"content-length", str(len(body)).encode())
            every = [JSON, length, (b"connection", b"close"), *(headers or ())]
            reason = HTTPStatus(status).phrase.encode()
            head = self.conn.send(h11.Response(status_code=status, headers=every, reason=reason))
            self.transport.write((head or b"") + body)
        self.transport.close()
        self._start_clock()

    def _start_clock(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(PATIENCE, self._time_is_up)

    def _stop_clock(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _time_is_up(self) -> None:
        self._deadline = None
        begun = self.conn.their_state is h11.SEND_BODY or self.conn.trailing_data[0]
        if begun and not self.flow.write_paused and not self.transport.is_closing():
            self.refuse(408, f"a request must be complete within {PATIENCE:.0f} seconds")
        else:
            self.transport.abort()


class Server(uvicorn.Server):
    """A server whose queue of new connections is longer than what it takes of them at a time."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen; asyncio has a single setting for both."""
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(QUEUE)


def make_server(app: App) -> Server:
    """The server of an application; it logs errors alone."""
    most = at_once()
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,  # a header must not choose the address that is limited
        h11_max_incomplete_event_size=LARGEST_HEAD,
        backlog=ACCEPTED,
        http=cast(Any, partial(Connection, Room(most, most // 3))),
        ws="none",
    )
    return Server(config)


def serve(app: App, listening: socket.socket) -> None:
    """Answer requests until interrupted."""
    # Looking through all that is loaded would stop every thread for a tenth of a second, again and again.
    gc.collect()
    gc.freeze()
    make_server(app).run(sockets=[listening])


def _least_needed(crowd: dict[Connection, None]) -> Connection | None:
    waiting = (one for one in crowd if one.waits() and not one.answered)
    return next(waiting, None) or next((one for one in crowd if one.waits()), None)


@dataclass(frozen=True)
class Address:
    """Where to listen, and the rate limit for a client in requests a second."""

    host: str = "127.0.0.1"
    port: int = 8765
    rate: float = 100.0
    allow_remote: bool = False


def require_web() -> None:
    """Raise MissingExtra if a package of the extra is not installed."""
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtra(f"the explorer needs fastapi and uvicorn; run {install_extra('web')}") from None


def check_host(address: Address) -> None:
    """Raise BadSetting for an address that other machines can reach, unless that is allowed."""
    if is_loopback(address.host) or address.allow_remote:
        return
    raise BadSetting(
        f"--host must be local (127.0.0.1, ::1 or localhost), got {address.host!r}: anyone who can reach it "
        "could read the space and keep the processor busy; add --allow-remote to allow that"
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def bind(address: Address) -> socket.socket:
    """A listening socket; BadSetting if the port is in use or the host is not of this machine."""
    check_host(address)
    host = address.host.strip("[]")
    try:
        family = socket.getaddrinfo(host, address.port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, address.port), family=family)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadSetting(
            f"{host}:{address.port} must be free to listen on, got {reason}; choose another --port or --host"
        ) from error
    # Its connections inherit this. Else an answer is sent in two parts, of which the second waits for the
    # client to confirm the first, which takes it 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def url(listening: socket.socket) -> str:
    """The address of the page."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def known_hosts(host: str) -> tuple[str, ...] | None:
    """The host names that requests to a local server may have; None for a server that is not local."""
    bound = f"[{host.strip('[]')}]" if ":" in host else host
    return (*LOOPBACK, bound) if is_loopback(host) else None
