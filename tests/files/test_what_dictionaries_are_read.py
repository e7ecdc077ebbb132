"""What dictionaries muse reads: each row of the tables in the documentation, tried with files of its kind."""

from collections.abc import Callable
from pathlib import Path

import pytest

from muse.errors import BadFile
from muse.files import read_lexicon
from muse.files.lexicons import dictionary_writer, formats
from muse.files.tables import table_writer
from muse.lexicon import Entry
from tests.conftest import ROOT
from tests.files.test_articles import of_dictd

Make = Callable[[Path], object]  # writes a file, or several beside it
PAGE = (ROOT / "docs" / "pages" / "how-to" / "what-muse-reads.md").read_text(encoding="utf-8")
TEI = '<TEI><entry><form><orth>roi</orth></form><cit type="trans"><quote>king</quote></cit></entry></TEI>'
TMX = '<tmx><tu><tuv xml:lang="en"><seg>king</seg></tuv><tuv xml:lang="fr"><seg>roi</seg></tuv></tu></tmx>'
TBX = (
    '<tbx xmlns="urn:iso:std:iso:30042:ed-2"><conceptEntry><langSec xml:lang="fr"><termSec><term>roi</term>'
    '</termSec></langSec><langSec xml:lang="en"><termSec><term>king</term></termSec></langSec></conceptEntry>'
    "</tbx>"
)
MARTIF = (
    '<martif><termEntry><langSet xml:lang="en"><tig><term>king</term></tig></langSet><langSet xml:lang="fr">'
    "<ntig><termGrp><term>roi</term></termGrp></ntig></langSet></termEntry></martif>"
)
ZIPPED = b"PK\3\4" + bytes(26) + b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet" + bytes(99)


def _text(content: str | bytes, encoding: str = "utf-8") -> Make:
    return lambda path: path.write_bytes(content.encode(encoding) if isinstance(content, str) else content)


def _written(form: str) -> Make:
    def write(path: Path) -> None:
        with dictionary_writer(path, form=form, languages=("fr", "en")) as append:
            append(Entry("roi", "king", 0.5, 1, 0.5))

    return write


def _parquet(path: Path) -> None:
    with table_writer(path, {"English": str, "French": str}) as write:
        write(["king", "roi"])


def _dictd(path: Path) -> None:
    of_dictd(path.parent, {"roi": "roi /rwa/ <n>\nking\n"}, name=path.stem)


