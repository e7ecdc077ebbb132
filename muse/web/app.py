"""App: the API and the page as one ASGI application, which serves no other files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles

from muse.errors import MissingExtra, MuseError
from muse.version import __version__
from muse.web.answers import Problem
from muse.web.explorer import Explorer, Unknown
from muse.web.limits import App, RateLimit, Receive, Scope, Send
from muse.web.routes import routes

PAGE = Path(__file__).parent / "page"
RATE, BURST = 100.0, 5_000.0  # requests a second, and at once: more than a person needs


def create_app(
    explorer: Explorer, *, rate: float = RATE, burst: float = BURST, hosts: Sequence[str] | None = None
) -> App:
    """The application; it answers only requests to `hosts`, if these are given.

    A page of another site could reach this server under a host name that it points to this machine (DNS
    rebinding); the Host header reveals that.
    """
    # No documentation pages: FastAPI's load their scripts from a CDN.
    app = FastAPI(title="muse", version=__version__, docs_url=None, redoc_url=None)
    app.include_router(routes(explorer))
    app.add_exception_handler(MuseError, _muse_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.mount("/page", StaticFiles(directory=PAGE))

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(PAGE / "index.html")

    return RateLimit(app if hosts is None else KnownHosts(app, hosts), rate, burst)


class KnownHosts:
    """An ASGI app that wraps another and rejects requests to other hosts."""

    def __init__(self, app: App, hosts: Sequence[str]) -> None:
        self.app, self.hosts = app, frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http" and self._host(scope) not in self.hosts:
            response = JSONResponse({"error": "unknown host", "suggestions": []}, 421)
            await response(scope, receive, send)
            return
        await self.app(scope, receive, send)

    @staticmethod
    def _host(scope: Scope) -> str:
        host = dict(scope["headers"]).get(b"host", b"").decode("latin-1").lower()
        return str(host.rsplit(":", 1)[0] if host.rpartition(":")[2].isdigit() else host)


async def _muse_error(request: Request, error: Exception) -> JSONResponse:
    status = 404 if isinstance(error, Unknown) else 503 if isinstance(error, MissingExtra) else 422
    problem = Problem(error=str(error))
    if isinstance(error, Unknown):
        problem = Problem(error=str(error), suggestions=error.suggestions, languages=error.languages)
    return JSONResponse(problem.model_dump(), status)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    # Without the input, which need not be repeated.
    found = error.errors() if isinstance(error, RequestValidationError) else []
    text = "; ".join(f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}" for one in found)
    return JSONResponse(Problem(error=text).model_dump(), 422)
