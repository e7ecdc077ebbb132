"""Dictionaries of articles: StarDict, which GoldenDict, KOReader and others show, dictd, Kindle, tab files.

Of StarDict, NAME.ifo says what it is, NAME.idx has the words with the places of their articles, NAME.syn the
forms that share these, NAME.dict the articles, packed as NAME.dict.dz by many. dictd has NAME.index and
NAME.dict; what becomes a dictionary of a Kindle NAME.opf and NAME.html; a tab file an article a line, as
pyglossary writes it. Articles are texts for people: read is what is clearly a translation in them.
"""

import html
import itertools
import logging
import re
import struct
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from muse import languages as language_names
from muse.dictionary_formats.language_filter import warn_of_explanations
from muse.errors import BadFile, BadSetting
from muse.files.cells import LONGEST_PHRASE, split_translations, stripped
from muse.files.dictionary_format import BLANK, Append, DictionaryFile, DictionaryFormat, Write
from muse.files.source import RATIO, first_bytes, open_source
from muse.files.writing import check_place, replaced
from muse.languages import Languages, languages_of_file
from muse.lexicon import Entry, PairLine
from muse.orthography import letters_of

log = logging.getLogger(__name__)

Place = tuple[str, int, int]  # a word of an index, and where its article begins and how long it is

MAGIC = b"StarDict's dict ifo file"
_LONGEST_WORD = 255  # bytes, by the format
_MOST_MEGABYTES = 1_024  # of one of the files; the largest dictionaries have a tenth
_TEXT = frozenset("mgxhlyk")  # articles of these types are text, with tags or without
_TAG = re.compile(r"<(?:br|/?p|/?div|/?li|/?def|/?tr)\b[^<>]*>", re.IGNORECASE)
_ANNOTATION = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|\([^()]*\)|\{[^{}]*\}|(?<!\S)/[^/\n]*/(?![^\s,;])")
_LABEL = re.compile(r"[A-Za-z]{1,5}\.")
_NUMBERING = re.compile(
    r"^\s*(?:\d+[.)]|[a-z]\)|(?:[A-Za-z]|I{2,3}|IV|VI{1,3}|IX)\.(?=\s)|[-\u2013\u2022*\u2192](?=\s))\s*"
)
# What begins another sense on the same line: its number, in a circle or not, or a sign for it.
_SENSES = re.compile(
    r"(?<!\S)(?:\d{1,2}[.)](?=\s|[^\W\d])|[\u2460-\u2473\u2776-\u277f\u2666\u25c6\u25ca\u25cf\u25a0\u25aa\u25ba])"
)
# Parts of speech before the first translation: n. m. king; and in a tag, where they need no point.
_KINDS = (
    "noun|verb|[nv]|n[mf]|v[ti]|vtr|tr|intr|adj|adv|prep|conj|pron|interj|num|det|art|abbr|[mf]|pl|sg|sing|"
    "pref|suff|refl"
)
_KIND = re.compile(rf"^\s*(?:(?:{_KINDS})\.\s*)+(?=\w)", re.IGNORECASE)
_TAGGED_KIND = re.compile(rf"<(i|em|pos|abr|small)>\s*(?:(?:{_KINDS})\b\.?[\s,/]*)+</\1>", re.IGNORECASE)
# The word in bold before what is said of it; and how it is spoken, in XDXF.
_HEAD = re.compile(r"((?:\s*<[^<>]*>)*[^<>]*</(?:b|k|strong|h\d)>)")
_SPOKEN = re.compile(r"<tr>[^<>]*</tr>")
# Lines that are no translations: other words to look up, remarks, and examples in quotation marks.
_REMARK = re.compile(
    r"\s*(?:[\w ]{2,20}:\s*\{|(?:see|see also|synonyms?|antonyms?|notes?|examples?|usage)\s*:|"
    '["\u201c\u201e\u00ab\u2018])',
    re.IGNORECASE,
)
_INDEX_LINE = re.compile(rb"[^\t\n]*\t[A-Za-z0-9+/]{1,11}\t[A-Za-z0-9+/]{1,11}(?:\t[^\t\n]*)?\r?\n")
_NUMBER = re.compile(r"[A-Za-z0-9+/]{1,11}")  # 64 bits
_ABOUT = ("00database", "00-database")  # entries that describe a dictionary of dictd
_MARKED = re.compile(r"<(?:br|/?p|/?b|/?i|/?div|/?font|/?span|/?li|/?a)\b[^<>]*>|\\n", re.IGNORECASE)
_SHORT = "00-database-short"
_CHUNK = 58_315  # bytes, as dictzip has them
_ENTRY = re.compile(
    r'<idx:entry\b.*?<idx:orth\b(?:[^<>]*?\bvalue="([^"]*)")?[^<>]*>(.*?)</idx:orth>(.*?)</idx:entry>',
    re.DOTALL,
)
_FORM = re.compile(r'<idx:iform\b[^<>]*?\bvalue="([^"]*)"')
_OPF = """<?xml version="1.0" encoding="utf-8"?>
<package version="2.0" xmlns="http://www.idpf.org/2007/opf" unique-identifier="id">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:title>{0}</dc:title><dc:identifier id="id">{0}</dc:identifier><dc:language>{2}</dc:language>
<x-metadata><DictionaryInLanguage>{1}</DictionaryInLanguage><DictionaryOutLanguage>{2}</DictionaryOutLanguage>
<DefaultLookupIndex>word</DefaultLookupIndex></x-metadata></metadata>
<manifest><item id="words" href="{3}" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="words"/></spine></package>
"""
_HTML = """<?xml version="1.0" encoding="utf-8"?>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:idx="https://kindlegen.s3.amazonaws.com/idx.pdf"
 xmlns:mbp="https://kindlegen.s3.amazonaws.com/mbp.pdf"><head><title>{}</title></head><body>
<mbp:frameset>
{}</mbp:frameset></body></html>
"""
_ESCAPES = {"\\n": "\n", "\\r": "\n", "\\t": " ", "\\\\": "\\"}


