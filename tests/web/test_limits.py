"""Limits: a client's rate, and the work that waits; what takes no work never waits for it."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from muse.errors import BadSetting
from muse.web.guards import EACH, MOST_WORK, Bucket, WorkLimit

pytest.importorskip("fastapi")
httpx = pytest.importorskip("httpx")

from muse.web import Explorer  # noqa: E402
from muse.web.app import create_app  # noqa: E402
from muse.web.guards import Receive, Scope, Send  # noqa: E402
from tests.support.asgi import Client, connected  # noqa: E402
from tests.web.test_api import small_space  # noqa: E402

PATIENCE = 60  # seconds
LONG = "roi dort " * 200  # characters: as long a sentence as may be asked, nearly


def test_a_bucket_fills_again() -> None:
    bucket = Bucket(rate=2, burst=3)
    assert [bucket.take(10.0) for _ in range(4)] == [True, True, True, False]
    assert bucket.take(10.5)
    assert not bucket.take(10.5)
    assert [bucket.take(1_000.0) for _ in range(4)] == [True, True, True, False]


def test_who_asks_too_often_is_told_so() -> None:
    client = Client(create_app(Explorer(small_space(), "fr-en"), rate=0.001, burst=5))
    answers = [client.get("/healthz") for _ in range(7)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 2
    assert answers[-1].json()["error"]
    assert answers[-1].headers["retry-after"] == "1"


class Gate:
    """An application that answers once the gate is open; it counts whom it lets wait at once."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.inside = self.most = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.inside += 1
        self.most = max(self.most, self.inside)
        await self.open.wait()
        self.inside -= 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def codes(texts: list[str], path: str = "/api/sentence") -> tuple[list[int], WorkLimit, Gate]:
    """The statuses of requests of which each begins after the one before, and none ends before all began."""
    gate = Gate()
    limit = WorkLimit(gate)

    async def ask() -> list[int]:
        async with connected(limit) as client:
            asked = []
            for text in texts:
                asked.append(asyncio.create_task(client.get(path, params={"text": text})))
                for _ in range(20):  # until it waits
                    await asyncio.sleep(0)
            gate.open.set()
            return [answer.status_code for answer in await asyncio.gather(*asked)]

    return asyncio.run(ask()), limit, gate


def test_long_requests_fill_the_queue_sooner_than_short_ones() -> None:
    for length in (1, 400, 1_900):
        text = "a" * length
        fit = MOST_WORK // (EACH + len("text=") + length)
        found, limit, gate = codes([text] * (fit + 3))
        assert found == [200] * fit + [503] * 3
        assert limit.waiting == 0
        assert gate.most <= 4


def test_letters_beyond_ascii_count_as_one() -> None:
    found, _, _ = codes(["é" * 1_900] * 5)
    assert found == [200] * 4 + [503]


def test_whatever_is_asked_alone_is_answered() -> None:
    assert codes(["a" * (2 * MOST_WORK)])[0] == [200]
    assert codes(["a" * (2 * MOST_WORK), "a"])[0] == [200, 503]


def test_what_takes_no_work_is_not_limited() -> None:
    found, _, gate = codes(["a" * 1_900] * 30, "/page/explorer.js")
    assert (found, gate.most) == ([200] * 30, 30)


def test_a_request_that_fails_no_longer_counts() -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        raise OSError

    limit = WorkLimit(broken)
    assert Client(limit).get("/api/sentence", params={"text": "a"}).status_code == 500
    assert limit.waiting == 0


def test_health_and_page_wait_for_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    explorer, done = Explorer(small_space(), "fr-en"), threading.Event()

    def sentence(*_: object) -> None:
        assert done.wait(PATIENCE)
        raise BadSetting("the sentence was asked for in vain")

    monkeypatch.setattr(explorer, "sentence", sentence)
    app = create_app(explorer)

    async def ask() -> tuple[list[Any], list[Any]]:
        async with connected(app) as client:
            waiting = [
                asyncio.create_task(client.get("/api/sentence", params={"text": LONG})) for _ in range(60)
            ]
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            try:
                quick = [
                    await asyncio.wait_for(client.get(path), PATIENCE / 2)
                    for path in ("/healthz", "/", "/page/explorer.js")
                ]
            finally:
                done.set()
            return quick, await asyncio.gather(*waiting)

    quick, slow = asyncio.run(ask())
    assert [answer.status_code for answer in quick] == [200] * 3
    statuses = [answer.status_code for answer in slow]
    assert set(statuses) == {422, 503}
    assert statuses.count(422) == MOST_WORK // (EACH + len("text=") + len(LONG))
    refused = slow[statuses.index(503)]
    assert refused.headers["retry-after"] == "1"
    assert set(refused.json()) == {"error", "suggestions", "languages"}
