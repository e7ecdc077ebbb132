"""Dictionaries: pairs of words, read and written as text, as tables, and as other programs have them.

As text, a pair a line is separated by a tab or, if no word has a space, by spaces. A table may have a header,
which says what its columns are and in which language; without one it has two columns, or a number in a third.
Its cells may be quoted and have several translations. A format is recognised by its content first, and by its
name only then, unless it is given. Of the formats of muse only `muse`, text, is written without scores.
"""

import logging
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path

from muse.errors import BadFile, BadSetting, Mismatch, counted
from muse.files.cells import number_in, stripped
from muse.files.detect import DICTIONARY, is_number, open_beginning, readable_kind
from muse.files.dictionary_format import OR_ITS_FORMAT, WORDS, DictionaryFile, DictionaryFormat, lines_writer
from muse.files.dictionary_tables import CSV, JSONL, PARQUET, TSV, XLSX
from muse.files.tables import BOM, fits
from muse.files.writing import check_place, check_text_name, check_unicode, unwritable
from muse.languages import Languages
from muse.lexicon import Entry, Lexicon, Pair, PairLine
from muse.optional import offered

log = logging.getLogger(__name__)

Write = Callable[[Entry], None]

_COMMENT = "#"  # begins a comment in other formats; here it may be a word, or the first letter of one
_OF_VECTORS = 9  # numbers behind a word, as fields of a line, that are a vector
_TAB = "\t"
_OR_COLUMNS = "; or name the columns in a first row, such as source, target and note"
_BETWEEN = ("|||", "::", "->", "=>", "\u2192", "|", "=", " - ", " \u2013 ", " \u2014 ", " / ", " & ")
# How other programs write what is not read, by all lines, and what makes it readable.
_NOT_READ = tuple(
    (re.compile(pattern), found)
    for pattern, found in (
        (r"(?:\S+<sep>\S+\s*)+", "awesome-align's '<sep>' between the words; put one pair on a line: "
         r"tr ' ' '\n' < FILE | sed 's/<sep>/\t/' > OUT.tsv"),
        (r"\d+ \d+ [-\d.e]+", "numbers of words, as in tables of GIZA++; put in the words of its .vcb files"),
        (r"\d+ \S+ \d+", "a vocabulary of GIZA++, of one language; give its table of pairs, actual.ti.final"),
        (r"(?:LEX|HMM[FR]|FER[FR])\t.*", "priors of eflomal; keep the words: "
         "grep ^LEX FILE | cut -f2,3 > OUT.tsv"),
        (r"\S+ \S+ -?\d+(?:\.\d+)?(?:e-?\d+)?", "a number behind a space, as fast_align writes; "
         r"put tabs: tr ' ' '\t' < FILE > OUT.tsv"),
        (r"[^:\t]*<\w+>[^:\t]*:(?:[<>]:)?[^:\t]*|[^:\t]+:[<>]:[^:\t]+", "what lt-expand writes; "
         r"put tabs: sed -E 's/<[^>]*>//g; s/:([<>]:)?/\t/' FILE > OUT.tsv"),
        (r"\d{8}-\w\t.*", "a file of Open Multilingual Wordnet; join two by their first columns, in bash: "
         "join -t $'\\t' -o 1.3,2.3 <(grep :lemma fra.tab | sort) <(grep :lemma eng.tab | sort) > OUT.tsv"),
        (r"[^:\t]+:|- .*", "YAML with a list below each word; put each on the line of its word: "
         r"sed -nE '/:$/{s/:$//;h;d}; /^ *- /{s/^ *- //;G;s/(.*)\n(.*)/\2\t\1/p}' FILE > OUT.tsv"),
    )
)  # fmt: skip
_TOOLBOX = (
    r"Toolbox (MDF); write its fields lx and ge as two columns: awk '/^\\lx /{w=substr($0,5)} /^\\[gd][en] /"
    r"{print w FS substr($0,5)}' FS='\t' FILE > OUT.tsv"
)
_NOT_READ_FROM = {  # by how the first line begins
    **dict.fromkeys(("\\lx ", "\\_sh "), _TOOLBOX),
    "_____": "what dictunformat writes; give the .index of the dictionary",
}
_OF_TABLE = (
    """python -c "import pandas; pandas.read_html('FILE')[0].to_csv('OUT.tsv', sep='\\t', index=False)\""""
)
_RULE = re.compile(r"[-|+:= ]*")  # below the names of columns
_COLON, _TAG = re.compile(r"[^\s:][^:\t]*: +[^\s:]+"), re.compile(r"<[A-Za-z!][^<>]*>")


