"""Lists and tables: the words of --words, and the answers to them as rows for --out, --format and stdout.

Unknown words are rows too, with a reason, so that a table has every word of its list.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from muse.commands.inputs import STDIN, lines_on_stdin
from muse.commands.outputs import echo, show
from muse.commands.paths import STDIN_PATH
from muse.errors import counted
from muse.options import Common, OptionSet, option

if TYPE_CHECKING:
    from muse.files.tables import Columns, Row, WriteRow
    from muse.progress import Progress

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TablePlace:
    """Where the rows go, a file or stdout, and in which format."""

    out: Path | None
    form: str


class Listed(OptionSet):
    """A list of words."""

    listed: Path | None = option(
        None, section="Input", flags=("--words",),
        help="A list of words, one on each line, or the first column of a table; - is stdin.",
    )  # fmt: skip


class TableOptions(Listed):
    """A list of words, and the table of what is found of them."""

    out: Path | None = option(
        None, section="Output", written=True,
        help="Write a table, a row for each answer: .tsv, .csv (for spreadsheets), .xlsx or .parquet. "
        "Unknown words have a reason.  [default: stdout]",
    )  # fmt: skip
    form: Literal["tsv", "csv", "xlsx", "parquet"] | None = option(
        None, section="Output", flags=("--format",), choices=("tsv", "csv", "xlsx", "parquet"),
        help="Format of the table.  [default: by the ending of --out; tsv on stdout]",
    )  # fmt: skip


def asked_words(options: Any) -> tuple[Sequence[str], TablePlace | None]:
    """The words given as arguments or listed, and the table that the options ask for, if they ask for one.

    Both are checked before any work.
    """
    table = _wanted_table(options)
    if options.listed is None:
        return options.words, table
    return read_words(options.listed, None if table is None else table.form), table


def _wanted_table(options: Any) -> TablePlace | None:
    """The table that the options ask for, None if they ask for none."""
    from muse.errors import BadSetting, Contradiction
    from muse.files.tables import form_of, require_form
    from muse.files.writing import check_place

    out, form = options.out, options.form
    if out is None:
        if form is not None and options.as_json:
            raise Contradiction("--json and --format print one thing each on stdout; leave one of them out")
        if form is None and (options.listed is None or options.as_json):
            return None
        if form not in (None, "tsv", "csv"):
            raise Contradiction(f"--format {form} is no text and needs --out FILE, got none; add it")
        return TablePlace(None, form or "tsv")
    ending = form_of(out)
    if ending is None and (form is None or form_of(Path(out.name.removesuffix(".gz"))) is not None):
        raise BadSetting(
            f"{out}: a table is written to a .tsv, .csv (or one of these with .gz), .xlsx or .parquet file, "
            f"got {''.join(out.suffixes[-2:]) or 'no ending'}; choose such a name"
        )
    if ending is not None and form not in (None, ending):
        raise Contradiction(f"--format {form} contradicts the name of --out, {out.name}; leave --format out")
    table = TablePlace(out, form or str(ending))
    check_place(out)
    require_form(out, table.form)
    return table


def check_one_source(words: Sequence[str], options: Listed) -> None:
    """Raise UsageError for words beside a list of words."""
    if words and options.listed is not None:
        raise click.UsageError(f"--words lists the words, got {words[0]!r} beside it; leave one of them out.")


def read_words(path: Path, form: str | None = None) -> list[str]:
    """The words of a list, one on each line, without blank lines; an expression may have several words.

    Those of a table are its first column with letters.
    Raise BadFile if there is none, or one that is no word or has no place in a table of this format.
    """
    from muse.errors import BadFile
    from muse.files.dictionary_tables import listed_words

    piped = path == STDIN_PATH
    name = STDIN if piped else str(path)
    typed = (line for block in lines_on_stdin() for line in block) if piped else ()
    found = []
    for number, line in enumerate(typed, 1) if piped else listed_words(path):
        word = line.strip()
        if not word:  # there may be millions
            continue
        _check_listed(word, f"{name}:{number}", form)
        found.append(word)
    if not found:
        raise BadFile(f"{name}: expected at least one word, got only blank lines; check the list")
    return found


def _check_listed(word: str, where: str, form: str | None) -> None:
    """Raise BadFile for what is no word, or has no place in a table of this format."""
    from muse.errors import BadFile
    from muse.files.tables import fits

    shown = f"got {word[:60]!r}"
    if "\t" in word or "\r" in word:
        raise BadFile(f"{where}: expected one word on each line, {shown}; give a list with one column")
    if "\0" in word:
        raise BadFile(f"{where}: expected text in UTF-8, {shown} with a NUL; convert the list to UTF-8")
    if form is not None and not fits(form, word):
        raise BadFile(
            f"{where}: expected a word that {form} can represent, {shown}; correct it, or write "
            "another format"
        )


def write_table(
    table: TablePlace, columns: Columns, found: Iterable[Sequence[Row]], words: int, name: str,
    options: Common, progress: Progress,
) -> None:  # fmt: skip
    """Write the rows of each word, print what was written to a file, and warn if words are unknown.

    Every word has a row; that of an unknown one has no `form`, and a reason.
    """
    place, rows, unknown = [*columns].index("form"), 0, 0
    with _written(table, columns) as write, progress.stage(name, words, "words") as tick:
        for number, one in enumerate(found, 1):
            for row in one:
                write(row[: len(columns)])
            rows, unknown = rows + len(one), unknown + (one[0][place] is None)
            tick(number)
    if table.out is not None:
        fields = {"out": str(table.out), "rows": rows, "words": words, "unknown": unknown}
        show(options, fields, [f"{counted(rows, 'row')} of {counted(words, 'word')} in {table.out}"])
    if unknown:
        log.warning("%d of %s unknown: the column reason says why", unknown, counted(words, "word"))


@contextmanager
def _written(table: TablePlace, columns: Columns) -> Iterator[WriteRow]:
    """A function that appends a row to the table, in its file or on stdout."""
    from muse.files.tables import header, line_maker, table_writer

    if table.out is not None:
        with table_writer(table.out, columns, table.form) as write:
            yield write
        return
    line = line_maker(Path("stdout"), table.form)

    def show(row: Row) -> None:
        echo(line(row), end="")

    echo(header(columns, table.form), end="")
    yield show
