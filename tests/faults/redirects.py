"""Redirects: chains of addresses drawn at random; nothing is asked of one that is not allowed."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any
from unittest import mock

import requests
import urllib3

from muse.errors import BadFile
from muse.fetch.download import REDIRECTS, PartialFile, RetryPolicy, download
from tests.faults.kills import Report

PLACES = (
    "https://a.invalid/{n}", "https://b.invalid:444/{n}?x=1", "//c.invalid/{n}", "/{n}", "{n}#part",
    "http://a.invalid/{n}", "http://127.0.0.1/{n}", "file:///etc/passwd", "ftp://a.invalid/{n}",
    "data:text/plain,x", "https://[::1/{n}", "HTTP://A.invalid/{n}", "ht\ttp://a.invalid/{n}",
)  # fmt: skip
BODY = b"the file"


def follow_redirects(count: int, folder: Path, drawn: random.Random) -> Report:
    """So many chains of redirects, from a server with encryption or without."""
    report = Report()
    for number in range(count):
        start = drawn.choice(("https://start.invalid/file", "http://start.invalid/file"))
        chain = [drawn.choice(PLACES).format(n=number) for _ in range(drawn.randint(0, REDIRECTS + 2))]
        asked, kept = _followed(start, chain, folder / f"{number}.part")
        encrypted = False
        for address in asked:
            plain = not address.startswith("https://")
            if (encrypted and plain) or not address.startswith(("https://", "http://")):
                report.wrong.append(f"{start} -> {chain}: asked {address}")
            encrypted = encrypted or not plain
        if kept and len(asked) != len(chain) + 1:
            report.wrong.append(f"{start} -> {chain}: kept a file of {asked}")
        report.counts["kept" if kept else "refused"] += 1
    return report


def _followed(start: str, chain: list[str], path: Path) -> tuple[list[str], bool]:
    """The addresses that were asked, and whether a file was kept."""
    asked: list[str] = []

    def send(_: Any, request: requests.PreparedRequest, **__: Any) -> requests.Response:
        place = len(asked)
        asked.append(str(request.url))
        ended = place >= len(chain)
        headers = {"Content-Length": str(len(BODY))} if ended else {"Location": chain[place]}
        response = requests.Response()
        response.status_code, response.url, response.request = 200 if ended else 302, asked[-1], request
        response.headers.update(headers)
        response.raw = urllib3.HTTPResponse(io.BytesIO(BODY if ended else b""), preload_content=False)
        return response

    part = PartialFile(path)
    with mock.patch.object(requests.adapters.HTTPAdapter, "send", send):
        try:
            download(start, part, RetryPolicy(tries=1), lambda *_: None)
        except BadFile:
            part.remove()
            return asked, False
    kept = path.read_bytes() == BODY
    part.remove()
    return asked, kept
