"""A folder of test sets: where files may lie, what is left out, and lines that cannot be right."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from muse.errors import BadFile
from muse.files.suite_folder import COSINE, FOLDS, GIVEN, REGRESSION, TASKS, SuitePart, read_suite


def write(path: Path, *lines: str) -> None:
    """Writes a file, packed where its name says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def test_files_lie_in_their_folders_or_beside_one_another_packed_or_not(tmp_path: Path) -> None:
    write(tmp_path / "senteval" / "MR.tsv.gz", "0\tbad", "", '1\tgood , "so"')
    write(tmp_path / "CR.tsv", "no\ta", "yes\tb")
    for part in ("train", "val", "test"):
        write(tmp_path / "senteval" / f"MRPC.{part}.tsv", f"1\ta {part}\tb")
    for part in ("train", "dev", "test"):
        write(tmp_path / "nli" / f"SICK.{part}.tsv.gz", f"7\tx {part}\ty\t3.5\tNEUTRAL")
    for part in ("train", "test"):
        write(tmp_path / "sts" / f"stsb-en-{part}.csv", f'"a, {part}",b,4.5')
    write(tmp_path / "sts" / "semeval" / "2013.OnWN.tsv.gz", "2\ta\tb")
    write(tmp_path / "sts" / "semeval" / "2013.FNWN.tsv", "0.5\tc\td")
    found = {task.name: task for task in read_suite(tmp_path)}
    assert [*found] == ["MR", "CR", "MRPC", "SICK-E", "SICK-R", "STS-B", "STS13"]
    assert [found[name].scored for name in ("MR", "MRPC", "SICK-R", "STS13")] == [
        FOLDS,
        GIVEN,
        REGRESSION,
        COSINE,
    ]
    assert found["MR"].parts["all"] == SuitePart(("bad", 'good , "so"'), (), ("0", "1"), ())
    assert found["MRPC"].parts["dev"] == SuitePart(("a val",), ("b",), ("1",), ())
    assert found["SICK-E"].parts["test"] == SuitePart(("x test",), ("y",), ("NEUTRAL",), (3.5,))
    assert [*found["SICK-R"].parts] == ["train", "test"]
    assert found["STS-B"].parts["train"].first == ("a, train",)
    assert [*found["STS13"].parts] == ["FNWN", "OnWN"]
    assert found["STS13"].parts["OnWN"].ratings == (2.0,)
    assert [task.name for task in read_suite(tmp_path, names=("STS-B", "TREC"))] == ["STS-B"]


def test_other_languages_have_their_sts_alone(tmp_path: Path) -> None:
    write(tmp_path / "MR.tsv", "0\ta", "1\tb")
    for part in ("train", "test"):
        write(tmp_path / f"stsb-fr-{part}.csv", "un,deux,1")
    (only,) = read_suite(tmp_path, "fr")
    assert only.name == "STS-B" and only.files[0].name == "stsb-fr-train.csv"
    with pytest.raises(BadFile, match="in de, found none"):
        read_suite(tmp_path, "de")


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("MR.tsv", "1 good", r"MR.tsv:2: expected 2 columns, label, sentence, .*got 1"),
        ("MR.tsv", "1\tgood\tmore", "MR.tsv:2: expected 2 columns.*got 3"),
        ("MR.tsv", " \tgood", "MR.tsv:2: expected"),
        ("2012.MSRpar.tsv", "high\ta\tb", "2012.MSRpar.tsv:2: expected a number as the rating, got 'high'"),
        ("2012.MSRpar.tsv", "nan\ta\tb", "2012.MSRpar.tsv:2: expected a number"),
        ("TREC.train.tsv", "NUM\ta", "TREC needs the parts train, test, found no test beside it"),
    ],
)
def test_files_that_cannot_be_right(tmp_path: Path, name: str, line: str, message: str) -> None:
    first = {"MR.tsv": "0\tbad", "2012.MSRpar.tsv": "1\ta\tb", "TREC.train.tsv": "LOC\tb"}[name]
    write(tmp_path / name, first, line)
    with pytest.raises(BadFile, match=message):
        read_suite(tmp_path)


def test_no_files_and_no_folder(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="expected files of MR, CR.* in en, found none"):
        read_suite(tmp_path)
    with pytest.raises(BadFile, match="expected a folder of test sets, got none"):
        read_suite(tmp_path / "none")
    write(tmp_path / "MR.tsv", "")
    with pytest.raises(BadFile, match="found none; check the file"):
        read_suite(tmp_path, names=("MR",))
    assert len(TASKS) == len(set(TASKS)) == 15
