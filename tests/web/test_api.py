"""The API of muse serve: its answers are those of the library, and no question gets a 5xx or a file."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muse.ranking.probability import find_calibration
from muse.ranking.ranker import translate_words
from muse.space import Space
from tests.support.spaces import plain_space

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
pytest.importorskip("sklearn")

from muse.web.app import PAGE, create_app  # noqa: E402
from muse.web.explorer import Explorer  # noqa: E402
from tests.support.asgi import Client  # noqa: E402

SCRIPT = "<script>alert(1)</script>"
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def small_space() -> Space:
    """Row i of one language translates row i of the other; the first word is hostile."""
    rows = np.random.default_rng(0).normal(size=(60, 12)).astype(np.float32)
    noise = np.random.default_rng(1).normal(0, 0.02, rows.shape).astype(np.float32)
    words = [SCRIPT, "roi", "dort", *(f"mot{LETTERS[i // 26]}{LETTERS[i % 26]}" for i in range(57))]
    others = [SCRIPT, "king", "sleeps", *(f"word{LETTERS[i // 26]}{LETTERS[i % 26]}" for i in range(57))]
    return plain_space(rows, rows + noise, words, others)


def rated_space() -> Space:
    """The same, whose probabilities are known already."""
    space = small_space()
    for direction in (("fr", "en"), ("en", "fr")):
        assert find_calibration(space, *direction) is not None
    return space


@pytest.fixture(scope="module")
def space() -> Space:
    return rated_space()


@pytest.fixture(scope="module")
def client(space: Space) -> Client:
    return Client(create_app(Explorer(space, "fr-en"), hosts=("127.0.0.1",)))


def asked(client: Client, path: str, **parameters: Any) -> Any:
    answer = client.get(path, params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_translations_are_those_of_the_library(client: Client, space: Space) -> None:
    found = asked(client, "/api/translate", src="fr", tgt="en", word="roi", top=5)
    (expected,) = translate_words(space, ["roi"], top=5)
    assert [one["word"] for one in found["translations"]] == [word for word, _ in expected]
    scores = [one["score"] for one in found["translations"]]
    assert scores == pytest.approx([score for _, score in expected], abs=1e-4)
    assert (found["source"], found["target"], found["retrieval"]) == ("fr", "en", "csls:10")


def test_answers_have_their_probability_and_are_looked_up_as_people_type(
    client: Client, space: Space
) -> None:
    found = asked(client, "/api/translate", word="ROI", top=3)
    (expected,) = translate_words(space, ["ROI"], top=3)
    assert (found["word"], found["form"], found["grade"]) == ("ROI", "roi", "trusted")
    assert [(one["word"], one["mutual"], one["grade"]) for one in found["translations"]] == [
        (one.target, one.mutual, one.grade) for one in expected
    ]
    probabilities = [one["probability"] for one in found["translations"]]
    assert probabilities == pytest.approx([one.probability for one in expected], abs=1e-4)


def test_the_words_of_two_sentences_are_linked_and_both_are_given_back(client: Client) -> None:
    texts = {"source": "Roi, dort !", "target": "(king) sleeps."}
    found = asked(client, "/api/link", **texts)
    for side, text in texts.items():
        assert (
            "".join(one["before"] + one["word"] for one in found[side]["words"]) + found[side]["after"]
            == text
        )
    one, two = ([word["word"] for word in found[side]["words"]] for side in texts)
    linked = {(one[link["source"]], two[link["target"]]) for link in found["links"]}
    assert linked >= {("Roi", "king"), ("dort", "sleeps")}
    assert all(0 <= link["probability"] <= 1 for link in found["links"])


def test_an_answer_is_unrated_until_the_probabilities_are_known() -> None:
    own = Client(create_app(Explorer(small_space(), "fr-en")))
    first = asked(own, "/api/translate", word="roi")
    assert {(one["probability"], one["grade"]) for one in first["translations"]} == {(None, None)}
    assert first["grade"] is None
    assert until(lambda: asked(own, "/api/translate", word="roi")["grade"]) == "trusted"


def test_a_large_space_answers_by_plain_neighbours_until_its_hubness_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("muse.web.explorer.AT_ONCE", 0)
    own = Client(create_app(Explorer(small_space(), "fr-en")))
    assert asked(own, "/api/translate", word="roi")["retrieval"] == "nn"
    until(lambda: asked(own, "/api/translate", word="roi")["retrieval"] == "csls:10")


def test_what_csls_chose_has_no_other_reasons(client: Client) -> None:
    assert asked(client, "/api/reasons", word="ROI") is None


def test_a_direction_that_is_not_given_is_the_spaces(client: Client) -> None:
    assert asked(client, "/api/translate", word="roi")["translations"][0]["word"] == "king"
    assert asked(client, "/api/translate", src="en", word="king")["translations"][0]["word"] == "roi"


def test_the_language_may_be_called_lang_as_in_python(client: Client) -> None:
    assert asked(client, "/api/translate", lang="en", word="king")["source"] == "en"
    assert asked(client, "/api/neighbours", lang="en", word="king")["language"] == "en"
    both = client.get("/api/translate", params={"word": "roi", "src": "fr", "lang": "en"})
    assert both.status_code == 422
    assert "one parameter" in both.json()["error"]


def test_neighbours_of_both_languages(client: Client, space: Space) -> None:
    own, other = asked(client, "/api/neighbours", word="roi", top=4)["neighbours"]
    x, y = np.asarray(space.vectors("fr").matrix), np.asarray(space.vectors("en").matrix)
    near = [i for i in np.argsort(-(x @ x[1]), kind="stable").tolist() if i != 1][:4]
    assert [one["word"] for one in own["words"]] == [space.vectors("fr").words[i] for i in near]
    assert other["words"][0]["word"] == "king"
    assert other["words"][0]["score"] == pytest.approx(float(y[1] @ x[1]), abs=1e-4)
    assert asked(client, "/api/neighbours", word="Roi", top=4)["form"] == "roi"


def test_a_sentence_word_by_word(client: Client) -> None:
    found = asked(client, "/api/sentence", text="Roi  dort, Zzyx!")
    assert found["text"] == "King sleeps, Zzyx!"
    tokens = {one["token"]: [option["word"] for option in one["options"]] for one in found["tokens"]}
    assert list(tokens) == ["Roi", "dort", ",", "Zzyx", "!"]
    assert tokens["Roi"][0] == "King"
    assert tokens["dort"][0] == "sleeps"
    assert len(tokens["dort"]) > 2
    assert tokens[","] == tokens["Zzyx"] == tokens["!"] == []
    by_token = {one["token"]: one for one in found["tokens"]}
    assert [name for name, one in by_token.items() if one["kept"]] == [",", "Zzyx", "!"]
    assert by_token["Roi"]["form"] == "roi"
    assert by_token["Roi"]["options"][0]["grade"] == "trusted"
    assert by_token["Roi"]["options"][0]["mutual"]


def test_suggestions_by_frequency_whatever_capitals_and_accents(client: Client) -> None:
    found = asked(client, "/api/suggest", lang="fr", prefix="MOTA", top=3)
    assert found == {
        "language": "fr",
        "prefix": "MOTA",
        "words": [{"word": f"mota{letter}", "rank": 4 + i} for i, letter in enumerate("abc")],
    }
    assert asked(client, "/api/suggest", lang="fr", prefix="mötÀ", top=3)["words"] == found["words"]
    assert asked(client, "/api/suggest", lang="en", prefix="k")["words"] == [{"word": "king", "rank": 2}]
    assert asked(client, "/api/suggest", lang="fr", prefix="king")["words"] == []
    assert asked(client, "/api/suggest", lang="fr", prefix=" ")["words"] == []
    assert client.get("/api/suggest", params={"lang": "de", "prefix": "a"}).status_code == 422


def test_spaces_and_health(client: Client) -> None:
    (one,) = asked(client, "/api/spaces")["spaces"]
    assert [(language["name"], language["words"]) for language in one["languages"]] == [
        ("fr", 60),
        ("en", 60),
    ]
    assert one["pivot"] == "en"
    assert asked(client, "/healthz")["status"] == "ok"


def until(found: Callable[[], Any]) -> Any:
    """What `found` returns once that is something, such as the result of a thread."""
    for _ in range(600):
        if result := found():
            return result
        time.sleep(0.1)
    raise AssertionError("waited in vain")


def picture(client: Client, **direction: str) -> Any:
    until(lambda: asked(client, "/api/picture", **direction)["ready"])
    return asked(client, "/api/picture", **direction)


def test_the_picture_is_drawn_and_finds_words(client: Client) -> None:
    drawn = picture(client)
    points = drawn["points"]
    assert points
    for number, point in enumerate(points):
        other = points[point["pair"]]
        assert other["pair"] == number
        assert other["language"] != point["language"]
    known = next(point for point in points if point["word"] == "roi")
    place = asked(client, "/api/place", word="roi")
    assert (place["x"], place["y"], place["exact"]) == (known["x"], known["y"], True)
    assert not asked(client, "/api/place", word=SCRIPT)["exact"]
    assert asked(client, "/api/place", word="Roi")["form"] == "roi"


def test_a_known_answer_is_not_looked_up_again(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    picture(client)
    place = asked(client, "/api/place", word="roi")
    monkeypatch.setattr(Explorer, "translations", None)
    assert asked(client, "/api/place", word="roi", answer=place["answer"]["word"]) == place


def test_a_picture_without_words_is_empty_and_no_word_has_a_place_in_it() -> None:
    rows = np.eye(8, dtype=np.float32)
    short = plain_space(rows, rows, list("abcdefgh"), list("ABCDEFGH"))  # too short for a picture
    client = Client(create_app(Explorer(short, "fr-en")))
    assert picture(client)["points"] == []
    assert asked(client, "/api/place", word="a") is None


def test_the_picture_is_the_same_in_both_directions(client: Client) -> None:
    one, other = picture(client, src="fr", tgt="en"), picture(client, src="en", tgt="fr")
    assert (one["points"], one["regions"]) == (other["points"], other["regions"])
    king = next(i for i, point in enumerate(one["points"]) if point["word"] == "king")
    place = asked(client, "/api/place", src="en", word="king")
    assert place["exact"]
    assert (place["x"], place["y"]) == pytest.approx(
        (one["points"][king]["x"], one["points"][king]["y"]), abs=1e-4
    )
    assert place["near"] == []
    near = asked(client, "/api/place", src="en", word="king", own=["sleeps", SCRIPT], other="roi")["near"]
    found = [(one["word"], one["language"], one["exact"]) for one in near]
    assert found == [("sleeps", "en", True), (SCRIPT, "en", False), ("roi", "fr", True)]


def test_regions_are_named_by_words_of_the_picture(client: Client) -> None:
    drawn = picture(client)
    assert sum(region["pairs"] for region in drawn["regions"]) == len(drawn["points"]) // 2
    assert all(drawn["points"][region["name"]]["language"] == "fr" for region in drawn["regions"])


@pytest.mark.parametrize("path", ["/api/translate", "/api/reasons", "/api/neighbours", "/api/place"])
def test_an_unknown_word_gets_suggestions(client: Client, path: str) -> None:
    answer = client.get(path, params={"word": "roii"})
    assert answer.status_code == 404
    assert answer.json()["suggestions"] == ["roi"]
    assert answer.json()["languages"] == []


def test_a_word_of_the_other_language_is_said_to_be_one(client: Client) -> None:
    answer = client.get("/api/translate", params={"word": "King"})
    assert answer.status_code == 404
    assert answer.json()["languages"] == ["en"]


HOSTILE = [
    "\x00", "\x1b[31m", "../../etc/passwd", "a" * 201, "a" * 50_000,
    "\u202e", "%", "' OR 1=1 --", "{{7*7}}", "\r\nSet-Cookie: x=1", "🙂" * 60,
]  # fmt: skip


@pytest.mark.parametrize("word", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize(
    "path",
    ["/api/translate", "/api/reasons", "/api/neighbours", "/api/place", "/api/sentence", "/api/suggest"],
)
def test_hostile_words_are_only_unknown(client: Client, path: str, word: str) -> None:
    name = {"/api/sentence": "text", "/api/suggest": "prefix"}.get(path, "word")
    answer = client.get(path, params={name: word})
    assert answer.status_code in ((404, 422) if name == "word" else (200, 422))
    assert answer.headers["content-type"] == "application/json"
    assert "set-cookie" not in answer.headers
    assert len(answer.content) < 10_000


@pytest.mark.parametrize(
    "path",
    [
        "/page/../app.py", "/page/..%2f..%2fapp.py", "/page/%2e%2e/app.py", "/page//etc/passwd",
        "/../setup.cfg",
        "/page/..\\app.py", "/docs", "/redoc", "/page/", "/page/nosuch.js", "/page/index.html%00.css",
    ],
)  # fmt: skip
def test_no_file_but_those_of_the_page(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code in (400, 404, 405)
    assert "def create_app" not in answer.text


@pytest.mark.parametrize("name", sorted(path.name for path in PAGE.iterdir()))
def test_the_page_loads_nothing_from_elsewhere(client: Client, name: str) -> None:
    answer = client.get(f"/page/{name}")
    assert answer.status_code == 200
    text = answer.text.replace("http://www.w3.org/2000/svg", "")
    assert "http://" not in text
    assert "https://" not in text
    assert "innerHTML" not in text


def test_every_file_of_the_page_is_used() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in PAGE.iterdir()}
    unused = [name for name in texts if not any(f"/page/{name}" in text for text in texts.values())]
    assert unused == ["index.html"]


def test_another_host_name_is_not_answered(client: Client) -> None:
    for host, status in (("evil.example", 400), ("127.0.0.1:8765", 200), ("127.0.0.1", 200), ("", 400)):
        assert client.get("/api/spaces", headers={"host": host}).status_code == status


def test_openapi_describes_every_answer(client: Client) -> None:
    described = asked(client, "/openapi.json")
    assert {"/healthz", "/api/translate", "/api/neighbours", "/api/sentence", "/api/spaces"} <= set(
        described["paths"]
    )
    for one in (one for path in described["paths"].values() for one in path.values()):
        content = one["responses"]["200"]["content"]["application/json"]["schema"]
        assert content != {}


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=st.sampled_from("translate neighbours suggest sentence link place picture spaces".split()),
    parameters=st.dictionaries(
        st.sampled_from(["word", "text", "source", "target", "src", "tgt", "top", "lang", "prefix"]),
        st.one_of(st.text(max_size=30), st.sampled_from(["roi", "fr", "en", "5", "-1", "1e9", SCRIPT])),
    ),
)
def test_no_question_is_the_servers_fault(client: Client, path: str, parameters: dict[str, str]) -> None:
    answer = client.get(f"/api/{path}", params=parameters)
    assert answer.status_code in (200, 404, 422)
    json.loads(answer.text)


def test_the_page_is_in_the_package() -> None:
    setup = (Path(__file__).parents[2] / "setup.cfg").read_text(encoding="utf-8")
    assert "muse.web = page/*" in setup
    assert "muse.report = templates/*" in setup
    assert "muse.links = templates/*" in setup
