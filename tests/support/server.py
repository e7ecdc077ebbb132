"""A web server on this machine that behaves as badly as a test asks it to."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Gives each request to the next answer of the server's script; the last one answers all that follow."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, Server)
        place = min(len(server.requests), len(server.script) - 1)
        server.requests.append({name.lower(): value for name, value in self.headers.items()})
        server.paths.append(self.path)
        server.script[place](self)

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    """The server, what it was asked, and the answers it is to give."""

    daemon_threads = True

    def __init__(self, script: list[Answer]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script
        self.requests: list[dict[str, str]] = []
        self.paths: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def serving(*script: Answer) -> Iterator[Server]:
    """A server that answers by the script, in a thread, until the block ends."""
    server = Server(list(script))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@dataclass
class File:
    """A file as a server gives it: whole, or the rest of it to who has a part of this version.

    `cut` ends the connection after so many bytes; `stall` waits so many seconds in the middle.
    """

    body: bytes
    etag: str = '"v1"'
    ranges: bool = True
    length: bool = True
    cut: int | None = None
    stall: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)

    def __call__(self, handler: Handler) -> None:
        begin = self._begin(handler)
        handler.send_response(206 if begin else 200)
        if self.etag:
            handler.send_header("ETag", self.etag)
        for name, value in self.headers.items():
            handler.send_header(name, value)
        if begin:
            handler.send_header("Content-Range", f"bytes {begin}-{len(self.body) - 1}/{len(self.body)}")
        if self.length:
            handler.send_header("Content-Length", str(len(self.body) - begin))
        handler.send_header("Connection", "close")
        handler.end_headers()
        end = len(self.body) if self.cut is None else min(len(self.body), begin + self.cut)
        middle = (begin + end) // 2
        handler.wfile.write(self.body[begin:middle])
        handler.wfile.flush()
        time.sleep(self.stall)
        handler.wfile.write(self.body[middle:end])
        handler.close_connection = True

    def _begin(self, handler: Handler) -> int:
        asked = handler.headers.get("Range", "")
        if not (self.ranges and asked and handler.headers.get("If-Range") == self.etag):
            return 0
        return int(asked.removeprefix("bytes=").split("-")[0])


def status(code: int, body: bytes = b"", **headers: str) -> Answer:
    """An answer with a status of its own."""

    def answer(handler: Handler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer
