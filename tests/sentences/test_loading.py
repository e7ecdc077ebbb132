"""Names of encoders: kinds, options, corrections, and several side by side."""

from __future__ import annotations

import pytest

from muse.errors import BadSetting
from muse.sentences.loading import corrections_of, is_name, language_of, parsed, side_by_side


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("mean", [("mean", "")]),
        ("power-mean[-inf,1,inf]+znorm[global]", [("power-mean", "-inf,1,inf"), ("znorm", "global")]),
        ("idf+ngrams+pcr[centred,2]", [("idf", ""), ("ngrams", ""), ("pcr", "centred,2")]),
    ],
)
def test_a_name_is_read_part_by_part(name: str, kinds: list[tuple[str, str]]) -> None:
    assert is_name(name)
    assert parsed(name) == kinds


@pytest.mark.parametrize("text", ["", "./mean", "Mean", "mean+", "mean&idf", "mean idf"])
def test_what_is_no_single_name(text: str) -> None:
    assert not is_name(text)


@pytest.mark.parametrize(
    ("text", "before", "corrections"),
    [
        ("mean", "mean", []),
        ("mean+ngrams", "mean+ngrams", []),
        ("mean+ngrams+pcr+znorm", "mean+ngrams", [("pcr", ""), ("znorm", "")]),
        ("./a+b/c+pcr[3]", "./a+b/c", [("pcr", "3")]),
        ("./a+pcr/b", "./a+pcr/b", []),
    ],
)
def test_corrections_stand_at_the_end(text: str, before: str, corrections: list[tuple[str, str]]) -> None:
    assert corrections_of(text) == (before, corrections)


@pytest.mark.parametrize(
    ("text", "folder", "of_language"),
    [
        ("./a+b/bgt+language", "./a+b/bgt", True),
        ("bgt+language", "bgt", True),
        ("./a+language/b", "./a+language/b", False),
        ("./language", "./language", False),
        ("./bgt+language+pcr", "./bgt+language+pcr", False),
    ],
)
def test_a_folder_may_be_of_its_language_latents(text: str, folder: str, of_language: bool) -> None:
    assert language_of(text) == (folder, of_language)


def test_side_by_side() -> None:
    assert side_by_side("mean") == ["mean"]
    assert side_by_side("mean&./a b & idf") == ["mean", "./a b", "idf"]


@pytest.mark.parametrize("name", ["&", "mean&", "&mean", "mean& &idf"])
def test_nothing_beside_the_sign(name: str) -> None:
    with pytest.raises(BadSetting, match="an encoder on both sides of &, got"):
        side_by_side(name)
