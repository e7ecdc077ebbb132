"""StarDict: a dictionary of three files, which GoldenDict, KOReader and others show.

NAME.ifo says what it is, NAME.idx has the words with the places of their articles, NAME.dict the articles,
packed as NAME.dict.dz by many. Articles are texts for people: read is what is clearly a translation in them.
"""

from __future__ import annotations

import html
import re
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Protocol

from muse.errors import BadFile, BadSetting, Mismatch
from muse.files.dictionary_tables import LONGEST_PHRASE, split_translations, stripped
from muse.files.source import first_bytes, open_source
from muse.files.writing import check_place, check_unicode, replaced, unwritable
from muse.lexicon import Entry, PairLine

MAGIC = b"StarDict's dict ifo file"
_ENDINGS = (".ifo", ".idx", ".idx.gz", ".dict", ".dict.dz")
_MOST = 1 << 30  # bytes of one of the files; the largest dictionaries have a tenth
_LONGEST_WORD = 255  # bytes, by the format
_TEXT = frozenset("mgxhlyk")  # articles of these types are text, with tags or without
_TAG = re.compile(r"<(?:br|/?p|/?div|/?li|/?def|/?tr)\b[^<>]*>", re.IGNORECASE)
_ANNOTATION = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|\([^()]*\)|\{[^{}]*\}|(?<!\S)/[^/\n]*/(?!\S)")
_LABEL = re.compile(r"[A-Za-z]{1,5}\.")
_NUMBERING = re.compile(r"^\s*(?:\d+[.)]|[a-z]\)|[-\u2013\u2022*\u2192])\s*")


def base_of_files(path: Path) -> Path | None:
    """The path without the ending, of one of the files of a StarDict dictionary; None of any other file.

    The .ifo begins as it should, or has an index beside it.
    """
    for ending in sorted(_ENDINGS, key=len, reverse=True):
        if path.name.endswith(ending) and path.name != ending:
            name = path.name.removesuffix(ending)
            info, index = (path.with_name(f"{name}{other}") for other in (".ifo", ".idx"))
            if first_bytes(info, len(MAGIC)) == MAGIC or (info.exists() and index.exists()):
                return path.with_name(name)
    return None


def stardict_pairs(base: Path) -> Iterator[PairLine]:
    """The pairs of a dictionary by the path of its files without their endings."""
    info = _info(base.with_name(f"{base.name}.ifo"))
    index, articles = (_content(base, *endings) for endings in ((".idx", ".idx.gz"), (".dict.dz", ".dict")))
    found = False
    for word, begin, size in _places(base, index, wide=info.get("idxoffsetbits") == "64"):
        if begin + size > len(articles):
            raise BadFile(
                f"{base}.idx: expected articles within {base.name}.dict, which has {len(articles)} bytes, "
                f"got one that ends at {begin + size}; take the files of one dictionary"
            )
        article = articles[begin : begin + size]
        for translation in _translations(word, article, info.get("sametypesequence", "")):
            found = True
            yield PairLine((word, translation))
    if not found:
        raise BadFile(
            f"{base}.ifo: expected articles that list translations of one to {LONGEST_PHRASE} words, got "
            f"none; convert it into lines of two words with a tab between: pyglossary {base.name}.ifo "
            f"{base.name}.txt"
        )


def _info(path: Path) -> dict[str, str]:
    lines = _read(path).decode(errors="replace").splitlines()
    if not lines or MAGIC.decode() not in lines[0]:
        raise BadFile(
            f"{path}: expected the description of a StarDict dictionary, got another file; check it"
        )
    return dict(tuple(map(str.strip, line.split("=", 1))) for line in lines[1:] if "=" in line)  # type: ignore[misc]


def _content(base: Path, *endings: str) -> bytes:
    paths = [base.with_name(f"{base.name}{ending}") for ending in endings]
    for path in paths:
        if path.exists():
            return _read(path)
    names = " or ".join(path.name for path in paths)
    raise BadFile(
        f"{base}.ifo: expected {names} beside it, got neither; keep the files of a dictionary together"
    )


def _read(path: Path) -> bytes:
    blocks, taken = [], 0
    with open_source(path) as source:
        while data := source.read(1 << 20):
            blocks.append(data)
            taken += len(data)
            if taken > _MOST:
                raise BadFile(
                    f"{path}: expected {_MOST} bytes at most, got more; check that it is the file you mean"
                )
    return b"".join(blocks)


