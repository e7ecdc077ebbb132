"""muse translate on a space of rows: ids, and what they stand for; and muse align, which keeps that."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import muse as library
from muse.learn.settings import AlignConfig
from muse.space import load_space, save_space
from tests.support.command import Command
from tests.support.spaces import PROVENANCE, raw_rows, side_to_save
from tests.support.toys import raw_pair

COUNT = 40


def space_of_rows(folder: Path, *, texts: bool = True) -> Path:
    """Row numbers in both languages, row i of one at the place of row COUNT - 1 - i of the other."""
    sides = {}
    for language, rows in (("en", raw_rows(0, COUNT)), ("fr", raw_rows(0, COUNT)[::-1].copy())):
        side = side_to_save(language, rows)
        own = [f"{language} text {row}\nof <b>" for row in range(COUNT)] if texts else None
        numbers = list(map(str, range(COUNT)))
        sides[language] = replace(
            side,
            vectors=replace(side.vectors, words=numbers, frequency_ordered=False, texts=own),
            more={"verdict": PROVENANCE.verdict},
        )
    save_space(folder, sides, pivot="en", provenance=PROVENANCE)
    return folder


def test_ids_are_shown_with_their_texts(muse: Command, tmp_path: Path) -> None:
    space = space_of_rows(tmp_path / "space")
    first, *answers = muse("translate", space, "3", "--top", 2, "--retrieval", "nn").out.splitlines()
    assert first == "3\tfr text 3 of <b>"
    assert len(answers) == 2
    assert answers[0] == "  36 1.000\ten text 36 of <b>"
    found = muse("translate", space, "3", "--top", 2, "--retrieval", "nn", "--json").json
    assert found["texts"] == {"3": "fr text 3 of <b>"}
    assert [answer["text"] for answer in found["answers"]["3"]] == [
        f"en text {answer['target']} of <b>" for answer in found["answers"]["3"]
    ]
    assert found["translations"]["3"][0] == ["36", pytest.approx(1.0, abs=1e-5)]


def test_without_texts_nothing_is_added(muse: Command, tmp_path: Path) -> None:
    space = space_of_rows(tmp_path / "space", texts=False)
    assert muse("translate", space, "3", "--top", 1, "--retrieval", "nn").out == "3\t36 1.000\n"
    found = muse("translate", space, "3", "--retrieval", "nn", "--json").json
    assert "texts" not in found
    assert set(found["answers"]["3"][0]) == {"target", "score", "probability", "mutual", "grade"}
    assert not list(space.rglob("texts.txt"))
    assert not load_space(space).manifest.languages["fr"].texts


def test_equal_ids_of_two_languages_are_no_spelling(muse: Command, tmp_path: Path) -> None:
    space = space_of_rows(tmp_path / "space")
    found = muse("translate", space, *map(str, range(COUNT)), "--top", 1, "--json").json
    assert {one: best for one, [(best, _)] in found["translations"].items()} == {
        str(row): str(COUNT - 1 - row) for row in range(COUNT)
    }


def test_an_unknown_id(muse: Command, tmp_path: Path) -> None:
    ended = muse("translate", space_of_rows(tmp_path / "space"), "nobody")
    assert ended.code == 1
    assert "'nobody' is not among the 40 rows of fr; check its id and its language" in ended.err


def test_a_changed_text_is_noticed(muse: Command, tmp_path: Path) -> None:
    space = space_of_rows(tmp_path / "space")
    path = space / "fr" / "texts.txt"
    path.write_bytes(path.read_bytes().replace(b"text 3", b"text 4"))
    ended = muse("translate", space, "3")
    assert "fr/texts.txt: expected the saved file" in ended.err


def test_an_exported_space_has_the_rows_and_their_texts(muse: Command, tmp_path: Path) -> None:
    space = space_of_rows(tmp_path / "space")
    ended = muse("export", space, "--format", "space", "--out", tmp_path / "copy", "--max-vocab", 5)
    assert ended.code == 0, ended.err
    vectors = load_space(tmp_path / "copy").vectors("fr")
    assert (vectors.frequency_ordered, len(vectors), vectors.text_of("4")) == (False, 5, "fr text 4 of <b>")


def test_align_keeps_the_texts(muse: Command, tmp_path: Path) -> None:
    source, target, _ = raw_pair()
    for side in (source, target):
        np.save(tmp_path / f"{side.language}.npy", side.matrix)
        (tmp_path / f"{side.language}.txt").write_text(
            "".join(f"{side.language} {row}\n" for row in range(len(side))), encoding="utf-8"
        )
    (tmp_path / "pairs.tsv").write_text("".join(f"{row}\t{row}\n" for row in range(300)), encoding="utf-8")
    space = library.align(
        "fr", "en", src_emb=tmp_path / "fr.npy", tgt_emb=str(tmp_path / "en.npy"),
        src_captions=str(tmp_path / "fr.txt"), tgt_captions=tmp_path / "en.txt",
        dictionary=tmp_path / "pairs.tsv", out=tmp_path / "space",
        config=AlignConfig(init="dictionary", refine=False),
    )  # fmt: skip
    assert [space.vectors(language).text_of("599") for language in ("fr", "en")] == ["fr 599", "en 599"]
    entry = space.manifest.languages["fr"]
    assert [file.name for file in entry.files] == ["fr.npy", "fr.txt"]
    assert "fr/texts.txt" in space.manifest.checksums
    (tmp_path / "fr.txt").write_text("one\n", encoding="utf-8")
    options = [
        "--src-emb",
        tmp_path / "fr.npy",
        "--tgt-emb",
        tmp_path / "en.npy",
        "--out",
        tmp_path / "other",
    ]
    ended = muse("align", "--src", "fr", "--tgt", "en", "--src-captions", tmp_path / "fr.txt", *options)
    assert ended.code == 1
    assert "expected a line for each of 600 rows" in ended.err
    assert not (tmp_path / "other").exists()
