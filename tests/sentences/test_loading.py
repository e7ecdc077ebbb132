"""Names of encoders: kinds, options, corrections, folders, and several side by side."""

import pytest

from muse.sentences.loading import Named, parse


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("mean", Named("mean")),
        ("mean+ngrams", Named("mean+ngrams")),
        ("mean+ngrams+pcr+znorm", Named("mean+ngrams", "+pcr+znorm")),
        ("./a+b/c+pcr[3]", Named("./a+b/c", "+pcr[3]", is_folder=True)),
        ("./a+pcr/b", Named("./a+pcr/b", is_folder=True)),
        ("./a+b/bgt+language", Named("./a+b/bgt", is_folder=True, latents=True)),
        ("./a+language/b", Named("./a+language/b", is_folder=True)),
        ("./language", Named("./language", is_folder=True)),
        ("./bgt+language+pcr", Named("./bgt", "+pcr", is_folder=True, latents=True)),
    ],
)
def test_corrections_stand_at_the_end_and_a_folder_may_be_of_its_language_latents(
    text: str, named: Named
) -> None:
    assert parse(text) == [named]


def test_side_by_side() -> None:
    assert [one.name for one in parse("mean&./a b & idf")] == ["mean", "./a b", "idf"]
