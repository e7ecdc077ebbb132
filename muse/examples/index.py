"""Index: the sentences of texts in one file, searched by their words: SQLite's FTS5, which only this uses.

The sentences are numbered by their quality, and found in this order, so that the first ones of the most
frequent word are found as fast as those of a rare one. FTS5 keeps where each word stands, so that several in
a row are found; without spaces between words, it is given the tokens of muse.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import blake2b
from html import escape
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

from muse.errors import BadFile, MissingExtra
from muse.examples.quality import MOST_WORDS, Judge, is_ended, unquoted, words_of
from muse.files.atomic import atomic_path, writing
from muse.files.parquet import is_parquet
from muse.files.source import is_packed, is_stream
from muse.files.text_slices import text_files, text_lines
from muse.orthography import composed
from muse.progress import Progress
from muse.text.segmentation import is_spaced, sentences_of
from muse.text.tokens import Tokeniser
from muse.translate.text import check_script
from muse.vectors import Vectors

NEEDED = "examples need SQLite with FTS5, which this Python was built without; install another Python"
try:
    import sqlite3
except ImportError:  # a Python without SQLite; only who uses an index is told
    sqlite3 = None  # type: ignore[assignment]

VERSION = 1  # of the tables
SAMPLE = 1_000  # lines that tell how the text is written
CANDIDATES = 100  # of which examples are chosen
LEVELS = 255  # of quality
_DIGEST = 5  # bytes: of a million sentences one in a million is taken for another
_TOGETHER = 10_000  # sentences written at once
_ALIKE = 0.6  # the share of words in common from which on sentences are near duplicates
_PART = 0.7  # the factor of a sentence that has a word as part of a compound alone, as disant in soi-disant
_TABLES = """
CREATE TABLE about (version INTEGER, spaced INTEGER);
CREATE TABLE file (id INTEGER PRIMARY KEY, path TEXT);
CREATE TABLE sentence (id INTEGER PRIMARY KEY, text TEXT, file INTEGER, line INTEGER, quality INTEGER);
CREATE VIRTUAL TABLE word USING fts5(
  text, content='', columnsize=0, tokenize="unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
);
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -65536;
ATTACH '' AS staging;
CREATE TABLE staging.found (id INTEGER PRIMARY KEY, text TEXT, words TEXT, file INTEGER, line INTEGER);
BEGIN;
"""
_INDEX = (
    f"INSERT INTO sentence (text, file, line, quality) "
    f"SELECT text, file, line, {LEVELS} - (id >> {8 * _DIGEST}) FROM staging.found ORDER BY id",
    "INSERT INTO word (rowid, text) "
    "SELECT row_number() OVER (ORDER BY id), coalesce(words, text) FROM staging.found ORDER BY id",
    "INSERT INTO word (word) VALUES ('optimize')",
    "COMMIT",
)
_FIND = """
SELECT text, path, line, quality FROM sentence JOIN file ON file.id = sentence.file
WHERE sentence.id IN (SELECT rowid FROM word WHERE word MATCH ? ORDER BY rowid LIMIT ?) ORDER BY sentence.id
"""


class Example(NamedTuple):
    """A sentence, where it has the word that was looked up, and the file and line that it is from."""

    text: str
    places: tuple[tuple[int, int], ...]
    file: str
    line: int

    def marked(self, begin: str, end: str, shown: Callable[[str], str] = str) -> str:
        """The text with marks around the word, and all else as it is `shown`.

        >>> Example("Un chat.", ((3, 7),), "a.txt", 1).marked("[", "]")
        'Un [chat].'
        """
        found, last = "", 0
        for first, after in self.places:
            found += f"{shown(self.text[last:first])}{begin}{shown(self.text[first:after])}{end}"
            last = after
        return found + shown(self.text[last:])

    @property
    def html(self) -> str:
        """The text as HTML, the word marked."""
        return self.marked("<mark>", "</mark>", escape)


class IndexCounts(NamedTuple):
    """What an index has: different sentences, and words with those of repeated ones."""

    sentences: int
    words: int
    repeated: int


def write_index(
    path: Path, texts: Sequence[Path], vectors: Vectors, *, column: str | None = None, progress: Progress
) -> IndexCounts:
    """Index the sentences of texts, files or folders, in the language of these vectors; each sentence once.

    The index appears once it is complete. BadFile without a sentence; BadSetting for text in another script.
    """
    files, counts = text_files(texts, column), Counter[str]()
    once = any(map(is_stream, files))
    sized = not once and not any(is_parquet(file) or is_packed(file) for file in files)
    letters = sum(file.stat().st_size for file in files) if sized else 0
    with (
        writing(path, "file"),
        atomic_path(path) as partial,
        _opened(partial, "nolock=1") as database,
    ):
        database.executescript(_TABLES)
        first = [] if once else list(islice(text_lines(files, column, vectors.language), SAMPLE))
        check_script(first, vectors)
        spaced = is_spaced(first, vectors.language)
        database.execute("INSERT INTO about VALUES (?, ?)", (VERSION, spaced))
        database.executemany("INSERT INTO file VALUES (?, ?)", enumerate(map(str, files)))
        with progress.stage("reading text", letters, "letters") as tick:
            rows = _rows(files, column, vectors, spaced, counts)
            while batch := list(islice(rows, _TOGETHER)):
                database.executemany("INSERT OR IGNORE INTO staging.found VALUES (?, ?, ?, ?, ?)", batch)
                tick(counts["letters"])
        (count,) = database.execute("SELECT count(*) FROM staging.found").fetchone()
        if not count:
            raise BadFile(f"{', '.join(map(str, texts))}: expected text, got no sentence; check the name")
        with progress.stage("indexing", len(_INDEX)) as tick:
            for step, statement in enumerate(_INDEX, 1):
                database.execute(statement)
                tick(step)
    return IndexCounts(count, counts["words"], counts["sentences"] - count)


def _rows(
    files: Sequence[Path], column: str | None, vectors: Vectors, spaced: bool, counts: Counter[str]
) -> Iterator[tuple[int, str, str | None, int, int]]:
    """The rows of the sentences in files, by quality and then by chance: a digest of their letters."""
    judge = Judge(vectors.language, vectors.index.get)
    tokeniser = None if spaced else Tokeniser(vectors.language, vectors.index)
    for number, file in enumerate(files):
        for line, paragraph in paragraphs(text_lines([file], column, vectors.language)):
            counts["letters"] += len(paragraph) + 1
            for sentence in sentences_of(composed(" ".join(paragraph.split()))):
                parts = unquoted(sentence).split(" ")
                for begin in range(0, len(parts), MOST_WORDS):
                    text = " ".join(parts[begin : begin + MOST_WORDS])
                    tokens = None if tokeniser is None else tokeniser.tokens(text)
                    words = [one for one in tokens or words_of(text) if any(map(str.isalnum, one))]
                    if not words:
                        continue
                    counts["sentences"] += 1
                    counts["words"] += len(words)
                    level = LEVELS - round(LEVELS * judge(text, words))
                    letters = "".join(filter(str.isalpha, text.lower())) or text
                    digest = int.from_bytes(blake2b(letters.encode(), digest_size=_DIGEST).digest())
                    split = None if tokens is None else " ".join(tokens)
                    yield level << 8 * _DIGEST | digest, text, split, number, line


def paragraphs(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The paragraphs in lines, each with the number of its first line, from 1.

    A line that begins with a small letter continues a paragraph that does not, and that ends no sentence yet,
    as in text that is broken into lines of one width.

    >>> list(paragraphs(["The House", "of Lords.", "", "a cat", "The"]))
    [(1, 'The House of Lords.'), (4, 'a cat'), (5, 'The')]
    """
    begin, parts = 1, list[str]()
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if parts and text[:1].islower() and not (parts[0][0].islower() or is_ended(parts[-1])):
            parts.append(text)
            continue
        if parts:
            yield begin, " ".join(parts)
        begin, parts = number, [text] if text else []
    if parts:
        yield begin, " ".join(parts)


