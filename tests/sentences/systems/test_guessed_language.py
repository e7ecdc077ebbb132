"""The guessed language of a text: a warning if it has more words of another language of the space."""

from __future__ import annotations

from pathlib import Path

import pytest

from muse.sentences.systems.backbone import SpaceBackbone, warn_of_another_language
from tests.support.parallel import toy_space


def told(caplog: pytest.LogCaptureFixture, folder: Path, text: list[str], language: str) -> str:
    """What is said of a text that is named to be of this language of the toy space."""
    space = toy_space(folder / "space")
    caplog.clear()
    warn_of_another_language(text, language, Path("a.txt"), SpaceBackbone(space), space)
    return caplog.text


def test_most_words_decide(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    text = ["en1 en2 fr3", "fr4 en5 what"]
    expected = "a.txt: 50 % of the tokens are words of en, 33 % of fr: is the text in fr?"
    assert expected in told(caplog, tmp_path, text, "fr")
    assert told(caplog, tmp_path, text, "en") == ""


@pytest.mark.parametrize("text", [["what", "is this"], ["en1 fr1"], []])
@pytest.mark.parametrize("language", ["en", "fr"])
def test_nothing_is_said_of_a_tie(
    caplog: pytest.LogCaptureFixture, tmp_path: Path, text: list[str], language: str
) -> None:
    assert told(caplog, tmp_path, text, language) == ""
