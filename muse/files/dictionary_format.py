"""Dictionary formats: what a format of dictionaries is, and which there are.

Those of muse are in `muse.files.lexicons`, those of other programs in the package `muse.dictionary_formats`,
which can be taken out.
"""

import html
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path

from muse.files.detect import Beginning
from muse.files.plain_text import lines_of_source
from muse.files.writing import replaced
from muse.languages import Languages
from muse.lexicon import Entry, PairLine

SAMPLE = 1_000  # lines that tell how a file is laid out
BLANK = " \t\r\n"  # other kinds of space may be words
# What Anki writes before the notes that it exports; some settings name columns that are no fields of these.
_SETTING = re.compile("#(?:separator|html|(?:notetype|deck|guid|tags|columns)(?: column)?):", re.IGNORECASE)
_NO_FIELD = re.compile(r"#(?:notetype|deck|guid|tags) column: *(\d{1,4})\s*", re.IGNORECASE)
_BREAK, _TAG = re.compile(r"<(?:br|/div|/p)\b[^<>]*>"), re.compile(r"<[^<>]*>")
_CLOZE = re.compile(r"\{\{c\d+::((?:(?!::|\}\}).)*)(?:::(?:(?!\}\}).)*)?\}\}")
WORDS = "two words"
OR_ITS_FORMAT = "; or name the format of the file with --dictionary-format"


@dataclass
class DictionaryFile:
    """A dictionary that is read: its path, and the languages wanted of it, of the source and the target.

    What is `wanted` of a line is for errors.
    """

    beginning: Beginning
    languages: Languages | None = None
    wanted: str = WORDS

    @property
    def exact(self) -> bool:
        """Whether cells are taken as they are, and none has several words: of ids."""
        return self.wanted != WORDS

    @property
    def advice(self) -> str:
        """What the end of an error says."""
        return "" if self.exact else OR_ITS_FORMAT

    @property
    def path(self) -> Path:
        """The file."""
        return self.beginning.path

    @cached_property
    def _lines(self) -> Iterator[str]:
        return lines_of_source(self.beginning.source)

    @cached_property
    def sample(self) -> Sequence[str]:
        """The first lines, blank for what Anki says of the others there, but for names of columns."""
        found, others, is_html = list(islice(self._lines, SAMPLE)), set[int](), False
        for place, line in enumerate(found):
            if not _SETTING.match(line):
                break
            others |= {int(column[1]) - 1 for column in [_NO_FIELD.fullmatch(line)] if column}
            is_html = is_html or line.lower().startswith("#html:true")
            found[place] = line.partition(":")[2] if line.lower().startswith("#columns:") else ""
        if others:
            self._lines = (_without_columns(line, others) for line in self._lines)
            found = [_without_columns(line, others) for line in found]
        if is_html:
            self._lines = map(_of_html, self._lines)
        return [*map(_of_html, found)] if is_html else found

    @property
    def lines(self) -> Iterator[str]:
        """All lines, once."""
        return chain(self.sample, self._lines)

    @property
    def filled(self) -> list[str]:
        """The lines of the sample that are not blank."""
        return [line for line in self.sample if line.strip(BLANK)]

    @property
    def first(self) -> str:
        """The first line that is not blank; "" without one."""
        return next((line for line in self.sample if line.strip(BLANK)), "")


def _without_columns(line: str, columns: Collection[int]) -> str:
    cells = line.split("\t")
    return "\t".join(cell for place, cell in enumerate(cells) if place not in columns)


def _of_html(line: str) -> str:
    """The text of a line of Anki's HTML: breaks part translations, and of a cloze its answer counts."""
    cells = ([_TAG.sub("", part) for part in _BREAK.split(cell)] for cell in line.split("\t"))
    texts = "\t".join("; ".join(part for part in parts if part.strip()) for parts in cells)
    return html.unescape(_CLOZE.sub(r"\1", texts))


Append = Callable[[Entry, int], object]  # the entry and its place from 0
Read = Callable[[DictionaryFile], Iterator[PairLine]]
Write = Callable[[Path, Languages | None], AbstractContextManager[Append]]


@dataclass(frozen=True)
class DictionaryFormat:
    """A format of dictionaries: its name, what reads it, how it is recognised, and what writes it.

    It is recognised by the path (`is_file`: of several files), by the `kind` that `muse.files.detect` tells,
    or by the first lines (`is_text`).
    Without `write` it is only read. `can_store` says whether a word can be written, and
    `needs_probability`, whether every pair must have one. `ending` is that of names which say the format.
    """

    name: str
    read: Read
    is_file: Callable[[Path], object] | None = None
    kind: str = ""
    is_text: Callable[[DictionaryFile], bool] | None = None
    write: Write | None = None
    can_store: Callable[[str], bool] = lambda word: True
    needs_probability: bool = False
    ending: str = ""


def lines_writer(line: Callable[[Path, int, Entry], str]) -> Write:
    """What writes an entry a line, made of the file, for errors, the place from 0, and the entry."""

    @contextmanager
    def write(path: Path, languages: Languages | None) -> Iterator[Append]:
        with replaced(path) as stream:

            def append(entry: Entry, place: int) -> None:
                stream.write(f"{line(path, place, entry)}\n".encode())

            yield append

    return write
