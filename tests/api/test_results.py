"""What a space answers at the prompt: plain types with more to them, shown in a line or a table."""

import copy
import pickle
from typing import Any

import pytest

from muse.api.results import Nearest, SpaceVerdict, TranslationTable, WordTranslations
from muse.ranking.translations import Translation, Translations

WAY = ("fr", "en")


def answers(word: str, count: int) -> WordTranslations:
    found = [
        Translation(f"w{place}", 1 - place / 10, None if place else 0.9, mutual=not place, rank=place + 1)
        for place in range(count)
    ]
    return WordTranslations.of(Translations(word, word, found), WAY, "")


@pytest.mark.parametrize(
    "value",
    [
        Translation("king", 0.5, 0.9, mutual=True),
        answers("roi", 2),
        TranslationTable(roi=answers("roi", 2)),
        Nearest([("duc", 0.7)], "roi", "fr"),
        SpaceVerdict("aligned", 0.99, {"fr": "aligned"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_they_are_copied_and_kept_whole(value: Any) -> None:
    for again in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):  # noqa: S301
        assert again == value and type(again) is type(value)
        assert repr(again) == repr(value) and vars(again) == vars(value)


def test_a_translation_is_a_pair() -> None:
    target, score = one = Translation("king", 0.5, 0.9, mutual=True)
    assert (target, score) == one == (one.target, one.score) == ("king", 0.5)
    assert (one.probability, one.mutual, one.grade) == (0.9, True, "trusted")
    assert Translation("king", 0.5).grade is None and repr(Translation("king", 0.5)) == "king 0.500"


def test_many_answers_are_cut() -> None:
    assert repr(answers("roi", 12)).endswith("w9 0.100, 2 more")
    assert repr(answers("roi", 0)) == "roi (fr-en): no translation"
    table = TranslationTable((f"m{place}", answers(f"m{place}", 1)) for place in range(1_012))
    assert repr(table).splitlines()[-1] == "... 1,002 more words" and len(repr(table)) < 500
    assert "1,002 more words" in table._repr_html_() and len(table._repr_html_()) < 9_000
    assert repr(Nearest([("a", 0.5)] * 12, "roi", "fr")).endswith("a 0.500, 2 more")


def test_probabilities_that_are_not_known_are_left_out() -> None:
    assert repr(answers("roi", 2)) == "roi (fr-en): w0 1.000 (90 %), w1 0.900"
    assert "None" not in answers("roi", 2)._repr_html_()


def test_a_frame_has_a_row_for_each_translation() -> None:
    pytest.importorskip("pandas")
    frame = TranslationTable(roi=answers("roi", 2), lac=answers("lac", 0)).to_frame()
    assert frame.columns.tolist() == ["source", "target", "score", "rank", "probability", "mutual", "reason"]
    assert frame.source.tolist() == ["roi", "roi", "lac"] and frame.probability.notna().tolist() == [
        True,
        False,
        False,
    ]
    assert answers("roi", 2).to_frame().target.tolist() == ["w0", "w1"]