def base_of_stardict(path: Path) -> Path | None:
    """The path without the ending, of one of the files of a StarDict dictionary; None of any other file.

    The .ifo begins as it should, or has an index beside it.
    """
    for base in _bases(path, (".idx.gz", ".dict.dz", ".ifo", ".idx", ".syn", ".dict")):
        info, index = _beside(base, ".ifo"), _beside(base, ".idx")
        if first_bytes(info, len(MAGIC)) == MAGIC or (info.exists() and index.exists()):
            return base
    return None


def base_of_dictd(path: Path) -> Path | None:
    """The path without the ending, of the index or of the articles of dictd; None of any other file."""
    bases = _bases(path, (".dict.dz", ".index", ".dict"))
    return next((one for one in bases if _INDEX_LINE.match(first_bytes(_beside(one, ".index"), 1_000))), None)


def _bases(path: Path, endings: Sequence[str]) -> list[Path]:
    names = [path.name.removesuffix(ending) for ending in endings if path.name.endswith(ending)]
    return [path.with_name(name) for name in names if name]


def _beside(base: Path, ending: str) -> Path:
    return base.with_name(f"{base.name}{ending}")


def _files(
    file: DictionaryFile, base: Path | None, *endings: str, named: str = ""
) -> tuple[Path, bytes, bytes]:
    """The base, the index, which has one of these endings, and the articles; BadFile without them."""
    if base is None:
        raise BadFile(
            f"{file.path}: expected one of {named}NAME{' or NAME'.join(endings)} and NAME.dict or "
            "NAME.dict.dz beside one another, got another file; check the name"
        )
    found = []
    for names in (endings, (".dict.dz", ".dict")):
        paths = [_beside(base, ending) for ending in names]
        path = next((path for path in paths if path.exists()), None)
        if path is None:
            named = " or ".join(one.name for one in paths)
            raise BadFile(f"{base}: expected {named} beside it, got none; keep its files together")
        found.append(_read(path))
    return base, found[0], found[1]


