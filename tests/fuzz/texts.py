"""Targets that are one file of text: dictionaries, sentences, language models and their kin."""

import gzip
import shutil
import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from muse.evaluation.ratings import read_rated
from muse.export.vocabulary import read_vocabulary
from muse.fetch.published import SUMS, read_pins
from muse.files import read_lexicon
from muse.files.lexicons import dictionary_writer, formats
from muse.files.parquet import parquet_writer, read_column
from muse.files.plain_text import read_lines
from muse.files.tables import table_writer
from muse.files.text_slices import slices
from muse.lexicon import Entry
from muse.sentences.files.nli import read_nli
from muse.sentences.files.sentence_text import (
    read_aligned,
    read_documents,
    read_parallel,
    read_probe_text,
    read_sentences,
)
from muse.text.arpa import read_arpa, write_arpa
from muse.text.language_model import learn_language_model
from muse.text.parallel import fit_of_words
from muse.vectors import WordIndex
from tests.fuzz.target import Target
from tests.support.spaces import raw_rows
from tests.support.vector_files import write_sheet

SENTENCES = (
    "The cat's mat: (new)!", "été, naïve", "", "a\u2028b c\u0085d", "日本語 👍", "5 3.2e1 -1",
    '"quoted", "one"',
)  # fmt: skip


def only(folder: Path) -> Path:
    """The one file of an input."""
    return next(iter(sorted(folder.iterdir())), folder / "none")


def files(contents: Mapping[str, str]) -> Callable[[Path], None]:
    """What writes these texts by the names of their files, each an input."""

    def write(folder: Path) -> None:
        for number, (name, content) in enumerate(contents.items()):
            place = folder / f"{number}" / name
            place.parent.mkdir()
            data = content.encode()
            place.write_bytes(gzip.compress(data) if place.suffix == ".gz" else data)

    return write


def _dictionaries(folder: Path) -> None:
    for form in ("muse", "tsv", "jsonl", "csv", "xlsx"):
        place = folder / form / f"fr-en.{form}"
        place.parent.mkdir()
        with dictionary_writer(place, form=form) as write:
            for rank, word in enumerate(("chat", "new york", "été", "👍", "5"), 1):
                write(Entry(word, f"{word} 2", 0.25 / rank, rank, 1 / rank))
    files({"fr-en.txt": "cat chat\nnew york\tny\ncat\tmatou\n", "fr-en.txt.gz": "a\tb\t1\nc\td\t0.5\n"})(
        folder
    )


def _lexicon(folder: Path) -> Iterator[Any]:
    found = read_lexicon(only(folder), languages=("fr", "en"))
    yield from (found.scores or (), found.probabilities or ())


# Dictionaries of other programs, each with what only such a file has.
_TABLES = {
    "comma.csv": 'fr,en,weight\nroi,"king, kings",0.5\nété,"the ""summer""",1\n',
    "semicolon.csv": "\ufeffroi;king|kings\r\nchat;cat / tomcat\r\n",
    "tab.tsv": 'roi\tking; kings\n"new york, ny"\tbig apple\n',
    "lex.f2e": "king roi 0.75\nNULL chat 1\ncat chat 2.5e-05\n",
    "dict-fr.gz": "king roi 0.75\ncat chat 1\n",
    "cc.txt": "# FR-EN vocabulary database\tcompiled by dict.cc\n\nroi {m}\tking\tnoun\t\n"
    "&eacute;t&eacute; [x]\tto go (on)\tverb\t\n",
    "anki.txt": "#separator:tab\n#columns:fr\ten\nroi\t1. king 2. ruler, etc.\n"
    "\u00e9t\u00e9\t['summer', 'heat']\n",
    "mac.csv": "'roi','king'\r'chat (m.)','adj. cat \u2022 kitty;'\r",
    "r.txt": '"fr" "en"\n"1" "roi" "king"\n"2" "chat" "cat"\n',
    "r.csv": '"","fr","en"\n"1","roi","king"\n"2","chat","cat"\n',
    "comma.f2e": "king roi 0,75\ncat\tchat 1.0000001\n",
}  # fmt: skip
_ENTRIES = {
    "kaikki.jsonl": '{"word": "king", "lang_code": "en", '
    '"translations": [{"word": "roi", "lang_code": "fr"}]}\n'
    '{"word": "roi", "lang_code": "fr", "senses": [{"glosses": ["king (of a land), ruler"]}]}\n',
    "fr-en.tei": '<?xml version="1.0" encoding="UTF-8"?><TEI xmlns="http://www.tei-c.org/ns/1.0"><text>'
    '<body xml:lang="fr"><entry><form><orth>roi</orth></form><sense><cit type="trans" xml:lang="en">'
    "<quote>king, <hi>ruler</hi></quote></cit></sense><re><form><orth>roi soleil</orth></form>"
    '<cit type="translationEquivalent"><form><orth>Sun King</orth></form></cit></re></entry>'
    "</body></text></TEI>\n",
    "pyglossary.txt": "##sourceLang\tEnglish\n##targetLang\tFrench\n"
    "king\tking<br />1. roi, <i>le</i> roi<br />\n"
    "lady|ladies\tlady /x/\\ndame\\nreine\n",
    "babylon.gls": "#stripmethod=keep\n\nroi|rois\nking, kings\n\nchat\ncat\n",
    "headless.gls": "\nroi|rois\nking, kings\n\nchat\ncat\n",
    "lingvo.dsl": '#NAME "x"\n#INDEX_LANGUAGE "French"\n\nroi\n\t[m1]king[/m]\n',
    "memory.tmx": '<?xml version="1.0"?><tmx version="1.4"><header srclang="en"/><body><tu>'
    '<tuv xml:lang="en"><seg>king</seg></tuv><tuv xml:lang="fr"><seg>roi</seg></tuv></tu></body></tmx>',
}  # fmt: skip


