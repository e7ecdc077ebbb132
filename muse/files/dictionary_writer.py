"""Dictionaries as they are written: pairs of words as text, tables, JSON lines, and for other programs.

The MUSE format is a pair a line. Tables (`muse.files.tables`) and JSON lines have scores, ranks and
probabilities too. `read_lexicon` reads all of them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path

from muse.errors import BadSetting, Mismatch
from muse.files.dictionary_format import DictionaryFormat
from muse.files.lexicons import formats
from muse.files.writing import check_place, check_text_name, check_unicode, unwritable
from muse.languages import Languages
from muse.lexicon import Entry

Write = Callable[[Entry], None]


@contextmanager
def dictionary_writer(
    path: Path | str, *, form: str = "muse", languages: Languages | None = None
) -> Iterator[Write]:
    r"""A function that appends an entry to `path`; the file appears once complete, or not at all.

    `form` is one of `written_formats`; the file is compressed if its name ends in .gz. muse is a pair a line;
    tsv, csv and xlsx have a header, and the fields of `Entry`; jsonl is an object a line with the same names.
    Unknown values are empty in tables and null in jsonl. Of other programs, kaikki is an object a word, with
    the `languages`, of the source and of the target; bicleaner has the translation, the word and the
    probability; stardict is three files. All entries of a word must follow one another.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "en-fr.tsv"
    ...     with dictionary_writer(path, form="tsv") as write:
    ...         write(Entry("cat", "chat", 0.5, 1, 0.875))
    ...     path.read_text()
    'source\ttarget\tscore\trank\tprobability\ncat\tchat\t0.5\t1\t0.875\n'
    """
    made = written_formats().get(form)
    if made is None or made.write is None:
        names = ", ".join(written_formats())
        raise BadSetting(f"a dictionary format must be one of {names}; got {form!r}")
    path, places = Path(path), count()
    check_place(path)
    with made.write(path, languages) as append:

        def write(entry: Entry) -> None:
            place = next(places)
            for word in entry[:2]:
                check_unicode(path, word, place, kind="pair")
                if not can_store(form, word):
                    raise unwritable(path, word, place, kind="pair")
            append(entry, place)

        yield write
        if not next(places):
            raise Mismatch(f"{path}: expected at least one pair of words to write, got none")


@cache
def written_formats() -> Mapping[str, DictionaryFormat]:
    """The formats that are written, by their names: first those of muse."""
    return {name: one for name, one in formats().items() if one.write is not None}


def can_store(form: str, word: str) -> bool:
    r"""Whether a dictionary of this format can have a word: a tab, for one, only in jsonl.

    >>> can_store("muse", "new york"), can_store("tsv", "a\tb"), can_store("jsonl", "a\tb")
    (True, False, True)
    """
    can = written_formats()[form].can_store
    return can is None or can(word)


def can_store_entry(form: str, entry: Entry) -> bool:
    """Whether a dictionary of this format can have a pair: in bicleaner each has a probability."""
    known = entry.probability is not None or not written_formats()[form].needs_probability
    return known and all(can_store(form, word) for word in entry[:2])


def form_of_name(path: Path) -> str:
    """The format that a name says: pairs of words as text, unless it ends in the name of another one.

    Raise BadSetting for the ending of a format that is not written.

    >>> form_of_name(Path("fr-en.CSV")), form_of_name(Path("fr-en.tsv.gz")), form_of_name(Path("fr-en.txt"))
    ('csv', 'tsv', 'muse')
    """
    ending = Path(path.name.removesuffix(".gz")).suffix[1:].lower()
    for form in written_formats().values():
        if form.ending == ending and (ending != "xlsx" or path.suffix != ".gz"):
            return form.name
    check_text_name(path, "pairs", ".txt, .tsv, .csv, .xlsx or .jsonl")
    return "muse"
