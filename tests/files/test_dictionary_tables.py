"""Dictionaries as tables, as spreadsheets and other programs write them."""

import csv
import io
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.errors import BadFile
from muse.files import read_lexicon
from muse.files.cells import split_translations
from muse.files.parquet import open_parquet
from muse.lexicon import Lexicon, Pair
from tests.support.growth import is_in_proportion

MARCH = date(2020, 3, 1)
KINGS: tuple[Pair, ...] = (("roi", "king"), ("chat", "cat"))


def read(
    folder: Path, content: str | bytes, name: str = "d.txt", languages: tuple[str, str] | None = ("fr", "en")
) -> Lexicon:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_lexicon(path, languages=languages)


@pytest.mark.parametrize(
    "content",
    [
        "roi,king\nchat,cat\n",
        "roi;king\nchat;cat\n",
        "roi, king\nchat, cat\n",
        '"roi","king"\n"chat","cat"\n',
        "\ufeffroi;king\r\nchat;cat\r\n",
        "roi\u00a0\tking\n\u3000chat\tcat\u3000\n",
        "roi king\u00a0\n\u00a0chat cat\n",
        "source,target\nroi,king\nchat,cat\n",
        "French,English\nroi,king\nchat,cat\n",
        "English;French\nking;roi\ncat;chat\n",
        "en\tfr\nking\troi\ncat\tchat\n",
        "FR\tEN\nroi\tking\nchat\tcat\n",
        "word_src\tword_trg\nroi\tking\nchat\tcat\n",
        "word\ttranslation\nroi\tking\nchat\tcat\n",
        "translation,French word\nking,roi\ncat,chat\n",
        "id,fran\u00e7ais,pos,English\n7,roi,n,king\n9,chat,n,cat\n",
        "roi,king,\nchat,cat,\n",
        "\nroi,king\n,,\nchat,cat\n",
        "#French\tEnglish\nroi\tking\nchat\tcat\n",
        "fr-FR,en_US\nroi,king\nchat,cat\n",
        "Franz\u00f6sisch;Englisch\nroi;king\nchat;cat\n",
        "anglais\tmot\nking\troi\ncat\tchat\n",
        "sep=;\nroi;king\nchat;cat\n",
        "roi,king\rchat,cat\r",
        "\t0\t1\n0\troi\tking\n1\tchat\tcat\n",
        "\troi\tking\n\tchat\tcat\n",
        "1,roi,king\n2,chat,cat\n",
        '"fr"\t"en"\n"1"\t"roi"\t"king"\n"2"\t"chat"\t"cat"\n',
        "fr\ten\n1\troi\tking\n2\tchat\tcat\n",
        "roi,king,fr,en\ncat,chat,en,fr\n",
        "12\tfra\troi\t7\teng\tking\n3\tfra\tchat\t9\teng\tcat\n",
        "Words,2024\nAuthor,X\nFrench,English\nroi,king\nchat,cat\n",
        "#separator:tab\n#html:true\n<div>roi</div><br>\t<b>king</b>\nchat\t<p>cat</p>\n",
        "roi king\rchat cat",
        "'roi', 'king'\n'chat', 'cat'\n",
        "Fran\u00e7ais (FR);Anglais (EN)\nroi;king\nchat;cat\n",
        "French word,English translation(s)\nroi,king\nchat,cat\n",
        "\u0444\u0440\u0430\u043d\u0446\u0443\u0437\u0441\u043a\u0438\u0439;\u0430\u043d\u0433\u043b\u0438\u0439\u0441\u043a\u0438\u0439\nroi;king\nchat;cat\n",
        "Frans;Engels\nroi;king\nchat;cat\n",
        "Quelle,Ziel\nroi,king\nchat,cat\n",
        "#separator:tab\n#html:false\nroi\tking\nchat\tcat\n",
        "#separator:tab\n#guid column:1\n#deck column:3\nx1\troi\tA\tking\nx2\tchat\tA\tcat\n",
        "roi,king,fr,en\nchat,cat,fr,en\n",
        "king\troi\ten\tfr\ncat\tchat\ten\tfr\n",
        "fr,roi,en,king\nfr,chat,en,cat\n",
        "\tfr\ten\n0\troi\tking\n1\tchat\tcat\n",
        '"roi\nchat","king\ncat"\n"roi","king"\n',
        "#separator:Comma\n#columns:Back,Front\nking,roi\ncat,chat\n",
        '"roi"\t"king"\n"chat"\t"cat"\n',
        '{"fr": "roi", "en": "king"}\n{"fr": "chat", "en": "cat"}\n',
        '{"id": 1, "translation": ["king"], "word": "roi"}\n\n{"word": "chat", "translation": ["cat"]}\n',
    ],
)
def test_tables_of_two_words(tmp_path: Path, content: str) -> None:
    assert read(tmp_path, content) == Lexicon(KINGS)