# Named after the formats in which they are read.
_BY_FORM = {
    "muse": "alors, puis\tthen, next\nroi king\n",
    "tsv": _TABLES["tab.tsv"],
    "csv": _TABLES["comma.csv"],
    "lex.f2e": _TABLES["lex.f2e"],
    "lex.e2f": "roi king 0.75\nchat\tcat\t1e-05\n",
    "dict.cc": "roi {m}\tking\tnoun\t\n",
    "jsonl": '{"source": "roi", "target": "king", "score": 0.5}\n',
    "kaikki": _ENTRIES["kaikki.jsonl"],
    "tei": _ENTRIES["fr-en.tei"],
    "tmx": _ENTRIES["memory.tmx"],
    "tabfile": _ENTRIES["pyglossary.txt"],
}  # fmt: skip


def _unicode_text(folder: Path) -> None:
    files(_TABLES)(folder)
    for number, encoding in enumerate(("utf-16", "utf-16-be")):
        place = folder / f"utf-16.{number}" / "excel.txt"
        place.parent.mkdir()
        place.write_bytes("source\ttarget\nroi\tking, kings\nété\tsummer\n".encode(encoding))


def _workbook(folder: Path) -> None:
    for name in ("d.xlsx", "d.parquet"):
        place = folder / name / name
        place.parent.mkdir()
        with table_writer(place, {"fr": str, "en": str, "score": float}) as write:
            write(["roi", "king, kings", 0.5])
            write(["été", "summer", 1])
    # What takes little in the file and much in memory.
    for name, cells in {"far": [(9_999, 1), (9_999, 2)], "wide": [(2, 2_000), (3, 1), (3, 2_000)]}.items():
        (folder / name).mkdir()
        write_sheet(folder / name / "d.xlsx", [(1, 1), (1, 2_000 if name == "wide" else 2), *cells])
    (folder / "many").mkdir()
    cell = " ; ".join(map(str, range(300)))
    (folder / "many" / "d.csv").write_text(f'fr,en\n"{cell}","{cell}"\n')
    (folder / "equal").mkdir()
    with table_writer(folder / "equal" / "d.parquet", {"fr": str, "en": str}) as write:
        for _ in range(5_000):
            write(["roi", "king"])


def _stardict(folder: Path) -> None:
    (folder / "0").mkdir()
    with dictionary_writer(folder / "0" / "fr-en.ifo", form="stardict") as write:
        for rank, word in enumerate(("chat", "new york", "été", "👍", "5"), 1):
            write(Entry(word, f"{word} 2", None, rank))
    shutil.copytree(folder / "0", folder / "1")
    (folder / "1" / "fr-en.dict").rename(folder / "1" / "fr-en.dict.dz")


def _article_pairs(folder: Path) -> Iterable[Any]:
    read_lexicon(folder / "fr-en.ifo")
    return ()


_DIGITS = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
_ARTICLES = {"dame": "Dame /dam/ <n>\n1. lady, queen\n", "roi": "roi\n\n   king; ruler\n see: {dame}\n"}