def _read(path: Path) -> bytes:
    with open_source(path) as source:
        content = b"".join(itertools.islice(iter(lambda: source.read(1 << 20), b""), _MOST_MEGABYTES + 1))
    if len(content) > _MOST_MEGABYTES << 20:
        raise BadFile(
            f"{path}: expected {_MOST_MEGABYTES} MB at most, got more; check that it is the file you mean"
        )
    return content


def _pairs(
    file: DictionaryFile,
    path: Path,
    named: Languages,
    articles: "Iterable[tuple[str, Iterable[_ArticleText]]]",
    *,
    headed: bool = True,
) -> Iterator[PairLine]:
    """The pairs of words and the lines of their articles, in a dictionary that names these languages.

    A line that repeats the word, with what is said of it, is a heading where articles are `headed`. Raise
    BadFile if there is no translation; warn where most of what there is may be none.
    """
    if (
        named[0]
        and language_names.one_language(named)
        and not (file.languages and language_names.one_language(file.languages))
    ):
        raise BadFile(
            f"{path}: expected a dictionary of two languages, got one of {named[0]} and {named[1]} by its "
            "name; take another one"
        )
    swapped, short, long = language_names.are_reversed(named, file.languages), 0, 0
    for word, texts in articles:
        translations, repeated = dict[str, None](), letters_of(word)
        for text in texts:
            if not headed or text.heading != repeated:
                short += bool(text.translations)
                long += text.long
                translations |= dict.fromkeys(text.translations)
        for translation in translations:
            yield PairLine((translation, word) if swapped else (word, translation))
    if not short:
        raise BadFile(
            f"{path}: expected articles that list translations of one to {LONGEST_PHRASE} words, got none; "
            "write the pairs into lines of two words with a tab between"
        )
    warn_of_explanations(path, long, short)


def _stardict_pairs(file: DictionaryFile) -> Iterator[PairLine]:
    """The pairs of a dictionary; its name, or that of its files, may say that the target comes first."""
    base, index, articles = _files(file, base_of_stardict(file.path), ".idx", ".idx.gz", named="NAME.ifo, ")
    path = _beside(base, ".ifo")
    lines = _read(path).decode(errors="replace").splitlines()
    if not lines or MAGIC.decode() not in lines[0]:
        raise BadFile(f"{path}: expected the description of a StarDict dictionary, got another; check it")
    settings = (line.partition("=") for line in lines[1:] if "=" in line)
    info = {name.strip(): value.strip() for name, _, value in settings}
    named = language_names.languages_of_title(info.get("bookname", "")) or languages_of_file(base.name)
    types, numbers = info.get("sametypesequence", ""), ">QI" if info.get("idxoffsetbits") == "64" else ">II"
    every = [*_places(base, index, struct.Struct(numbers))]
    heads = {(begin, size): word for word, begin, size in every}
    if (synonyms := _beside(base, ".syn")).exists():
        forms = [*_places(base, _read(synonyms), struct.Struct(">I"), ".syn")]
        if any(number >= len(every) for _, number in forms):
            raise BadFile(
                f"{synonyms}: expected forms of the {len(every)} words of the index, got one of another; "
                "take the files of one dictionary"
            )
        every += [(form, *every[number][1:]) for form, number in forms]
    places = [*dict.fromkeys(_checked([one for one in every if one[0]], base, ".idx", index, articles))]
    found = (
        (word, _without_heading(_texts(_fields(articles[begin : begin + size], types)), heads[begin, size]))
        for word, begin, size in places
    )
    return _pairs(file, path, named, found)


