"""muse align-texts: every format, and nothing lost."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from muse.space import save_space
from tests.support.command import Command
from tests.support.spaces import PROVENANCE, raw_rows, side_to_save

ROWS = [
    ("fr1 fr2 fr3.", "en1 en2 en3."),
    ("fr4 fr5. fr6 & fr7.", "en4 en5.\nen6 & en7."),
    ("fr8 fr9.", "en8 en9."),
]


@pytest.fixture
def given(tmp_path: Path) -> list[object]:
    """The command line of two short texts with an empty line between paragraphs."""
    sides = {language: side_to_save(language, raw_rows(0, 40), plain=True) for language in ("fr", "en")}
    save_space(tmp_path / "space", sides, pivot="en", provenance=PROVENANCE)
    for name, side in (("fr", 0), ("en", 1)):
        (tmp_path / name).write_text("\n\n".join(row[side] for row in ROWS) + "\n")
    return ["align-texts", tmp_path / "space", "--source", tmp_path / "fr", "--target", tmp_path / "en"]


def test_blocks_are_printed_and_written_in_every_format(
    muse: Command, given: list[object], tmp_path: Path
) -> None:
    printed = [line.split("\t") for line in muse(*given).out.splitlines()]
    assert [tuple(row[:2]) for row in printed] == [(one, two.replace("\n", " ")) for one, two in ROWS]
    assert all(0.5 < float(row[2]) <= 1 for row in printed)
    for ending in ("tsv", "jsonl.gz", "jsonl", "tmx", "ladder"):
        found = muse(*given, "--paragraphs", "--out", tmp_path / f"out.{ending}", "--json")
        assert (found.code, found.json["pairs"], found.json["blocks"]) == (0, 3, 3)
    assert (tmp_path / "out.tsv").read_text().splitlines()[1].split("\t")[:2] == list(ROWS[0])
    objects = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert objects[1]["target"] == ["en4 en5.", "en6 & en7."]
    assert [(one["source_lines"], one["target_lines"]) for one in objects] == [
        ([1], [1]),
        ([3], [3, 4]),
        ([5], [6]),
    ]
    units = ElementTree.parse(tmp_path / "out.tmx").findall(".//tu")
    assert [segment.text for segment in units[1].iter("seg")] == [
        "fr4 fr5. fr6 & fr7.",
        "en4 en5. en6 & en7.",
    ]
    rungs = [line.split("\t")[:2] for line in (tmp_path / "out.ladder").read_text().splitlines()]
    assert rungs == [["0", "0"], ["2", "2"], ["4", "5"], ["5", "6"]]


def test_running_text_is_cut_into_sentences(muse: Command, given: list[object], tmp_path: Path) -> None:
    (tmp_path / "fr").write_text("fr1 fr2 fr3. Fr4 fr5. Fr6 fr7.\n")
    (tmp_path / "en").write_text("En1 en2 en3. En4 en5.\nEn6 en7.\n")
    found = muse(*given, "--split", "--json").json
    assert (found["source_sentences"], found["target_sentences"], found["pairs"]) == (3, 3, 3)


def test_improbable_blocks_are_left_out(muse: Command, given: list[object]) -> None:
    assert muse(*given, "--min-probability", 1, "--json").json["blocks"] == 0


def test_unlike_texts_are_aligned_and_lose_nothing(
    muse: Command, given: list[object], tmp_path: Path
) -> None:
    lines = [f"en{place % 40} en{place * 7 % 40}." for place in range(2_000)]
    lines[700] = "en1 en2 " * 100_000
    (tmp_path / "en").write_text("\n".join(lines))
    found = muse(*given, "--json").json
    for side, count in (("source", 3), ("target", 2_000)):
        assert sum(len(block[side]) for block in found["aligned"]) == count


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (b"", (), "expected content, got an empty file"),
        (b"\n \n", (), "expected sentences"),
        (b"fr1\n\xff\n", (), "2: expected UTF-8"),
        (b"fr1\n", ("--out", "a.pdf"), "aligned texts are written as"),
        (b"fr1\n", ("--out", "a.ladder", "--split"), "leave out --split"),
        (b"fr1\n", ("--encoder", "nothing"), "an encoder must be"),
        (b"none\n", (), "/fr: idf needs text with words of the space"),
        (b"fr1\n\nfr4\n", ("--paragraphs",), "the same paragraphs, got 2 in"),
    ],
)
def test_bad_input_is_one_clear_error(
    content: bytes, options: tuple[str, ...], message: str, muse: Command, given: list[object], tmp_path: Path
) -> None:
    (tmp_path / "fr").write_bytes(content)
    placed = [tmp_path / one if one.startswith("a.") else one for one in options]
    found = muse(*given, *placed)
    assert found.code in (1, 2) and message in found.err and "Traceback" not in found.err
    assert not [*tmp_path.glob("a.*")]
