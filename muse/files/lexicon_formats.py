"""Dictionaries written for other programs: the MUSE format, a table with ranks, and JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from muse.errors import BadSetting, Mismatch
from muse.files.lexicon_text import BOM, pair_line, stands_in_a_field, stands_in_a_line
from muse.files.writing import check_place, check_unicode, replaced, unwritable
from muse.lexicon import Entry

Write = Callable[[Entry], None]
FormatLine = Callable[[Path, int, Entry], str]  # the file, the entry's place from 0, the entry


@contextmanager
def dictionary_writer(path: Path | str, *, form: str = "muse") -> Iterator[Write]:
    r"""A function that appends an entry to `path`; the file appears once complete, or not at all.

    `form` is one of FORMS; the file is compressed if its name ends in .gz. muse is a pair a line; tsv has
    a header, and the fields of `Entry`; jsonl is an object a line with the same names. Unknown values
    are empty in tsv and null in jsonl.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "en-fr.tsv"
    ...     with dictionary_writer(path, form="tsv") as write:
    ...         write(Entry("cat", "chat", 0.5, 1, 0.875))
    ...     path.read_text()
    'source\ttarget\tscore\trank\tprobability\ncat\tchat\t0.5\t1\t0.875\n'
    """
    if form not in FORMS:
        raise BadSetting(f"a dictionary format must be one of {', '.join(FORMS)}; got {form!r}")
    path, line, count = Path(path), FORMS[form], 0
    check_place(path)
    with replaced(path) as stream:
        if form == "tsv":
            stream.write(("\t".join(Entry._fields) + "\n").encode())

        def write(entry: Entry) -> None:
            nonlocal count
            for word in (entry.source, entry.target):
                check_unicode(path, word, count, kind="pair")
            stream.write(f"{line(path, count, entry)}\n".encode())
            count += 1

        yield write
        if not count:
            raise Mismatch(f"{path}: expected at least one pair of words to write, got none")


def holds(form: str, word: str) -> bool:
    r"""Whether a dictionary of this format can have a word: a tab, for one, only in jsonl.

    >>> holds("muse", "new york"), holds("tsv", "a\tb"), holds("jsonl", "a\tb")
    (True, False, True)
    """
    return form == "jsonl" or (stands_in_a_field(word) if form == "tsv" else stands_in_a_line(word))


def _muse(path: Path, place: int, entry: Entry) -> str:
    line = pair_line(path, place, entry[:2])
    # Readers strip a byte order mark: a first word that begins with one needs another before it.
    return f"{BOM}{line}" if not place and line.startswith(BOM) else line


def _tsv(path: Path, place: int, entry: Entry) -> str:
    for word in entry[:2]:
        if not stands_in_a_field(word):
            raise unwritable(path, word, place, kind="pair")
    score, probability = (
        "" if number is None else f"{number:.6g}" for number in (entry.score, entry.probability)
    )
    return f"{entry.source}\t{entry.target}\t{score}\t{entry.rank}\t{probability}"


def _jsonl(path: Path, place: int, entry: Entry) -> str:
    return json.dumps(entry._asdict(), ensure_ascii=False)


FORMS: dict[str, FormatLine] = {"muse": _muse, "tsv": _tsv, "jsonl": _jsonl}
