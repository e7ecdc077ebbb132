"""Limits: few requests are worked on at once; what takes no work never waits for them."""

import asyncio
import threading
from typing import Any

import pytest

from muse.errors import BadSetting

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

from muse.web.app import create_app  # noqa: E402
from muse.web.explorer import Explorer  # noqa: E402
from muse.web.routes import AT_ONCE  # noqa: E402
from tests.support.asgi import connected  # noqa: E402
from tests.web.test_api import small_space  # noqa: E402

PATIENCE = 60  # seconds
LONG = "roi dort " * 200  # characters: as long a sentence as may be asked, nearly


@pytest.mark.slow
def test_health_and_page_wait_for_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    explorer, done, inside = Explorer(small_space(), "fr-en"), threading.Event(), list[int]()

    def sentence(*_: object) -> None:
        inside.append(1)
        assert done.wait(PATIENCE)
        raise BadSetting("the sentence was asked for in vain")

    monkeypatch.setattr(explorer, "sentence", sentence)
    app = create_app(explorer)

    async def ask() -> tuple[list[Any], list[Any]]:
        async with connected(app) as client:
            waiting = [
                asyncio.create_task(client.get("/api/sentence", params={"text": LONG})) for _ in range(60)
            ]
            while len(inside) < AT_ONCE:
                await asyncio.sleep(0.01)
            try:
                quick = [
                    await asyncio.wait_for(client.get(path), PATIENCE / 2)
                    for path in ("/healthz", "/", "/page/explorer.js")
                ]
                assert len(inside) == AT_ONCE
            finally:
                done.set()
            return quick, await asyncio.gather(*waiting)

    quick, slow = asyncio.run(ask())
    assert [answer.status_code for answer in quick] == [200] * 3
    assert [answer.status_code for answer in slow] == [422] * 60
    assert len(inside) == 60
