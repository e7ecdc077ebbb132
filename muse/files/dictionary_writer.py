"""Dictionaries as they are written: pairs of words as text, tables, JSON lines, and for other programs.

The MUSE format is a pair a line. Tables (`muse.files.tables`) and JSON lines have scores, ranks and
probabilities too. `read_lexicon` reads all of them again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from muse.errors import BadSetting, Mismatch
from muse.files.articles import can_be_headword, stardict_writer
from muse.files.dictionary_tables import stripped
from muse.files.language_names import Languages
from muse.files.lexicons import BLANK
from muse.files.tables import BOM, fits, table_writer
from muse.files.writing import check_place, check_text_name, check_unicode, replaced, unwritable
from muse.lexicon import Entry, Lexicon, Pair

Write = Callable[[Entry], None]
Append = Callable[[Entry, int], None]  # the entry and its place from 0
FormatLine = Callable[[Path, int, Entry], str]  # the file, the entry's place from 0, the entry


def write_lexicon(path: Path | str, lexicon: Lexicon, *, scores: bool = False) -> None:
    r"""Write one pair a line, compressed if the name ends in .gz; `scores` adds a third field.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "en-fr.txt"
    ...     write_lexicon(path, Lexicon((("cat", "chat"), ("new york", "ny"))))
    ...     path.read_text()
    'cat chat\nnew york\tny\n'
    """
    path = Path(path)
    values = lexicon.scores if scores else None
    if scores and values is None:
        raise Mismatch(f"{path}: expected a lexicon with scores, got one without; write it with scores=False")
    if not lexicon.pairs:
        raise Mismatch(f"{path}: expected at least one pair of words to write, got none")
    lines = [pair_line(path, place, pair) for place, pair in enumerate(lexicon.pairs)]
    if values is not None:
        tabbed = ("\t".join(pair) for pair in lexicon.pairs)
        lines = [f"{line}\t{value!r}" for line, value in zip(tabbed, values, strict=True)]
    text = "\n".join([*lines, ""])
    # Readers strip a byte order mark: a first word that begins with one needs another before it.
    mark = BOM if text.startswith(BOM) else ""
    with replaced(path) as stream:
        stream.write((mark + text).encode())


def survives_line_round_trip(word: str) -> bool:
    """Whether a word comes back unchanged from a line of text; UTF-8 may still lack it (`check_unicode`)."""
    return bool(word) and word == stripped(word) and fits("tsv", word)


def pair_line(path: Path, place: int, pair: Pair) -> str:
    """A pair as one line, separated by a space, or by a tab if a word has one; `place` is for the error."""
    for word in pair:
        if not survives_line_round_trip(word):
            raise unwritable(path, word, place, kind="pair")
        check_unicode(path, word, place, kind="pair")
    return ("\t" if any(" " in word for word in pair) else " ").join(pair)


@contextmanager
def dictionary_writer(
    path: Path | str, *, form: str = "muse", languages: Languages | None = None
) -> Iterator[Write]:
    r"""A function that appends an entry to `path`; the file appears once complete, or not at all.

    `form` is one of FORMS; the file is compressed if its name ends in .gz. muse is a pair a line; tsv, csv
    and xlsx have a header, and the fields of `Entry`; jsonl is an object a line with the same names. Unknown
    values are empty in tables and null in jsonl. Of OTHER_FORMS, kaikki is an object a word, with the
    `languages`, of the source and of the target; bicleaner has the translation, the word and the probability;
    stardict is three files. All entries of a word must follow one another.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "en-fr.tsv"
    ...     with dictionary_writer(path, form="tsv") as write:
    ...         write(Entry("cat", "chat", 0.5, 1, 0.875))
    ...     path.read_text()
    'source\ttarget\tscore\trank\tprobability\ncat\tchat\t0.5\t1\t0.875\n'
    """
    if form not in (*FORMS, *OTHER_FORMS):
        names = ", ".join((*FORMS, *OTHER_FORMS))
        raise BadSetting(f"a dictionary format must be one of {names}; got {form!r}")
    path, count = Path(path), 0
    check_place(path)
    with _writer(path, form, languages) as append:

        def write(entry: Entry) -> None:
            nonlocal count
            for word in (entry.source, entry.target):
                check_unicode(path, word, count, kind="pair")
                if not can_store(form, word):
                    raise unwritable(path, word, count, kind="pair")
            append(entry, count)
            count += 1

        yield write
        if not count:
            raise Mismatch(f"{path}: expected at least one pair of words to write, got none")


def _writer(path: Path, form: str, languages: Languages | None) -> AbstractContextManager[Append]:
    if form == "stardict":
        return _stardict(path, languages)
    if form == "kaikki":
        return _kaikki(path, languages)
    return _table(path, form) if form in TABLES else _lines_of_text(path, form)


@contextmanager
def _stardict(path: Path, languages: Languages | None) -> Iterator[Append]:
    with stardict_writer(path, " - ".join(languages or ())) as write:
        yield lambda entry, place: write(entry)


@contextmanager
def _kaikki(path: Path, languages: Languages | None) -> Iterator[Append]:
    """Appends entries to objects as wiktextract writes them: a word, its language and its translations."""
    if languages is None:
        raise BadSetting(
            f"{path}: the format kaikki names languages: give those of the source and the target"
        )
    word, translations = "", list[dict[str, object]]()
    with replaced(path) as stream:

        def end() -> None:
            if translations:
                made = {"word": word, "lang_code": languages[0], "translations": translations}
                stream.write(f"{json.dumps(made, ensure_ascii=False)}\n".encode())

        def append(entry: Entry, place: int) -> None:
            nonlocal word, translations
            if entry.source != word:
                end()
                word, translations = entry.source, []
            made = {"word": entry.target, "lang_code": languages[1], "probability": entry.probability}
            translations.append({name: value for name, value in made.items() if value is not None})

        yield append
        end()


@contextmanager
def _table(path: Path, form: str) -> Iterator[Append]:
    with table_writer(path, _COLUMNS, form) as write:
        yield lambda entry, place: write(entry)


@contextmanager
def _lines_of_text(path: Path, form: str) -> Iterator[Append]:
    line = _LINES[form]
    if form == "bicleaner" and path.suffix != ".gz":
        raise BadSetting(f"{path}: bicleaner reads compressed dictionaries; choose a name that ends in .gz")
    with replaced(path) as stream:

        def append(entry: Entry, place: int) -> None:
            stream.write(f"{line(path, place, entry)}\n".encode())

        yield append


def can_store(form: str, word: str) -> bool:
    r"""Whether a dictionary of this format can have a word: a tab, for one, only in jsonl.

    >>> can_store("muse", "new york"), can_store("tsv", "a\tb"), can_store("jsonl", "a\tb")
    (True, False, True)
    """
    if form == "bicleaner":
        return word.split() == [word]
    if form == "stardict":
        return can_be_headword(word)
    if form in TABLES:
        return bool(word.strip(BLANK)) and fits(form, word)
    return form in ("jsonl", "kaikki") or survives_line_round_trip(word)


def can_store_entry(form: str, entry: Entry) -> bool:
    """Whether a dictionary of this format can have a pair: in bicleaner each has a probability."""
    return (entry.probability is not None or form != "bicleaner") and all(
        can_store(form, word) for word in entry[:2]
    )


def _muse(path: Path, place: int, entry: Entry) -> str:
    line = pair_line(path, place, entry[:2])
    # Readers strip a byte order mark: a first word that begins with one needs another before it.
    return f"{BOM}{line}" if not place and line.startswith(BOM) else line


def _jsonl(path: Path, place: int, entry: Entry) -> str:
    return json.dumps(entry._asdict(), ensure_ascii=False)


def _bicleaner(path: Path, place: int, entry: Entry) -> str:
    if entry.probability is None:
        raise Mismatch(
            f"{path}: bicleaner needs a probability for every pair, got none for {entry.source!r} and "
            f"{entry.target!r}; leave the pair out"
        )
    return f"{entry.target} {entry.source} {entry.probability:.6g}"


_LINES: dict[str, FormatLine] = {"muse": _muse, "jsonl": _jsonl, "bicleaner": _bicleaner}
_COLUMNS = dict(zip(Entry._fields, (str, str, float, int, float), strict=True))
TABLES = ("tsv", "csv", "xlsx")
FORMS = ("muse", "tsv", "jsonl", "csv", "xlsx")
OTHER_FORMS = ("bicleaner", "kaikki", "stardict")  # of other programs
# The endings of names that say a format.
ENDINGS = {**{form: form for form in FORMS[1:]}, "ifo": "stardict"}


def form_of_name(path: Path) -> str:
    """The format that a name says: pairs of words as text, unless it ends in the name of another one.

    Raise BadSetting for the ending of a format that is not written.

    >>> form_of_name(Path("fr-en.CSV")), form_of_name(Path("fr-en.tsv.gz")), form_of_name(Path("fr-en.txt"))
    ('csv', 'tsv', 'muse')
    """
    ending = Path(path.name.removesuffix(".gz")).suffix[1:].lower()
    if ending in ENDINGS and (ending != "xlsx" or path.suffix != ".gz"):
        return ENDINGS[ending]
    check_text_name(path, "pairs", ".txt, .tsv, .csv, .xlsx or .jsonl")
    return "muse"
