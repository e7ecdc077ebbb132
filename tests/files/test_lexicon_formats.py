"""Dictionaries in every format, read back by others' readers."""

import gzip
import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muse.errors import BadFile, BadSetting, Mismatch
from muse.files import read_lexicon
from muse.files.cells import stripped
from muse.files.lexicons import can_store_entry, dictionary_writer, form_of_name, formats, written_formats
from muse.lexicon import Entry, Lexicon
from tests.files.test_what_dictionaries_are_read import TBX, TEI, TMX

FORMS = ("muse", "tsv", "jsonl", "csv", "xlsx")
OTHER_FORMS = [form for form in written_formats() if form not in FORMS]
PAIRS = (
    ("chat", "cat"), ("chat", "tom\u2028cat"), ('dit"il', "new york"), ("été", "👍"), ("chat", "x\u0085"),
)  # fmt: skip
LEXICON = Lexicon(PAIRS, (1.25, 0.5, -0.125, 1 / 3, 1e-9))


def write_dictionary(path: Path, lexicon: Lexicon, form: str = "muse") -> None:
    """The pairs of a lexicon through the writer, ranked in order."""
    ranks: Counter[str] = Counter()
    scores = lexicon.scores or [None] * len(lexicon)
    with dictionary_writer(path, form=form) as write:
        for (source, target), score in zip(lexicon.pairs, scores, strict=True):
            ranks[source] += 1
            write(Entry(source, target, score, ranks[source]))


def test_a_header_of_two_columns_is_no_pair(tmp_path: Path) -> None:
    (tmp_path / "d.tsv").write_text("source\ttarget\nroi\tking\nla source\tthe spring\n", encoding="utf-8")
    assert read_lexicon(tmp_path / "d.tsv").pairs == (("roi", "king"), ("la source", "the spring"))
    (tmp_path / "d.txt").write_text("source target\n", encoding="utf-8")
    assert read_lexicon(tmp_path / "d.txt").pairs == (("source", "target"),)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scores", [LEXICON.scores, None])
def test_what_is_written_reads_back(tmp_path: Path, form: str, scores: tuple[float, ...] | None) -> None:
    path = tmp_path / ("d.xlsx" if form == "xlsx" else "d")  # openpyxl wants the name
    write_dictionary(path, Lexicon(PAIRS, scores), form=form)
    lexicon = read_lexicon(path)
    assert lexicon.pairs == PAIRS
    if scores is None or form == "muse":
        assert lexicon.scores is None
    else:
        assert lexicon.scores == pytest.approx(scores, rel=1e-5)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("word", ["", " ", "a\tb", "a\nb", "a\rb", " a", "a", "\ufeff", "=1", "new york"])
def test_a_format_has_the_words_that_read_back(tmp_path: Path, form: str, word: str) -> None:
    path, entry = tmp_path / f"d.{form}", Entry("x", word, 0.5, 1, 0.5)
    if not can_store_entry(form, entry):
        with pytest.raises(Mismatch, match="rename or drop it"):
            write_entries(path, form, (entry,))
        return
    write_entries(path, form, (Entry("y", "z", 0.5, 1, 0.5), entry))
    if form == "jsonl" and not word.strip():  # which has every word, and these are no pair
        return
    assert read_lexicon(path).pairs == (("y", "z"), ("x", word))


def test_a_pair_like_a_header_or_an_object_is_a_pair(tmp_path: Path) -> None:
    pairs = (("source", "target"), ("{", "}"))
    for order in (pairs, pairs[::-1]):
        write_dictionary(tmp_path / "d", Lexicon(order))
        assert read_lexicon(tmp_path / "d").pairs == order


