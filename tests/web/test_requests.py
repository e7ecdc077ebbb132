"""Requests of every kind: HEAD is answered as GET is, and every error is a Problem."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

from muse.web import Explorer  # noqa: E402
from muse.web.app import create_app  # noqa: E402
from muse.web.guards import LARGEST_BODY  # noqa: E402
from tests.support.asgi import Client  # noqa: E402
from tests.web.test_api import rated_space  # noqa: E402

LARGE = b"x" * (LARGEST_BODY + 1)


@pytest.fixture(scope="module")
def explorer() -> Explorer:
    return Explorer(rated_space(), "fr-en")


@pytest.fixture(scope="module")
def client(explorer: Explorer) -> Client:
    return Client(create_app(explorer, burst=1e6, hosts=("127.0.0.1",)))


@pytest.mark.parametrize(
    "path",
    [
        "/", "/healthz", "/page/explorer.js", "/openapi.json", "/api/spaces", "/api/translate?word=roi",
        "/api/translate?word=nosuch", "/api/translate", "/nosuch",
    ],
)  # fmt: skip
def test_head_is_get_without_the_body(client: Client, path: str) -> None:
    got, head = client.get(path), client.request("HEAD", path)
    assert (head.status_code, head.content) == (got.status_code, b"")
    assert got.content
    names = ("content-type", "content-length", "content-security-policy")
    assert [head.headers[name] for name in names] == [got.headers[name] for name in names]


@pytest.mark.parametrize(
    ("method", "path", "options", "status"),
    [
        ("GET", "/nosuch", {}, 404),
        ("GET", "/api/nosuch", {}, 404),
        ("GET", "/page/nosuch.js", {}, 404),
        ("GET", "/page/", {}, 404),
        ("GET", "/api/translate?word=nosuch", {}, 404),
        ("POST", "/healthz", {}, 405),
        ("DELETE", "/api/translate?word=roi", {}, 405),
        ("PUT", "/page/explorer.js", {"content": b"x"}, 405),
        ("OPTIONS", "/", {}, 405),
        ("POST", "/healthz", {"content": LARGE}, 413),
        ("GET", "/healthz", {"content": LARGE}, 413),
        ("GET", "/healthz", {"headers": {"transfer-encoding": "chunked"}}, 413),
        ("GET", "/healthz", {"headers": {"host": "evil.example"}}, 421),
        ("GET", "/api/translate", {}, 422),
        ("GET", "/api/translate?word=roi&top=0", {}, 422),
        ("GET", "/api/translate?word=roi&src=de", {}, 422),
    ],
)
def test_every_error_has_the_shape_of_a_problem(
    client: Client, method: str, path: str, options: dict[str, Any], status: int
) -> None:
    answer = client.request(method, path, **options)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json")
    assert set(answer.json()) == {"error", "suggestions", "languages"}
    assert answer.json()["error"]
    assert answer.headers.get("allow") == ("GET, HEAD" if status == 405 else None)
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_an_error_of_its_own_is_a_problem_too(
    client: Client, explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explorer, "suggestions", lambda *_: 1 / 0)
    answer = client.get("/api/suggest", params={"prefix": "a"})
    assert answer.status_code == 500
    assert set(answer.json()) == {"error", "suggestions", "languages"}


def test_a_body_that_is_small_is_ignored(client: Client) -> None:
    assert client.request("GET", "/healthz", content=b"x" * LARGEST_BODY).json()["status"] == "ok"


@pytest.mark.parametrize("wanted", ["bytes=0-5", "bytes=99999999-", "nonsense"])
def test_a_range_is_ignored(client: Client, wanted: str) -> None:
    answer = client.get("/page/explorer.js", headers={"range": wanted})
    assert answer.status_code == 200
    assert answer.content == client.get("/page/explorer.js").content
