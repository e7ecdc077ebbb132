"""Natural language inference from files: SICK's columns, SNLI's, parts, and lines that cannot be right."""

import re
from pathlib import Path

import pytest

from muse.errors import BadFile, Mismatch
from muse.sentences.files.nli import LABELS, read_nli, read_translated_nli

SICK = "pair_ID\tsentence_A\tsentence_B\tentailment_judgment\trelatedness_score\tSemEval_set\n"
SNLI = "gold_label\tsentence1\tsentence2\n"


def written(folder: Path, text: str) -> Path:
    (folder / "nli.txt").write_text(text)
    return folder / "nli.txt"


def test_sick_with_its_parts(tmp_path: Path) -> None:
    lines = "1\ta\tb\tNEUTRAL\t3\tTRAIN\n2\tc\td\tENTAILMENT\t4\tTRIAL\n3\te\tf\tCONTRADICTION\t1\tTEST\n"
    found = read_nli(written(tmp_path, SICK + lines))
    assert (found.premises, found.hypotheses) == (("a", "c", "e"), ("b", "d", "f"))
    assert [LABELS[label] for label in found.labels] == ["neutral", "entailment", "contradiction"]
    assert (found.parts, found.undecided) == (("train", "dev", "test"), 0)


def test_parts_by_number_and_pairs_without_consensus(tmp_path: Path) -> None:
    header = "pair_ID\tsentence_A\tsentence_B\tentailment_judgment\n"
    rows = "".join(f"{number}\ta{number}\tb{number}\tNEUTRAL\n" for number in range(1, 101))
    found = read_nli(written(tmp_path, header + rows))
    assert [found.parts.count(part) for part in ("train", "dev", "test")] == [70, 10, 20]
    assert found.parts[:10] == read_nli(written(tmp_path, header + rows[: rows.index("11\t")])).parts
    undecided = read_nli(written(tmp_path, SNLI + "-\ta\tb\nneutral\tc\td\n"))
    assert (undecided.undecided, undecided.premises) == (1, ("c",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SNLI + "neutral\ta\tb\nmaybe\tc\td\n", r"nli.txt:3: a label must be one of .*'maybe'"),
        (SNLI + "neutral\t\tb\nneutral\t \t\n", "nli.txt:3: expected two sentences, got two empty ones"),
        (SNLI + "neutral\ta\n", "nli.txt:2: expected 3 columns.*got 2"),
        (SICK + "1\ta\tb\tNEUTRAL\t3\tOTHER\n", "nli.txt:2: SemEval_set must be one of.*'OTHER'"),
        ("a\tb\tmaybe\n", "nli.txt:1: a label must be one of .*'maybe'"),
        ("a\tb\tc\td\tmaybe\n", "nli.txt:1: expected 3 columns, .* got 5 .* name the columns"),
        (f"language\t{SNLI}fr\tneutral\ta\tb\nde\tneutral\tc\td\n", "nli.txt:3: .*language, got de and fr"),
        (SNLI, "found none"),
        ("", "nli.txt: expected content"),
    ],
)
def test_files_that_cannot_be_right(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadFile, match=message):
        read_nli(written(tmp_path, text))


@pytest.mark.parametrize(
    "text",
    [
        "neutral\tUn chat dort.\tUn animal.\nentailment\tc\td\n-\te\tf\n",
        "Un chat dort.,Un animal.,neutral\nc,d,entailment\ne,f,\n",
        "ID;Satz;Satz 2;Label X\n1;Un chat dort.;Un animal.;Neutral\n2;c;d;ENTAILMENT\n3;e;f;-\n",
        "sentence1\tsentence2\tlabel\nUn chat dort.\tUn animal.\t1\nc\td\t0\ne\tf\t-1\n",
        '{"label": 1, "premise": "Un chat dort.", "hypothesis": "Un animal."}\n'
        '{"premise": "c", "hypothesis": "d", "label": 0}\n{"premise": "e", "hypothesis": "f", "label": -1}\n',
        '[{"gold_label": "neutral", "sentence1": "Un chat dort.", "sentence2": "Un animal."},\n'
        '{"gold_label": "entailment", "sentence1": "c", "sentence2": "d"},\n'
        '{"gold_label": "-", "sentence1": "e", "sentence2": "f"}]',
    ],
    ids=["no header", "CSV with a blank label", "names of one's own", "numbers", "JSON lines", "JSON"],
)
def test_other_tables_of_inferences(tmp_path: Path, text: str) -> None:
    found = read_nli(written(tmp_path, text))
    assert (found.premises, found.hypotheses) == (("Un chat dort.", "c"), ("Un animal.", "d"))
    assert ([LABELS[one] for one in found.labels], found.undecided) == (["neutral", "entailment"], 1)


