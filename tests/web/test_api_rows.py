"""The API of muse serve on a space of unlabelled vectors: ids, with the texts they stand for."""

import string
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from muse.space import Space
from tests.support.spaces import plain_space

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
pytest.importorskip("sklearn")

from muse.web.app import create_app  # noqa: E402
from muse.web.explorer import Explorer  # noqa: E402
from tests.support.asgi import Client  # noqa: E402
from tests.web.test_api import picture  # noqa: E402

HOSTILE = "<script>alert(1)</script>"
ANIMALS = ["A dog runs.", "Two dogs: one sleeps", HOSTILE, "Un Éléphant"]
COUNT = 60


def space_of_rows(*, texts: bool = True, ids: Sequence[str] | None = None) -> Space:
    """Row numbers, or ids, in both languages; row i of one is at the place of row i of the other.

    Both have the same texts.
    """
    rows = np.random.default_rng(0).normal(size=(COUNT, 12)).astype(np.float32)
    noise = np.random.default_rng(1).normal(0, 0.02, rows.shape).astype(np.float32)
    names = list(ids or map(str, range(COUNT)))
    space = plain_space(rows, rows + noise, names, names)
    own = [*ANIMALS, *(f"text of {row}" for row in range(len(ANIMALS), COUNT))]
    sides = {
        language: replace(
            side, vectors=replace(side.vectors, frequency_ordered=False, texts=own if texts else None)
        )
        for language, side in space.sides.items()
    }  # fmt: skip
    return replace(space, sides=sides)


@pytest.fixture(scope="module")
def client() -> Client:
    return Client(create_app(Explorer(space_of_rows(), "rows"), hosts=("127.0.0.1",)))


def asked(client: Client, path: str, **parameters: Any) -> Any:
    answer = client.get(path, params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_answers_have_texts(client: Client) -> None:
    found = asked(client, "/api/translate", word="1", top=3)
    assert (found["form"], found["text"]) == ("1", ANIMALS[1])
    best = found["translations"][0]
    assert (best["word"], best["text"]) == ("1", ANIMALS[1])
    near = asked(client, "/api/neighbours", word="1", top=3)["neighbours"]
    assert near[1]["words"][0]["text"] == ANIMALS[1]
    assert all("text" in one for side in near for one in side["words"])


def test_without_texts_there_is_no_such_field() -> None:
    client = Client(create_app(Explorer(space_of_rows(texts=False), "rows"), hosts=("127.0.0.1",)))
    found = asked(client, "/api/translate", word="1", top=3)
    assert "text" not in found
    assert set(found["translations"][0]) == {"word", "score", "probability", "mutual", "grade"}
    assert asked(client, "/api/suggest", lang="fr", prefix="dog")["words"] == []


def test_suggestions_by_id_then_by_text(client: Client) -> None:
    def found(prefix: str, top: int = 8) -> list[tuple[str, Any, str]]:
        words = asked(client, "/api/suggest", lang="fr", prefix=prefix, top=top)["words"]
        return [(one["word"], one["rank"], one["text"]) for one in words]

    assert found("DOG") == [("0", None, ANIMALS[0]), ("1", None, ANIMALS[1])]
    assert found("dog", 1) == [("0", None, ANIMALS[0])]
    assert found("éle") == found("un ele") == [("3", None, ANIMALS[3])]
    assert found("script") == [("2", None, HOSTILE)]
    assert [word for word, _, _ in found("59")] == ["59"]
    assert [word for word, _, _ in found("4", 3)] == ["4", "40", "41"]


def test_the_space_says_what_it_has(client: Client) -> None:
    (space,) = asked(client, "/api/spaces")["spaces"]
    assert [one["ranked"] for one in space["languages"]] == [False, False]
    assert space["languages"][0]["examples"] == ["0", "10", "20", "30", "40", "50"]


def test_an_unknown_row(client: Client) -> None:
    answer = client.get("/api/translate", params={"word": "dog"})
    assert answer.status_code == 404
    assert answer.json()["error"] == "'dog' is not among the 60 rows of fr"
    assert answer.json()["suggestions"] == []


def test_ids_of_letters_are_no_words_of_a_picture_and_have_no_spelling() -> None:
    ids = [f"report{letter}" for letter in (string.ascii_letters + "éèêàâîïô")]
    client = Client(create_app(Explorer(space_of_rows(ids=ids), "rows"), hosts=("127.0.0.1",)))
    drawn = picture(client)
    assert (drawn["points"], drawn["regions"]) == ([], [])
    answer = client.get("/api/translate", params={"word": "reportt1"})
    assert answer.status_code == 404
    assert answer.json()["suggestions"] == []