def test_a_pair_that_could_be_names_of_columns_hides_no_pairs_above(tmp_path: Path) -> None:
    found = read(tmp_path, "roi,king\nword,traduction\nchat,cat\n")
    assert found.pairs == (("roi", "king"), ("word", "traduction"), ("chat", "cat"))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-32"])
@pytest.mark.parametrize("between", "\t ,")
def test_the_encodings_of_excel(tmp_path: Path, encoding: str, between: str) -> None:
    text = "".join(f"{one}{between}{two}\r\n" for one, two in (*KINGS, ("\u00e9t\u00e9", "summer")))
    mark = "\ufeff" if encoding.endswith("e") else ""
    for begun in {"", mark}:
        found = read(tmp_path, (begun + text).encode(encoding))
        assert found.pairs == (*KINGS, ("\u00e9t\u00e9", "summer"))
        assert read(tmp_path, (begun + text.replace("\n", "")).encode(encoding)) == found


@pytest.mark.parametrize(
    ("content", "pairs"),
    [
        ("roi\tking, kings\nchat\tcat\n", [("roi", "king"), ("roi", "kings"), ("chat", "cat")]),
        ("roi;king, kings\n", [("roi", "king"), ("roi", "kings")]),
        ("roi\tking<br>kings\n", [("roi", "king"), ("roi", "kings")]),
        ("fr,en\nroi,king<br>kings\n", [("roi", "king"), ("roi", "kings")]),
        ("roi, m\tking, kings\n", [("roi", "king"), ("roi", "kings")]),
        ('roi,"king, kings"\n', [("roi", "king"), ("roi", "kings")]),
        ("roi\tking|kings\n", [("roi", "king"), ("roi", "kings")]),
        ("roi\tking; kings\n", [("roi", "king"), ("roi", "kings")]),
        ("roi\tking/kings\n", [("roi", "king"), ("roi", "kings")]),
        ("roi\tking; kings, lord\n", [("roi", "king"), ("roi", "kings"), ("roi", "lord")]),
        ("roi,king / king of\n", [("roi", "king"), ("roi", "king of")]),
        ("source\ttarget\nroi\tking, kings\n", [("roi", "king"), ("roi", "kings")]),
        ("source\ttarget\tscore\nroi\tking; kings\t1\n", [("roi", "king"), ("roi", "kings")]),
        ("fr\ten\nroi, monarque\tking\n", [("roi", "king"), ("monarque", "king")]),
        ("en\tfr\nking\troi, monarque\n", [("roi", "king"), ("monarque", "king")]),
        ("\u732b\tcat\u3001cats\n", [("\u732b", "cat"), ("\u732b", "cats")]),
        ('"new york, ny"\tbig apple\n', [("new york", "big apple"), ("ny", "big apple")]),
        # One word, or nothing that says which belong together.
        ("vitesse\tkm/h\n", [("vitesse", "km/h")]),
        ("et/ou\tand/or\n", [("et/ou", "and/or")]),
        ("un\t1,5\n", [("un", "1,5")]),
        ("eh bien\twell, well\n", [("eh bien", "well, well")]),
        ("guide/page\tguide\n", [("guide/page", "guide")]),
        ("il/elle est\the/she is\n", [("il/elle est", "he/she is")]),
        ("ion\t(Na, K)\n", [("ion", "(Na, K)")]),
    ],
)
def test_several_translations_in_a_cell(tmp_path: Path, content: str, pairs: list[Pair]) -> None:
    assert read(tmp_path, content).pairs == tuple(pairs)


