"""App: the API and the page as one ASGI application, which serves no other files, and uvicorn, which runs it.

The explorer is for this machine. What it guards against is a page of another site, open in the same browser:
it may reach the server under a name that leads to this machine (DNS rebinding: unknown hosts are refused, by
Starlette), send requests whose answers it cannot read, only to keep the processor busy (refused, below), or
show the explorer as a part of itself (see HEADERS). Limits of the connections and the requests at once are
uvicorn's.
"""

import asyncio
import gc
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import h11
import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from muse.errors import MissingExtra, MuseError
from muse.installation import __version__
from muse.optional import has
from muse.web import libretranslate
from muse.web.explorer import Explorer, Unknown
from muse.web.responses import Problem
from muse.web.routes import AT_ONCE as AT_WORK
from muse.web.routes import router

PAGE = Path(__file__).parent / "page"
PALETTE = PAGE.parents[1] / "palette.css"  # of all other pages too
LARGEST_HEAD = 32 * 1024  # bytes of a request's line and headers
AT_ONCE = 100  # connections and requests: more than the browsers of a person open
# No resources or scripts from other sites, no inline scripts, no framing.
HEADERS = [
    ("content-security-policy", "default-src 'self'; base-uri 'none'; form-action 'none'; "
     "frame-ancestors 'none'; object-src 'none'"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-cache"),
]  # fmt: skip
NOT_SERVED = {
    404: "there is nothing at this address; the API is described at /openapi.json",
    405: "the method must be {}",
}
STATUS = {Unknown: 404, MissingExtra: 503}  # of errors; of all others 422


def create_app(explorer: Explorer, *, hosts: Sequence[str] | None = None, api: str | None = None) -> FastAPI:
    """The application; it answers only requests to `hosts`, if these are given.

    With `api`, libretranslate, it answers that interface too.
    """
    # No documentation pages: FastAPI's load their scripts from a CDN.
    app = FastAPI(title="muse", version=__version__, docs_url=None, redoc_url=None)
    app.state.explorer, app.state.turn = explorer, asyncio.Semaphore(AT_WORK)
    app.include_router(router)
    if api is not None:
        app.include_router(libretranslate.router)
    for kind in (MuseError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, _problem)

    @app.get("/page/palette.css", include_in_schema=False)
    def palette() -> FileResponse:
        return FileResponse(PALETTE)

    for package in filter(has, ("links", "terms")):
        app.mount(f"/page/{package}", StaticFiles(directory=PAGE.parents[1] / package / "templates"))
    app.mount("/page", StaticFiles(directory=PAGE))

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(PAGE / "index.html")

    app.add_middleware(HeadAsGet)
    if hosts is not None:
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    return app


class HeadAsGet:
    """An ASGI app that wraps another: HEAD is answered wherever GET is, which FastAPI does not do itself."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; the server leaves out the body."""
        if scope["type"] == "http" and scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}
        await self.app(scope, receive, send)


async def _problem(request: Request, error: Exception) -> JSONResponse:
    """The answer to a request that failed, without its input, which need not be repeated."""
    status, more, headers = 500, {}, None
    text = "an error of the explorer; the terminal of muse serve says more"
    if isinstance(error, MuseError):
        status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 422)
        text = str(error)
        if isinstance(error, Unknown):
            more = {"suggestions": error.suggestions, "languages": error.languages}
    elif isinstance(error, RequestValidationError):
        status = 422
        text = "; ".join(f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}" for one in error.errors())
    elif isinstance(error, HTTPException):
        allowed = "POST" if (error.headers or {}).get("Allow") == "POST" else "GET, HEAD"
        status = error.status_code
        text = NOT_SERVED.get(status, error.detail).replace("{}", allowed.replace(", ", " or "))
        headers = {"allow": allowed} if status == 405 else None
    return JSONResponse(Problem(error=text, **more).model_dump(), status, headers)


class Connection(H11Protocol):
    """A connection that is closed in silence where something else than HTTP follows an answer that has begun.

    uvicorn answers it all the same, and then logs the traceback of its own error.
    """

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP, if no answer has begun, and close."""
        if self.cycle is not None:
            self.cycle.disconnected = True  # what the application answers later must not be sent
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()


def make_server(app: ASGIApp) -> uvicorn.Server:
    """The server of an application; it logs errors alone, and adds HEADERS to every answer."""
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        log_level="error",
        access_log=False,
        server_header=False,
        headers=HEADERS,
        limit_concurrency=AT_ONCE,
        h11_max_incomplete_event_size=LARGEST_HEAD,
    )
    return uvicorn.Server(config)


@contextmanager
def ended_by_signals(server: uvicorn.Server) -> Iterator[uvicorn.Server]:
    """A block in which Ctrl-C and SIGTERM end the server, also one that has yet to begin.

    An exception that they raised could be lost in what the server or a library is just doing.
    """
    # No other thread may.
    numbers = [signal.SIGINT, signal.SIGTERM] * (threading.current_thread() is threading.main_thread())
    before = {
        number: signal.signal(number, lambda *_: setattr(server, "should_exit", True)) for number in numbers
    }
    try:
        yield server
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def serve(server: uvicorn.Server, listening: socket.socket) -> None:
    """Answer requests until the server is ended."""
    # Looking through all that is loaded would stop every thread for a tenth of a second, again and again.
    gc.collect()
    gc.freeze()
    server.run(sockets=[listening])
