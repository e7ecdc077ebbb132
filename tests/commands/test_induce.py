"""`muse induce`: every format, both directions, limits and bad input, through the command line."""

import csv
import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from torch import Tensor

from muse.commands.induce import FORMS as SHOWN
from muse.files import read_lexicon
from muse.files.lexicons import dictionary_writer, written_formats
from muse.files.plain_text import read_lines
from muse.lexicon import Entry
from muse.ranking.induction import InductionConfig, entries
from muse.search import approximate
from muse.search.exact import Neighbours
from muse.space import load_space
from muse.space.direction import Search
from tests.support.command import Command, refused_leaving, tree
from tests.support.spaces import saved

# The odd words of the toy space cannot all stand in a line; these options keep to what can.
FORMS = ("tsv", "jsonl", "muse")
LACKING = {" ", "", "\r", "\t"}  # words of a space that only jsonl can represent


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines(), delimiter="\t"))


def test_a_table_is_what_entries_give(muse: Command, space: Path) -> None:
    out = space.parent / "d.tsv"
    ended = muse("induce", space, "--out", out, "--format", "tsv", "--top", 3, "--seed", 5, "--json")
    expected = list(entries(load_space(space), limits=InductionConfig(top=3), rng=np.random.default_rng(5)))
    found = rows(out)
    assert (ended.json["pairs"], ended.json["out"]) == (len(found), str(out))
    assert ended.json["peak_memory_mb"] is None or ended.json["peak_memory_mb"] > 10
    assert [(row["source"], row["target"], int(row["rank"])) for row in found] == [
        (entry.source, entry.target, entry.rank) for entry in expected
    ]
    for name in ("score", "probability"):
        values = [getattr(entry, name) for entry in expected]
        assert [float(row[name]) for row in found] == pytest.approx(values, rel=1e-4)


def test_the_ending_says_the_format(muse: Command, space: Path) -> None:
    for name, form in (("d.tsv", "tsv"), ("d.tsv.gz", "tsv"), ("d.jsonl", "jsonl"), ("d.txt", "muse")):
        assert muse("induce", space, "--out", space.parent / name).code == 0
        out = space.parent / f"explicit.{name}"
        assert muse("induce", space, "--out", out, "--format", form).code == 0
        texts = [list(read_lines(path)) for path in (space.parent / name, out)]
        assert texts[0] == texts[1]
    assert muse("induce", space, "--out", space.parent / "e.tsv", "--format", "muse").code == 0
    assert read_lexicon(space.parent / "e.tsv") == read_lexicon(space.parent / "d.txt")


@pytest.mark.parametrize(("name", "form"), [("d.xlsx", "tsv"), ("d.XLSX", "muse"), ("d.csv", "xlsx")])
def test_a_workbook_is_named_so_and_nothing_else_is(
    muse: Command, space: Path, monkeypatch: pytest.MonkeyPatch, name: str, form: str
) -> None:
    monkeypatch.setattr("muse.commands.induce.open_space", None)  # refused before any work
    part = f"expected the name of a file of the format {form}, got one that ends in .{name[2:].lower()}"
    refused_leaving(space.parent, muse, ["induce", space, "--out", name, "--format", form], part)


@pytest.mark.parametrize("name", ["d.csv", "d.CSV.gz", "plain"])
def test_csv_has_the_rows_of_the_table(muse: Command, space: Path, name: str) -> None:
    plain, out = space.parent / "d.tsv", space.parent / name
    assert muse("induce", space, "--out", plain, "--top", 2).code == 0
    more = ["--format", "csv"] if name == "plain" else []
    assert muse("induce", space, "--out", out, "--top", 2, *more).code == 0
    packed = out.read_bytes()
    text = (gzip.decompress(packed) if name.endswith(".gz") else packed).decode()
    assert text.startswith("\ufeffsource,target,score,rank,probability,frequency_rank\n")
    assert list(csv.DictReader(text[1:].splitlines())) == rows(plain)


