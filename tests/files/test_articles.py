"""StarDict, dictd and tab files: read as others write them, StarDict written as its format says."""

import gzip
import struct
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from muse.dictionary_formats.articles import can_be_headword
from muse.errors import BadFile, BadSetting, Mismatch
from muse.files import read_lexicon
from muse.files.lexicons import dictionary_writer
from muse.lexicon import Entry


def made(
    folder: Path, articles: dict[str, bytes], *, types: str = "m", wide: bool = False, packed: bool = True,
    title: str = "x",
) -> Path:  # fmt: skip
    """The .ifo of a dictionary that is written here as the format's description has it."""
    index, texts = b"", b""
    for word, article in articles.items():
        index += word.encode() + b"\0" + struct.pack(">QI" if wide else ">II", len(texts), len(article))
        texts += article
    lines = ["StarDict's dict ifo file", "version=3.0.0", f"wordcount={len(articles)}", f"bookname={title}"]
    lines += [f"idxfilesize={len(index)}", *(["idxoffsetbits=64"] if wide else [])]
    lines += [f"sametypesequence={types}"] if types else []
    (folder / "d.ifo").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "d.idx").write_bytes(index)
    (folder / ("d.dict.dz" if packed else "d.dict")).write_bytes(gzip.compress(texts) if packed else texts)
    return folder / "d.ifo"


@pytest.mark.parametrize(
    ("types", "article", "translations"),
    [
        ("m", b"roi", ["roi"]),
        ("m", b"roi\nmonarque", ["roi", "monarque"]),
        ("m", "/k\u026a\u014b/ <n>\n1. roi, monarque\n2. dame (blanche)".encode(), ["roi", "monarque",
        "dame"]), ("m", b"king\n1914", ["king", "1914"]),
        ("m", b"a person who rules over a country\nroi", ["roi"]),
        ("h", b"<b>king</b><br><i>n.</i> [x]<div>roi; monarque</div><div>l&#39;aigle</div>",
         ["roi", "monarque", "l'aigle"]),
        ("tm", b"kIN\0roi", ["roi"]),
        ("", b"mroi\0tkIN\0", ["roi"]),
        ("", b"W\0\0\0\x03abcmroi\0", ["roi"]),
    ],
)  # fmt: skip
def test_articles(tmp_path: Path, types: str, article: bytes, translations: list[str]) -> None:
    path = made(tmp_path, {"king": article}, types=types)
    found = [target for _, target in read_lexicon(path).pairs]
    assert found == translations


def test_a_dictionary_that_explains_words_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    longer = b"a person who rules over a whole country\nruler"
    for long, warned in ((10, True), (5, False)):
        articles = {f"w{number}": longer if number < long else b"roi" for number in range(20)}
        assert len(read_lexicon(made(tmp_path, articles))) == 20
        assert ("33 % of its texts are longer than 4 words" in caplog.text) == warned
        caplog.clear()
    read_lexicon(made(tmp_path, {"king": longer}))
    assert not caplog.text  # too few to tell


def test_the_title_of_stardict_says_the_direction(tmp_path: Path) -> None:
    for title in ("English-French FreeDict Dictionary", "en - fr", "Anglais \u2192 fran\u00e7ais"):
        path = made(tmp_path, {"king": b"roi"}, title=title)
        assert read_lexicon(path, languages=("fr", "en")).pairs == (("roi", "king"),)
        assert read_lexicon(path, languages=("en", "fr")).pairs == (("king", "roi"),)
    path = made(tmp_path, {"king": b"ruler"}, title="English - English")
    with pytest.raises(BadFile, match=r"d.ifo: expected a dictionary of two languages, got one of en and en"):
        read_lexicon(path, languages=("fr", "en"))
    assert read_lexicon(path, languages=("en", "en-old")).pairs == (("king", "ruler"),)  # meant so


def test_any_of_the_files_is_the_dictionary(tmp_path: Path) -> None:
    pairs = (("king", "roi"), ("cat", "chat"))
    (tmp_path / "text.ifo").write_text("king roi\ncat chat\n", encoding="utf-8")
    assert read_lexicon(tmp_path / "text.ifo").pairs == pairs  # by its content, whatever its name
    for wide in (False, True):
        for packed in (False, True):
            folder = tmp_path / f"{wide}{packed}"
            folder.mkdir()
            made(folder, {"king": b"roi", "cat": b"chat"}, wide=wide, packed=packed)
            for path in folder.iterdir():
                assert read_lexicon(path).pairs == pairs