@pytest.mark.parametrize(
    ("content", "pairs"),
    [
        ("un,deux one\nroi king\n", [("un,deux", "one"), ("roi", "king")]),
        ("1,5 1.5\n2,5 2.5\n3,5 3.5\n", [("1,5", "1.5"), ("2,5", "2.5"), ("3,5", "3.5")]),
        (", ,\n. .\n; ;\n", [(",", ","), (".", "."), (";", ";")]),
        ("a;b c\nroi king\n", [("a;b", "c"), ("roi", "king")]),
        ('"roi" "king"\n', [('"roi"', '"king"')]),
        ('"roi"\t"king"\n"\t"\n', [('"roi"', '"king"'), ('"', '"')]),
        ("et/ou and/or\nroi\tking\n", [("et/ou", "and/or"), ("roi", "king")]),
        ("source target\nroi king\n", [("source", "target"), ("roi", "king")]),
        ("es\tit\nroi\tking\n", [("es", "it"), ("roi", "king")]),  # German and English
        ("fran\u00e7ais\tfrench\n", [("fran\u00e7ais", "french")]),
        ("language\tlangue\nroi\tking\n", [("language", "langue"), ("roi", "king")]),
        ("en\tto\nde\tfrom\n", [("en", "to"), ("de", "from")]),
        ("mot\tword\nroi\tking\n", [("mot", "word"), ("roi", "king")]),
        ("[ ]\n{ }\n", [("[", "]"), ("{", "}")]),
    ],
)
def test_an_ordinary_dictionary_is_read_as_ever(tmp_path: Path, content: str, pairs: list[Pair]) -> None:
    assert read(tmp_path, content, languages=("de", "en")).pairs == tuple(pairs)
    assert read(tmp_path, content, languages=None).pairs == tuple(pairs)


def test_numbers_of_tables(tmp_path: Path) -> None:
    assert read(tmp_path, "roi,king,0.5\nchat,cat,1\n") == Lexicon(KINGS, (0.5, 1.0))
    found = read(tmp_path, "source;target;weight\nroi;king;0,5\nchat;cat;1\n")
    assert found == Lexicon(KINGS, (0.5, 1.0))
    assert read(tmp_path, "fr,en,prob\nroi,king,50%\nchat,cat,100%\n") == Lexicon(KINGS, None, (0.5, 1.0))
    found = read(tmp_path, "fr,en,probability\nroi,king|kings,0.5\n")
    assert found == Lexicon((("roi", "king"), ("roi", "kings")), None, (0.5, 0.5))
    ours = "source,target,score,rank,probability\nroi,king / kings,1.5,1,0.5\n"
    assert read(tmp_path, ours) == Lexicon((("roi", "king / kings"),), (1.5,), (0.5,))


@pytest.mark.parametrize(
    "content",
    [
        "word\tmeaning\tconfidence\nroi\tking\t0.9\n",
        "source,target,similarity\nroi,king,0.9\n",
        '{"source": "roi", "target": "king", "confidence": 0.9}\n',
        "roi\tking\t90%\n",
        "source\ttarget\tcosine\nroi\tking\t90%\n",
    ],
)
def test_scores_by_other_names(tmp_path: Path, content: str) -> None:
    (tmp_path / "pairs").write_text(content, encoding="utf-8")
    assert read_lexicon(tmp_path / "pairs").scores == (0.9,)


def test_a_cell_of_several_lines(tmp_path: Path) -> None:
    table = io.StringIO()
    csv.writer(table).writerows([["roi", "king\nkings"], ['dit "il"', "said, he"], ["chat", "cat"]])
    found = read(tmp_path, table.getvalue()).pairs
    assert found == (
        ("roi", "king"),
        ("roi", "kings"),
        ('dit "il"', "said"),
        ('dit "il"', "he"),
        ("chat", "cat"),
    )


@pytest.mark.parametrize("sign", "\t,;")
@pytest.mark.parametrize("header", ["", "fr{}en\n"])
def test_a_blank_cell_below_a_word_continues_it(
    tmp_path: Path, sign: str, header: str, caplog: pytest.LogCaptureFixture
) -> None:
    rows = (header + "roi{0}king\n{0}monarch\nchat{0}cat\nmot{0}\n{0}word\n").replace("{}", "{0}")
    caplog.set_level("INFO")
    assert read(tmp_path, rows.format(sign)).pairs == (KINGS[0], ("roi", "monarch"), KINGS[1])
    assert "1 translation without a word is taken for the word above" in caplog.text
    assert "left out 2 rows" in caplog.text