def numbered(shared: str) -> str:
    """Eleven pairs, of which the one numbered 8 has this premise."""
    rows = [f"{i}\t{shared if i == 8 else f'a {i}'}\tb {i}\tNEUTRAL\t3" for i in range(11)]
    parts = ["TRAIN"] * 8 + ["TEST"] + ["TRAIN"] * 2
    return SICK + "".join(f"{row}\t{part}\n" for row, part in zip(rows, parts, strict=True))


def without_parts(text: str) -> str:
    return "".join(f"{line.rpartition(chr(9))[0]}\n" for line in text.splitlines())


@pytest.mark.parametrize("shared", ["a 3", "b 10", " A  3 ", "a 3 .", "B 10."])
def test_parts_by_number_must_not_share_a_sentence(tmp_path: Path, shared: str) -> None:
    line = {"3": 5, "0": 12}[shared.rstrip(" .")[-1]]
    told = rf"nli.txt:10: parts must not share.* 1 of 4 sentences of its test .*txt:10 and .*txt:{line}\)"
    with pytest.raises(BadFile, match=told):
        read_nli(written(tmp_path, without_parts(numbered(shared))))
    with pytest.raises(BadFile, match=told):
        read_translated_nli({"en": tmp_path / "nli.txt", "fr": tmp_path / "nli.txt"})


def test_what_named_parts_share_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    found = read_nli(written(tmp_path, numbered("a 3")))
    assert found.part("test").premises == ("a 3",)
    (told,) = caplog.messages
    assert re.search(r"1 of 2 sentences of its test part are in its train .*'a 3', .*:10 and .*:5", told)
    rows = "1\ta\tb\tNEUTRAL\t3\tTRAIN\n2\tc\td\tNEUTRAL\t4\tTRIAL\n3\tC.\tf\tNEUTRAL\t1\tTEST\n"
    assert read_nli(written(tmp_path, SICK + rows)).parts == ("train", "dev", "test")
    assert re.search(r"1 of 2 sentences of its test part are in its dev .*'c', .*:4 and", caplog.messages[1])


def test_a_sentence_may_be_twice_in_a_part(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = without_parts(numbered("a 8")).replace("\ta 3\t", "\ta 4\t").replace("\tb 9\t", "\ta 8\t")
    assert read_nli(written(tmp_path, text)).parts.count("test") == 2
    assert not caplog.messages


def translated(folder: Path, translation: str) -> dict[str, Path]:
    """A file of four pairs, one of them without a label and one after a blank line, and a translation."""
    (folder / "en.txt").write_text(SICK + "".join(f"{row}\n" for row in ENGLISH))
    (folder / "fr.txt").write_text(translation)
    return {"en": folder / "en.txt", "fr": folder / "fr.txt"}


ENGLISH = (
    "1\ta\tb\tNEUTRAL\t3\tTRAIN", "2\tc\td\t-\t4\tTRIAL", "", "3\te\tf\tENTAILMENT\t1\tTEST",
    "4\tg\th\tCONTRADICTION\t1\tTRIAL",
)  # fmt: skip


def test_a_translation_has_the_same_rows_and_the_parts_of_the_first_file(tmp_path: Path) -> None:
    rows = "neutral\tA\tB\n-\tC\tD\nentailment\tE\tF\n\ncontradiction\tG\tH\n"
    found = read_translated_nli(translated(tmp_path, SNLI + rows))
    assert found["en"] == read_nli(tmp_path / "en.txt")
    french = found["fr"]
    assert (french.premises, french.hypotheses) == (("A", "E", "G"), ("B", "F", "H"))
    assert (french.parts, french.undecided) == (("train", "test", "dev"), 1)
    assert french.labels == found["en"].labels


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{SNLI}neutral\tA\tB\nneutral\tC\tD\n", r"fr.txt:3: expected the label - as in .*en.txt:3, got"),
        (f"{SNLI}neutral\tA\tB\n-\tC\tD\n", r"en.txt:5: .* got 2 for 4"),
        (SNLI + "neutral\tA\tB\n-\tC\tD\nentailment\tE\tF\ncontradiction\tG\tH\nneutral\tI\tJ\n",
         r"fr.txt:6: .* got 5 for 4"),
        (f"{SICK}1\tA\tB\tNEUTRAL\t3\tTRAIN\n4\tG\tH\t-\t1\tTRIAL\n", "fr.txt:3: expected the pair 2 as in"),
    ],
)  # fmt: skip
def test_a_translation_of_other_rows(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(Mismatch, match=message):
        read_translated_nli(translated(tmp_path, text))