def _dictd_pairs(file: DictionaryFile) -> Iterator[PairLine]:
    """The pairs of a dictionary whose index has words without capitals and signs.

    As they are written they stand in the articles. The name may say that it goes from target to source.
    """
    base, index, articles = _files(file, base_of_dictd(file.path), ".index")
    places = [*dict.fromkeys(_checked([*_places_of_dictd(base, index)], base, ".index", index, articles))]
    texts = ((word, articles[begin : begin + size].decode(errors="replace")) for word, begin, size in places)
    read = ((_as_written(folded, text.partition("\n")[0]), text) for folded, text in texts)
    found = ((word, _texts([("m", text.partition("\n")[2])]) if word else []) for word, text in read)
    return _pairs(file, _beside(base, ".index"), languages_of_file(base.name), found, headed=False)


def _places_of_dictd(base: Path, index: bytes) -> Iterator[Place]:
    """Each word of an index with the place and the size of its article."""
    for number, line in enumerate(index.decode(errors="replace").splitlines(), 1):
        cells = line.split("\t")
        if cells[0].startswith(_ABOUT) or not line:
            continue
        if len(cells) not in (3, 4) or not all(map(_NUMBER.fullmatch, cells[1:3])):
            raise BadFile(
                f"{base}.index:{number}: expected a word and two numbers, got {line[:60]!r}; download the "
                "file again"
            )
        # Digits of base 64; twelve of them are nine bytes.
        begin, size = (int.from_bytes(b64decode(one.rjust(12, "A"))) for one in cells[1:3])
        yield cells[0], begin, size


def _as_written(folded: str, heading: str) -> str:
    """The word of an index in the letters of an article's first line; "" for what is no word."""
    plain = _ANNOTATION.sub(" ", heading)
    words = [stripped(" ".join(word.split())) for word in (plain, *plain.split(","))]
    word = next((one for one in words if letters_of(one) == letters_of(folded)), stripped(folded))
    return "" if "\ufffd" in word else " ".join(word.split())


def _is_tab_file(file: DictionaryFile) -> bool:
    """Whether lines are words and articles with a tab between, as pyglossary writes them."""
    lines = file.filled
    if re.match(r"##[A-Za-z]+\t", file.first):
        return True
    marked = [line.count("\t") == 1 and _MARKED.search(line.partition("\t")[2]) is not None for line in lines]
    return 2 * sum(marked) > len(marked)


def _tab_file_pairs(file: DictionaryFile) -> Iterator[PairLine]:
    """The pairs of such lines, whose first ones may say which languages they are in."""
    cells = (line.split("\t") for line in file.sample if line.startswith("##"))
    named = {one[0]: stripped(one[-1]) for one in cells}
    title = language_names.languages_of_title(named.get("##name", named.get("##bookname", ""))) or ("", "")
    of = named.get("##sourceLang", title[0]), named.get("##targetLang", title[1])
    return _pairs(file, file.path, of, _articles_of_tab_file(file))


def _articles_of_tab_file(file: DictionaryFile) -> "Iterator[tuple[str, list[_ArticleText]]]":
    for number, line in enumerate(file.lines, 1):
        if line.startswith("##") or not line.strip(BLANK):
            continue
        cells = line.split("\t")
        if len(cells) != 2:
            raise BadFile(
                f"{file.path}:{number}: expected a word and an article with a tab between, got {len(cells)} "
                f"cells ({line.strip()[:60]!r}); convert it again"
            )
        text = re.sub(r"\\[nrt\\]", lambda escape: _ESCAPES[escape[0]], cells[1])
        words = [stripped(one) for one in cells[0].split("|")]  # and its other forms
        texts = _texts([("h" if _MARKED.search(text) else "m", text)]) if words[0] else []
        yield from ((word, _without_heading(texts, words[0])) for word in words if word)


def _without_heading(texts: "Iterable[_ArticleText]", word: str) -> "list[_ArticleText]":
    return [text for text in texts if text.heading != letters_of(word)]