def read_lexicon(
    path: Path | str, wanted: str = WORDS, *, languages: Languages | None = None, form: str | None = None
) -> Lexicon:
    r"""The pairs of a dictionary, each once, in order; with scores if all lines have a third, tabbed field.

    Reads the MUSE format and tables, and if words are `wanted`, which is what an error says of a line, also
    the formats of other programs; no cell with ids has several words. Where a file names its languages,
    `languages`, of the source and of the target, tell which of its words are wanted, and which come first.
    `form`, the name of one of `formats`, is the format where it should not be recognised. There are no
    comments: a warning names a pair that looks like one.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "en-fr.txt"
    ...     _ = path.write_text("cat chat\nnew york\tnew york\n")
    ...     read_lexicon(path).pairs
    (('cat', 'chat'), ('new york', 'new york'))
    """
    path = Path(path)
    found: dict[Pair, PairLine] = {}
    with open_beginning(path) as beginning:
        differ = [
            line.pair
            for line in _entries(DictionaryFile(beginning, languages, wanted), form)
            if found.setdefault(line.pair, line).score != line.score
        ]
    if differ:
        log.warning(
            "%s: %s repeated with another score, the first counts; one is %r and %r",
            path, counted(len(differ), "pair"), *differ[0],
        )  # fmt: skip
    if not found:
        raise BadFile(
            f"{path}: expected at least one pair of words, got only blank lines or a header; check the file"
        )
    scores = _of_all(path, "score", {line.pair: line.score for line in found.values()})
    probabilities = _of_all(path, "probability", {line.pair: line.probability for line in found.values()})
    return Lexicon(tuple(found), scores, probabilities)


def _of_all(path: Path, name: str, numbers: Mapping[Pair, float | None]) -> tuple[float, ...] | None:
    """The numbers of the pairs, None if no pair has one; BadFile if only some have."""
    known = tuple(number for number in numbers.values() if number is not None)
    if known and len(known) < len(numbers):
        without = next(pair for pair, number in numbers.items() if number is None)
        raise BadFile(
            f"{path}: expected a {name} for every pair or for none, got {len(known)} for {len(numbers)} "
            f"pairs; add the missing ones, such as that of {without[0]!r} and {without[1]!r}"
        )
    return known or None


@cache
def formats() -> Mapping[str, DictionaryFormat]:
    """The formats by their names, those of muse first."""
    return {one.name: one for found in (OWN, *offered("dictionaries")) for one in found}


def _entries(file: DictionaryFile, form: str | None) -> Iterator[PairLine]:
    if form is not None and form not in formats():
        raise BadSetting(f"--dictionary-format must be one of {', '.join(formats())}; got {form!r}")
    if form is not None:
        return formats()[form].read(file)
    choices = [*(one for one in formats().values() if one not in OWN and not file.exact), *OWN]
    found = next((one for one in choices if one.is_file is not None and one.is_file(file.path)), None)
    if found is None:
        kind = readable_kind(file.beginning, DICTIONARY).name
        fitting = (one for one in choices if one.is_text is not None and one.is_text(file))
        found = next((one for one in choices if one.kind == kind), None) or next(fitting, None)
    if found is None:
        _check_text(file)
    return (found or MUSE).read(file)


def _check_text(file: DictionaryFile) -> None:
    lines = [line for line in file.filled if not line.startswith(_COMMENT)]
    if not lines:
        return
    if (found := _not_read(lines)) is not None:
        raise BadFile(
            f"{file.path}:1: expected two words with a space or a tab between, got {found}{file.advice}"
        )


def _not_read(lines: Sequence[str]) -> str | None:
    """What lines are that cannot be read as pairs, and what makes them readable; None if that is unknown."""
    bare = [line.strip() for line in lines if not _RULE.fullmatch(line)] or lines
    if found := next((found for start, found in _NOT_READ_FROM.items() if lines[0].startswith(start)), None):
        return found
    if found := next((found for pattern, found in _NOT_READ if all(map(pattern.fullmatch, bare))), None):
        return found
    if len(lines) > 1 and all(map(_COLON.fullmatch, lines)):
        tab = r"sed -E 's/ *: +/\t/' FILE > OUT.tsv"
        return f"a colon behind each first word, as in YAML; put a tab in its place: {tab}"
    if any("\t" in line or len(_fields(line)) == 2 for line in lines):
        return None
    if _TAG.match(lines[0]):
        return f"XML or HTML that is not read; put tabs between its words, as of a table: {_OF_TABLE}"
    sign = next((sign for sign in _BETWEEN if all(sign in line[1:-1] for line in bare)), "")
    between = re.escape(sign.strip()).replace("/", r"\/")
    ends = rf"s/^ *{between} *| *({between}|\\\\) *$//g"
    tab = rf"sed -E '/^[-|+:= ]*$/d; {ends}; s/ *{between} */\t/' FILE > OUT.tsv"
    if not sign and all(map(re.compile(r"[^\s,;:|=]+").fullmatch, bare)):
        return "a word on each line; if its translation is on the next: grep . FILE | paste - - > OUT.tsv"
    return f"{sign!r} between the words; put a tab in its place: {tab}" if sign else None