def _dictd(folder: Path) -> None:
    (folder / "0").mkdir()
    places, at = [], 0
    for word, article in _ARTICLES.items():  # both numbers below 64, which are one digit
        places.append(f"{word}\t{_DIGITS[at]}\t{_DIGITS[len(article)]}\n")
        at += len(article)
    (folder / "0" / "fr-en.index").write_text("".join(places), encoding="utf-8")
    (folder / "0" / "fr-en.dict").write_text("".join(_ARTICLES.values()), encoding="utf-8")
    shutil.copytree(folder / "0", folder / "1")
    packed = gzip.compress((folder / "1" / "fr-en.dict").read_bytes())
    (folder / "1" / "fr-en.dict").unlink()
    (folder / "1" / "fr-en.dict.dz").write_bytes(packed)


def _dictd_pairs(folder: Path) -> Iterable[Any]:
    read_lexicon(folder / "fr-en.index", languages=("en", "fr"))
    return ()


def _lexicon_by_name(folder: Path) -> Iterator[Any]:
    path = only(folder)
    found = read_lexicon(path, languages=("fr", "en"), form=path.name if path.name in formats() else "muse")
    yield from (found.scores or (), found.probabilities or ())


def _arpa(folder: Path) -> None:
    for order in (1, 2, 3):
        (folder / f"{order}").mkdir()
        text = [sentence.split() for sentence in SENTENCES[:3] if sentence]
        write_arpa(folder / f"{order}" / "fr.arpa", learn_language_model(text, order=order))


def _language_model(folder: Path) -> Iterator[Any]:
    model = read_arpa(only(folder))
    for level in model.levels:
        yield from (level.log_p, level.backoff)
    yield [model.log_probability(text.split()) for text in ("The cat's mat", "unseen word")]


def _columns(folder: Path) -> None:
    for name in ("sentence", "text"):
        place = folder / name / "x.parquet"
        place.parent.mkdir()
        with parquet_writer(place, 2, name) as write:
            write(SENTENCES, raw_rows(0, len(SENTENCES), 2))


def _sts(folder: Path) -> Iterator[Any]:
    yield read_rated(only(folder)).ratings


def _plain(read: Callable[[Path], Any]) -> Callable[[Path], Iterable[Any]]:
    # Of what has no numbers, only that it is read.
    def whole(folder: Path) -> Iterable[Any]:
        found = read(only(folder))
        return () if not isinstance(found, Iterator) else [len(list(found))]

    return whole


def _sentences_in_slices(path: Path) -> list[str]:
    return [sentence for part in slices(path, size=100) for sentence in part.sentences()]


def _two_files(folder: Path) -> None:
    for number in range(2):
        (folder / f"{number}").mkdir()
        for side in ("a.en", "b.fr"):
            (folder / f"{number}" / side).write_text("\n".join(SENTENCES[number:]) + "\n", encoding="utf-8")


def _aligned(folder: Path) -> Iterable[Any]:
    read_aligned(folder / "a.en", folder / "b.fr")
    return ()