def _kindle_page(path: Path) -> Path | None:
    """The page of a dictionary for a Kindle, named by it or by its .opf; None of any other file."""
    page = path.with_suffix(".html") if path.suffix == ".opf" else path
    return page if b"<idx:entry" in first_bytes(page, 4_096) else None


def _kindle_pairs(file: DictionaryFile) -> Iterator[PairLine]:
    """The pairs of such a page: the words and other forms of its entries, with the lines behind these."""
    page = _kindle_page(file.path) or file.path
    found = (
        (html.unescape(word), _texts([("h", entry[3])]))
        for entry in _ENTRY.finditer(_read(page).decode(errors="replace"))
        for word in (stripped(entry[1] or _TAG.sub("", entry[2])), *_FORM.findall(entry[2]))
    )
    return _pairs(file, page, languages_of_file(page.name), found)


def _checked(places: list[Place], base: Path, ending: str, index: bytes, articles: bytes) -> list[Place]:
    """The places; BadFile for articles beyond the end, or so many times the same that they are far more."""
    end = max((begin + size for _, begin, size in places), default=0)
    if end > len(articles):
        raise BadFile(
            f"{base}{ending}: expected articles within {base.name}.dict, which has {len(articles)} bytes, "
            f"got one that ends at {end}; take the files of one dictionary"
        )
    taken = sum(size for *_, size in places)
    if taken > RATIO * (len(index) + len(articles)):
        raise BadFile(
            f"{base}{ending}: expected articles of at most {RATIO} times the size of the files, got {taken} "
            "bytes, as many words have the same long one; download the files again"
        )
    return places


def _places(base: Path, index: bytes, numbers: struct.Struct, ending: str = ".idx") -> Iterator[Any]:
    """Each word of an index, "" for what is no word, with its numbers: the place and size of its article."""
    at = 0
    while at < len(index):
        end = index.find(b"\0", at)
        if end < 0 or end + 1 + numbers.size > len(index):
            raise BadFile(
                f"{base}{ending}: expected a complete file, got an incomplete one; download it again"
            )
        word = stripped(index[at:end].decode(errors="replace"))
        yield (
            "" if any(sign in word for sign in "\ufffd\t\n\r") else word,
            *numbers.unpack_from(index, end + 1),
        )
        at = end + 1 + numbers.size


class _ArticleText(NamedTuple):
    # A line of an article.
    heading: str | None  # the word that it may repeat, folded
    translations: list[str]
    long: bool


def _texts(fields: Iterable[tuple[str, str]]) -> list[_ArticleText]:
    """The lines of an article that may be translations, of its texts, whose types stand before them."""
    found = []
    for kind, text in fields:
        if kind not in _TEXT:
            continue
        lines = text.splitlines() if kind == "m" else _lines_of_tagged(kind, text)
        lines = [part for line in lines for part in _SENSES.split(line)]
        lines = [_KIND.sub("", _NUMBERING.sub("", line)) for line in lines if line.strip()]
        for place, line in enumerate(lines):
            plain = _ANNOTATION.sub(" ", line)
            cell = stripped(" ".join(plain.split())).rstrip(":").lstrip(",;: ")
            marked = plain != line or (kind != "m" and not place)
            if not cell or _LABEL.fullmatch(cell) or _REMARK.match(line):
                continue
            parts = split_translations(cell.rstrip(" .,;"))
            kept = [
                part for part in map(stripped, parts) if len(part.split()) <= LONGEST_PHRASE
                and any(map(str.isalnum, part)) and "\ufffd" not in part
            ]  # fmt: skip
            heading = letters_of(cell) if marked and lines[1:] else None
            found.append(_ArticleText(heading, kept, len(cell.split()) > LONGEST_PHRASE and not kept))
    return found


def _lines_of_tagged(kind: str, text: str) -> list[str]:
    if head := _HEAD.match(text):
        text = f"{head[0]}\n{text[head.end() :]}"
    text = _TAGGED_KIND.sub(" ", _SPOKEN.sub(" ", text) if kind == "x" else text)
    return html.unescape(_TAG.sub("\n", text)).splitlines()