# Text


def _plain_pairs(file: DictionaryFile) -> Iterator[PairLine]:
    comments = []
    for number, line in enumerate(file.lines, 1):
        if line.strip(" \t"):
            found = _read_pair(line, f"{file.path}:{number}", file.wanted)
            # "#" and hashtags translate into their like.
            if found.pair[0].startswith(_COMMENT) and not found.pair[1].startswith(_COMMENT):
                comments.append((number, found.pair))
            yield found
    if comments:
        number, pair = comments[0]
        others = f"it and the {len(comments) - 1:,} others that begin with {_COMMENT} if they are comments"
        log.warning(
            "%s:%d: read as the pair %r and %r; remove %s",
            file.path, number, *pair, others if comments[1:] else "the line if it is a comment",
        )  # fmt: skip


def _fields(line: str) -> list[str]:
    # Only the ASCII space and the tab are separators: a word may contain any other kind of space.
    separator = "\t" if "\t" in line else " "
    return [field for part in line.removesuffix("\r").split(separator) if (field := stripped(part))]


def _read_pair(line: str, where: str, wanted: str) -> PairLine:
    fields = _fields(line)
    third = len(fields) == 3 and "\t" in line
    score = number_in(fields[2]) if third else None
    if score is not None and not math.isfinite(score):
        raise BadFile(
            f"{where}: expected a finite number as the third field, got {fields[2]!r}; correct the line, or "
            "remove it if it is a header"
        )
    if (len(fields) == 2 or score is not None) and not line.startswith("\t"):
        return PairLine((fields[0], fields[1]), score)
    found = f"{len(fields)} field{'s' * (len(fields) != 1)}"
    if len(fields) > _OF_VECTORS and all(is_number(field.encode()) for field in fields[1:]):
        raise BadFile(
            f"{where}: expected {wanted}, got {found}; word vectors are no dictionary: check the file"
        )
    comment = "remove the line if it is a comment; else " if line.startswith(_COMMENT) else ""
    raise BadFile(
        f"{where}: expected {wanted}, got {found} ({line.strip()[:60]!r}); {comment}put one pair on a "
        "line, with a space between the two, or a tab where one has a space or a number follows"
        f"{_OR_COLUMNS if len(fields) > 2 and line.count(_TAB) > 1 and wanted == WORDS else ''}"
        f"{OR_ITS_FORMAT if wanted == WORDS else ''}"
    )


def _line(path: Path, place: int, entry: Entry) -> str:
    """A pair as one line, separated by a space, or by a tab if a word has one."""
    line = ("\t" if any(" " in word for word in entry[:2]) else " ").join(entry[:2])
    # Readers strip a byte order mark: a first word that begins with one needs another before it.
    return f"{BOM}{line}" if not place and line.startswith(BOM) else line


MUSE = DictionaryFormat(
    "muse", _plain_pairs, write=lines_writer(_line),
    can_store=lambda word: bool(word) and word == stripped(word) and fits("tsv", word),
)  # fmt: skip
OWN = (MUSE, TSV, JSONL, CSV, XLSX, PARQUET)


# Writing


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
    'source\ttarget\tscore\trank\tprobability\tfrequency_rank\ncat\tchat\t0.5\t1\t0.875\t\n'
    """
    made = written_formats().get(form)
    if made is None or made.write is None:
        raise BadSetting(f"a dictionary format must be one of {', '.join(written_formats())}; got {form!r}")
    path, places = Path(path), count()
    check_place(path)
    with made.write(path, languages) as append:

        def write(entry: Entry) -> None:
            place = next(places)
            for word in entry[:2]:
                check_unicode(path, word, place, kind="pair")
                if not made.can_store(word):
                    raise unwritable(path, word, place, kind="pair")
            append(entry, place)

        yield write
        if not next(places):
            raise Mismatch(f"{path}: expected at least one pair of words to write, got none")


@cache
def written_formats() -> Mapping[str, DictionaryFormat]:
    """The formats that are written, by their names: first those of muse."""
    return {name: one for name, one in formats().items() if one.write is not None}


def can_store_entry(form: str, entry: Entry) -> bool:
    """Whether a dictionary of this format can have a pair: in bicleaner each has a probability."""
    made = written_formats()[form]
    known = entry.probability is not None or not made.needs_probability
    return known and all(map(made.can_store, entry[:2]))


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
