"""Pictures: numbers and places of words, also of those that are not drawn; one for both directions."""

from dataclasses import replace

import numpy as np
import pytest

from muse.files.space_manifest import LanguageRecord, VerdictRecord
from muse.report.word_map import draw_picture, frequent_pairs, regions
from muse.space import Space
from muse.web.pictures import AMID, Background, Drawn, Pictures
from tests.support.spaces import plain_space

pytest.importorskip("sklearn")


@pytest.fixture(scope="module")
def drawn() -> Drawn:
    rows = np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN"
    # The most frequent word is too short for the picture; one spelling is in both languages.
    words = ["a", "same", *(f"mot{letter}" for letter in letters[2:])]
    others = ["b", "same", *(f"word{letter}" for letter in letters[2:])]
    space = plain_space(rows, rows, words, others)
    picture = draw_picture(space, "fr", "en", frequent_pairs(space, "fr", "en"), 0)
    return Drawn(picture, regions(picture, 0))


def test_places(drawn: Drawn) -> None:
    picture = drawn.picture
    p, row = len(picture.pairs), picture.rows[0]
    for language, number in (("fr", 0), ("en", p)):  # one spelling is a word of both
        found = drawn.locate(language, "same", row)
        assert found == ("same", tuple(picture.places[number].tolist()), True)
    cosines = picture.rows @ row
    for language, word in (("fr", "a"), ("fr", "wordc"), ("de", "same")):
        found = drawn.locate(language, word, row)
        nearest = cosines.argsort(descending=True)[:AMID].numpy()
        assert not found.exact
        assert found.place == pytest.approx(picture.places[nearest].mean(axis=0).tolist())


@pytest.mark.parametrize("languages", [("fr", "de", "en"), ("fr", "en", "de"), ("en", "fr", "de")])
def test_both_directions_have_the_picture_whose_pivot_is_last(languages: tuple[str, ...]) -> None:
    rows = np.eye(4, dtype=np.float32)
    side = plain_space(rows, rows, list("abcd"), list("abcd")).side("fr")
    pictures = Pictures(Space(dict.fromkeys(languages, side), "en"), 0, Background())
    for first, second in (("fr", "en"), ("de", "en"), ("fr", "de")):
        assert pictures.in_order((first, second)) == pictures.in_order((second, first)) == (first, second)


def test_a_picture_may_be_begun_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch, drawn: Drawn) -> None:
    rows = np.eye(4, dtype=np.float32)
    pictures = Pictures(plain_space(rows, rows, list("abcd"), list("abcd")), 0, Background())
    monkeypatch.setattr(Pictures, "_draw", lambda self, pair: drawn)
    assert pictures.begin(("en", "fr")).result(60) is drawn
    assert pictures.get(("fr", "en")) is drawn


@pytest.mark.parametrize("label", ["aligned", "doubtful", "failed"])
def test_pairs_name_regions_only_where_they_are_trusted(label: str) -> None:
    """Each map by the verdict on its own languages; by CSLS no pair of a doubtful mapping is trusted."""
    rows = np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)
    words = [f"mot{chr(97 + row // 26)}{chr(97 + row % 26)}" for row in range(40)]
    space = plain_space(rows, rows, words, words)
    side = space.side("fr")
    records = {
        "fr": LanguageRecord(verdict=VerdictRecord({"label": label})),
        "de": LanguageRecord(verdict=VerdictRecord({"label": "failed"})),
    }
    sides = {"fr": side, "de": side, "en": space.side("en")}
    pictures = Pictures(Space(sides, "en", replace(space.manifest, languages=records)), 0, Background())
    named = pictures.begin(("fr", "en")).result(60).regions
    assert bool(named) == (label == "aligned")
    assert not pictures.begin(("de", "en")).result(60).regions