def _fields(article: bytes, types: str) -> Iterator[tuple[str, str]]:
    """The texts of an article with their types, which stand in it unless all articles have the same ones."""
    at, left = 0, list(types)
    while at < len(article) and (left or not types):
        kind = left.pop(0) if types else chr(article[at])
        at += 0 if types else 1
        if kind.isupper():  # with its size: pictures and sounds
            size = int.from_bytes(article[at : at + 4], "big")
            at += 4 + size
            continue
        end = len(article) if types and not left else article.find(b"\0", at)
        end = len(article) if end < 0 else end
        yield kind, article[at:end].decode(errors="replace")
        at = end + 1


# Writing


def can_be_headword(word: str) -> bool:
    """Whether a word can be one of the index or a line of an article."""
    written = word.encode(errors="replace")
    signs = any(sign in word for sign in "\0\t\n\r")
    return 0 < len(written) <= _LONGEST_WORD and written.decode() == word == stripped(word) and not signs


class _Article(NamedTuple):
    # A word, its translations, the best first, and other forms of the word.
    word: str
    translations: list[str]
    forms: Sequence[str]


def _writer(
    kind: str, endings: Sequence[str], made: Callable[[str, Languages, Sequence[_Article]], Sequence[bytes]]
) -> Write:
    """What writes files beside one another, `made` of their name, languages and articles, once complete.

    The first of them, which is named, comes last; one that is empty is left out, and an earlier one removed.
    """

    @contextmanager
    def write(path: Path, languages: Languages | None) -> Iterator[Append]:
        if path.suffix != endings[0]:
            raise BadSetting(
                f"{path}: {kind} has files beside one another, named after the one that ends in "
                f"{endings[0]}; choose such a name"
            )
        base, found = path.with_suffix(""), dict[str, _Article]()
        for ending in endings:
            check_place(_beside(base, ending))

        def append(entry: Entry, place: int) -> None:
            forms = [*filter(can_be_headword, entry.forms)]
            found.setdefault(entry.source, _Article(entry.source, [], forms)).translations.append(
                entry.target
            )

        yield append
        contents = made(base.name, languages or ("", ""), [*found.values()])
        written = [(_beside(base, ending), one) for ending, one in zip(endings, contents, strict=True)]
        with ExitStack() as files:
            for one, content in written:
                if content:
                    files.enter_context(replaced(one)).write(content)
        for one in (one for one, content in written if not content):
            one.unlink(missing_ok=True)

    return write


def _title(name: str, languages: Languages) -> str:
    return " - ".join(filter(None, languages)) or name


def _stardict_files(name: str, languages: Languages, articles: Sequence[_Article]) -> Sequence[bytes]:
    """The .ifo, the .idx, the .syn, with the number of a word in the .idx for each other form, the .dict."""

    def ordered(word: str) -> tuple[bytes, bytes]:
        """As it searches."""
        return word.encode().lower(), word.encode()

    articles = sorted(articles, key=lambda one: ordered(one.word))
    texts = ["\n".join(one.translations).encode() for one in articles]
    begins = itertools.accumulate(map(len, texts), initial=0)
    index = b"".join(
        one.word.encode() + b"\0" + struct.pack(">II", begin, len(text))
        for one, text, begin in zip(articles, texts, begins, strict=False)
    )
    forms = [(form, number) for number, one in enumerate(articles) for form in one.forms]
    synonyms = [
        form.encode() + b"\0" + struct.pack(">I", number)
        for form, number in sorted(forms, key=lambda one: ordered(one[0]))
    ]
    info = f"{MAGIC.decode()}\nversion=2.4.2\nbookname={_title(name, languages)}\nwordcount={len(articles)}\n"
    info += f"synwordcount={len(synonyms)}\n" if synonyms else ""
    info += f"idxfilesize={len(index)}\nsametypesequence=m\n"
    return info.encode(), index, b"".join(synonyms), b"".join(texts)