TABLE, OBJECT = "source\ttarget\tscore\trank\n", '{"source": "a", "target": "b", "score": 1}\n'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (TABLE, "expected at least one pair"),
        (TABLE + "a\tb\t1\n", r"d:2: expected 4 cells .* got 'a | b | 1'"),
        (TABLE + "a\tb\t1\t1\n\na\tc\tx\t2\n", r"d:4: .* got 'x'"),
        (OBJECT + "a b\n", r"d:2: .* got 'a b'"),
        (OBJECT + '{"source": "a"}\n', r"d:2: .* got 'a \| "),
        (OBJECT + '{"source": "", "target": "c"}\n', r"d:2: .* got ' \| c "),
        (TABLE + "a\t \t1\t1\n", r"d:2: .* got 'a \|   \| 1"),
        ("\tcat\t0.5\n", r"d:1: expected two words, got 2 fields"),
        (OBJECT + '{"source": "a", "target": "c", "score": NaN}', r"d:2: expected a finite number"),
        (OBJECT + OBJECT.replace("b", "c").replace("1", "1" + "0" * 400), r"d:2: expected a finite number"),
        (OBJECT + '{"source": "a", "target": "c"}\n', "expected a score for every pair or for none"),
    ],
)
def test_what_is_wrong_with_a_format_is_told(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "d").write_text(content)
    with pytest.raises(BadFile, match=message):
        read_lexicon(tmp_path / "d")


@pytest.mark.parametrize("form", FORMS)
def test_nothing_to_write(tmp_path: Path, form: str) -> None:
    with pytest.raises(Mismatch, match="at least one pair of words to write, got none"):
        write_dictionary(tmp_path / "d", Lexicon(()), form=form)


def test_an_unknown_format(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="one of muse, .*bicleaner.*; got 'xml'"):
        write_dictionary(tmp_path / "d", LEXICON, form="xml")


def test_a_first_word_that_begins_with_a_byte_order_mark(tmp_path: Path) -> None:
    odd = Lexicon((("\ufeffa", "b"), ("\ufeffc", "d")))
    write_dictionary(tmp_path / "d", odd)
    assert read_lexicon(tmp_path / "d") == odd


ENTRIES = (
    Entry("roi", "king", 1.5, 1, 0.75),
    Entry("roi", "ruler", 1.25, 2, 0.125),
    Entry("été", "summer", 1.0, 1, 1e-05),
)


def write_entries(path: Path, form: str, entries: tuple[Entry, ...] = ENTRIES) -> None:
    with dictionary_writer(path, form=form, languages=("fr", "en")) as write:
        for entry in entries:
            write(entry)


def test_bicleaner_reads_what_is_written_for_it(tmp_path: Path) -> None:
    write_entries(tmp_path / "dict-fr.gz", "bicleaner")
    # As bicleaner's ProbabilisticDictionary does: the second word is the one looked up.
    found: dict[str, dict[str, float]] = {}
    with gzip.open(tmp_path / "dict-fr.gz", "rt", encoding="utf-8") as file:
        for line in file:
            parts = line.rstrip("\n").split()
            found.setdefault(parts[1], {})[parts[0]] = float(parts[2])
    assert found == {"roi": {"king": 0.75, "ruler": 0.125}, "été": {"summer": 1e-05}}
    read = read_lexicon(tmp_path / "dict-fr.gz", languages=("fr", "en"))
    assert read == Lexicon(tuple(entry[:2] for entry in ENTRIES), None, (0.75, 0.125, 1e-05))
    back = read_lexicon(tmp_path / "dict-fr.gz", languages=("en", "fr"))
    assert back == read.reversed()


def test_a_lexical_table_of_moses_is_read_in_its_direction(tmp_path: Path) -> None:
    # Its training writes w(e|f) as "e f w" into lex.f2e, and w(f|e) as "f e w" into lex.e2f.
    table = {("roi", "king"): 0.75, ("roi", "ruler"): 0.25}  # by f and e
    (tmp_path / "lex.f2e").write_text(
        "".join(f"{e} {f} {w:.7f}\n" for (f, e), w in table.items()), encoding="utf-8"
    )
    (tmp_path / "lex.e2f").write_text("".join(f"{f} {e} 1.0000000\n" for f, e in table), encoding="utf-8")
    assert read_lexicon(tmp_path / "lex.f2e") == Lexicon(tuple(table), None, tuple(table.values()))
    assert read_lexicon(tmp_path / "lex.e2f") == Lexicon(tuple(table), None, (1.0, 1.0))