def test_what_is_damaged_or_missing(tmp_path: Path) -> None:
    path = made(tmp_path, {"king": b"roi", "cat": b"chat"})
    index = (tmp_path / "d.idx").read_bytes()
    for content, message in (
        (index[:-3], "d.idx: expected a complete file"),
        (index[:-4] + b"\0\0\1\0", "d.idx: expected articles within d.dict, which has 7 bytes"),
    ):
        (tmp_path / "d.idx").write_bytes(content)
        with pytest.raises(BadFile, match=message):
            read_lexicon(path)
    (tmp_path / "d.dict.dz").unlink()
    with pytest.raises(BadFile, match=r"d: expected d.dict.dz or d.dict beside it"):
        read_lexicon(path)
    made(tmp_path, {"king": b"a person who rules over a country"})
    with pytest.raises(BadFile, match="articles that list translations of one to 4 words, got none"):
        read_lexicon(path)
    path.write_text("version=3\n", encoding="utf-8")
    with pytest.raises(BadFile, match="expected the description of a StarDict dictionary"):
        read_lexicon(path)


@pytest.mark.parametrize(
    ("types", "article", "translations"),
    [
        ("h", b"King /x/ <n><br>roi<br><br><hr><br>king /x/ <v><br>r\xc3\xa9gner", ["roi", "r\u00e9gner"]),
        ("m", b"1. roi\n   Synonym: {ruler}\n see: {queen}, {prince}\n      \"The king of fools.\"", ["roi"]),
        ("m", b"king <m>", ["king"]),
        ("m", b"n. m. roi", ["roi"]),
        ("m", b"1.roi 2.monarque 12 h", ["roi", "monarque 12 h"]),
        ("m", b"1) roi 2) monarque", ["roi", "monarque"]),
        ("m", "\u2460 roi \u2461 monarque".encode(), ["roi", "monarque"]),
        ("m", "\u2666 roi \u2666 monarque".encode(), ["roi", "monarque"]),
        ("m", b"I. roi\nII. monarque\na. dame", ["roi", "monarque", "dame"]),
        ("h", b"<b>king</b> <i>n.m.</i> roi<br>", ["roi"]),
        ("h", b"<div><b>roi</b>, monarque</div>", ["roi", "monarque"]),
        ("h", b"<i>n, m</i> <b>roi</b>, <i>dame</i>", ["roi", "dame"]),
        ("x", b"<k>king</k>\n<tr>k\xc9\xaa\xc5\x8b</tr>\nroi", ["roi"]),
    ],
)  # fmt: skip
def test_headings_kinds_remarks_and_examples_are_no_translations(
    tmp_path: Path, types: str, article: bytes, translations: list[str]
) -> None:
    path = made(tmp_path, {"king": article}, types=types)
    assert [target for _, target in read_lexicon(path).pairs] == translations


def stardict_writer(
    path: Path, languages: tuple[str, str] | None = None
) -> AbstractContextManager[Callable[[Entry], None]]:
    return dictionary_writer(path, form="stardict", languages=languages)


SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def of_dictd(folder: Path, articles: dict[str, str], *, name: str = "d", packed: bool = True) -> Path:
    """The index of a dictionary as dictfmt writes it: words, and two numbers to the base 64."""

    def number(value: int) -> str:
        return (number(value // 64) if value >= 64 else "") + SIGNS[value % 64]

    index, texts = "", b""
    for word, article in articles.items():
        index += f"{word}\t{number(len(texts))}\t{number(len(article.encode()))}\n"
        texts += article.encode()
    ending = ".dict.dz" if packed else ".dict"
    (folder / f"{name}{ending}").write_bytes(gzip.compress(texts) if packed else texts)
    (folder / f"{name}.index").write_text(index, encoding="utf-8")
    return folder / f"{name}.index"


DICTD = {
    "00databaseinfo": "00-database-info\nFrench-English\n",
    "00databaseshort": "00-database-short\nwords of two languages\n",
    "dame": 'Dame /dam/ <n>\n1. lady,\n queen\n      "The lady of the lake."\n',
    "laigle": "l'aigle\n\n   the eagle; eagle (bird)\n\n see: {oiseau}\n",
    "roi": "roi, (rare) roy /rwa/ <n, masc>\n" + "king\n" * 20,
    "table": "table\ntable <n>\n",
}
OF_DICTD = (
    ("Dame", "lady"), ("Dame", "queen"), ("l'aigle", "the eagle"), ("l'aigle", "eagle"), ("roi", "king"),
    ("table", "table"),
)  # fmt: skip


@pytest.mark.parametrize("packed", [True, False])
def test_dictd(tmp_path: Path, packed: bool) -> None:
    index = of_dictd(tmp_path, DICTD, packed=packed)
    for path in tmp_path.iterdir():
        found = read_lexicon(path).pairs
        assert found == OF_DICTD
    assert read_lexicon(index, form="dictd").pairs == found


def test_words_that_share_an_article(tmp_path: Path) -> None:
    index = of_dictd(tmp_path, {"roi": "roi\nking\n"})
    line = index.read_text(encoding="utf-8")
    index.write_text(line + line.replace("roi", "rois"), encoding="utf-8")
    assert read_lexicon(index).pairs == (("roi", "king"), ("rois", "king"))
    info = made(tmp_path, {"king": b"king <n>\nroi", "ruler": b""})
    places = struct.pack(">II", 0, 12)
    (tmp_path / "d.idx").write_bytes(b"king\0" + places + b"ruler\0" + places)
    # The heading of one word is a translation of the other.
    assert read_lexicon(info).pairs == (("king", "roi"), ("ruler", "king"), ("ruler", "roi"))


def test_an_index_whose_words_all_have_one_long_article_is_refused(tmp_path: Path) -> None:
    # Otherwise time and memory would be those of each word with each line.
    info = made(tmp_path, {"king": b"roi\n" * 5_000})
    (tmp_path / "d.idx").write_bytes((tmp_path / "d.idx").read_bytes() * 300)
    with pytest.raises(BadFile, match=r"d.idx: expected articles of at most 100 times the size"):
        read_lexicon(info)
    index = of_dictd(tmp_path, {"roi": "roi\n" + "king\n" * 5_000})
    index.write_bytes(index.read_bytes() * 300)
    with pytest.raises(BadFile, match=r"d.index: expected articles of at most 100 times the size"):
        read_lexicon(index)


def test_the_name_of_dictd_says_the_direction(tmp_path: Path) -> None:
    index = of_dictd(tmp_path, {"roi": "roi\nking\n"}, name="freedict-fra-eng")
    for languages in (None, ("fr", "en"), ("xx", "yy")):
        assert read_lexicon(index, languages=languages).pairs == (("roi", "king"),)
    assert read_lexicon(index, languages=("en", "fr")).pairs == (("king", "roi"),)


def test_a_damaged_dictionary_of_dictd(tmp_path: Path) -> None:
    index = of_dictd(tmp_path, DICTD)
    for content, message in (
        (b"roi\tA\tM\ndame\t!\tB\n", "d.index:2: expected a word and two numbers"),
        (b"roi\tA\tzzzz\n", "d.index: expected articles within d.dict"),
        (b"roi\tA\tM\nroi\tA\t" + b"z" * 10_000 + b"\n", "d.index:2: expected a word and two numbers"),
        (b"00databaseinfo\tA\tM\n", "articles that list translations"),
    ):
        index.write_bytes(content)
        with pytest.raises(BadFile, match=message):
            read_lexicon(index)
    index.unlink()
    with pytest.raises(BadFile, match=r"d.dict.dz: expected one of NAME.index and NAME.dict"):
        read_lexicon(tmp_path / "d.dict.dz")
    (tmp_path / "d.dict.dz").rename(tmp_path / "e.dict.dz")
    index.write_text("roi\tA\tM\n", encoding="utf-8")
    with pytest.raises(BadFile, match=r"d: expected d.dict.dz or d.dict beside it"):
        read_lexicon(index)


# A tab file as pyglossary writes one from dictd.
TAB_FILE = (
    "##name\tfreedict\n##sourceLang\tFrench\n##targetLang\tEnglish\n"
    "dame\tDame /dam/ &lt;n&gt;<br />1. lady<br />2. queen<br />\n"
    "roi|rois\troi /rwa/\\nking\\nruler\n"
)


def test_a_tab_file_has_articles(tmp_path: Path) -> None:
    pairs = tuple((word, other) for word in ("roi", "rois") for other in ("king", "ruler"))
    pairs = (("dame", "lady"), ("dame", "queen"), *pairs)
    for number, text in enumerate((TAB_FILE, TAB_FILE.partition("English\n")[2])):
        path = tmp_path / f"{number}.txt"
        path.write_text(text, encoding="utf-8")
        assert read_lexicon(path, languages=("fr", "en")).pairs == pairs
    swapped = read_lexicon(tmp_path / "0.txt", languages=("en", "fr")).pairs
    assert swapped == tuple(pair[::-1] for pair in pairs)
    for text, message in (
        (TAB_FILE + "a\tb\tc\n", r"1.txt:6: expected a word and an article with a tab between, got 3 cells"),
        ("##name\tx\nroi\ta person who rules over a country\n", "articles that list translations"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(BadFile, match=message):
            read_lexicon(path)


ENTRIES = (
    Entry("roi", "king", 0.5, 1, 0.5), Entry("roi", "kings", 0.4, 2, 0.25), Entry("Chat", "cat", 0.3, 1),
    Entry("\u00e9t\u00e9", "summer", 0.2, 1), Entry("chat", "new york", 0.1, 1), Entry("table", "table", 0.1,
    1), Entry("1914", "1914", 0.1, 1),
)  # fmt: skip


def test_what_is_written_is_as_the_format_says(tmp_path: Path) -> None:
    with dictionary_writer(
        tmp_path / "made" / "fr-en.ifo", form="stardict", languages=("French", "English")
    ) as write:
        for entry in ENTRIES:
            write(entry)
    folder = tmp_path / "made"
    assert sorted(path.name for path in folder.iterdir()) == ["fr-en.dict", "fr-en.idx", "fr-en.ifo"]
    lines = (folder / "fr-en.ifo").read_text(encoding="utf-8").splitlines()
    info = dict(line.split("=", 1) for line in lines[1:])
    index, texts = ((folder / f"fr-en.{ending}").read_bytes() for ending in ("idx", "dict"))
    assert lines[0] == "StarDict's dict ifo file"
    assert info == {
        "version": "2.4.2", "bookname": "French - English", "wordcount": "6", "idxfilesize": str(len(index)),
        "sametypesequence": "m",
    }  # fmt: skip
    # As a reader of the format does: words to their end, and two numbers of four bytes.
    found, at = {}, 0
    while at < len(index):
        end = index.index(b"\0", at)
        begin, size = struct.unpack(">II", index[end + 1 : end + 9])
        found[index[at:end].decode()] = texts[begin : begin + size].decode()
        at = end + 9
    assert found["roi"] == "king\nkings"
    assert list(found) == [
        "1914",
        "Chat",
        "chat",
        "roi",
        "table",
        "\u00e9t\u00e9",
    ]  # case aside, then by bytes
    assert set(read_lexicon(folder / "fr-en.ifo").pairs) == {entry[:2] for entry in ENTRIES}


def test_other_forms_are_those_of_a_word(tmp_path: Path) -> None:
    with dictionary_writer(tmp_path / "d.ifo", form="stardict") as write:
        for entry in (
            Entry("roi", "king", 0.5, 1, None, ("rois",)),
            Entry("\u00e9t\u00e9", "summer", 0.4, 1),
        ):
            write(entry)
    assert (tmp_path / "d.syn").read_bytes() == b"rois\0\0\0\0\0"
    assert "synwordcount=1" in (tmp_path / "d.ifo").read_text(encoding="utf-8").splitlines()
    assert ("rois", "king") in read_lexicon(tmp_path / "d.ifo").pairs
    (tmp_path / "d.syn").write_bytes(b"rois\0\0\0\0\2")
    with pytest.raises(
        BadFile, match=r"d.syn: expected forms of the 2 words of the index, got one of another"
    ):
        read_lexicon(tmp_path / "d.ifo")


def test_dictd_is_packed_in_chunks_that_are_unpacked_alone(tmp_path: Path) -> None:
    words = [f"w{number:05}" for number in range(9_000)]
    with dictionary_writer(tmp_path / "d.index", form="dictd", languages=("fr", "en")) as write:
        for word in words:
            write(Entry(word, word[::-1], None, 1))
    packed = (tmp_path / "d.dict.dz").read_bytes()
    text = gzip.decompress(packed)
    assert b"fr - en" in text and len(text) > 2 * 58_315
    # As dictd does: the field of the header says how long the chunks are, packed and not.
    extra, name, _, version, length, count = struct.unpack_from("<H2sHHHH", packed, 10)
    sizes = struct.unpack_from(f"<{count}H", packed, 22)
    begin = 12 + extra + sum(sizes[:1])
    found = zlib.decompressobj(-15).decompress(packed[begin : begin + sizes[1]])
    assert (name, version, found) == (b"RA", 1, text[length : 2 * length])
    lines = (tmp_path / "d.index").read_bytes().splitlines()
    assert lines == sorted(lines) and {line.split(b"\t")[0].decode() for line in lines} >= {*words}


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with (
        pytest.raises(BadSetting, match=r"x.txt: StarDict has files .* ends in .ifo"),
        stardict_writer(tmp_path / "x.txt"),
    ):
        pass
    for entry in (Entry("a\tb", "c", 0, 1), Entry("x" * 256, "c", 0, 1), Entry("a", "\ud800", 0, 1)):
        with pytest.raises(Mismatch, match="rename or drop it"), stardict_writer(tmp_path / "x.ifo") as write:
            write(entry)
    with pytest.raises(Mismatch, match="at least one pair"), stardict_writer(tmp_path / "x.ifo"):
        pass
    (tmp_path / "y.idx").mkdir()
    with (
        pytest.raises(BadFile, match=r"y.idx: expected the name of a file"),
        stardict_writer(tmp_path / "y.ifo"),
    ):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["y.idx"]
    assert [can_be_headword(word) for word in ("roi", "", "a\nb", "\ud800", " a")] == [True, *[False] * 4]
