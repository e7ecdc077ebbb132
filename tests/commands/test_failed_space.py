"""A space whose mapping failed: whoever asks it is told so, and none of its answers is trusted."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import muse as library
from muse.space import Space, load_space, save_space
from muse.space.derived import AnswerTable, write_answers
from muse.web.responses import TranslationsAnswer
from tests.support.command import Command
from tests.support.spaces import PROVENANCE, derived, sides_to_save

pytestmark = pytest.mark.slow

FAILED = {"label": "failed", "confidence": 0.05}
COUNT, WORD = 300, "fr20"


def sure_answers(folder: Path) -> None:
    """Answers of which each is certain, whatever the verdict."""
    for way, n, m in ((("fr", "en"), COUNT - 1, COUNT), (("en", "fr"), COUNT, COUNT - 1)):
        ones = np.ones(n, np.float32)
        write_answers(folder, way, AnswerTable(np.arange(n + 1), np.arange(n) % m, ones, ones))


@pytest.fixture(params=["csls", "kept answers"])
def space(request: pytest.FixtureRequest, here: Path) -> Space:
    sides = sides_to_save(count=COUNT, plain=True)
    sides["fr"] = replace(sides["fr"], more={"verdict": FAILED})
    save_space(here / "space", sides, pivot="en", provenance=replace(PROVENANCE, verdict=FAILED))
    derived(Path("space"))
    return load_space("space") if request.param == "csls" else derived(Path("space"), sure_answers)


def test_commands_say_so_and_trust_nothing(muse: Command, space: Space) -> None:
    translated = muse("translate", "space", WORD, "--json")
    near = muse("neighbours", "space", WORD, "--lang", "fr", "--json")
    induced = muse("induce", "space", "--out", "fr-en.csv", "--json")
    for ended in (translated, near, induced, muse("translate", "space", WORD)):
        assert "fr: its mapping was judged failed (confidence 0.05): most answers are wrong" in ended.err
    for ended in (translated, near, induced):
        assert ended.json["verdict"] == "failed"
    answers = translated.json["answers"][WORD]
    assert {one["grade"] for one in answers} == {"weak"}
    assert max(one["probability"] for one in answers) <= 0.05
    with Path("fr-en.csv").open(encoding="utf-8") as lines:
        assert max(float(row["probability"]) for row in csv.DictReader(lines)) <= 0.05


def test_the_api_and_python_say_so_and_trust_nothing(space: Space) -> None:
    pytest.importorskip("fastapi")
    from muse.web.app import create_app
    from muse.web.explorer import Explorer
    from tests.support.asgi import Client

    asked = Client(create_app(Explorer(space, "fr-en"))).get("/api/translate", params={"word": WORD})
    told = TranslationsAnswer.model_validate(asked.json())
    assert (told.verdict, told.grade) == ("failed", "weak")
    assert max(one.probability or 0 for one in told.translations) <= 0.05
    asked_in_python = library.load("space")
    assert asked_in_python.verdict == "failed"
    found = asked_in_python.translate(WORD)
    assert found.grade == "weak" and max(one.probability or 0 for one in found) <= 0.05