@pytest.mark.slow
def test_a_sheet_has_the_rows_of_the_table(muse: Command, space: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    for name in ("d.tsv", "d.xlsx"):
        assert muse("induce", space, "--out", space.parent / name, "--top", 2).code == 0
    head, *cells = openpyxl.load_workbook(space.parent / "d.xlsx").active.iter_rows(values_only=True)
    plain = rows(space.parent / "d.tsv")
    assert list(head) == list(plain[0]) and len(cells) == len(plain)
    for row, shown in zip(cells, plain, strict=True):
        assert row[:2] == (shown["source"], shown["target"]) and row[3] == int(shown["rank"])
        assert (row[2], row[4]) == (float(shown["score"]), float(shown["probability"]))


def test_a_cell_is_no_formula(tmp_path: Path) -> None:
    with dictionary_writer(tmp_path / "d.csv", form="csv") as write:
        write(Entry("=1", 'a, "b"', -0.5, 1, None))
    assert (tmp_path / "d.csv").read_text(encoding="utf-8-sig").splitlines()[1] == '\'=1,"a, ""b""",-0.5,1,,'


def _words_of(row: Mapping[str, str]) -> tuple[str, str, str]:
    return row["source"], row["target"], row["rank"]


@pytest.mark.parametrize("more", [[], ["--mutual"], ["--min-probability", 0.1]], ids=str)
def test_a_list_has_the_entries_of_its_words(muse: Command, space: Path, more: list[object]) -> None:
    (space.parent / "list.txt").write_text("fr7\nnosuch\nFR3\n\nfr12\n", encoding="utf-8")
    plain, out = space.parent / "d.tsv", space.parent / "own.tsv"
    options = ["--top", 3, *more]
    muse("induce", space, "--out", plain, *options)
    ended = muse("induce", space, "--out", out, "--words", space.parent / "list.txt", *options, "--json")
    expected = [row for row in rows(plain) if row["source"] in ("fr3", "fr7", "fr12")]
    assert [_words_of(row) for row in rows(out)] == [_words_of(row) for row in expected] != []
    for name in ("score", "probability"):  # sums of fewer words may be rounded otherwise
        found, all_ = ([float(row[name]) for row in table] for table in (rows(out), expected))
        assert found == pytest.approx(all_, rel=1e-4)
    words = len({row["source"] for row in expected})
    assert (ended.json["words"], ended.json["left_out"]) == (3, {"without_pair": 3 - words, "format": 0})
    assert "left out 1 word, unknown: 'nosuch' is not among the 39 words of fr" in ended.err


def test_a_list_may_be_the_first_column_of_a_workbook(muse: Command, space: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["fr7", "a note"], [None, "another"], ["fr12"]):
        book.active.append(row)
    book.save(space.parent / "list.xlsx")
    (space.parent / "list.txt").write_text("fr7\nfr12\n", encoding="utf-8")
    for name in ("list.xlsx", "list.txt"):
        muse("induce", space, "--out", space.parent / f"{name}.tsv", "--words", space.parent / name)
    assert rows(space.parent / "list.xlsx.tsv") == rows(space.parent / "list.txt.tsv") != []
    (space.parent / "list.xlsx").write_bytes((space.parent / "list.xlsx").read_bytes()[:-30])
    asked: list[object] = [
        "induce",
        space,
        "--words",
        space.parent / "list.xlsx",
        "--out",
        space.parent / "d",
    ]
    refused_leaving(space.parent, muse, asked, "list.xlsx: expected a complete", code=1)


def test_no_more_words_are_looked_up_than_a_list_has(
    muse: Command, space: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[int] = []
    search = Search.best

    def counted(self: Search, rows: Tensor, top: int) -> Neighbours:
        looked_up.append(len(rows))
        return search(self, rows, top)

    monkeypatch.setattr(Search, "best", counted)
    (space.parent / "list.txt").write_text("fr7\nfr12\n", encoding="utf-8")
    muse("induce", space, "--out", space.parent / "d.tsv", "--words", space.parent / "list.txt")
    assert looked_up == [2]


@pytest.mark.parametrize(
    ("more", "part", "code"),
    [
        (["--both"], "--both is for whole vocabularies; leave it out, or leave out --words", 2),
        (["--src-max", 5], "--src-max is for whole vocabularies", 2),
        (["--ray", "local"], "--ray is for whole vocabularies", 2),
        ([], "none of 1 word is known; 'nosuch' is not among the 39 words of fr", 1),
    ],
    ids=str,
)
def test_what_a_list_excludes(muse: Command, space: Path, more: list[object], part: str, code: int) -> None:
    (space.parent / "list.txt").write_text("nosuch\n", encoding="utf-8")
    asked: list[object] = ["induce", space, "--words", space.parent / "list.txt", "--out", space.parent / "d"]
    refused_leaving(space.parent, muse, [*asked, *more], part, code=code)


def test_json_lines_and_packed_pairs_hold_the_same(muse: Command, space: Path) -> None:
    muse("induce", space, "--out", space.parent / "d.jsonl", "--format", "jsonl", "--top", 2)
    muse("induce", space, "--out", space.parent / "d.txt.gz", "--top", 2)
    lines = (space.parent / "d.jsonl").read_text(encoding="utf-8").splitlines()
    pairs = [(row["source"], row["target"]) for row in map(json.loads, lines)]
    packed = gzip.decompress((space.parent / "d.txt.gz").read_bytes()).decode()
    assert [tuple(line.split(" ")) for line in packed.splitlines()] == pairs
    assert list(read_lexicon(space.parent / "d.txt.gz").pairs) == pairs


@pytest.mark.parametrize("more", [[], ["--mutual"], ["--src-max", 20, "--tgt-max", 25]], ids=str)
def test_both_directions_are_the_two_alone(muse: Command, space: Path, more: list[object]) -> None:
    out = space.parent / "fr-en.x.tsv.gz"
    both = muse("induce", space, "--out", out, "--both", "--format", "tsv", "--json", *more).json
    reverse = space.parent / "fr-en.x.reverse.tsv.gz"
    assert both["reverse"]["out"] == str(reverse)
    turned = [{"--src-max": "--tgt-max", "--tgt-max": "--src-max"}.get(str(one), one) for one in more]
    for path, options in ((out, more), (reverse, ["--src", "en", "--tgt", "fr", *turned])):
        alone = space.parent / "alone.tsv.gz"
        muse("induce", space, "--out", alone, "--format", "tsv", *options)
        assert alone.read_bytes() == path.read_bytes()


def test_each_side_has_its_own_limit(muse: Command, space: Path) -> None:
    out = space.parent / "d.tsv"
    muse("induce", space, "--out", out, "--format", "tsv", "--src-max", 7, "--tgt-max", 30, "--top", 30)
    found = rows(out)
    assert len(found) == 7 * 30
    assert {row["source"] for row in found} == {f"fr{row}" for row in range(7)}
    assert {row["target"] for row in found} == {f"en{row}" for row in range(30)}
    muse("induce", space, "--out", out, "--format", "tsv", "--max-vocab", 9, "--tgt-max", 30, "--top", 30)
    assert len(rows(out)) == 9 * 30


def test_a_least_probability(muse: Command, space: Path) -> None:
    out = space.parent / "d.tsv"
    muse("induce", space, "--out", out, "--format", "tsv", "--top", 4)
    everything = [(row["source"], row["target"], float(row["probability"])) for row in rows(out)]
    least = float(np.median([probability for *_, probability in everything]))
    muse("induce", space, "--out", out, "--top", 4, "--min-probability", least)
    kept = [(source, target) for source, target, probability in everything if probability >= least]
    assert list(read_lexicon(out).pairs) == kept
    assert 0 < len(kept) < len(everything)


def test_a_precision_that_is_wished_for(muse: Command, space: Path) -> None:
    out, wished = space.parent / "d.tsv", space.parent / "wished.tsv"
    said = muse("induce", space, "--out", out, "--top", 2, "--json").json
    shares = np.array([float(row["probability"]) for row in rows(out)])
    assert said["expected_precision"] == pytest.approx(100 * shares.mean(), abs=0.06)
    precision = 100 * float(shares.mean() + shares.max()) / 2
    said = muse("induce", space, "--out", wished, "--top", 2, "--precision", precision, "--json").json
    kept = [float(row["probability"]) for row in rows(wished)]
    assert len(kept) == sum(np.sort(shares)[::-1].cumsum() >= precision / 100 * np.arange(1, len(shares) + 1))
    assert said["expected_precision"] >= precision - 0.06
    assert (
        f"about {said['expected_precision']:.0f} % right"
        in muse("induce", space, "--out", wished, "--precision", precision, "--top", 2).out
    )
    ended = muse("induce", space, "--out", wished, "--precision", 100)
    assert ended.code == 1 and "needs pairs as probable as that" in ended.err


LIMITED: dict[str, tuple[list[object], InductionConfig]] = {
    "all": ([], InductionConfig(top=2)),
    "mutual": (["--mutual"], InductionConfig(top=2, mutual=True)),
    "probable": (["--min-probability", 0.11], InductionConfig(top=2, min_probability=0.11)),
    "frequent": (["--mutual", "--src-max", 9], InductionConfig(top=2, mutual=True, source_max=9)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("limited", LIMITED)
def test_the_words_left_out_are_counted(muse: Command, tmp_path: Path, form: str, limited: str) -> None:
    saved(tmp_path / "space")  # with words that not every format can represent
    space, (more, limits) = load_space(tmp_path / "space"), LIMITED[limited]
    lacking = set() if form == "jsonl" else LACKING
    command = ["induce", tmp_path / "space", "--top", 2, "--both", "--out", tmp_path / "d", "--format", form]
    fields = muse(*command, *more, "--json").json
    for found, direction, most in (
        (fields, ("fr", "en"), limits),
        (fields["reverse"], ("en", "fr"), limits.reversed()),
    ):
        pairs = [one[:2] for one in entries(space, *direction, limits=most, rng=np.random.default_rng(0))]
        written = [pair for pair in pairs if lacking.isdisjoint(pair)]
        sizes = [len(dict(some)) for some in (pairs, written)]  # the sources that have a pair
        looked_up = min(len(space.vectors(direction[0]).words), most.source_max or 1_000)
        assert (found["pairs"], found["words"]) == (len(written), looked_up)
        assert found["left_out"] == {"without_pair": looked_up - sizes[0], "format": sizes[0] - sizes[1]}
    told = sum(any(one["left_out"].values()) for one in (fields, fields["reverse"]))
    assert muse(*command, *more).err.count("left out") == told


@pytest.mark.parametrize("form", FORMS)
def test_nothing_probable_enough_leaves_no_file(muse: Command, space: Path, form: str) -> None:
    more = ["--both", "--format", form, "--min-probability", 1]
    ended = muse("induce", space, "--out", space.parent / "d", *more)
    assert (ended.code, ended.out, len(ended.errors)) == (1, "", 1)
    assert "got none; lower --min-probability" in ended.err
    assert list(space.parent.iterdir()) == [space]


def test_an_approximate_search_says_how_good_it_is(
    muse: Command, space: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = space.parent / "d.txt"
    exact = muse("induce", space, "--out", out, "--mutual", "--json").json
    pairs = out.read_text(encoding="utf-8")
    found = muse("induce", space, "--out", out, "--mutual", "--search", "approximate", "--json").json
    assert "search" not in exact and exact["pairs"] == found["pairs"]
    fields = {"method": "exact", "recall": 1.0}  # so few words are searched exactly all the same
    assert {key: found["search"][key] for key in fields} == fields
    assert out.read_text(encoding="utf-8") == pairs
    assert "exact search" in muse("induce", space, "--out", out, "--search", "approximate").out
    monkeypatch.setattr(approximate, "FEWEST_KEYS", 10)
    monkeypatch.setattr(approximate, "TRAINED_ON", 8)
    shown = muse("induce", space, "--out", out, "--search", "approximate").out
    assert "approximate search: recall@1 100.0 %, recall@10 100.0 %" in shown


def test_a_second_file_that_fails_takes_the_first_along(muse: Command, space: Path) -> None:
    (space.parent / "d.reverse.tsv").mkdir()
    before = tree(space.parent)
    ended = muse("induce", space, "--out", space.parent / "d.tsv", "--both", "--format", "tsv")
    assert ended.code == 1
    assert "d.reverse.tsv: expected the name of a file, got a folder" in ended.err
    assert tree(space.parent) == before


@pytest.mark.parametrize("name", ["d", "d.dict", "fr-en.5000-6500", "d.TXT.gz"])
def test_any_other_name_is_that_of_plain_pairs(muse: Command, space: Path, name: str) -> None:
    assert muse("induce", space, "--out", space.parent / name).code == 0
    assert len(read_lexicon(space.parent / name)) > 10


@pytest.mark.parametrize("name", ["d.parquet", "d.tbx", "d.apkg", "d.json", "d.json.gz", "d.xlsx.gz"])
def test_a_name_that_promises_another_format(muse: Command, space: Path, name: str) -> None:
    out = space.parent / name
    arguments: list[object] = ["induce", space / "nosuch", "--out", out]  # before the space is opened
    message = f"{name}: pairs are written to a .txt, .tsv, .csv, .xlsx or .jsonl file, got"
    refused_leaving(space.parent, muse, arguments, message)
    assert muse("induce", space, "--out", out, "--format", "jsonl").code == 0


def test_pairs_without_probabilities_cost_no_calibration(
    muse: Command, space: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muse.ranking.induction.calibrate_space", None)
    assert muse("induce", space, "--out", space.parent / "d.txt").code == 0


@pytest.mark.parametrize("form", FORMS)
def test_words_that_a_format_lacks_are_left_out_before_the_search(
    muse: Command, tmp_path: Path, form: str
) -> None:
    saved(tmp_path / "space")  # with a tab, a space, nothing and a carriage return among its words
    space, out = load_space(tmp_path / "space"), tmp_path / "d"
    ended = muse("induce", tmp_path / "space", "--out", out, "--format", form, "--top", 9, "--both")
    lacking = set() if form == "jsonl" else LACKING
    for direction, path in ((("fr", "en"), out), (("en", "fr"), tmp_path / "d.reverse")):
        pairs = [one[:2] for one in entries(space, *direction, limits=InductionConfig(top=9))]
        expected = [pair for pair in pairs if lacking.isdisjoint(pair)]
        lines = path.read_bytes().decode().split("\n")[form == "tsv" : -1]
        assert len(lines) == len(expected) <= len(pairs) - len(lacking)
        if form == "jsonl":
            assert [(one["source"], one["target"]) for one in map(json.loads, lines)] == expected
    for language in ("fr", "en"):
        told = f"leaving out {len(lacking)} words of {language} that the format {form} cannot represent"
        assert ended.err.count(told) == (form != "jsonl")
    capped = muse("induce", tmp_path / "space", "--out", out, "--format", form, "--max-vocab", 3)
    assert (capped.code, "leaving out" in capped.err) == (0, False)


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("bicleaner", "dict-fr.gz"),
        ("kaikki", "d.x"),
        ("stardict", "d.ifo"),
        ("dictd", "d.index"),
        ("kindle", "d.opf"),
        ("hunalign", "d.dic"),
    ],
)
def test_dictionaries_of_other_programs(muse: Command, space: Path, form: str, name: str) -> None:
    muse("induce", space, "--out", space.parent / "d.jsonl", "--top", 2)
    expected = read_lexicon(space.parent / "d.jsonl")
    more = ["--format", form] if form in ("bicleaner", "kaikki") else []
    ended = muse("induce", space, "--out", space.parent / name, "--top", 2, "--both", "--json", *more)
    assert (ended.code, ended.json["pairs"]) == (0, len(expected))
    found = read_lexicon(space.parent / name, languages=("fr", "en"))
    assert set(found.pairs) == set(expected.pairs)
    if form == "bicleaner":
        assert found.probabilities == pytest.approx(expected.probabilities, rel=1e-4)
    reverse = Path(ended.json["reverse"]["out"])
    assert reverse.exists() and reverse.suffix == Path(name).suffix


def test_help_names_the_formats_that_there_are() -> None:
    assert set(SHOWN) == {*written_formats()}


@pytest.mark.parametrize(
    ("form", "message"), [("bicleaner", "ends in .gz"), ("stardict", "named after the one that ends in .ifo")]
)
def test_a_name_that_the_other_program_would_not_read(
    muse: Command, space: Path, form: str, message: str
) -> None:
    arguments: list[object] = ["induce", space, "--out", space.parent / "d.txt", "--format", form]
    refused_leaving(space.parent, muse, arguments, message)
