"""The target that answers requests: the server of the explorer, which gets damaged ones over a connection."""

import json
import os
import re
import socket
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from muse.errors import MuseError
from muse.web.app import create_app, make_server
from muse.web.explorer import Explorer
from muse.web.server import bind
from tests.fuzz.folders import toys
from tests.fuzz.target import Target

PAUSE = 0.2  # seconds after which the server still waits for the rest of a request
LATE = 10.0  # seconds after which an answer is not complete
STATUS = re.compile(rb"HTTP/1\.1 ([0-9]{3}) ")
ASKED = (
    "GET /api/translate?word=fr1&src=fr&tgt=en&top=5", "GET /api/suggest?lang=en&prefix=e",
    "GET /api/neighbours?word=en2&src=en&tgt=fr",
    "GET /api/sentence?text=fr1%20fr2,%20%C3%A9t%C3%A9&src=fr&tgt=en", "GET /api/reasons?word=fr1",
    "GET /api/place?word=fr3&own=fr4&other=en2",
    "GET /api/picture", "GET /api/spaces", "HEAD /page/explorer.js", "GET /healthz",
)  # fmt: skip


@cache
def _port(process: int) -> int:
    """The port of the server of a process, which lasts as long: a child has none of its parent's threads."""
    app = create_app(Explorer(toys(), "fr-en"), hosts=("127.0.0.1",))
    listening, running = bind(), make_server(app)
    running.config.timeout_keep_alive = 0
    threading.Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True).start()
    return int(listening.getsockname()[1])


def _requests(folder: Path) -> None:
    headers = ("Host: 127.0.0.1", "Accept: */*", "Accept-Encoding: gzip", "Content-Length: 0")
    for number, asked in enumerate(ASKED):
        (folder / f"{number}").mkdir()
        lines = (f"{asked} HTTP/1.1", *headers, "", "")
        (folder / f"{number}" / "request").write_bytes("\r\n".join(lines).encode())


def _answer(folder: Path) -> Iterator[Any]:
    path = folder / "request"
    request = path.read_bytes() if path.exists() else b""
    answer = _sent(request)
    statuses = [int(found) for found in STATUS.findall(answer)]
    assert all(status < 500 or status == 503 for status in statuses), answer[:300]
    if not statuses or statuses[0] >= 300:
        raise MuseError(f"status {statuses[:1]}")
    head, _, body = answer.partition(b"\r\n\r\n")
    if b"application/json" in head and len(statuses) == 1 and not request.lstrip().startswith(b"HEAD"):
        json.loads(body, parse_constant=_never)
    yield float(statuses[0])


def _sent(request: bytes) -> bytes:
    """All that the server answers; nothing to what is not complete."""
    complete = b"\n\r\n" in request or b"\n\n" in request
    with socket.create_connection(("127.0.0.1", _port(os.getpid())), LATE) as connection:
        parts = []
        try:
            connection.sendall(request)
            connection.settimeout(LATE if complete else PAUSE)
            while part := connection.recv(1 << 16):
                parts.append(part)
        except ConnectionError:
            pass  # it may close before it has read all
        except TimeoutError:
            assert not parts, "an answer is not complete"
        return b"".join(parts)


def _never(name: str) -> float:
    raise AssertionError(f"{name} in an answer")


TARGETS = (Target("request", _requests, _answer),)
