"""Dictionaries of Wiktionary, of FreeDict, and translation memories."""

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest

from muse.errors import BadFile
from muse.files import read_lexicon
from muse.files.detect import open_beginning
from muse.files.dictionary_format import DictionaryFile
from muse.files.lexicons import formats
from muse.lexicon import Lexicon

FR_EN, EN_FR = ("fr", "en"), ("en", "fr")


def read(
    folder: Path, content: str | bytes, languages: tuple[str, str] | None = FR_EN, name: str = "d.xml"
) -> Lexicon:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_lexicon(path, languages=languages)


def entries(*objects: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in objects)


def translation(word: object, code: str, **more: object) -> dict[str, Any]:
    return {"word": word, "lang_code": code, "lang": "x", **more}


ENGLISH = entries(
    {"word": "nothing", "lang_code": "en", "pos": "noun", "senses": [{"glosses": ["Not any thing."]}]},
    {"word": "king", "lang_code": "en", "translations": [
        translation("roi", "fr", sense="monarch"), translation("K\u00f6nig", "de"), translation("dame", "fr"),
        {"code": "fr", "note": "no word"}, translation("il \u00e9tait une fois un roi", "fr"),
    ]},
    {"word": "cat", "lang_code": "en", "senses": [{"translations": [translation("chat", "fr")]}]},
    {"word": "roi", "lang_code": "fr", "senses": [
        {"glosses": ["king"]}, {"glosses": ["monarch (of a country), ruler"]}, {"glosses": ["plural of x"],
        "form_of": []}, {"glosses": ["a person who rules over a whole country"]},
    ]},
)  # fmt: skip


