"""Requests of every kind: HEAD is as GET, errors are Problems, pages of other sites are refused."""

from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

from muse.web.app import create_app  # noqa: E402
from muse.web.explorer import Explorer  # noqa: E402
from muse.web.server import known_hosts  # noqa: E402
from tests.support.asgi import HOME, Client  # noqa: E402
from tests.web.test_api import rated_space  # noqa: E402


@pytest.fixture(scope="module")
def explorer() -> Explorer:
    return Explorer(rated_space(), "fr-en")


@pytest.fixture(scope="module")
def client(explorer: Explorer) -> Client:
    return Client(create_app(explorer, hosts=("127.0.0.1",)))


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
    names = ("content-type", "content-length")
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
        ("GET", "/terms", {}, 404),
        ("DELETE", "/api/translate?word=roi", {}, 405),
        ("PUT", "/page/explorer.js", {"content": b"x"}, 405),
        ("OPTIONS", "/", {}, 405),
        ("GET", "/api/translate?word=roi", {"headers": {"sec-fetch-site": "cross-site"}}, 403),
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


def test_an_error_of_its_own_is_a_problem_too(
    client: Client, explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explorer, "suggestions", lambda *_: 1 / 0)
    answer = client.get("/api/suggest", params={"prefix": "a"})
    assert answer.status_code == 500
    assert set(answer.json()) == {"error", "suggestions", "languages"}


@pytest.mark.parametrize(
    ("site", "status"),
    [
        (None, 200), ("none", 200), ("same-origin", 200), ("same-site", 403), ("cross-site", 403),
        ("Cross-Site", 403), ("none, cross-site", 403), ("none,SAME-SITE ", 403),
    ],
)  # fmt: skip
def test_a_page_of_another_site_causes_no_work(
    client: Client, explorer: Explorer, monkeypatch: pytest.MonkeyPatch, site: str | None, status: int
) -> None:
    asked, sentence = list[str](), explorer.sentence

    def note(direction: tuple[str, str], text: str) -> Any:
        asked.append(text)
        return sentence(direction, text)

    monkeypatch.setattr(explorer, "sentence", note)
    headers = {} if site is None else {"sec-fetch-site": site}
    answer = client.get("/api/sentence", params={"text": "roi dort"}, headers=headers)
    assert answer.status_code == status
    assert bool(asked) == (status == 200)
    assert "access-control-allow-origin" not in answer.headers
    # A link of another site to the page itself is followed.
    assert client.get("/", headers=headers).status_code == 200


@pytest.mark.parametrize("name", ["sec-fetch-site", "origin"])
def test_the_second_of_two_headers_counts_as_well(client: Client, name: str) -> None:
    values = {"sec-fetch-site": ("none", "cross-site"), "origin": (HOME, "http://evil.example")}
    first, second = values[name]
    assert client.get("/api/spaces", headers=[(name, first)]).status_code == 200
    for order in ((first, second), (second, first)):
        headers = [(name, one) for one in order]
        assert client.get("/api/spaces", headers=headers).status_code == 403


def test_a_host_that_is_unknown_causes_no_work(client: Client) -> None:
    answer = client.get("/api/translate?word=roi", headers={"host": "evil.example"})
    assert (answer.status_code, answer.text) == (400, "Invalid host header")


def test_a_local_server_is_known_by_all_its_names() -> None:
    app = create_app(Explorer(rated_space(), "fr-en"), hosts=known_hosts("127.0.0.1"))
    hosts = ("127.0.0.1", "127.0.0.1:8765", "localhost:8765", "LOCALHOST", "[::1]:8765", "[::1]")
    answers = [Client(app).get("/healthz", headers={"host": host}) for host in hosts]
    assert [answer.status_code for answer in answers] == [200] * len(hosts)
    assert known_hosts("192.168.1.5") is None


def test_a_body_is_ignored(client: Client) -> None:
    assert client.request("GET", "/healthz", content=b"x" * 100_000).json()["status"] == "ok"