def test_rows_without_a_translation_are_left_out_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert read(tmp_path, "roi,king\nmot,\n,word\nchat,cat\n").pairs == KINGS
    assert caplog.messages == [
        f"{tmp_path / 'd.txt'}: left out 2 rows without a word or without a translation, the first is "
        f"{tmp_path / 'd.txt'}:2"
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "roi,king,kings\nchat,cat,cats\n",
            r"d.txt:1: expected two words, and at most a number after them, got 3",
        ),
        ("roi,king\nchat,cat,cats\n", r"d.txt:2: expected two words, and at most a number after them, got 3"),
        ("fr,en,score\nroi,king,high\n", r"d.txt:2: expected a finite number, got 'high'"),
        ("fr,en,prob\nroi,king,7\n", r"d.txt:2: expected a probability from 0 to 1, got 7"),
        ("roi,king,1\nchat,cat,nan\n", r"d.txt:2: expected a finite number, got 'nan'"),
        ("fr,en\n", "expected at least one pair of words"),
        ("roi,king\nchat,cat\nmot,word\nmain,hand\nun,one\n" * 400 + 'x,"y\n', r"d.txt:2001: expected cells"),
        ('{"roi": "king"}\n', r"d.txt:1: .* \(roi\)"),
        ('{"fr": "roi", "en": "king"}\n[]\n', r"d.txt:2: .*got '\[\]'"),
        (
            "roi" + " 0.5" * 50 + "\n",
            r"d.txt:1: expected two words, got 51 fields; word vectors are no dictionary",
        ),
        ("roi king 0.5\nchat cat\n", r"d.txt:1: expected two words, got 3 fields"),
        ("roi king 0.5\n" * 1_001 + "chat cat 1.5\n", r"d.txt:1002: expected two words and a probability"),
        (b"\xff\xfer\0o\0i\0 \0k\0\n\0\x00\xd8x\0\n\0", "expected UTF-16, got what is none"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(BadFile, match=message):
        read(tmp_path, content)


SPACED = "king roi 0.75\ncat chat 1\nkitten chat 2.5e-05\n"
AS_READ = (("king", "roi"), ("cat", "chat"), ("kitten", "chat"))


@pytest.mark.parametrize(
    ("name", "languages", "swapped"),
    [
        ("d.txt", ("en", "fr"), False),
        ("lex.f2e", ("fr", "en"), True),
        ("lex.0-0.f2e.txt", ("fr", "en"), True),
        ("lex.e2f", ("en", "fr"), False),
        ("model.fr2en", ("fr", "en"), True),
        ("model.fr2en", ("en", "fr"), False),
        ("dict-fr", ("fr", "en"), True),
        ("dict-fr.txt", ("en", "fr"), False),
    ],
)
def test_probabilities_after_spaces(
    tmp_path: Path, name: str, languages: tuple[str, str], swapped: bool
) -> None:
    found = read(tmp_path, SPACED, name, languages)
    pairs = tuple(pair[::-1] for pair in AS_READ) if swapped else AS_READ
    assert found == Lexicon(pairs, None, (0.75, 1.0, 2.5e-05))


@pytest.mark.parametrize(
    "content",
    [
        "roi king 0,5\nchat cat 1,0\n",
        "roi\tking 0.5\nchat cat 1.0000001\n",
        " roi  king\t.5 \nchat cat\t1.0\r\n",
    ],
)
def test_probabilities_as_other_programs_write_them(tmp_path: Path, content: str) -> None:
    assert read(tmp_path, content) == Lexicon(KINGS, None, (0.5, 1.0))


def test_moses_aligns_some_words_with_none(tmp_path: Path) -> None:
    assert read(tmp_path, "NULL roi 0.5\nking NULL 0.1\nking roi 0.4\n", "lex.f2e").pairs == (
        ("roi", "king"),
    )


def test_a_workbook(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (
        ["English", "French", "weight"],
        ["king", "roi, monarque", 0.5],
        [],
        ["cat", "chat", 1],
        [3, "trois", 1],
    ):
        book.active.append(row)
    book.create_sheet("other").append(["x", "y"])
    book.save(tmp_path / "d.xlsx")
    found = read_lexicon(tmp_path / "d.xlsx", languages=("fr", "en"))
    assert found.pairs == (("roi", "king"), ("monarque", "king"), ("chat", "cat"), ("trois", "3"))
    assert found.weights == (0.5, 0.5, 1.0, 1.0)
    content = (tmp_path / "d.xlsx").read_bytes()
    (tmp_path / "cut.xlsx").write_bytes(content.replace(b"<sheet", b"<shoot"))
    for damaged in (content[:-40], content[:2_000] + b"\0" * 40 + content[2_040:]):
        (tmp_path / "cut.xlsx").write_bytes(damaged)
        with pytest.raises(BadFile):
            read_lexicon(tmp_path / "cut.xlsx")


def test_a_workbook_as_people_make_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book, path = openpyxl.Workbook(), tmp_path / "d.xlsx"
    book.active.append(["About this list"])
    book.active.append(["Made in spring"])
    sheet = book.create_sheet("Words")
    rows = [
        ["A title"],
        [],
        ["", "fr", "en"],
        ["", "roi", "king"],
        ["", None, "monarch"],
        ["", "mars", MARCH],
    ]
    for row in rows:
        sheet.append(row)
    book.save(path)
    found = read_lexicon(path, languages=("fr", "en")).pairs
    assert found == (("roi", "king"), ("roi", "monarch"), ("mars", "2020-03-01"))
    assert "of its 2 sheets Words is read" in caplog.text
    assert "Words!A6: 2020-03-01 is no text" in caplog.text
    book.remove(book.active)
    for row in sheet["B4:C6"]:
        row[0].value, row[1].value = None, '=LOWER("x")'
    book.save(path)
    with pytest.raises(BadFile, match=r"got formulas without results; open it .* and save it"):
        read_lexicon(path)


@pytest.mark.slow
def test_pandas_writes_what_is_read(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"fr": ["roi", "chat, chatte", "l'\u00e9t\u00e9"], "en": ["king", "cat", 'the "summer"']}
    )
    expected = (("roi", "king"), ("chat", "cat"), ("chatte", "cat"), ("l'\u00e9t\u00e9", 'the "summer"'))
    frame.to_csv(tmp_path / "d.csv", index=False)
    frame.to_csv(tmp_path / "d.tsv", index=False, sep="\t", encoding="utf-16")
    frame.to_csv(tmp_path / "index.csv", sep=";", encoding="utf-8-sig")
    for name in ("d.csv", "d.tsv", "index.csv"):
        assert read_lexicon(tmp_path / name, languages=("fr", "en")).pairs == expected


@pytest.mark.parametrize("separator", ["\n", "|", ";", ",", "/"])
def test_long_spaces_take_time_in_proportion(separator: str) -> None:
    assert split_translations(f"roi \u2003 {separator} \u2003 monarque") == ["roi", "monarque"]
    assert is_in_proportion(split_translations, lambda size: f"roi{' ' * size}a{separator}b", 2_000)


@pytest.mark.parametrize(("rows", "form"), [(1, "csv"), (8, "csv"), (1, "tsv")])
def test_cells_that_make_millions_of_pairs_are_refused(
    rows: int, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("source", "dictionary_tables"):
        monkeypatch.setattr(f"muse.files.{module}.FREE_PAIRS", 1_000)
    sign, sizes = "\t" if form == "tsv" else ",", (90, 91) if rows == 1 else (60, 61)
    cells = ['"' + "; ".join(f"{side}{number}x" for number in range(size)) + '"'
             for side, size in zip("ab", sizes, strict=True)]  # fmt: skip
    path = tmp_path / f"x.{form}"
    path.write_text(f"source{sign}target\n" + f"{sign.join(cells)}\n" * rows)
    with pytest.raises(BadFile, match=r"at most 4 pairs for each letter"):
        read_lexicon(path)


@pytest.mark.parametrize("fields", ["id", "vector", "text"])
def test_parquet_of_millions_of_equal_rows_is_refused(fields: str, tmp_path: Path) -> None:
    arrow: Any = pytest.importorskip("pyarrow")
    parquet: Any = pytest.importorskip("pyarrow.parquet")
    zeros = arrow.array(np.zeros(3_000_000, np.float32))
    columns = {
        "id": arrow.array(np.zeros(2_000_000, np.int64)), "text": arrow.array(["same"] * 700_000),
        "vector": arrow.FixedSizeListArray.from_arrays(zeros, 300),
    }  # fmt: skip
    parquet.write_table(arrow.table({fields: columns[fields]}), tmp_path / "x.parquet", compression="zstd")
    with pytest.raises(BadFile, match="grows at most 100 times"), open_parquet(tmp_path / "x.parquet"):
        pass
