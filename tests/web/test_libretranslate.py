"""The interface of LibreTranslate, asked by its own client and by requests as its other clients send them."""

import threading
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError

import pytest

for _package in ("fastapi", "uvicorn", "httpx", "sklearn"):
    pytest.importorskip(_package)

from muse.lexicon import Lexicon  # noqa: E402
from muse.web.app import create_app, make_server, serve  # noqa: E402
from muse.web.explorer import Explorer  # noqa: E402
from muse.web.routes import TEXT, TOP  # noqa: E402
from muse.web.server import bind, url  # noqa: E402
from tests.support.asgi import Client  # noqa: E402
from tests.web.test_api import rated_space  # noqa: E402

WAY = {"source": "fr", "target": "en"}


@pytest.fixture(scope="module")
def app() -> Any:
    return create_app(Explorer(rated_space(), "fr-en"), hosts=("127.0.0.1",), api="libretranslate")


@pytest.fixture(scope="module")
def client(app: Any) -> Client:
    return Client(app)


@pytest.fixture(scope="module")
def home(app: Any) -> Iterator[str]:
    server = make_server(app)
    with bind() as listening:
        thread = threading.Thread(target=serve, args=(server, listening), daemon=True)
        thread.start()
        yield url(listening)
        server.should_exit = True
        thread.join()


def translated(client: Client, **given: Any) -> Any:
    answer = client.request("POST", "/translate", json={**WAY, **given})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_its_own_client(home: str) -> None:
    api = pytest.importorskip("libretranslatepy").LibreTranslateAPI(home)
    assert api.translate("Roi dort.", "fr", "en") == "King sleeps."
    assert api.translate("king sleeps", "auto", "fr") == "roi dort"
    assert {one["code"]: (one["name"], one["targets"]) for one in api.languages()} == {
        "fr": ("French", ["en"]),
        "en": ("English", ["fr"]),
    }
    first, second = api.detect("The king sleeps")
    assert (first["language"], second["language"]) == ("en", "fr")
    assert 50 < first["confidence"] <= 100
    with pytest.raises(HTTPError, match="400"):
        api.translate("roi", "fr", "xx")


def test_the_languages_of_several_texts_are_those_of_their_mean(client: Client) -> None:
    texts = ["The king sleeps", "roi dort", "roi"]
    every = [client.request("POST", "/detect", json={"q": text}).json() for text in texts]
    shares = [{one["language"]: one["confidence"] for one in found} for found in every]
    expected = {name: round(sum(one[name] for one in shares) / 3) for name in ("fr", "en")}
    first, second = client.request("POST", "/detect", json={"q": texts}).json()
    assert first == {"confidence": expected["fr"], "language": "fr"}
    assert second == {"confidence": expected["en"], "language": "en"}


def test_json_form_and_query_are_read_alike(client: Client) -> None:
    given = {"q": "roi dort", **WAY}
    asked: list[dict[str, Any]] = [{"json": given}, {"data": given}, {"params": given}]
    for options in asked:
        assert client.request("POST", "/translate", **options).json() == {"translatedText": "king sleeps"}


def test_lists_lines_tags_and_languages_found(client: Client) -> None:
    found = translated(client, q=["roi", "dort\n\nroi !"], source="auto")
    assert found["translatedText"] == ["king", "sleeps\n\nking!"]
    assert [one["language"] for one in found["detectedLanguage"]] == ["fr", "fr"]
    page = '<p class="roi">Roi <b>dort</b></p>\n<br>'
    assert translated(client, q=page, format="html")["translatedText"] == (
        '<p class="roi">King <b>sleeps</b></p>\n<br>'
    )
    assert translated(client, q="roi", target="fr", format=None) == {"translatedText": "roi"}
    assert translated(client, q="123", source="auto")["detectedLanguage"]["confidence"] == 0


def test_alternatives_change_one_word_each(client: Client) -> None:
    found = translated(client, q="roi dort", alternatives=3)
    assert len({found["translatedText"], *found["alternatives"]}) == 4
    for text in found["alternatives"]:
        same = [one == other for one, other in zip(text.split(), ("king", "sleeps"), strict=True)]
        assert same.count(False) == 1
    assert len(translated(client, q=["roi", "dort"], alternatives=2)["alternatives"][1]) == 2


def test_own_translations_win_in_both_directions() -> None:
    terms = Lexicon((("roi", "monarch"), ("dort", "sleeps")))
    explorer = Explorer(rated_space(), "fr-en", own_translations=lambda way: terms)
    client = Client(create_app(explorer, api="libretranslate"))
    assert translated(client, q="roi dort")["translatedText"] == "monarch sleeps"
    assert translated(client, q="monarch", source="en", target="fr")["translatedText"] == "roi"


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"q": ""}, "q"),
        ({"q": ["roi", 1]}, "q"),
        ({"source": None}, "source"),
        ({"target": "xx"}, "xx"),
        ({"format": "pdf"}, "pdf"),
        ({"alternatives": "many"}, "alternatives"),
        ({"q": "r" * (TEXT + 1)}, str(TEXT)),
        ({"q": ["roi"] * (TOP + 1)}, str(TOP)),
    ],
)
def test_errors_name_what_is_wrong(client: Client, given: dict[str, Any], named: str) -> None:
    answer = client.request("POST", "/translate", json={"q": "roi", **WAY, **given})
    assert (answer.status_code, named in answer.json()["error"]) == (400, True), answer.text


def test_what_is_no_request_is_refused(client: Client) -> None:
    json = {"content-type": "application/json"}
    way = b'"source": "fr", "target": "en"'
    endless, half = b'{"q": "roi", "alternatives": Infinity, %b}' % way, b'{"q": "roi \\ud800", %b}' % way
    for body, status in (
        *((one, 400) for one in (b"[1]", b"{", b"[" * 100_000, endless, half)), (b"x" * 2_000_000, 413),
    ):  # fmt: skip
        answer = client.request("POST", "/translate", content=body, headers=json)
        assert (answer.status_code, bool(answer.json()["error"])) == (status, True)
    other = client.request("POST", "/detect", json={"q": "roi"}, headers={"origin": "https://example.org"})
    assert other.status_code == 403
    assert client.get("/translate").status_code == 405


def test_what_clients_ask_first(client: Client) -> None:
    assert client.get("/health").json() == {"status": "ok"}
    assert client.get("/frontend/settings").json()["charLimit"] == TEXT
    assert Client(create_app(Explorer(rated_space(), "fr-en"))).get("/languages").status_code == 404
