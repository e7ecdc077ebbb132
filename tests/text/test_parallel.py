"""Parallel text as people have it: the sentences of both languages, whatever else a file has."""

import io
import json
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from itertools import permutations
from pathlib import Path

import pytest

from muse.errors import BadFile, Mismatch
from muse.files.tables import table_writer
from muse.text.parallel import fit_of_words, parallel_layout, parallel_text
from muse.vectors import WordIndex

FRENCH, ENGLISH = (
    ("le", "roi", "dort", "la", "nuit", "king", "the"),
    ("the", "king", "sleeps", "night", "nuit"),
)
FITS = [fit_of_words(WordIndex(FRENCH), "fr"), fit_of_words(WordIndex(ENGLISH), "en")]
PAIRS = [("Le roi, il dort.", "The king, he sleeps."), ("La nuit", "The night"), ("le roi", "the king")]
LONG = "https://example.org/a?b=1"
HEADS = {"en": "English", "fr": "texte_fr", "score": "Score", "url": "URL", "id": ""}
Line = Callable[[int, str, str], list[str]]


def found(path: Path) -> list[tuple[str, str]]:
    return [(one, two) for _, one, two in parallel_text(path, ("fr", "en"), FITS)]


def lines(columns: Line, between: str = "\t") -> str:
    rows = (columns(number, *pair) for number, pair in enumerate(PAIRS))
    quoted = ([f'"{cell}"' if between in cell else cell for cell in row] for row in rows)
    return "".join(f"{between.join(row)}\n" for row in quoted)


COLUMNS: Mapping[str, Line] = {
    "two": lambda n, fr, en: [fr, en],
    "swapped": lambda n, fr, en: [en, fr],
    "mined": lambda n, fr, en: [f"{1.2 - n:.4f}", fr, en],
    "scored behind": lambda n, fr, en: [en, fr, f"0,{n}"],
    "ids, addresses and a score before": lambda n, fr, en: [f"a-{n}", f"{LONG}{n}", f"0.{n}", en, fr],
    "Tatoeba": lambda n, fr, en: [str(n), en, str(n + 7), fr],
    "codes": lambda n, fr, en: ["fra", fr, "eng", en],
    "a third language": lambda n, fr, en: [en, "Der König schläft", fr, f"{LONG}{n}"],
    "a name of the file": lambda n, fr, en: [f"books/{n}.txt", f"books-{n}.txt", fr, en, "1"],
}


@pytest.mark.parametrize("between", ["\t", ",", ";", "|", " ||| "])
@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
def test_the_columns_that_have_words_of_the_languages(tmp_path: Path, columns: Line, between: str) -> None:
    for name, start, end in (("x", "", "\n"), ("x.csv", "\ufeff", "\r\n"), ("x.tsv", "", "\n\n")):
        (tmp_path / name).write_text(start + lines(columns, between).replace("\n", end), newline="")
        assert [pair for pair in found(tmp_path / name) if any(pair)] == PAIRS