def test_wiktionary(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pairs = (
        ("roi", "king"), ("dame", "king"), ("chat", "cat"), ("roi", "monarch"), ("roi", "ruler"),
    )  # fmt: skip
    assert read(tmp_path, ENGLISH, name="d.jsonl").pairs == pairs
    assert read(tmp_path, gzip.compress(ENGLISH.encode()), EN_FR, "d.gz") == Lexicon(pairs).reversed()
    assert read(tmp_path, ENGLISH, ("German", "eng"), name="d").pairs == (("K\u00f6nig", "king"),)
    with pytest.raises(
        BadFile, match="words of sw and en in entries of Wiktionary, got pairs of en-fr, fr-en, en-de"
    ):
        read(tmp_path, ENGLISH, ("sw", "en"))


def test_redirections_lists_and_infinitives_of_wiktionary(tmp_path: Path) -> None:
    text = entries(
        {"title": "Roi", "redirect": "roi"},
        {"word": "king", "lang_code": "en", "translations": [translation("roi, souverain", "fr")]},
        {
            "word": "r\u00e9gner",
            "lang_code": "fr",
            "pos": "verb",
            "senses": [{"glosses": ["to reign, to rule"]}],
        },
    )
    assert read(tmp_path, text, name="d").pairs == (
        ("roi", "king"), ("souverain", "king"), ("r\u00e9gner", "reign"), ("r\u00e9gner", "rule"),
    )  # fmt: skip


def test_glosses_of_other_editions_are_not_in_english(tmp_path: Path) -> None:
    roi = {"word": "roi", "lang_code": "fr", "senses": [{"glosses": ["souverain"]}]}
    text = entries({"lang": "Fran\u00e7ais", **roi}, {"lang": "French", **roi, "word": "reine"})
    assert read(tmp_path, text, name="d.jsonl").pairs == (("reine", "souverain"),)


def test_a_long_entry_of_wiktionary(tmp_path: Path) -> None:
    many = [translation(f"mot{number}", "fr") for number in range(3_000)]
    text = entries({"word": "water", "lang_code": "en", "translations": many})
    assert len(text) > 1 << 16
    assert len(read(tmp_path, text, None)) == 3_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (ENGLISH + "{\n", "d.xml:5: .* got '{'"),
        (ENGLISH + "7\n", "d.xml:5: .* got '7'"),
        ('{"word": "king", "lang_code": "en"}\n', "expected pairs of words of fr and en in entries of Wikt"),
    ],
)
def test_damaged_entries_of_wiktionary(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(BadFile, match=message):
        read(tmp_path, content)


TEI = """<?xml version="1.0" encoding="UTF-8"?>
<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><title>orth</title></teiHeader><text>
<body xml:lang="en">
<entry><form><orth>king</orth><pron>k</pron></form><gramGrp><pos>n</pos></gramGrp>
 <sense n="1"><cit type="trans" xml:lang="fr"><quote>roi</quote></cit>
  <cit type="example"><quote>a king</quote><cit type="trans" xml:lang="fr"><quote>un
  roi</quote></cit></cit></sense> <sense n="2"><cit type="translation" xml:lang="fr"><quote> dame
  blanche</quote></cit></sense></entry>
<entry><form><orth>cat</orth><orth>tomcat</orth><form type="infl"><orth>cats</orth></form></form>
 <sense><cit type="trans" xml:lang="fr"><quote>chat, matou</quote></cit></sense></entry>
</body></text></TEI>
"""


def test_freedict(tmp_path: Path) -> None:
    pairs = (
        ("king", "roi"), ("king", "dame blanche"), ("cat", "chat"), ("cat", "matou"), ("tomcat", "chat"),
        ("tomcat", "matou"),
    )  # fmt: skip
    for languages in (EN_FR, None, ("eng", "fra")):
        assert read(tmp_path, TEI, languages).pairs == pairs
    assert read(tmp_path, TEI, FR_EN, "d.tei") == Lexicon(pairs).reversed()
    assert read(tmp_path, TEI.replace("UTF-8", "UTF-16").encode("utf-16"), EN_FR).pairs == pairs
    bare = TEI.replace(' xml:lang="fr"', "").replace(' xml:lang="en"', "")
    assert read(tmp_path, bare, FR_EN).pairs == pairs  # no language is named: the headword is the source
    # Many files name their languages in the name alone; that of the header says nothing.
    named = bare.replace("<TEI ", '<TEI xml:lang="de" ')
    assert read(tmp_path, named, FR_EN, "eng-fra.tei") == Lexicon(pairs).reversed()
    assert read(tmp_path, named, EN_FR, "eng-fra.tei").pairs == pairs
    with pytest.raises(
        BadFile, match="pairs of words of fr and de in the TEI of FreeDict, got pairs of en-fr"
    ):
        read(tmp_path, named, ("fr", "de"), "eng-fra.tei")
    meant = "<sense><def>king (of a land), ruler</def></sense>"
    found = read(tmp_path, f"<TEI><entry><form><orth>roi</orth></form>{meant}</entry></TEI>")
    assert found.pairs == (("roi", "king"), ("roi", "ruler"))
    both = f"<sense><cit><quote type='trans'>king</quote></cit>{meant[7:]}"
    found = read(tmp_path, f"<TEI><entry><form><orth>roi</orth></form>{both}</entry></TEI>")
    assert found.pairs == (("roi", "king"),)  # what is defined too
    old = "<TEI.2><entry><form><orth>king</orth></form><trans><tr>roi</tr></trans></entry></TEI.2>"
    assert read(tmp_path, old, EN_FR).pairs == (("king", "roi"),)


def test_a_tei_of_one_language(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    entry = "<entry><form><orth>king</orth></form><sense><def>{}</def></sense></entry>"
    short, long = entry.format("ruler"), entry.format("a person who rules over a country")
    read(tmp_path, f"<TEI>{short * 15}{long * 15}</TEI>")
    assert "50 % of its texts are longer than 4 words" in caplog.text
    for languages in (FR_EN, None):
        with pytest.raises(BadFile, match="in the TEI of FreeDict, got pairs of en-en"):
            read(tmp_path, f"<TEI>{short}</TEI>", languages, "eng-eng.tei")
    assert len(read(tmp_path, f"<TEI>{short}</TEI>", ("nno", "nob"), "nno-nob.tei")) == 1


def unit(*segments: tuple[str, str], attribute: str = "xml:lang") -> str:
    return (
        "<tu>"
        + "".join(f'<tuv {attribute}="{one}"><seg>{two}</seg></tuv>' for one, two in segments)
        + "</tu>"
    )


def memory(*units: str) -> str:
    return (
        f'<?xml version="1.0"?><tmx version="1.4"><header srclang="en"/><body>{"".join(units)}</body></tmx>'
    )


def test_a_translation_memory(tmp_path: Path) -> None:
    text = memory(
        unit(("en-US", "king"), ("fr-FR", "<bpt i='1'>b</bpt>roi"), ("de", "K\u00f6nig")),
        unit(("EN", "the big <hi>cat</hi>"), ("FR", "le grand chat"), attribute="lang"),
        unit(("en", "This is a whole sentence."), ("fr", "C'est une phrase.")),
    )
    assert read(tmp_path, text).pairs == (("roi", "king"), ("le grand chat", "the big cat"))
    assert read(tmp_path, text, ("de", "fr")).pairs == (("K\u00f6nig", "roi"),)
    assert read(tmp_path, text, None).pairs == (("king", "roi"), ("the big cat", "le grand chat"))
    with pytest.raises(BadFile, match=r"got 1 of more than 4 words"):
        read(tmp_path, memory(unit(("en", "This is a whole sentence."), ("fr", "C'est une phrase."))))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (TEI[:-40], r"d.xml:\d+: expected well-formed XML"),
        (
            "<?xml version='1.0'?>\n<xdxf/>",
            "d.xml:2: expected TEI, as FreeDict has it, TMX or TBX, got XML of the kind 'xdxf'",
        ),
        ("<!DOCTYPE html>\n<html><p>Not found</html>", "d.xml:2: expected TEI, .* of the kind 'html'"),
        (
            "<TEI xmlns:xi='x'><text><xi:include href='a.xml'/></text></TEI>",
            "got a reference to another one, 'a.xml'; put",
        ),
        ("<TEI>" + "<a>" * 100_000, "d.xml:1: .*too deep"),
        (memory(), "expected pairs of words of fr and en in a translation memory"),
    ],
)
def test_other_and_damaged_xml(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(BadFile, match=message):
        read(tmp_path, content)


def test_tei_of_other_projects(tmp_path: Path) -> None:
    free = "<entryFree><form><orth>roi</orth></form><sense><tr>king</tr></sense></entryFree>"
    lex_0 = """<entry xml:lang="fr"><form type="lemma"><orth>roi</orth></form><sense>
      <cit type="translationEquivalent" xml:lang="en"><form><orth>king</orth></form></cit></sense></entry>"""
    for entry in (free.replace("<tr>", '<tr type="trans">'), lex_0):
        assert read(tmp_path, f"<TEI><text><body>{entry}</body></text></TEI>").pairs == (("roi", "king"),)


def test_a_related_word_of_an_entry_has_its_own_translations(tmp_path: Path) -> None:
    related = "<re><form><orth>roi soleil</orth></form><cit type='trans'><quote>Sun King</quote></cit></re>"
    entry = (
        f"<entry><form><orth>roi</orth></form><cit type='trans'><quote>king</quote></cit>{related}</entry>"
    )
    found = read(tmp_path, f"<TEI><text>{entry}<entry/></text></TEI>", name="fra-eng.tei")
    assert found.pairs == (("roi soleil", "Sun King"), ("roi", "king"))


def test_entities_that_grow_are_refused_at_once(tmp_path: Path) -> None:
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    text = f'<?xml version="1.0"?><!DOCTYPE TEI [<!ENTITY e0 "ha">{levels}]><TEI>&e9;</TEI>'
    begin = time.process_time()
    with pytest.raises(BadFile, match="d.xml:1: expected no declaration of entities"):
        read(tmp_path, text)
    assert time.process_time() - begin < 1
    outside = '<!DOCTYPE TEI [<!ENTITY e SYSTEM "file:///etc/passwd">]><TEI>&e;</TEI>'
    with pytest.raises(BadFile, match="expected no declaration of entities"):
        read(tmp_path, outside)
    known = "<entry><form><orth>{}</orth></form><cit type='trans'><quote>king</quote></cit></entry>"
    declared = (
        '<!DOCTYPE TEI [<!ENTITY % a "INCLUDE"><!ENTITY r "roi">]><TEI><text>' + known + "</text></TEI>"
    )
    assert read(tmp_path, declared.format("roi")).pairs == (("roi", "king"),)
    with pytest.raises(BadFile, match="d.xml:1: expected text, got the entity '&r;'"):
        read(tmp_path, declared.format("&r;"))


DICT_CC = """# DE-EN vocabulary database\tcompiled by dict.cc
# Date and time\t2026-01-01 00:00

K\u00f6nig {m}\tking\tnoun\t[hist.]
gehen\tto go\tverb\t
sich [Akk.] &Auml;rger einhandeln <ugs.>\tto get (oneself) into trouble\tverb\t
Das ist ein ganzer Satz hier.\tThis is a whole sentence here.\t\t
"""


def test_dict_cc(tmp_path: Path) -> None:
    pairs = (("K\u00f6nig", "king"), ("gehen", "go"), ("sich \u00c4rger einhandeln", "get into trouble"))
    assert read(tmp_path, DICT_CC, languages=("de", "en")).pairs == pairs
    assert read(tmp_path, DICT_CC, languages=("en", "de")) == Lexicon(pairs).reversed()
    with pytest.raises(BadFile, match="of fr and en in a download from dict.cc, got pairs of de-en"):
        read(tmp_path, DICT_CC, languages=("fr", "en"))
    with pytest.raises(BadFile, match="d.xml:2: expected words with a tab between, as dict.cc has"):
        read(tmp_path, "# compiled by dict.cc\nroi king\n")


def test_sentences_of_a_translation_memory_are_read_as_they_are(tmp_path: Path) -> None:
    wanted = ("(Oui), il est bien tard, et la nuit est noire.", "(Yes), it is rather late, and dark!")
    path = tmp_path / "m.tmx"
    path.write_text(memory(unit(("en", wanted[1]), ("fr", wanted[0]))), encoding="utf-8")
    with open_beginning(path) as beginning:
        lines = formats()["tmx"].read(DictionaryFile(beginning, FR_EN, "sentences"))
        assert [line.pair for line in lines] == [wanted]
