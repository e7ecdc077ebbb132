"""Requests to an ASGI application inside this process, one after the other."""

import asyncio
from typing import Any

import httpx

HOME = "http://127.0.0.1:8765"


def connected(app: Any, home: str = HOME) -> httpx.AsyncClient:
    """A client without a network; an exception of the application's own is an answer of status 500."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url=home)


class Client:
    """Asks an application, as `connected` does."""

    def __init__(self, app: Any, home: str = HOME) -> None:
        self._app, self._home = app, home

    def get(self, path: str, **options: Any) -> httpx.Response:
        """The answer to a GET; `options` as httpx has them: params, headers."""
        return self.request("GET", path, **options)

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """The answer to a request by this method."""
        return asyncio.run(self._request(method, path, options))

    async def _request(self, method: str, path: str, options: dict[str, Any]) -> httpx.Response:
        async with connected(self._app, self._home) as client:
            return await client.request(method, path, **options)
