"""Sentences: the translator's words, with the probabilities of the answers to each word alone."""

from __future__ import annotations

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
pytest.importorskip("sklearn")

from muse.translate import TextConfig, Translator, answer_words  # noqa: E402
from muse.web.sentences import rated  # noqa: E402
from tests.test_web_api import rated_space  # noqa: E402

TOP = 4


def test_each_word_has_the_answers_it_has_alone() -> None:
    space = rated_space()
    translator = Translator(space, source="fr", target="en", config=TextConfig(top=TOP, alternatives=True))
    found = rated(space, translator, "Le Roi dort, 3 motab.")
    assert found.text == translator.translate(["Le Roi dort, 3 motab."])[0]
    by_token = {one.token: one for one in found.tokens}
    assert [name for name, one in by_token.items() if one.kept] == ["Le", "3"]
    for token, form in (("Roi", "roi"), ("dort", "dort"), ("motab", "motab")):
        (alone,) = answer_words(space, [form], top=TOP)
        assert by_token[token].form == form
        found_here = [answer for _, answer in by_token[token].options]
        assert [(one.target, one.mutual) for one in found_here] == [
            (one.target, one.mutual) for one in alone.answers
        ]
        assert [one.probability for one in found_here] == pytest.approx(
            [one.probability for one in alone.answers]
        )
    assert [word for word, _ in by_token["Roi"].options][0] == "King"  # as the text writes it
    assert not by_token[","].options
    assert not by_token[","].kept
