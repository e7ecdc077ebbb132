"""A folder of test sets: where files may lie, what is left out, and lines that cannot be right."""

import gzip
from pathlib import Path

import pytest

from muse.errors import BadFile, BadSetting, Mismatch
from muse.sentences.files.suite_folder import COSINE, FOLDS, GIVEN, REGRESSION, TASKS, SuitePart, read_suite


def write(path: Path, *lines: str) -> None:
    """Writes a file, packed where its name says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def test_files_lie_in_their_folders_or_beside_one_another_packed_or_not(tmp_path: Path) -> None:
    write(tmp_path / "senteval" / "MR.tsv.gz", "0\tbad", "", '1\tgood , "so"')
    write(tmp_path / "CR.tsv", "0\ta", "1\tb")
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
    assert [file.name for file in found["SICK-E"].files["dev"]] == ["SICK.dev.tsv.gz"]
    assert [task.name for task in read_suite(tmp_path, names=("STS-B",))] == ["STS-B"]
    with pytest.raises(BadFile, match="expected files of TREC in en, found none"):
        read_suite(tmp_path, names=("STS-B", "TREC"))


def test_other_languages_have_their_sts_alone(tmp_path: Path) -> None:
    write(tmp_path / "MR.tsv", "0\ta", "1\tb")
    for part in ("train", "test"):
        write(tmp_path / f"stsb-fr-{part}.csv", "un,deux,1")
    (only,) = read_suite(tmp_path, "fr")
    assert only.name == "STS-B" and only.files["train"][0].name == "stsb-fr-train.csv"
    with pytest.raises(BadFile, match="files of STS-B in de, found none"):
        read_suite(tmp_path, "de")
    with pytest.raises(BadSetting, match="the tasks in fr are STS-B; got MR, in English alone"):
        read_suite(tmp_path, "fr", ("MR", "STS-B"))


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("MR.tsv", "1 good", r"MR.tsv:2: expected 2 columns, label, sentence, .*got 1"),
        ("MR.tsv", "1\tgood\tmore", "MR.tsv:2: expected 2 columns.*got 3"),
        ("MR.tsv", " \tgood", "MR.tsv:2: a label must be one of 0, 1; got ''"),
        ("MR.tsv", "label\tsentence", "MR.tsv:2: a label must be .*'label'.* if it is a header"),
        ("MR.tsv", "good\t1", "MR.tsv:2: a label must be one of 0, 1; got 'good'"),
        ("2012.MSRpar.tsv", "high\ta\tb", "2012.MSRpar.tsv:2: expected a number from 0 to 5 as .*'high'"),
        ("2012.MSRpar.tsv", "5.1\ta\tb", "2012.MSRpar.tsv:2: expected a number from 0 to 5 .* got '5.1'"),
        ("2012.MSRpar.tsv", "nan\ta\tb", "2012.MSRpar.tsv:2: expected a number"),
        ("TREC.train.tsv", "NUM\ta", "TREC needs TREC.train.tsv, TREC.test.tsv, found no TREC.test.tsv"),
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
    with pytest.raises(BadFile, match="expected a folder of test sets, got none of that name"):
        read_suite(tmp_path / "none")
    write(tmp_path / "MR.tsv", "")
    with pytest.raises(BadFile, match="found none"):
        read_suite(tmp_path, names=("MR",))
    with pytest.raises(BadFile, match="expected a folder of test sets, got a file"):
        read_suite(tmp_path / "MR.tsv")
    assert len(TASKS) == len(set(TASKS)) == 15


def sick(part: str, label: str = "NEUTRAL", rating: str = "3") -> list[str]:
    """A pair of each class, and one of this label and rating."""
    kinds = ("NEUTRAL", "ENTAILMENT", "CONTRADICTION")
    rows = [f"{place}\tx {part} {kind}\ty\t3.5\t{kind}" for place, kind in enumerate(kinds)]
    return [*rows, f"9\tz {part}\ty\t{rating}\t{label}"]


@pytest.mark.parametrize(
    ("part", "row", "message"),
    [
        ("test", ("NEUTRALL",), "SICK.test.tsv:4: a label must be one of CONTRADICTION.*'NEUTRALL'"),
        ("dev", (" ",), "SICK.dev.tsv:4: a label must be one of .*got ''"),
        ("train", ("NEUTRAL", "0.5"), "SICK.train.tsv:4: expected a number from 1 to 5 as the rating.*'0.5'"),
        ("test", ("NEUTRAL", "nan"), "SICK.test.tsv:4: expected a number from 1 to 5"),
    ],
)
def test_labels_and_ratings_that_a_task_has_not(
    tmp_path: Path, part: str, row: tuple[str, ...], message: str
) -> None:
    for name in ("train", "dev", "test"):
        write(tmp_path / f"SICK.{name}.tsv", *sick(name, *(row if name == part else ())))
    with pytest.raises(BadFile, match=message):
        read_suite(tmp_path)


def test_a_first_pair_is_no_header(tmp_path: Path) -> None:
    for part in ("train", "test"):
        write(tmp_path / "MRPC" / f"msr_paraphrase_{part}.txt", "1\t7\t8\tone\ttwo", "0\t7\t8\tone\ttwo")
    with pytest.raises(BadFile, match=r"train.txt:1: .* got \['1'"):
        read_suite(tmp_path)


def test_a_label_that_the_train_part_lacks(tmp_path: Path) -> None:
    write(tmp_path / "TREC.train.tsv", "LOC\ta", "NUM\tb")
    write(tmp_path / "TREC.test.tsv", "LOC\tc", "", "ABBR\td")
    with pytest.raises(BadFile, match=r"TREC.test.tsv:3: a label must be .* has, LOC, NUM; got 'ABBR'"):
        read_suite(tmp_path)


def test_ratings_of_pairs_with_commas(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path / "stsb-en-train.csv", "a,b,1")
    write(tmp_path / "stsb-en-test.csv", '"c', 'd",e,2', "f,g,6")
    with pytest.raises(BadFile, match=r"stsb-en-test.csv:3: expected a number from 0 to 5 .* got '6'"):
        read_suite(tmp_path)
    write(tmp_path / "stsb-en-test.csv", "score;sentence1;sentence2", "3,5;c;d", ";f;g", "NA;h;i")
    (task,) = read_suite(tmp_path)
    assert task.parts["test"] == SuitePart(("c",), ("d",), (), (3.5,))
    assert "left out 2 rows without a rating, the first is" in caplog.text


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("MR.tsv", "MR.tsv.gz"),
        ("senteval/MR.tsv", "MR.tsv"),
        ("MR.tsv", "MR/rt-polarity.neg"),
        ("2013.FNWN.tsv", "sts/semeval/2013.FNWN.tsv.gz"),
    ],
)
def test_two_files_of_a_task(tmp_path: Path, first: str, second: str) -> None:
    for name in (first, second, "MR/rt-polarity.pos") if "neg" in second else (first, second):
        write(tmp_path / name, *(["1\ta\tb"] if "2013" in name else ["0\ta", "1\tb"]))
    with pytest.raises(BadFile, match=r"expected one file of .*, found .* too"):
        read_suite(tmp_path)


def test_what_a_year_lacks_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("FNWN", "OnWN", "headlines"):
        write(tmp_path / f"2013.{name}.tsv", "1\ta\tb")
    read_suite(tmp_path)
    (told,) = caplog.messages
    assert told.endswith("STS13 is the mean over 3 sets here, without SMT")
    write(tmp_path / "2013.SMT.tsv", "1\ta\tb")
    caplog.clear()
    read_suite(tmp_path)
    assert not caplog.messages


def test_a_test_part_that_was_learned_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path / "TREC.train.tsv", "LOC\tWhere is it ?", "HUM\tName him .", "NUM\tHow many ?")
    write(tmp_path / "TREC.test.tsv", "NUM\tWhen ?", "HUM\tname  him")
    read_suite(tmp_path)
    (told,) = caplog.messages
    assert "TREC.test.tsv:2: 1 of 2 rows of the test part of TREC are in its train part too" in told


MRPC = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"
SENTEVAL = {
    "MR/rt-polarity.neg": ["a dull caf\xe9 .", "", "no ."],
    "MR/rt-polarity.pos": ["what joy"],
    "SUBJ/subj.objective": ["he leaves ."],
    "SUBJ/subj.subjective": ["it bores ."],
    "SST/binary/sentiment-train": ["so good\t1", "so bad\t0"],
    "SST/binary/sentiment-dev": ["fine\t1"],
    "SST/binary/sentiment-test": ["awful\t0"],
    "TREC/train_5500.label": ["DESC:manner How is it : done ?", "LOC:city Where ?"],
    "TREC/TREC_10.label": ["LOC:other What river ?"],
    "MRPC/msr_paraphrase_train.txt": [f"\ufeff{MRPC}", "1\t7\t8\tone\ttwo"],
    "MRPC/msr_paraphrase_test.txt": [MRPC, '1\t5\t6\t"three\tfour'],
    **{
        f"SICK/SICK_{part}.txt": ["pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment",
                                 f"1\ta {part}\tb\t4.5\tENTAILMENT"]
        for part in ("train", "trial", "test_annotated")
    },
    **{
        f"STS/STSBenchmark/sts-{part}.csv": [f"main-news\tMSRpar\t2012\t0001\t2.4\ta {part}, so\tb\tmore"]
        for part in ("train", "test")
    },
    "STS/STS12-en-test/STS.input.surprise.OnWN.txt": ["a\tb", "c\td", "e\tf\tmore"],
    "STS/STS12-en-test/STS.gs.surprise.OnWN.txt": ["5", "", "0.25"],
    "STS/STS12-en-test/STS.input.ALL.txt": ["a\tb"],
}  # fmt: skip


def as_senteval(folder: Path) -> None:
    for name, lines in SENTEVAL.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        latin = name.startswith(("MR/", "SUBJ", "TREC"))
        text = "".join(f"{line}\n" for line in lines)
        (folder / name).write_bytes(text.encode("latin-1" if latin else "utf-8"))


@pytest.mark.parametrize("above", ["", "downstream", "data/downstream"])
def test_files_as_the_script_of_senteval_leaves_them(tmp_path: Path, above: str) -> None:
    as_senteval(tmp_path / above)
    found = {task.name: task for task in read_suite(tmp_path)}
    names = ["MR", "SUBJ", "SST-2", "TREC", "MRPC", "SICK-E", "SICK-R", "STS-B", "STS12"]
    assert [*found] == names
    parts = {(name, part): rows for name, task in found.items() for part, rows in task.parts.items()}
    assert parts["MR", "all"] == SuitePart(
        ("a dull café .", "", "no .", "what joy"), (), ("0", "0", "0", "1"), ()
    )  # fmt: skip
    assert parts["SUBJ", "all"] == SuitePart(("it bores .", "he leaves ."), (), ("0", "1"), ())
    assert parts["SST-2", "train"] == SuitePart(("so good", "so bad"), (), ("1", "0"), ())
    assert parts["TREC", "train"] == SuitePart(("How is it : done ?", "Where ?"), (), ("DESC", "LOC"), ())
    assert [*found["MRPC"].parts] == ["train", "test"]
    assert parts["MRPC", "test"] == SuitePart(('"three',), ("four",), ("1",), ())
    assert parts["SICK-E", "dev"] == SuitePart(("a trial",), ("b",), ("ENTAILMENT",), (4.5,))
    assert [*found["SICK-R"].parts] == ["train", "test"]
    assert parts["STS-B", "test"] == SuitePart(("a test, so",), ("b",), (), (2.4,))
    assert parts["STS12", "OnWN"] == SuitePart(("a", "e"), ("b", "f"), (), (5.0, 0.25))
    assert [path.name for path in found["MR"].files["all"]] == ["rt-polarity.neg", "rt-polarity.pos"]
    with pytest.raises(BadFile, match="files of STS-B in fr, found none"):
        read_suite(tmp_path, "fr")


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("SUBJ/subj.objective", None, "SUBJ needs subj.subjective, subj.objective, found no subj.objective"),
        ("TREC/TREC_10.label", "Where is it ?", "TREC_10.label:2: a label must be one of ABBR"),
        ("SST/binary/sentiment-dev", "2\tgood", "sentiment-dev:2: a label must be one of 0, 1; got 'good'"),
        ("MRPC/msr_paraphrase_test.txt", "1\tone\ttwo", "test.txt:3: expected 5 columns.*got 3"),
        ("STS/STSBenchmark/sts-test.csv", "a\tb\tc\t1\t5.5\td\te", "sts-test.csv:2: .* 0 to 5 .*'5.5'"),
        ("STS/STS12-en-test/STS.input.surprise.OnWN.txt", "g\th", "got 4 in .*input.*, 3 in .*gs"),
        ("STS/STS12-en-test/STS.gs.surprise.OnWN.txt", "6", "got 3 in .*input.*, 4 in .*gs"),
    ],
)
def test_files_of_senteval_that_cannot_be_right(
    tmp_path: Path, name: str, line: str | None, message: str
) -> None:
    as_senteval(tmp_path)
    if line is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_text((tmp_path / name).read_text() + f"{line}\n")
    with pytest.raises((BadFile, Mismatch), match=message):
        read_suite(tmp_path)