def _dictd_files(name: str, languages: Languages, articles: Sequence[_Article]) -> Sequence[bytes]:
    """The .index, of words and other forms in small letters by their bytes, as it says, and the .dict.dz."""
    about = f"{_SHORT}\n     {_title(name, languages)}\n".encode()
    texts = ["\n     ".join([one.word, *one.translations]).encode() + b"\n" for one in articles]
    places = [(one, 0, len(about)) for one in (_SHORT, "00-database-utf8", "00-database-allchars")]
    for one, text, begin in zip(
        articles, texts, itertools.accumulate(map(len, texts), initial=len(about)), strict=False
    ):
        places += [(word.lower(), begin, len(text)) for word in (one.word, *one.forms)]
    lines = [
        "\t".join([word, *(b64encode(one.to_bytes(9)).decode().lstrip("A") or "A" for one in numbers)])
        for word, *numbers in places
    ]
    index = "".join(f"{line}\n" for line in sorted(lines, key=str.encode))
    return index.encode(), _dictzip(about + b"".join(texts))


def _dictzip(content: bytes) -> bytes:
    """Packed as gzip, in chunks that are unpacked alone and whose sizes are in a field of the header."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    chunks = [
        packer.compress(content[begin : begin + _CHUNK]) + packer.flush(zlib.Z_FULL_FLUSH)
        for begin in range(0, len(content), _CHUNK)
    ]
    sizes = struct.pack(f"<HHH{len(chunks)}H", 1, _CHUNK, len(chunks), *map(len, chunks))
    header = b"\x1f\x8b\x08\x04" + bytes(4) + b"\x02\x03"  # gzip with a field, no time, best packed, Unix
    header += struct.pack("<H2sH", len(sizes) + 4, b"RA", len(sizes)) + sizes
    return header + b"".join(chunks) + packer.flush() + struct.pack("<II", zlib.crc32(content), len(content))


def _kindle_files(name: str, languages: Languages, articles: Sequence[_Article]) -> Sequence[bytes]:
    """The .opf, which says what it is, and the .html with the entries and their forms."""
    about = _OPF.format(*map(html.escape, (_title(name, languages), *languages, f"{name}.html")))
    entries = []
    for one in articles:
        word = html.escape(one.word)
        forms = "".join(f'<idx:iform value="{html.escape(form)}"></idx:iform>' for form in one.forms)
        forms = f"<idx:infl>{forms}</idx:infl>" if forms else ""
        lines = "".join(f"<p>{html.escape(line)}</p>" for line in one.translations)
        entries.append(
            f'<idx:entry name="word" scriptable="yes" spell="yes"><idx:orth value="{word}">'
            f"<b>{word}</b>{forms}</idx:orth>{lines}</idx:entry>\n"
        )
    return about.encode(), _HTML.format(html.escape(_title(name, languages)), "".join(entries)).encode()


STARDICT = DictionaryFormat(
    "stardict", _stardict_pairs, is_file=base_of_stardict,
    write=_writer("StarDict", (".ifo", ".idx", ".syn", ".dict"), _stardict_files), can_store=can_be_headword,
    ending="ifo",
)  # fmt: skip
DICTD = DictionaryFormat(
    "dictd", _dictd_pairs, is_file=lambda path: base_of_dictd(path) or path.name.endswith(".dict.dz"),
    write=_writer("dictd", (".index", ".dict.dz"), _dictd_files), can_store=can_be_headword, ending="index",
)  # fmt: skip
KINDLE = DictionaryFormat(
    "kindle", _kindle_pairs, is_file=_kindle_page,
    write=_writer("a dictionary for a Kindle", (".opf", ".html"), _kindle_files),
    can_store=lambda word: can_be_headword(word) and word.isprintable(), ending="opf",
)  # fmt: skip
TAB_FILE = DictionaryFormat("tabfile", _tab_file_pairs, is_text=_is_tab_file)