# Each row of the table of what is read, with files that have roi and king.
READ: dict[str, dict[str, Make]] = {
    "MUSE text": {
        "a": _text("roi king\n"),
        "b": _text("roi\tking\t0.5\n"),
        "d": _text("\rroi king\r"),
        "c.txt.gz": _written("muse"),
    },
    "TSV of muse": {"a": _written("tsv")},
    "JSON lines of muse": {"a": _written("jsonl")},
    "other JSON: objects, lists of two words, one object of words and translations": {
        "a": _text('[{"source": "roi", "target": "king"}]\n'),
        "b": _text('{"data": [\n {"translation": {"en": "king", "fr": "roi"}}]}\n'),
        "c": _text('[\n  ["roi", "king"]\n]\n'),
        "d": _text('["roi", "king"]\n'),
        "e": _text('{\n  "roi": ["king"],\n  "chat": [],\n  "nuit": null\n}\n'),
    },
    "CSV": {
        "a": _text('"French","English"\n"roi","king"\n'),
        "b": _text("roi;king\n"),
        "c": _text("'roi','king'\n"),
        "e": _text('"x" "y"\n"1" "roi" "king"\n'),
        "f": _text('"fr" "en"\n"a" "roi" "king"\n'),
        "d.csv": _written("csv"),
    },
    "Unicode text": {"a": _text("roi\tking\n", "utf-16"), "b": _text("roi,king\n", "utf-16")},
    "Excel workbook": {"a.xlsx": _written("xlsx")},
    "Parquet": {"a.parquet": _parquet},
    "Moses lexicon": {"lex.f2e": _text("king roi 0.5\n"), "lex.e2f": _text("roi king 0.5\n")},
    "bicleaner dictionary": {"dict-fr": _text("king roi 0.5\n"), "dict-fr.gz": _written("bicleaner")},
    "Wiktionary": {
        "a": _text('{"word": "roi", "lang_code": "fr", "senses": [{"glosses": ["king"]}]}\n'),
        "b": _written("kaikki"),
    },
    "TEI": {"fra-eng.tei": _text(TEI)},
    "TMX": {"a": _text(TMX)},
    "TBX": {"a.tbx": _text(TBX), "b": _text(MARTIF)},
    "dict.cc": {"a": _text("# EN-FR vocabulary database\tcompiled by dict.cc\nking\troi {m}\tnoun\t\n")},
    "StarDict": {"d.ifo": _written("stardict")},
    "dictd": {"d.index": _dictd, "e.index": _written("dictd")},
    "Kindle": {"d.opf": _written("kindle")},
    "hunalign": {"a": _text("king @ roi\n"), "b.dic": _written("hunalign")},
    "tab file": {"a": _text("roi\troi /rwa/ <n><br>1. king<br>\n")},
    "Anki notes": {"a": _text("#separator:tab\n#html:true\nroi\tking\n")},
}
# Each row of the table of what is refused: what to do, and files whose error says so.
REFUSED: dict[str, tuple[str, dict[str, Make]]] = {
    "Excel 97 (`.xls`)": (
        "save it as `.xlsx` or as CSV UTF-8",
        {"a": _text(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))},
    ),
    "OpenDocument (`.ods`)": ("`soffice --headless --convert-to csv FILE`", {"FILE": _text(ZIPPED)}),
    "Babylon, MDict, ABBYY Lingvo, Aard 2": (
        "[pyglossary](https://github.com/ilius/pyglossary) writes lines with tabs: `pyglossary FILE OUT.txt`",
        {
            "a.bgl": _text(b"\x12\x34\x00\x01"),
            "a.mdx": _text(bytes(99)),
            "a.dsl": _text('#NAME "x"\n', "utf-16"),
            "b.dsl": _text('#NAME "x"\n'),
            "a.slob": _text(b"!-1SLOB\x1f" + bytes(99)),
        },
    ),
    "the source of a dictionary for Babylon (`.gls`)": (
        r"""`awk -v RS= -F'\n' '!/^#/ {split($1, w, "\|"); print w[1] "\t" $2}' FILE > OUT.tsv`""",
        {
            "a.gls": _text("roi|r\nking\n\n"),
            "FILE": _text("\n#stripmethod=keepnewlines\n#bookname=x\n\nroi|r\nking\n\n"),
        },
    ),
    "other XML, such as XDXF": ("the same", {"a": _text("<?xml version='1.0'?><xdxf/>")}),
    "XLIFF, Qt's `.ts`": (
        "`xliff2po` or `ts2po FILE OUT.po` of the Translate Toolkit, then `po2csv OUT.po OUT.csv`",
        {kind: _text(f"<?xml version='1.0'?><{kind}/>") for kind in ("xliff", "TS")},
    ),
    "a PDF": ("copy its words into a table", {"a": _text(b"%PDF-1.7\n")}),
    "gettext (`.po`)": (
        "`po2csv FILE.po FILE.csv` of the Translate Toolkit",
        {"a": _text('msgid "roi"\nmsgstr "king"\n')},
    ),
    "a colon behind the first word, as in YAML, or `::`, `->`, `=`, `\\|`, `\\|\\|\\|` or a dash between the "
    "words, as in Ding": (
        "put a tab in its place",
        {
            str(number): _text(
                f"roi{sign}king\nle chat{sign}the cat\n" if number else "roi: king\nchat: cat\n"
            )
            for number, sign in enumerate(("", " :: ", " -> ", " = ", "|", " ||| ", " - ", " \u2013 "))
        },
    ),
    "a phrase table of Moses": (
        "give `lex.f2e`, which lies beside it",
        {"a": _text("le roi ||| the king ||| 0.5 0.4 0.3 0.2\n")},
    ),
    "CC-CEDICT, EDICT": (
        "`pyglossary FILE OUT.txt`",
        {"a": _text("\u8c93 \u732b [mao1] /cat/\n"), "b": _text("\u732b [\u306d\u3053] /(n) cat/\n")},
    ),
    "HTML, and XML without a declaration": (
        "of a table, `pandas.read_html`",
        {"a": _text("<table><tr><td>roi</td></tr></table>\n"), "b": _text("<html><body>roi</body></html>\n")},
    ),
    "TEI in several files": (
        "`xmllint --xinclude FILE > OUT`",
        {"a": _text("<TEI xmlns:xi='x'><text><xi:include href='a.xml'/></text></TEI>")},
    ),
}
# What errors say for what the table says with a link, in other words or with the names of files.
SAID = {
    "Babylon, MDict, ABBYY Lingvo, Aard 2": "pyglossary ",
    "the source of a dictionary for Babylon (`.gls`)": r"awk -v RS= -F'\n'",
    "other XML, such as XDXF": "as pyglossary does",
    "XLIFF, Qt's `.ts`": "FILE OUT.po, then po2csv OUT.po OUT.csv",
    "gettext (`.po`)": "po2csv a OUT.csv",
    "CC-CEDICT, EDICT": "pyglossary ",
    "HTML, and XML without a declaration": "pandas.read_html",
    "TEI in several files": "xmllint --xinclude",
}


def _files(rows: dict[str, dict[str, Make]]) -> list[object]:
    return [
        pytest.param(make, name, form, id=f"{form[:30]}, {name}")
        for form, files in rows.items()
        for name, make in files.items()
    ]


@pytest.mark.parametrize(("make", "name", "form"), _files(READ))
def test_what_the_table_says_is_read(tmp_path: Path, make: Make, name: str, form: str) -> None:
    for package in {"Excel workbook": ["openpyxl"], "Parquet": ["pyarrow"]}.get(form, []):
        pytest.importorskip(package)
    make(tmp_path / name)
    assert read_lexicon(tmp_path / name, languages=("fr", "en")).pairs == (("roi", "king"),)


@pytest.mark.parametrize(
    ("make", "name", "form"), _files({form: files for form, (_, files) in REFUSED.items()})
)
def test_what_the_table_says_is_refused(tmp_path: Path, make: Make, name: str, form: str) -> None:
    make(tmp_path / name)
    with pytest.raises(BadFile) as caught:
        read_lexicon(tmp_path / name, languages=("fr", "en"))
    assert SAID.get(form, REFUSED[form][0].replace("`", "")) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_tables_have_these_rows_and_no_others() -> None:
    section = PAGE.partition("\n## Dictionaries\n")[2].partition("\n###")[0]
    read, refused = section.split("| format | what to do |\n| --- | --- |\n")
    rows = [line for line in read.splitlines() if line.startswith("| ")]
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows[2:]] == [*READ]
    expected = [f"| {form} | {advice} |" for form, (advice, _) in REFUSED.items()]
    assert [line for line in refused.splitlines() if line.startswith("|")] == expected, "\n".join(expected)
    named = PAGE.partition("### The format by name")[2]
    assert [form for form in formats() if f"`{form}`" not in named] == []
