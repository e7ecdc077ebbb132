"""The target that is a server: `muse fetch` from one on this machine that answers with damaged bytes."""

import gzip
import os
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from muse.errors import MuseError
from muse.fetch.download import RetryPolicy
from muse.fetch.published import FetchConfig, dictionary, fetch, vectors
from muse.progress import Progress
from tests.fuzz.target import Target

ANSWER, PLACE = "answer", "out"  # the bytes that are sent, and where the file goes
_AT_ONCE = RetryPolicy(tries=2, connect=1.0, read=1.0, first_wait=0.0, longest_wait=0.0)


class _Server(socketserver.TCPServer):
    answer = b""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        # Whatever is asked gets these bytes, and then the connection ends.
        assert isinstance(self.server, _Server)
        try:
            self.request.recv(1 << 16)
            self.request.sendall(self.server.answer)
        except OSError:
            pass


@cache
def _server(process: int) -> _Server:
    """The server of a process, which lasts as long: a child has none of the threads of its parent."""
    server = _Server(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@contextmanager
def _answering(answer: bytes) -> Iterator[str]:
    """The address of a server that gives this answer, and that every other address leads to."""
    server = _server(os.getpid())
    server.answer = answer
    # As a proxy it gets the requests that redirects lead elsewhere: none leaves this machine.
    proxies = {"http_proxy": server.url, "https_proxy": server.url, "no_proxy": ""}
    with mock.patch.dict(os.environ, proxies):
        yield server.url


def _answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "Connection: close"]
    return "\r\n".join([*lines, "", ""]).encode() + body


def _answers(folder: Path) -> None:
    pairs, text = b"chat cat\nchien dog\n", b"2 3\nle 0.1 0.2 0.3\nla 1 0 0\n"
    part = ('ETag: "a"', f"Content-Range: bytes 4-{len(pairs) - 1}/{len(pairs)}")
    answers = {
        "dictionary": _answer(pairs, 'ETag: "a"'),
        "vectors": _answer(gzip.compress(text, mtime=0), "Last-Modified: Tue, 15 Nov 1994 12:45:26 GMT"),
        "rest": _answer(pairs[4:], *part, status="206 Partial Content"),
        "elsewhere": _answer(b"", "Location: /other", status="302 Found"),
        "later": _answer(b"", "Retry-After: 1", status="503 Service Unavailable"),
        "page": _answer(b"<!doctype html>", "Content-Type: text/html"),
        "chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"4\r\nchat\r\n5\r\n cat\n\r\n0\r\n\r\n",
    }
    for name, content in answers.items():
        place = folder / name / PLACE
        place.mkdir(parents=True)
        (place.parent / ANSWER).write_bytes(content)
        item = vectors("fr") if name == "vectors" else dictionary("fr-en")
        if name == "rest":
            (place / f".{item.name}.part").write_bytes(pairs[:4])
            (place / f".{item.name}.part.json").write_text(
                f'{{"url": "URL/{item.path}", "validator": "\\"a\\""}}'
            )


def _fetch(folder: Path) -> Iterator[Any]:
    content = folder / ANSWER
    answer = content.read_bytes() if content.exists() else b""
    item = vectors("fr") if b"Last-Modified" in answer else dictionary("fr-en")
    with _answering(answer) as url:
        for note in (folder / PLACE).glob(".*.json"):
            note.write_bytes(note.read_bytes().replace(b"URL", url.encode()))
        config = FetchConfig(folder / PLACE, url, retries=_AT_ONCE)
        try:
            yield float(fetch(item, config, Progress(quiet=True)).bytes)
        except MuseError:
            assert not (folder / PLACE / item.name).exists(), "a file that is refused has its name"
            raise


TARGETS = (Target("fetch", _answers, _fetch),)