@contextmanager
def _opened(path: Path, how: str) -> Iterator["sqlite3.Connection"]:
    """A database, closed at the end; an error of SQLite becomes BadFile, or MissingExtra if it lacks FTS5."""
    if sqlite3 is None:
        raise MissingExtra(NEEDED)
    try:
        uri = f"{path.resolve().as_uri()}?{how}"
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as database:
            yield database
    except sqlite3.Error as error:
        if "fts5" in str(error):
            raise MissingExtra(NEEDED) from error
        raise BadFile(
            f"{path}: expected an index of sentences, got {error}; make it again with muse index-text"
        ) from error


# Searching


def find_sentences(path: Path, vectors: Vectors, word: str, top: int) -> tuple[Example, ...]:
    """The `top` best sentences of an index with a word, or several in a row, that are not alike.

    The words of its language are those of the vectors.
    """
    word = tokens = composed(word.replace("_", " "))
    with _opened(path, "mode=ro&immutable=1") as database:
        (version, spaced) = database.execute("SELECT version, spaced FROM about").fetchone()
        if version != VERSION:
            raise sqlite3.DatabaseError(f"version {version}")
        if not spaced:
            tokens = " ".join(Tokeniser(vectors.language, vectors.index).tokens(word))
        phrase = '"' + tokens.replace('"', " ") + '"'
        rows = database.execute(_FIND, (phrase, CANDIDATES)).fetchall()
    found = list[tuple[Example, float]]()
    for text, file, line, quality in rows:
        places = places_of(word, text, spaced=spaced)
        around = [text[max(0, begin - 1) : begin] + text[end : end + 1] for begin, end in places]
        part = places and all("-" in signs for signs in around)
        found.append((Example(text, places, file, line), quality / LEVELS * (_PART if part else 1)))
    return tuple(varied(found, top))


