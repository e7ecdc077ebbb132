"""muse evaluate sentences --suite: one JSON, lines, a picture, and mistakes on the command line."""

import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.command import Command, refused, tree
from tests.support.parallel import toy_space, toy_text

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A space, and a folder with two tasks in words of the space."""
    toy_space(tmp_path / "space")
    (tmp_path / "suite").mkdir()
    text = [en for en, _ in toy_text(60)]
    rows = [f"{int('en1' in one)}\t{one}" for one in text]
    (tmp_path / "suite" / "CR.tsv").write_text("\n".join(rows) + "\n")
    rows = [f"{place % 6}\t{one}\t{other}" for place, (one, other) in enumerate(pairwise(text))]
    (tmp_path / "suite" / "2014.toys.tsv").write_text("\n".join(rows) + "\n")
    return tmp_path


@pytest.mark.slow
def test_the_suite_is_one_json_and_a_picture(muse: Command, files: Path) -> None:
    start: list[object] = ["evaluate", "sentences", files / "space", "--suite", files / "suite", "--folds", 3]
    found = muse(*start, "--json", "--picture", files / "new" / "suite.svg").json
    assert [*found["tasks"]] == ["CR", "STS14"]
    assert found["tasks"]["CR"]["tested"] == 60 and found["tasks"]["STS14"]["tested"] == 59
    assert found["means"]["accuracy"] == found["tasks"]["CR"]["value"]
    assert "MR" in found["missing"] and "CR" not in found["missing"]
    assert found["signature"].startswith("suite | en-en") and "encoder:mean | folds:3" in found["signature"]
    picture = ET.parse(files / "new" / "suite.svg").getroot()
    assert len(picture.findall(f"{SVG}rect")) == 1 + 2  # the page and a bar a task
    said = " ".join("".join(one.itertext()) for one in picture.findall(f"{SVG}text"))
    assert f"{found['tasks']['CR']['value']:.1f}" in said and found["signature"] in said
    again = muse(*start, "--tasks", "sts14")
    assert f"STS14   pearson  {found['tasks']['STS14']['value']:5.1f}" in again.out
    assert "CR" not in again.out
    (files / "suite" / "CR.tsv").write_text("0\tone\n1\ttwo words\textra\n")
    assert muse(*start, "--json", "--tasks", "STS14").json["signature"] != found["signature"]
    refused(muse(*start), "CR.tsv:2: expected 2 columns")


def test_mistakes(muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start: list[object] = ["evaluate", "sentences", files / "space", "--suite", files / "suite"]
    refused(muse(*start, "--parallel", "x"), "--parallel is for retrieval", code=2)
    refused(muse(*start, "--tasks", "MR,SST"), "must be some of MR, CR", code=2)
    refused(muse(*start[:3], "--folds", 5), "--folds is for --suite", code=2)
    refused(muse(*start[:3], "--picture", files / "x.svg"), "--picture is for --suite", code=2)
    refused(muse(*start, "--tasks", "MR,"), "got ''.", code=2)
    refused(muse(*start, "--picture", files / "x.png"), "must end in .svg, got 'x.png'", code=2)
    refused(muse(*start, "--tasks", "CR,TREC"), "expected files of TREC in en, found none")
    refused(muse(*start, "--src", "fr"), "expected files of STS-B in fr")
    refused(muse(*start, "--src", "fr", "--tasks", "CR"), "the tasks in fr are STS-B; got CR")
    (files / "folder.svg").mkdir()
    refused(muse(*start, "--picture", files / "folder.svg"), "expected the name of a file, got a folder")
    refused(muse(*start[:4], files / "none"), "expected a folder of test sets")
    refused(muse(*start, "--folds", 50), "CR.tsv: 50 folds of CR need at least 50")
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    refused(muse(*start, "--device", "cuda"), "--device cuda needs a CUDA GPU")


def test_another_language_has_its_sts_and_says_what_is_in_english_alone(muse: Command, files: Path) -> None:
    text = [fr for _, fr in toy_text(60)]
    rows = [f"{one},{other},{place % 6}\n" for place, (one, other) in enumerate(pairwise(text))]
    for part in ("train", "test"):
        (files / "suite" / f"stsb-fr-{part}.csv").write_text("".join(rows))
    ended = muse("evaluate", "sentences", files / "space", "--suite", files / "suite", "--src", "fr")
    assert "STS-B   pearson" in ended.out and "in English alone: MR, CR, " in ended.out
    assert "not in the folder" not in ended.out
    assert "59 of 59 rows of the test part of STS-B are in its train part too" in ended.err


@pytest.mark.parametrize("name", ["suite/CR.tsv", "suite/new.svg", "space/../suite/deep/new.svg"])
def test_nothing_is_written_among_the_test_data(muse: Command, files: Path, name: str) -> None:
    before = tree(files)
    start: list[object] = ["evaluate", "sentences", files / "space", "--suite", files / "suite"]
    refused(muse(*start, "--picture", files / name), "--picture must be outside --suite")
    assert tree(files) == before
