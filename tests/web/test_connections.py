"""Connections: nobody holds the server up by slowness, by many connections or by what is not HTTP."""

from __future__ import annotations

import gc
import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any, cast

import pytest

for _package in ("fastapi", "h11", "uvicorn"):
    pytest.importorskip(_package)

from muse.web import Address, Explorer, bind, server  # noqa: E402
from muse.web.app import create_app  # noqa: E402
from muse.web.guards import App, Receive, Scope, Send  # noqa: E402
from muse.web.server import Connection, Room, make_server, serve  # noqa: E402
from tests.web.test_api import small_space  # noqa: E402

pytestmark = pytest.mark.filterwarnings("default")  # of the server's thread
SHORT = 0.5  # seconds, instead of PATIENCE
LONG = 30.0  # seconds after which a test fails
HOST = b"Host: 127.0.0.1\r\n"
HEALTH = b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"


@contextmanager
def serving(app: App) -> Iterator[int]:
    """The port of a server that runs in a thread."""
    listening = bind(Address(port=0))
    running = make_server(app)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        running.should_exit = True
        thread.join(LONG)
        listening.close()
    assert not thread.is_alive()


@pytest.fixture(scope="module")
def app() -> App:
    return create_app(Explorer(small_space(), "fr-en"), burst=1e6)


@pytest.fixture
def port(app: App) -> Iterator[int]:
    with serving(app) as found:
        yield found


def connect(port: int, sent: bytes) -> socket.socket:
    """A connection that has sent this."""
    raw = socket.create_connection(("127.0.0.1", port), timeout=LONG)
    raw.sendall(sent)
    return raw


def read(raw: socket.socket) -> bytes:
    """All that comes until the server closes the connection; TimeoutError if it does not."""
    found = b""
    try:
        while part := raw.recv(65_536):
            found += part
    except ConnectionResetError:
        pass
    return found


def asked(port: int, sent: bytes) -> tuple[int, Any]:
    """The status and the JSON that answer a request."""
    with connect(port, sent) as raw:
        return parsed(read(raw))


def parsed(answer: bytes) -> tuple[int, Any]:
    """The status and the JSON of the last answer; 0 if there is none."""
    if not answer:
        return 0, None
    head, _, body = answer.rpartition(b"\r\n\r\n")
    return int(head[head.rindex(b"HTTP/1.1 ") :].split()[1]), json.loads(body or b"null")


@pytest.mark.parametrize(
    ("begun", "status"),
    [
        (b"GET /healthz HTTP/1.1\r\n" + HOST, 408),
        (b"GET", 408),
        (b"", 0),
    ],
)
def test_a_request_that_is_never_complete_is_ended(
    port: int, monkeypatch: pytest.MonkeyPatch, begun: bytes, status: int
) -> None:
    monkeypatch.setattr(server, "PATIENCE", SHORT)
    found, problem = asked(port, begun)
    assert found == status
    assert problem is None or "complete" in problem["error"]


def test_a_trickle_does_not_extend_its_time(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "PATIENCE", SHORT)
    with connect(port, b"GET /healthz HTTP/1.1\r\n") as raw:
        raw.settimeout(SHORT / 10)
        until = time.monotonic() + LONG
        found = b""
        while not found and time.monotonic() < until:
            try:
                raw.sendall(b"x: y\r\n")
                found = raw.recv(65_536)
            except TimeoutError:
                continue
        assert b" 408 " in found


@pytest.mark.parametrize("length", [b"Content-Length: 9\r\n", b"Content-Length: 99999\r\n"])
def test_a_body_that_is_never_complete_ends_the_connection(
    port: int, monkeypatch: pytest.MonkeyPatch, length: bytes
) -> None:
    monkeypatch.setattr(server, "PATIENCE", SHORT)
    with connect(port, b"GET /healthz HTTP/1.1\r\n" + HOST + length + b"\r\nx") as raw:
        assert parsed(read(raw))[0] in (200, 413)  # and then no more


def test_a_connection_serves_many_requests_one_after_the_other(port: int) -> None:
    with closing(HTTPConnection("127.0.0.1", port, timeout=LONG)) as client:
        client.connect()
        own = client.sock.getsockname()
        for path in ("/healthz", "/nosuch", "/"):
            client.request("GET", path)
            assert client.getresponse().read()
            assert client.sock.getsockname() == own


def test_half_open_connections_shut_nobody_out(port: int) -> None:
    with ExitStack() as stack:
        held = [stack.enter_context(connect(port, b"GET / HTTP/1.1\r\n")) for _ in range(200)]
        status, health = asked(port, HEALTH)
        assert (status, health["status"]) == (200, "ok")
        # The first ones were closed in favour of the last.
        assert parsed(read(held[0]))[0] == 503


def test_an_answer_that_nobody_reads_ends_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "PATIENCE", SHORT)
    over = threading.Event()

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            for _ in range(1_000):
                await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
            over.set()

    with serving(endless) as port, connect(port, HEALTH):
        assert over.wait(LONG)


