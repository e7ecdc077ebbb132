"""Sentences of indexed texts in the explorer: what the API says of them, and the page in a browser."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

for _package in ("fastapi", "uvicorn", "sklearn"):
    pytest.importorskip(_package)

from muse.examples.index import write_index  # noqa: E402
from muse.examples.lookup import index_path  # noqa: E402
from muse.progress import Progress  # noqa: E402
from muse.space import Space  # noqa: E402
from muse.web.app import create_app  # noqa: E402
from muse.web.explorer import Explorer  # noqa: E402
from tests.support.asgi import Client  # noqa: E402
from tests.support.browser import MARKS, Visit, best, look_up, serious_barriers, serving  # noqa: E402
from tests.web.test_api import SCRIPT, asked, rated_space  # noqa: E402

TEXTS = {
    "fr": f"Le roi dort dans son grand château. 👍 Roi {SCRIPT} roi.\n",
    "en": "The king sleeps in his large castle.\n",
}


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Space:
    folder = tmp_path_factory.mktemp("space")
    found = replace(rated_space(), folder=folder)
    for language, text in TEXTS.items():
        path = index_path(folder, language)
        path.parent.mkdir()
        (folder / f"text.{language}").write_text(text, encoding="utf-8")
        write_index(
            path, [folder / f"text.{language}"], found.vectors(language), progress=Progress(quiet=True)
        )
    return found


def test_sentences_with_a_word_and_with_its_translation(space: Space) -> None:
    client = Client(create_app(Explorer(space, "fr-en")))
    assert asked(client, "/api/spaces")["examples"] == ["fr", "en"]
    found = asked(client, "/api/examples", word="ROI", answer="king")
    assert asked(client, "/api/examples", word="roi") == {"source": found["source"], "target": []}
    (english,), (french, hostile) = found["target"], found["source"]
    assert english["words"] == [{"before": "The ", "word": "king"}]
    assert english["after"] == " sleeps in his large castle."
    assert (Path(french["file"]).name, french["line"], french["language"]) == ("text.fr", 1, "fr")
    assert "".join(one["before"] + one["word"] for one in hostile["words"]) == f"👍 Roi {SCRIPT} roi"
    without = Client(create_app(Explorer(rated_space(), "fr-en")))
    assert asked(without, "/api/spaces")["examples"] == []
    answer = without.get("/api/examples", params={"word": "roi"})
    assert (answer.status_code, "muse index-text" in answer.json()["error"]) == (422, True)


@pytest.fixture(scope="module")
def home(space: Space) -> Iterator[str]:
    with serving(space) as address:
        yield address


class TestPage:
    """The page, in a browser."""

    pytestmark = MARKS

    @pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (320, "dark")])
    def test_sentences_below_the_answer(self, visit: Visit, width: int, scheme: str) -> None:
        page = visit(width=width, scheme=scheme)
        look_up(page, "roi")
        best(page, "king")
        page.locator("#sentences li").first.wait_for()
        assert page.locator("#sentences mark").all_inner_texts() == ["roi", "Roi", "roi", "king"]
        assert page.locator("#sentences li").all_inner_texts()[1] == f"👍 Roi {SCRIPT} roi. text.fr:1"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert serious_barriers(page) == []