def test_objects_as_wiktextract_has_them(tmp_path: Path) -> None:
    write_entries(tmp_path / "d.jsonl", "kaikki")
    lines = (tmp_path / "d.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [
        {"word": "roi", "lang_code": "fr", "translations": [
            {"word": "king", "lang_code": "en", "probability": 0.75},
            {"word": "ruler", "lang_code": "en", "probability": 0.125},
        ]},
        {"word": "été", "lang_code": "fr", "translations": [
            {"word": "summer", "lang_code": "en", "probability": 1e-05},
        ]},
    ]  # fmt: skip
    pairs = tuple(entry[:2] for entry in ENTRIES)
    assert read_lexicon(tmp_path / "d.jsonl").pairs == pairs
    assert read_lexicon(tmp_path / "d.jsonl", languages=("en", "fr")) == Lexicon(pairs).reversed()
    with (
        pytest.raises(BadSetting, match="kaikki names languages"),
        dictionary_writer(tmp_path / "e", form="kaikki"),
    ):
        pass


@pytest.mark.parametrize("form", OTHER_FORMS)
def test_what_other_programs_cannot_have(tmp_path: Path, form: str) -> None:
    name = {"bicleaner": "d.gz", "stardict": "d.ifo", "dictd": "d.index", "kindle": "d.opf"}.get(form, "d")
    lacking = {
        "bicleaner": ["new york", "a\u00a0b", " a"], "stardict": ["a\nb", "x" * 300], "dictd": ["a\tb", " a"],
        "kindle": ["a\nb", "a\x01"], "hunalign": ["a@b", "a  b", " a"],
    }.get(form, ["\ud800"])  # fmt: skip
    for word in lacking:
        entry = Entry("x", word, 0.5, 1, 0.5)
        assert can_store_entry(form, entry) == (word == "\ud800")
        with pytest.raises(Mismatch, match="rename or drop it"):
            write_entries(tmp_path / name, form, (entry,))
    with pytest.raises(Mismatch, match="at least one pair of words to write, got none"):
        write_entries(tmp_path / name, form, ())
    unknown = Entry("x", "y", 0.5, 1)
    if form == "bicleaner":
        assert not can_store_entry(form, unknown)
        with pytest.raises(Mismatch, match="bicleaner needs a probability for every pair, got none for 'x'"):
            write_entries(tmp_path / name, form, (unknown,))
        with pytest.raises(BadSetting, match="bicleaner reads compressed dictionaries; choose a name that"):
            write_entries(tmp_path / "d", form)
    else:
        write_entries(tmp_path / name, form, (unknown,))
        (tmp_path / name).unlink()
    assert not list(tmp_path.glob("d")) and not list(tmp_path.glob("*.gz"))


# What is recognised otherwise, or not at all, by the name of its format.
GIVEN = {
    "muse": ("alors, puis\tthen, next\n", [("alors, puis", "then, next")]),
    "tsv": ("roi\tking\n", [("roi", "king")]), "csv": ("roi,king\n", [("roi", "king")]),
    "lex.f2e": ("king roi 0.5\n", [("roi", "king")]), "lex.e2f": ("roi king 0.5\n", [("roi", "king")]),
    "bicleaner": ("king\troi\t0.5\n", [("roi", "king")]),
    "jsonl": ('{"source": "roi", "target": "king"}\n', [("roi", "king")]),
    "kaikki": ('{"word": "roi", "translations": [{"word": "king"}]}\n', [("roi", "king")]),
    "dict.cc": ("roi {m}\tking\tnoun\n", [("roi", "king")]),
    "tabfile": ("roi\t1. king, ruler\\n2. lord\n", [("roi", "king"), ("roi", "ruler"), ("roi", "lord")]),
    "tei": (TEI, [("roi", "king")]), "tmx": (TMX, [("king", "roi")]),
    "tbx": (TBX, [("roi", "king")]),
}  # fmt: skip


