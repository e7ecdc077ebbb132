"""StarDict dictionaries: read as others write them, written as its format says."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import pytest

from muse.errors import BadFile, BadSetting, Mismatch
from muse.files import read_lexicon
from muse.files.stardict import can_be_headword, stardict_writer
from muse.lexicon import Entry


def made(
    folder: Path, articles: dict[str, bytes], *, types: str = "m", wide: bool = False, packed: bool = True
) -> Path:
    """The .ifo of a dictionary that is written here as the format's description has it."""
    index, texts = b"", b""
    for word, article in articles.items():
        index += word.encode() + b"\0" + struct.pack(">QI" if wide else ">II", len(texts), len(article))
        texts += article
    lines = ["StarDict's dict ifo file", "version=3.0.0", f"wordcount={len(articles)}", "bookname=x"]
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
    with pytest.raises(BadFile, match=r"d.ifo: expected d.dict.dz or d.dict beside it, got neither"):
        read_lexicon(path)
    made(tmp_path, {"king": b"a person who rules over a country"})
    with pytest.raises(BadFile, match="articles that list translations .* pyglossary d.ifo d.txt"):
        read_lexicon(path)
    path.write_text("version=3\n", encoding="utf-8")
    with pytest.raises(BadFile, match="expected the description of a StarDict dictionary"):
        read_lexicon(path)


ENTRIES = (
    Entry("roi", "king", 0.5, 1, 0.5), Entry("roi", "kings", 0.4, 2, 0.25), Entry("Chat", "cat", 0.3, 1),
    Entry("\u00e9t\u00e9", "summer", 0.2, 1), Entry("chat", "new york", 0.1, 1), Entry("table", "table", 0.1,
    1), Entry("1914", "1914", 0.1, 1),
)  # fmt: skip


def test_what_is_written_is_as_the_format_says(tmp_path: Path) -> None:
    with stardict_writer(tmp_path / "made" / "fr-en.ifo", "French-English") as write:
        for entry in ENTRIES:
            write(entry)
    folder = tmp_path / "made"
    assert sorted(path.name for path in folder.iterdir()) == ["fr-en.dict", "fr-en.idx", "fr-en.ifo"]
    lines = (folder / "fr-en.ifo").read_text(encoding="utf-8").splitlines()
    info = dict(line.split("=", 1) for line in lines[1:])
    index, texts = ((folder / f"fr-en.{ending}").read_bytes() for ending in ("idx", "dict"))
    assert lines[0] == "StarDict's dict ifo file"
    assert info == {
        "version": "2.4.2", "bookname": "French-English", "wordcount": "6", "idxfilesize": str(len(index)),
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


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with (
        pytest.raises(BadSetting, match=r"x.txt: StarDict has three files .* ends in .ifo"),
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