GET = b"GET /healthz HTTP/1.1\r\n"
MALFORMED = {
    "nonsense": b"GARBAGE\r\n\r\n",
    "bytes": b"\x00\xff\xfe\r\n\r\n",
    "no host": GET + b"\r\n",
    "a path of bytes": b"GET /\xff HTTP/1.1\r\n" + HOST + b"\r\n",
    "a length of letters": GET + HOST + b"Content-Length: abc\r\n\r\n",
    "a length of many digits": GET + HOST + b"Content-Length: " + b"9" * 9_000 + b"\r\n\r\n",
    "a chunk without length": GET + HOST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    "nonsense after a request": GET + HOST + b"\r\nGARBAGE\r\n\r\n",
}


@pytest.mark.parametrize("sent", MALFORMED.values(), ids=MALFORMED)
def test_what_is_not_http_is_a_problem_without_a_traceback(
    port: int, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], sent: bytes
) -> None:
    with caplog.at_level(logging.ERROR):
        status, problem = asked(port, sent)
        assert status == 400
        assert "HTTP/1.1" in problem["error"]
        assert asked(port, HEALTH)[0] == 200
    assert [record for record in caplog.records if record.exc_info] == []
    assert "Traceback" not in capfd.readouterr().err


def test_a_malformed_end_of_a_body_after_the_answer_has_begun(caplog: pytest.LogCaptureFixture) -> None:
    began, sent = threading.Event(), threading.Event()

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            began.set()
            while (await receive())["type"] != "http.disconnect":
                pass
            sent.set()

    with serving(slow) as port, connect(port, HEALTH[:-2] + b"Transfer-Encoding: chunked\r\n\r\n") as raw:
        assert began.wait(LONG)
        raw.sendall(b"zz\r\n")
        assert b" 400 " not in read(raw)
        assert sent.wait(LONG)
    assert [record for record in caplog.records if record.exc_info] == []


def test_a_header_does_not_choose_the_address_that_is_limited() -> None:
    clients: list[str] = []

    async def who(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            clients.append(scope["client"][0])
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body"})

    with serving(who) as port, connect(port, HEALTH[:-2] + b"X-Forwarded-For: 203.0.113.7\r\n\r\n") as raw:
        read(raw)
    assert clients == ["127.0.0.1"]


def test_what_was_loaded_is_no_longer_searched_for_garbage(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server.Server, "run", lambda self, sockets: None)
    try:
        with bind(Address(port=0)) as listening:
            serve(app, listening)
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()


@dataclass(eq=False)
class Pretended:
    """What a room asks of a connection."""

    address: str = "a"
    waiting: bool = True
    answered: bool = False
    refusals: list[int] = field(default_factory=list)

    def waits(self) -> bool:
        return self.waiting

    def refuse(self, status: int, *_: object) -> None:
        self.refusals.append(status)


def entered(room: Room, *ones: Pretended) -> list[Pretended]:
    """Those of the connections that a room has closed after they all entered."""
    for one in ones:
        room.enter(cast(Connection, one))
    return [one for one in ones if one.refusals]


def test_of_a_clients_connections_the_one_that_waited_longest_is_closed() -> None:
    ones = [Pretended() for _ in range(5)]
    room = Room(most=100, of_a_client=3)
    assert entered(room, *ones) == ones[:2]
    assert room.count == 3
    assert {one.refusals[0] for one in ones[:2]} == {503}


def test_others_are_closed_rather_than_one_that_is_at_work_or_was_answered() -> None:
    busy, known, new, last = Pretended(waiting=False), Pretended(answered=True), Pretended(), Pretended()
    assert entered(Room(100, 3), busy, known, new, last) == [new]
    assert entered(Room(100, 2), busy, known, last) == [known]
    assert entered(Room(100, 1), busy, last) == [last]


def test_a_connection_that_waits_again_has_not_waited_long() -> None:
    room, ones = Room(100, 3), [Pretended(answered=True) for _ in range(3)]
    entered(room, *ones)
    room.wait_again(cast(Connection, ones[0]))
    entered(room, Pretended())
    assert [bool(one.refusals) for one in ones] == [False, True, False]


def test_a_full_server_closes_one_of_the_client_that_has_most() -> None:
    many, other, new = [Pretended() for _ in range(3)], Pretended("b"), Pretended("c")
    room = Room(most=4, of_a_client=4)
    assert entered(room, *many, other, new) == [many[0]]
    assert room.count == 4


def test_connections_that_left_make_room() -> None:
    room, ones = Room(2, 2), [Pretended() for _ in range(2)]
    entered(room, *ones)
    for one in (*ones, ones[0]):  # once more changes nothing
        room.leave(cast(Connection, one))
    assert room.count == 0
    assert entered(room, Pretended(), Pretended()) == []