@pytest.mark.parametrize("form", GIVEN)
def test_a_format_is_given(tmp_path: Path, form: str) -> None:
    content, pairs = GIVEN[form]
    (tmp_path / "d.csv.old").write_text(content, encoding="utf-8")
    assert list(read_lexicon(tmp_path / "d.csv.old", form=form).pairs) == pairs


@pytest.mark.parametrize(
    "form", [form for form in formats() if form not in ("muse", "tsv", "dict.cc", "tabfile")]
)
def test_another_format_is_given_than_a_file_has(tmp_path: Path, form: str) -> None:
    (tmp_path / "d").write_text("alors puis\tthen next\n", encoding="utf-8")
    with pytest.raises(BadFile, match="d(:1)?: expected"):
        read_lexicon(tmp_path / "d", form=form)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("roi = king\n", "'=' between the words"),
        ("roi=king\nchat=cat\n", "'=' between the words"),
        ("| roi | king |\n| chat | cat |\n", "'|' between the words"),
        ("| fr | en |\n|:---|--:|\n| roi | king |\n", "'|' between the words"),
        ("roi & king \\\\\nchat & cat \\\\\n", "' & ' between the words"),
        ("roi:\n  - king\nchat:\n  - cat\n", "YAML with a list below each word; "),
        ("roi\nking\n\nchat\ncat\n", "a word on each line; if its translation is on the next: "),
        ("roi \u2192 king\n", "'\u2192' between the words"),
        ("roi \u2014 king\n", "' \u2014 ' between the words; put a tab in its place: sed -E"),
        ("LEX\troi\tking\t0.5\n", "priors of eflomal; keep the words: grep ^LEX FILE | cut -f2,3"),
        ("2 3 0.5\n3 4 1e-05\n", "numbers of words, as in tables of GIZA++"),
        ("2 roi 17\n3 chat 9\n", "a vocabulary of GIZA++, of one language"),
        ("# Ding\nK\u00f6nig {m} :: king\nKatze {f} | Katzen {pl} :: cat | cats\n", "'::' between the words"),
    ],
)  # fmt: skip
def test_lines_that_look_like_pairs_and_are_none(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "d").write_text(content, encoding="utf-8")
    with pytest.raises(BadFile) as error:
        read_lexicon(tmp_path / "d")
    assert f"d:1: expected two words with a space or a tab between, got {message}" in str(error.value)
    command = re.search(r"(?:sed|grep) -?.*OUT.tsv", str(error.value))
    if command and content.startswith(("roi", "|")):  # what it says makes it readable
        subprocess.run(["bash", "-c", command[0].replace("FILE", "d")], cwd=tmp_path, check=True)
        assert read_lexicon(tmp_path / "OUT.tsv", languages=("fr", "en")).pairs[0] == ("roi", "king")
    (tmp_path / "d").write_text("a: b\n: ;\n", encoding="utf-8")
    assert len(read_lexicon(tmp_path / "d")) == 2  # signs may be words
    (tmp_path / "d").write_text("= =\n-> ->\n[ [\n<b> </b>\n", encoding="utf-8")
    assert len(read_lexicon(tmp_path / "d")) == 4


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"source": "\\ud83d", "target": "king"}\n', "d:1: expected a JSON object on each line"),
        (
            'roi,"king\nreine,queen\n',
            "d:1: expected cells with ',' between, got a quoted one that does not end before it",
        ),
        ("roi\tking\tnoun\n", "or name the columns in a first row, such as source, target and note"),
        ("source,target\n", "got only blank lines or a header"),
    ],
)
def test_what_is_wrong_with_a_table_is_named(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "d").write_text(content, encoding="utf-8")
    with pytest.raises(BadFile, match=re.escape(message)):
        read_lexicon(tmp_path / "d")