def test_names_that_say_nothing_are_no_pair(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for names in (["texte a", "texte b"], ["x", "y"]):
        (tmp_path / "x").write_text("\t".join(names) + "\n" + lines(COLUMNS["swapped"]))
        assert found(tmp_path / "x") == PAIRS
        assert f"x:1: '{names[0]} | {names[1]}' is read as names of columns" in caplog.text
    (tmp_path / "x").write_text("Madame Bovary\tx y z v\n" + lines(COLUMNS["two"]))
    assert len(found(tmp_path / "x")) == 4


@pytest.mark.parametrize(
    "names", [["fr", "en"], ["text_fr", "English sentence"], ["source", "target"], ["Übersetzung", "pivot"]]
)
def test_headers(tmp_path: Path, names: list[str]) -> None:
    (tmp_path / "x").write_text("\t".join(names) + "\n" + lines(COLUMNS["two"]))
    assert found(tmp_path / "x") == PAIRS
    (tmp_path / "x").write_text(
        f"Bewertung;{names[1]};{names[0]}\n" + lines(lambda n, fr, en: ["3", en, fr], ";")
    )
    assert found(tmp_path / "x") == PAIRS


def objects(*names: str) -> Iterator[dict[str, object]]:
    return ({"id": n, names[0]: fr, names[1]: en} for n, (fr, en) in enumerate(PAIRS))


OBJECTS = {
    "named": objects("fr", "en"),
    "without names that say it": objects("b", "a"),
    "sides": objects("source", "target"),
    "of Hugging Face": ({"id": n, "translation": {"en": en, "fr": fr}} for n, (fr, en) in enumerate(PAIRS)),
    "with more of each": (
        {"fr": {"text": fr, "id": n}, "en": {"text": en, "id": n}} for n, (fr, en) in enumerate(PAIRS)
    ),
    "of several": ({"score": 1.5, "de": "König", "en": en, "fr": fr} for fr, en in PAIRS),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_objects(tmp_path: Path, name: str) -> None:
    rows = [*OBJECTS[name]]
    (tmp_path / "x").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert found(tmp_path / "x") == PAIRS
    (tmp_path / "x.json").write_text(json.dumps(rows, indent=2))
    assert found(tmp_path / "x.json") == PAIRS
    (tmp_path / "x.json").write_text(json.dumps({"rows": rows}))
    assert found(tmp_path / "x.json") == PAIRS
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pytest.importorskip("pyarrow").Table.from_pylist(rows), tmp_path / "x.parquet")
    assert found(tmp_path / "x.parquet") == PAIRS


def test_columns_of_pandas_as_json(tmp_path: Path) -> None:
    french, english = ({str(n): pair[side] for n, pair in enumerate(PAIRS)} for side in range(2))
    columns = {"en": english, "fr": french}
    for written in (columns, {name: [*cells.values()] for name, cells in columns.items()}):
        (tmp_path / "x.json").write_text(json.dumps(written))
        assert found(tmp_path / "x.json") == PAIRS


def test_what_muse_writes(tmp_path: Path) -> None:
    pairs = [("- Le roi", "=The king"), *PAIRS]
    for name in ("x.csv", "x.tsv.gz", "x.xlsx", "x.parquet"):
        with table_writer(tmp_path / name, {"source": str, "target": str, "probability": float}) as write:
            for pair in pairs:
                write([*pair, 0.5])
        assert found(tmp_path / name) == pairs


UNIT = '<tu><prop type="x">the king</prop>{}</tu>'
SIDE = '<tuv xml:lang="{}"><seg>{}</seg></tuv>'


def test_translation_memories_of_three_languages(tmp_path: Path) -> None:
    for order in permutations(range(3)):
        units = []
        for fr, en in PAIRS:
            sides = [SIDE.format("fr-FR", f"<ph/>{fr}"), SIDE.format("EN", en), SIDE.format("de", "König")]
            units.append(UNIT.format("".join(sides[place] for place in order)))
        units.insert(1, UNIT.format(SIDE.format("fr", "seul")))
        text = f'<?xml version="1.0"?>\n<tmx version="1.4"><body>\n{"".join(units)}</body></tmx>'
        for name, encoding in (("x.tmx", "utf-8"), ("x", "utf-16")):
            (tmp_path / name).write_text(text.replace("?>", f' encoding="{encoding}"?>'), encoding=encoding)
            assert found(tmp_path / name) == PAIRS


def archive(path: Path, texts: Mapping[str, str]) -> Path:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as zipped:
            for name, text in texts.items():
                zipped.writestr(name, text)
        return path
    with tarfile.open(path, "w:gz") as tarred:
        for name, text in texts.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            tarred.addfile(entry, io.BytesIO(text.encode()))
    return path


@pytest.mark.parametrize("name", ["x.zip", "x.tgz"])
def test_archives_of_opus(tmp_path: Path, name: str) -> None:
    texts = ("".join(f"{pair[side]}\n" for pair in PAIRS) for side in range(2))
    files = dict(zip(("a/x.en-fr.fr", "a/x.en-fr.en"), texts, strict=True))
    path = archive(tmp_path / name, {"README": "x", **files, "LICENSE": "", "a/x.en-fr.xml": "<a/>"})
    assert found(path) == PAIRS
    with pytest.raises(BadFile, match="got 2 .*; give two with --source"):
        found(archive(path, {**files, "b.fr": "x\n", "b.en": "y\n"}))
    with pytest.raises(Mismatch, match=r"same number of lines, got 3 in .*\.en and more in .*\.fr"):
        found(archive(path, {**files, "a/x.en-fr.fr": files["a/x.en-fr.fr"] + "la nuit\n"}))
    with pytest.raises(BadFile, match=r"got 2 \(a, b\); unpack the one you want, or give it as .*/a"):
        found(archive(path, {"a": "x\n", "b": "y\n"}))


WRONG = {
    "one column": ("le roi\nla nuit\n", ":1: expected 2 columns, source, target, got 1"),
    "no words of the languages": ("a\tb\tc\td\ne\tf\tg\th\n", ":1: expected 2 columns"),
    "one row short": ("le roi\tthe king\nla nuit\n", ":2: expected 2 columns"),
    "a catalogue": ('msgid "the king"\nmsgstr "le roi"\n', "a catalogue of gettext; convert it: po2csv"),
    "XLIFF": ('<?xml version="1.0"?>\n<xliff></xliff>', "xliff2po FILE OUT.po"),
    "a damaged memory": ("<tmx><body><tu>", "expected well-formed XML"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_read(tmp_path: Path, name: str) -> None:
    text, message = WRONG[name]
    (tmp_path / "x").write_text(text)
    with pytest.raises(BadFile, match=message):
        found(tmp_path / "x")


def test_the_columns_are_chosen_once(tmp_path: Path) -> None:
    (tmp_path / "x").write_text(lines(COLUMNS["ids, addresses and a score before"]))
    layout = parallel_layout(tmp_path / "x", ("fr", "en"), FITS)
    assert [pair for _, *pair in parallel_text(tmp_path / "x", ("fr", "en"), layout=layout)] == [
        [*one] for one in PAIRS
    ]


@pytest.mark.parametrize("names", ["\tx\ty", "\tfr\ten", "x\ty", "fr\ten"])
def test_the_row_names_of_r_are_no_column(tmp_path: Path, names: str) -> None:
    (tmp_path / "x").write_text(f"{names}\n" + lines(lambda n, fr, en: [str(n + 1), fr, en]))
    assert found(tmp_path / "x") == PAIRS


@pytest.mark.slow
def test_a_table_may_have_many_columns_of_text(tmp_path: Path) -> None:
    (tmp_path / "x").write_text(lines(lambda n, fr, en: [*["der König schläft nie"] * 200, fr, en]) * 60)
    begun = time.process_time()
    assert found(tmp_path / "x") == PAIRS * 60
    assert time.process_time() - begun < 2
    (tmp_path / "x").write_text("a," * (1 << 15) + "a\n")
    with pytest.raises(BadFile, match="got 32769"):
        found(tmp_path / "x")