def _places(base: Path, index: bytes, *, wide: bool) -> Iterator[tuple[str, int, int]]:
    """Each word of an index with the place and the size of its article."""
    numbers, at = struct.Struct(">QI" if wide else ">II"), 0
    while at < len(index):
        end = index.find(b"\0", at)
        if end < 0 or end + 1 + numbers.size > len(index):
            raise BadFile(f"{base}.idx: expected a complete file, got an incomplete one; download it again")
        begin, size = numbers.unpack_from(index, end + 1)
        word = stripped(index[at:end].decode(errors="replace"))
        if word and "\ufffd" not in word and not any(sign in word for sign in "\t\n\r"):
            yield word, begin, size
        at = end + 1 + numbers.size


def _translations(word: str, article: bytes, types: str) -> list[str]:
    found = dict[str, None]()
    for kind, text in _fields(article, types):
        if kind not in _TEXT:
            continue
        lines = text.splitlines() if kind == "m" else html.unescape(_TAG.sub("\n", text)).splitlines()
        for place, line in enumerate(lines):
            cell = stripped(" ".join(_ANNOTATION.sub(" ", _NUMBERING.sub("", line)).split())).rstrip(":")
            if _LABEL.fullmatch(cell) or (kind != "m" and not place and cell == word):
                continue  # what kind of word it is, or its heading
            parts = split_translations(cell.rstrip("."))
            found |= dict.fromkeys(part for part in map(stripped, parts) if _is_translation(part))
    return list(found)


def _is_translation(part: str) -> bool:
    return any(map(str.isalnum, part)) and "\ufffd" not in part and len(part.split()) <= LONGEST_PHRASE


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


class _Write(Protocol):
    def __call__(self, entry: Entry, /) -> None: ...


def can_be_headword(word: str) -> bool:
    """Whether a word can be one of the index or a line of an article."""
    try:
        size = len(word.encode())
    except UnicodeEncodeError:
        return False
    return (
        0 < size <= _LONGEST_WORD and word == stripped(word) and not any(sign in word for sign in "\0\t\n\r")
    )


@contextmanager
def stardict_writer(path: Path, name: str = "") -> Iterator[_Write]:
    """A function that adds an entry to a dictionary; its three files appear once complete, the .ifo last.

    `path` ends in .ifo. A line of an article is a translation, the best first. `name` is shown to its users.
    """
    if path.suffix != ".ifo":
        raise BadSetting(
            f"{path}: StarDict has three files beside one another, named after the one that ends in .ifo; "
            "choose such a name"
        )
    base = path.with_suffix("")
    index_path, articles_path = (base.with_name(f"{base.name}{ending}") for ending in (".idx", ".dict"))
    for one in (path, index_path, articles_path):
        check_place(one)
    articles = dict[str, list[str]]()
    count = 0

    def write(entry: Entry, /) -> None:
        nonlocal count
        for word in entry[:2]:
            check_unicode(path, word, count, kind="pair")
            if not can_be_headword(word):
                raise unwritable(path, word, count, kind="pair")
        articles.setdefault(entry.source, []).append(entry.target)
        count += 1

    yield write
    if not count:
        raise Mismatch(f"{path}: expected at least one pair of words to write, got none")
    index, texts = _packed(articles)
    info = {
        "version": "2.4.2", "bookname": name or base.name, "wordcount": len(articles),
        "idxfilesize": len(index),
        "sametypesequence": "m",
    }  # fmt: skip
    with ExitStack() as files:
        streams = [files.enter_context(replaced(one)) for one in (path, index_path, articles_path)]
        lines = [MAGIC.decode(), *(f"{key}={value}" for key, value in info.items())]
        for stream, content in zip(
            streams, ("".join(f"{line}\n" for line in lines).encode(), index, texts), strict=True
        ):
            stream.write(content)


def _packed(articles: dict[str, list[str]]) -> tuple[bytes, bytes]:
    """The index, in the order that StarDict searches it by, and the articles."""
    index, texts, at = list[bytes](), list[bytes](), 0
    for word in sorted(articles, key=lambda one: (one.encode().lower(), one.encode())):
        text = "\n".join(articles[word]).encode()
        index.append(word.encode() + b"\0" + struct.pack(">II", at, len(text)))
        texts.append(text)
        at += len(text)
    return b"".join(index), b"".join(texts)