_TEXT = "\n".join(SENTENCES) + "\n"
_PAIRS = "".join(f"{one}\t{two}\n" for one, two in zip(SENTENCES, reversed(SENTENCES), strict=True))
_SNLI = (
    "gold_label\tsentence1\tsentence2\tpairID\n"
    "neutral\tA man.\tA cat.\t1\n-\tx\ty\t2\nentailment\tA b.\tc\t3\ncontradiction\té\tf\t8\n"
)
_SICK = (
    "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tentailment_judgment\tSemEval_set\n"
    "1\tA b\tC d\tNEUTRAL\t4.5\tNEUTRAL\tTRAIN\n2\tA\tC\tENTAILMENT\t3.2\tENTAILMENT\tTRIAL\n"
)
_STS = 'a b,"c, ""d""",4.5\nx y,z,0\n\né,f,3.25\n'
_OBJECTS = '{"src": "a", "tgt": "b c"}\n{"tgt": "d", "src": "e"}\n'
_RATED = "sentence1\tscore\tsentence2\na\t1\tb\n"
_SCORED = "n;Satz 1;Satz 2;Wert;x\n1;a b;c d;4,5;\n2;e f;g;;y\n3;x y;z u;n/a;0\n"
_FITS = [fit_of_words(WordIndex(words.split()), "fr") for words in ("le roi la", "the king")]
_SUBTITLES = "1\n00:00:01,000 --> 00:00:02,000\n5\n\n2\n00:00:03,000 --> 00:00:04,000\n<i>Le roi.</i>\n7\n"
_CORPORA = {
    "x.txt": _TEXT, "x.txt.gz": _TEXT, "x.srt": _SUBTITLES, "x.vtt": f"WEBVTT\n\n{_SUBTITLES}",
    "x.tmx": _ENTRIES["memory.tmx"], "wiki": '<doc id="1" title="x">\nLe roi &amp; la nuit.\n</doc>\n',
    "x.conllu": "# text = Le roi\n1\tLe\tle" + "\t_" * 7 + "\n2\troi\troi" + "\t_" * 7 + "\n",
    "x.jsonl": '{"text": "le roi"}\n{"text": "la nuit"}\n',
    "labels": "__label__a le roi\n__label__b la nuit\n",
    "bpe": "le ro@@ i\nla nu@@ it\n", "pieces": "▁le ▁ro i\n▁la ▁nuit\n",
}  # fmt: skip
_VOCABULARIES = {
    "list.yml": "vocab:\n- roi\n- 'la'\n- \"\\x41\"\n", "z.yml": "- roi\n- la\n",
    "x.txt": "the 1061396\nca@@ 7\nt 5\n", "y.txt": "the\nca@@\nt\n",
    "x.yml": '"</s>": 0\n"\\x41": 1\nroi: 2\n', "x.json": '{"a": 1, "b": 0}',
    "y.json": '{"model": {"vocab": [["a", 0.5]]}, "added_tokens": [{"id": 1, "content": "b"}]}',
}  # fmt: skip
_INFERENCES = {"snli.txt": _SNLI, "sick.txt": _SICK, "x.csv": "a b,c d,neutral\ne f,g h,entailment\n"}
_RATINGS = {"x.csv": _STS, "x.tsv": "a b\tc d\t4.5\nx\ty\t0\n", "y.tsv": _RATED, "z": _SCORED}

TARGETS = (
    Target("dictionary", _dictionaries, _lexicon),
    Target("dictionary.tables", _unicode_text, _lexicon),
    Target("dictionary.entries", files(_ENTRIES), _lexicon),
    Target("dictionary.form", files(_BY_FORM), _lexicon_by_name),
    Target("dictionary.workbook", _workbook, _lexicon),
    Target("stardict", _stardict, _article_pairs),
    Target("dictd", _dictd, _dictd_pairs),
    Target(
        "lines", files({"x.txt": _TEXT, "x.txt.gz": _TEXT, "bom.txt": "\ufeff" + _TEXT}), _plain(read_lines)
    ),
    Target("sentences", files(_CORPORA), _plain(read_sentences)),
    Target("slices", files(_CORPORA), _plain(_sentences_in_slices)),
    Target(
        "parallel",
        files(
            {
                "x.tsv": _PAIRS,
                "x.tsv.gz": _PAIRS,
                "x.csv": 'a b,"c, ""d"""\nx y,z\n',
                "x.jsonl": '{"src": "a", "tgt": "b c"}\n',
                "mined": "1.5\tle roi\tthe king\n0.5\tla\tthe\n",
                "bars": "the king ||| le roi\nx ||| la\n",
                "x.json": '[{"id": 1, "translation": {"fr": "le roi", "en": "the king"}}]',
                "x.tmx": '<tmx version="1.4"><body><tu><tuv lang="fr"><seg>le roi</seg></tuv>'
                '<tuv lang="en"><seg>the king</seg></tuv></tu></body></tmx>',
            }
        ),
        _plain(lambda path: read_parallel(path, ("fr", "en"), _FITS)),
    ),
    Target("aligned", _two_files, _aligned),
    Target(
        "nli",
        files(_INFERENCES),
        _plain(read_nli),
    ),
    Target(
        "sts",
        files(_RATINGS),
        _sts,
    ),
    Target(
        "probe", files({"x.txt": "tr\t1\ta b\nva\t0\tc\nte\t1\td e\ntr\t0\tf\n"}), _plain(read_probe_text)
    ),
    Target("documents", files({"x.txt": "a\tone\na\ttwo\n\nb\tthree\nb\tfour\n"}), _plain(read_documents)),
    Target(
        "vocabulary",
        files(_VOCABULARIES),
        _plain(read_vocabulary),
    ),
    Target("slices.parquet", _columns, _plain(_sentences_in_slices)),
    Target("column", _columns, _plain(lambda path: read_column(path, None))),
    Target("arpa", _arpa, _language_model),
    Target(
        "pins",
        files({SUMS: f"{'0' * 64}  a.vec\n{'f' * 64} *b c.txt\n"}),
        lambda folder: read_pins(folder) and (),
    ),
)
