"""`muse neighbours`: nearest words within a language, unknown words, and lists."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from muse.space import load_space, save_space
from tests.support.command import Command, refused
from tests.support.spaces import PROVENANCE, sides_to_save


def nearest(folder: Path, language: str, word: str, top: int) -> list[tuple[str, float]]:
    """By every cosine, sorted."""
    vectors = load_space(folder).vectors(language)
    cosines = np.asarray(vectors.matrix) @ np.asarray(vectors.matrix[vectors.index[word]])
    order = [row for row in np.argsort(-cosines) if vectors.words[row] != word]
    return [(vectors.words[row], float(cosines[row])) for row in order[:top]]


def test_the_nearest_words(muse: Command, space: Path) -> None:
    found = muse("neighbours", space, "FR3", "en5", "--top", 4, "--json").json
    for word, language, form in (("FR3", "fr", "fr3"), ("en5", "en", "en5")):
        assert found["forms"][word] == {language: form}
        expected = nearest(space, language, form, 4)
        assert [name for name, _ in found["neighbours"][word][language]] == [name for name, _ in expected]
        cosines = [cosine for _, cosine in found["neighbours"][word][language]]
        assert cosines == pytest.approx([cosine for _, cosine in expected], abs=1e-5)
    (first, _), *_ = nearest(space, "fr", "fr3", 1)
    assert muse("neighbours", space, "FR3", "--top", 1).out.startswith(f"FR3 (fr)\t{first} 0.")
    everything = muse("neighbours", space, "fr3", "--top", 99, "--json").json["neighbours"]["fr3"]["fr"]
    assert len(everything) == 38 and "fr3" not in dict(everything)


def test_a_word_of_several_languages(muse: Command, tmp_path: Path) -> None:
    sides = sides_to_save(plain=True)
    words = [f"fr{row}" for row in range(38)]
    french = sides["fr"].vectors
    sides["fr"] = type(sides["fr"])(
        type(french)("fr", [*words, "en7"], french.matrix), sides["fr"].normalisation, sides["fr"].mapping
    )
    save_space(tmp_path / "space", sides, pivot="en", provenance=PROVENANCE)
    lines = muse("neighbours", tmp_path / "space", "en7", "--top", 2).out.splitlines()
    assert sorted(line.partition("\t")[0] for line in lines) == ["en7 (en)", "en7 (fr)"]
    for option in ("--lang", "--src"):
        one = muse("neighbours", tmp_path / "space", "en7", option, "fr").out
        assert one.startswith("en7 (fr)\tfr") and one.count("\n") == 1


def test_unknown_words_are_named(muse: Command, space: Path) -> None:
    ended = muse("neighbours", space, "fr3", "fr2O", "en5", "--lang", "fr", "--top", 1)
    assert ended.code == 0 and ended.out.startswith("fr3 (fr)\t")
    first, second = ended.err.splitlines()
    assert first.startswith("'fr2O' is not among the 39 words of fr; did you mean fr2")
    assert second == "'en5' is not among the 39 words of fr; it is a word of en; check --lang"
    found = muse("neighbours", space, "fr3", "fr2O", "--json").json
    assert found["unknown"]["fr2O"]["suggestions"][0].startswith("fr2")
    refused(muse("neighbours", space, "zzz"), "'zzz' is not among the words of en or fr; check its spelling")
    refused(muse("neighbours", space, "fr3", "--lang", "french"), "got 'french'; did you mean fr?")
    refused(muse("neighbours", space), "Missing argument 'WORD', or a list of words", code=2)


def test_a_list(muse: Command, space: Path) -> None:
    asked = ["neighbours", space, "--words", "-", "--top", 2]
    rows = list(csv.DictReader(io.StringIO(muse(*asked, stdin="fr3\nzzz\n").out), delimiter="\t"))
    assert [(row["word"], row["language"], row["rank"]) for row in rows] == [
        ("fr3", "fr", "1"), ("fr3", "fr", "2"), ("zzz", "", ""),
    ]  # fmt: skip
    assert [row["neighbour"] for row in rows[:2]] == [name for name, _ in nearest(space, "fr", "fr3", 2)]
    assert rows[2]["reason"].startswith("not among the words of en or fr")
    out = space.parent / "near.csv"
    fields = muse(*asked, "--out", out, "--json", stdin="fr3\nzzz\n").json
    assert fields == {"out": str(out), "rows": 3, "words": 2, "unknown": 1}
    refused(muse("neighbours", space, "fr3", "--words", out), "got 'fr3' beside it", code=2)
