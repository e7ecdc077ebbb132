"""Requests to an ASGI application inside this process, one after the other."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx


class Client:
    """Asks an application without a network; an exception of its own is an answer of status 500."""

    def __init__(self, app: Any, home: str = "http://127.0.0.1:8765") -> None:
        self._app, self._home = app, home

    def get(self, path: str, **options: Any) -> httpx.Response:
        """The answer to a GET; `options` as httpx has them: params, headers."""
        return asyncio.run(self._get(path, options))

    async def _get(self, path: str, options: dict[str, Any]) -> httpx.Response:
        transport = httpx.ASGITransport(self._app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=self._home) as client:
            return await client.get(path, **options)
