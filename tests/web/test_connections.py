"""Connections: the limits of uvicorn as muse sets them, what is not HTTP, and the headers of every answer."""

import gc
import json
import logging
import queue
import socket
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

for _package in ("fastapi", "uvicorn"):
    pytest.importorskip(_package)

import uvicorn  # noqa: E402
from starlette.types import ASGIApp, Receive, Scope, Send  # noqa: E402

from muse.web.app import AT_ONCE, create_app, make_server, serve  # noqa: E402
from muse.web.explorer import Explorer  # noqa: E402
from muse.web.server import bind  # noqa: E402
from tests.support.command import Command  # noqa: E402
from tests.support.spaces import saved  # noqa: E402
from tests.web.test_api import small_space  # noqa: E402

pytestmark = pytest.mark.filterwarnings("default")  # of the server's thread
LONG = 30.0  # seconds after which a test fails
HOST = b"Host: 127.0.0.1\r\n"
HEALTH = b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"


@contextmanager
def serving(app: ASGIApp, keep_alive: int | None = None) -> Iterator[int]:
    listening = bind()
    running = make_server(app)
    if keep_alive is not None:
        running.config.timeout_keep_alive = keep_alive
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
def app() -> ASGIApp:
    return create_app(Explorer(small_space(), "fr-en"))


@pytest.fixture
def port(app: ASGIApp) -> Iterator[int]:
    with serving(app) as found:
        yield found


def connect(port: int, sent: bytes) -> socket.socket:
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
    """The status and the JSON, or else the text, of the last answer; 0 if there is none."""
    if not answer:
        return 0, None
    head, _, body = answer[answer.rindex(b"HTTP/1.1 ") :].partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body) if b"application/json" in head else body.decode()


def test_a_connection_serves_many_requests_one_after_the_other(port: int) -> None:
    with closing(HTTPConnection("127.0.0.1", port, timeout=LONG)) as client:
        client.connect()
        own = client.sock.getsockname()
        for path in ("/healthz", "/nosuch", "/"):
            client.request("GET", path)
            assert client.getresponse().read()
            assert client.sock.getsockname() == own


def test_a_connection_without_another_request_is_closed(app: ASGIApp) -> None:
    with serving(app, keep_alive=0) as port, connect(port, HEALTH.replace(b"close", b"keep-alive")) as raw:
        assert parsed(read(raw))[0] == 200  # and then no more


def test_more_connections_than_a_person_needs_are_refused_and_served_later(port: int) -> None:
    with ExitStack() as stack:
        for _ in range(AT_ONCE):
            stack.enter_context(connect(port, b"GET / HTTP/1.1\r\n"))
        with connect(port, HEALTH) as raw:
            answer = read(raw)
        assert parsed(answer) == (503, "Service Unavailable")
        assert b"content-security-policy" in answer
    until = threading.Event()
    for _ in range(100):  # until it has seen that they are gone
        if asked(port, HEALTH)[0] == 200:
            break
        until.wait(LONG / 100)
    else:
        pytest.fail("nobody is served any more")


def test_a_body_is_not_waited_for(port: int) -> None:
    with connect(port, HEALTH[:-2] + b"Content-Length: 1000000000\r\n\r\nx") as raw:
        assert b" 200 " in raw.recv(65_536)


@pytest.mark.parametrize(
    "path", ["/", "/page/explorer.js", "/api/translate?word=roi", "/nosuch", "/api/translate"]
)
def test_every_answer_keeps_the_page_to_itself(port: int, path: str) -> None:
    with closing(HTTPConnection("127.0.0.1", port, timeout=LONG)) as client:
        client.request("GET", path)
        found = client.getresponse()
        assert found.headers["content-security-policy"].startswith("default-src 'self'")
        assert "unsafe" not in found.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in found.headers["content-security-policy"]
        assert found.headers["x-content-type-options"] == "nosniff"
        assert found.headers["cross-origin-resource-policy"] == "same-origin"


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
def test_what_is_not_http_is_refused_without_a_traceback(
    port: int, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], sent: bytes
) -> None:
    with caplog.at_level(logging.ERROR):
        assert asked(port, sent)[0] == 400
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


def test_what_was_loaded_is_no_longer_searched_for_garbage(
    app: ASGIApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: None)
    try:
        with bind() as listening:
            serve(make_server(app), listening)
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()


@pytest.mark.parametrize("asked", [True, False])
def test_the_browser_is_opened_where_that_is_asked_for(
    asked: bool, muse: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(tmp_path / "space")
    opened: queue.Queue[str] = queue.Queue()
    monkeypatch.setattr(webbrowser, "open", opened.put)
    monkeypatch.setattr("muse.web.app.serve", lambda app, listening: None)
    ended = muse("serve", str(tmp_path / "space"), "--port", "0", "--json", *["--open"] * asked)
    assert ended.code == 0, ended.err
    where = [opened.get(timeout=10)] if asked else []
    assert where == [json.loads(ended.out)["url"]] * asked
    assert opened.empty()