@pytest.mark.parametrize(
    ("content", "pairs"),
    [
        ("\u00a0roi ; king\u3000\n reine ;queen\u202f\n", [("roi", "king"), ("reine", "queen")]),
        ("roi\tking; ruler;\nreine\tqueen\n", [("roi", "king"), ("roi", "ruler"), ("reine", "queen")]),
        ("roi\t1. king; 2. ruler, lord\n", [("roi", "king"), ("roi", "ruler"), ("roi", "lord")]),
        ("roi\t1) king 2) lord\n", [("roi", "king"), ("roi", "lord")]),
        ("roi\tking 2. lord\n", [("roi", "king 2. lord")]),
        ("source\ttarget\nroi\tking;\n", [("roi", "king")]),
        ("roi\tking, etc.\n", [("roi", "king")]),
        ("roi\tking \u2022 lord\n", [("roi", "king"), ("roi", "lord")]),
        ("roi\t['king', 'lord']\n", [("roi", "king"), ("roi", "lord")]),
        ('roi\t["king","lord"]\nreine\t["queen"]\n', [("roi", "king"), ("roi", "lord"), ("reine", "queen")]),
        ('roi\t"king", "lord"\n', [("roi", "king"), ("roi", "lord")]),
        ("roi\t\u570b\u738b /\u56fd\u738b\n", [("roi", "\u570b\u738b"), ("roi", "\u56fd\u738b")]),
        ("\u2003roi\u2009\tking\u205f\n", [("roi", "king")]),
        (
            "chat\tcat (animal, small), kitty [fam.]\n",
            [("chat", "cat (animal, small)"), ("chat", "kitty [fam.]")],
        ),
        ("K\u00f6nig {m}\tking {n} | ruler\n", [("K\u00f6nig {m}", "king {n}"), ("K\u00f6nig {m}", "ruler")]),
        ("chat\tcat (a, b)\n", [("chat", "cat (a, b)")]),
    ],
)
def test_cells_with_remarks_and_signs_at_their_ends(
    tmp_path: Path, content: str, pairs: list[tuple[str, str]]
) -> None:
    (tmp_path / "d").write_text(content, encoding="utf-8")
    assert list(read_lexicon(tmp_path / "d").pairs) == pairs


def test_an_error_names_the_option_that_may_help(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"--dictionary-format must be one of muse, .*; got 'xml'"):
        read_lexicon(tmp_path / "d", form="xml")
    for content in ("a b c\n", "a,b,c\nd,e,f\ng,h,i\n", "roi king 0.5\n" * 1001 + "roi king\n"):
        (tmp_path / "d").write_text(content, encoding="utf-8")
        with pytest.raises(BadFile, match="name the format of the file with --dictionary-format"):
            read_lexicon(tmp_path / "d")
    with pytest.raises(BadFile) as error:
        read_lexicon(tmp_path / "d", "two ids")
    assert "--dictionary-format" not in str(error.value)


def test_the_name_says_the_format() -> None:
    names = ("a.TSV", "a.csv.gz", "a.xlsx", "a.ifo", "a.txt", "a")
    assert [form_of_name(Path(name)) for name in names] == ["tsv", "csv", "xlsx", "stardict", "muse", "muse"]
    for name in ("a.xlsx.gz", "a.parquet"):
        with pytest.raises(BadSetting, match="pairs are written to a .txt"):
            form_of_name(Path(name))


# Text, a pair a line


def _read(folder: Path, content: str | bytes) -> Lexicon:
    path = folder / "en-fr.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_lexicon(path)


@pytest.mark.parametrize(
    "content",
    [
        "cat chat\ndog chien\n",
        "cat\tchat\ndog\tchien\n",
        "cat   chat\n\n  \ndog\t chien",
        "\ufeffcat chat\r\ndog\tchien\r\n",
        "cat chat\ndog chien\ncat chat\n",
        "cat\t\tchat\n dog chien \n",
    ],
)
def test_every_spelling_of_the_same_pairs(tmp_path: Path, content: str) -> None:
    assert _read(tmp_path, content) == Lexicon((("cat", "chat"), ("dog", "chien")))


def test_phrases_and_other_spaces(tmp_path: Path) -> None:
    lexicon = _read(tmp_path, "new york\tnew york\na\u00a0b \u2028c\n\x85 x\n")
    assert lexicon.pairs == (("new york", "new york"), ("a\u00a0b", "\u2028c"), ("\x85", "x"))