def varied(found: Sequence[tuple[Example, float]], top: int) -> list[Example]:
    """The `top` best of examples with their quality: each has few words of those before it.

    Greedily, by quality minus the largest share of words in common (Carbonell & Goldstein, 1998).
    """
    left = [(one, set(re.findall(r"\w+", one[0].text.lower()))) for one in found]
    chosen = list[tuple[Any, set[str]]]()
    while left and len(chosen) < top:
        worth = [
            one[1] - max((_common(words, other) for _, other in chosen), default=0.0) for one, words in left
        ]
        best = left.pop(worth.index(max(worth)))
        if all(_common(best[1], other) < _ALIKE for _, other in chosen):
            chosen.append(best)
    return [one[0] for one, _ in chosen]


def _common(one: set[str], other: set[str]) -> float:
    return len(one & other) / max(1, min(len(one), len(other)))


def places_of(word: str, text: str, *, spaced: bool = True) -> tuple[tuple[int, int], ...]:
    """Where a text has a word, or several in a row, whatever their case and the signs between them.

    >>> places_of("porte clés", "Un porte-clés, des portes. Porte clés !"), places_of("a", "an")
    (((3, 13), (27, 37)), ())
    """
    runs = ["".join(run) for letter, run in groupby(word, _in_word) if letter]
    if not runs:
        return ()
    pattern = re.compile(r"[\W_]{1,3}".join(map(re.escape, runs)), re.IGNORECASE)
    spans = (match.span() for match in pattern.finditer(text))
    return tuple(
        (begin, end)
        for begin, end in spans
        if not spaced or not (_in_word(text[begin - 1 : begin]) or _in_word(text[end : end + 1]))
    )


def _in_word(character: str) -> bool:
    """Whether FTS5 takes a character for part of a word."""
    return character != "" and unicodedata.category(character)[0] in "LMN"