def test_scores(tmp_path: Path) -> None:
    lexicon = _read(tmp_path, "cat\tchat\t0.5\nnew york\tny\t-1e-3\n")
    assert lexicon == Lexicon((("cat", "chat"), ("new york", "ny")), (0.5, -0.001))


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("cat chat\nnew york ny\n", [":2: expected two words, got 3 fields ('new york ny')", "or a tab"]),
        ("cat chat\ncat\n", [":2: expected two words, got 1 field ("]),
        ("cat\t\n", [":1: expected two words, got 1 field ("]),
        ("cat,chat\ndog\n", [":1: expected two words, got 1 field"]),
        ("cat chat\n# made by hand\n", [":2: expected two words, got 4 fields", "remove the line if"]),
        ("# French\tEnglish\tscore\n", [":1: expected two words, got 3 fields", "if it is a comment"]),
        ("a\tb\tc\n", [":1: expected two words, got 3 fields"]),
        ("a\tb\t1\na\tc\tnan\n", [":2: expected a finite number as the third field, got 'nan'"]),
        ("a\tb\t-inf\n", [":1: expected a finite number as the third field, got '-inf'"]),
        ("a\tb\t1\t2\n", [":1: expected two words, got 4 fields"]),
        (
            "a\tb\t1\nc\td\n",
            ["expected a score for every pair or for none, got 1 for 2", "such as that of 'c' and 'd'"],
        ),
        (b"cat chat\n\xe9t\xe9 summer\n", [":2: expected UTF-8, got the byte 0xe9"]),
        ("", ["expected content, got an empty file"]),
        ("\n \n", ["expected at least one pair of words, got only blank lines"]),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, content: str | bytes, parts: list[str]) -> None:
    with pytest.raises(BadFile) as caught:
        _read(tmp_path, content)
    assert str(caught.value).startswith(str(tmp_path / "en-fr.txt"))
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("content", "warning"),
    [
        ("cat chat\n# animals\n", ":2: read as the pair '#' and 'animals'; remove the line if it is a"),
        ("# a list\tby hand\ncat\tchat\n#animals\tmore\n#\tx\n",
         ":1: read as the pair '# a list' and 'by hand'; remove it and the 2 others that begin with # if"),
        ("# #\n#cat #chat\n# 1\t# 1\ncat #\n", None),
        ('{"source": "#", "target": "number"}\n', None),
        ("source\ttarget\n#\tnumber\n", None),
    ],
)  # fmt: skip
def test_a_pair_that_looks_like_a_comment_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: str, warning: str | None
) -> None:
    lexicon = _read(tmp_path, content)
    assert len(lexicon) == len(content.splitlines()) - content.startswith("source")  # it counts all the same
    assert len(caplog.messages) == (warning is not None)
    assert all(message.startswith(f"{tmp_path / 'en-fr.txt'}{warning}") for message in caplog.messages)


def test_written_as_muse_does(tmp_path: Path) -> None:
    write_dictionary(tmp_path / "x.txt", Lexicon((("cat", "chat"), ("new york", "ny"))))
    assert (tmp_path / "x.txt").read_bytes() == b"cat chat\nnew york\tny\n"


WORD = st.text(st.characters(blacklist_characters="\t\n\r", blacklist_categories=["Cs"]), min_size=1).filter(
    lambda word: word == stripped(word)
)


def test_phrases_that_end_in_a_number_survive(tmp_path: Path) -> None:
    lexicon = Lexicon((("F1", "Formula 1"), ("toile", "web 0.5")))
    write_dictionary(tmp_path / "x.txt", lexicon)
    assert read_lexicon(tmp_path / "x.txt") == lexicon


@given(st.lists(st.tuples(WORD, WORD), min_size=1, max_size=10, unique=True))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_any_words_survive(tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]) -> None:
    path = tmp_path_factory.mktemp("any") / "x.txt"
    write_dictionary(path, Lexicon(tuple(pairs)))
    assert read_lexicon(path).pairs == tuple(pairs)
