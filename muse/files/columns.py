"""Columns: those that are wanted of a table, found by their names in a first row, or else by what they hold.

Rated pairs, labelled sentences, parallel text, documents and decisions are read by this one reader: whoever
reads a table says what its columns are (`TableColumns`) and gets the cells in that order, with the place of
each row for errors. A column that is no text is told by what its cells look like, and of several columns of
text those are taken that `fits` say, or the two that have most to say.
"""

import logging
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, pairwise, permutations
from pathlib import Path

from muse.errors import BadFile
from muse.files.cells import number_in
from muse.files.payloads import folded_name
from muse.files.tables import MOST_COLUMNS, NumberedRow, TableRows, open_table, plain_cell

log = logging.getLogger(__name__)

Fit = Callable[[str], float]  # how well a text fits what is wanted of a column, from 0 to 1
Places = Sequence[int | None]
SAMPLE = 200  # rows that tell which columns are which
_CELLS = 4_000  # of all columns, that tell how well these fit
_CLEARLY = 0.1  # by which the mean fit must be better for another order than that of the columns
_FITS, _NAME = 0.3, 3  # of the rows below names of columns on average; words of a name
_BEST = 8  # columns of each language of which those that fit best are chosen
_SAYS_MORE = 3.0  # times as many letters in different cells, of a column beside those that are taken
_SAYS_NOTHING = 10  # times fewer letters than another column, as of codes of languages, which may be words
_NO_TEXT = re.compile(r"[!-~]*(?:[0-9]|://)[!-~]*|[\W_]*")  # an id, an address, a number


@dataclass(frozen=True)
class TableColumns:
    """The columns that are read of a table: what errors call each, and what files call it.

    `looks` are those of the columns that are no text: whether a cell may be one. `named` finds columns by a
    first row in another way than by `names`. `fits` are of the first columns of text, as many as there are.
    Without a header, which some tables must have, and without `looks` and `fits`, columns have this order,
    and `more` may follow; or the last one has the `rest` of a line, tabs too. Rows without anything are left
    out unless they are `blank`; `spaced` cells may have single spaces between.
    """

    names: Mapping[str, Collection[str]]
    optional: Collection[str] = ()
    header: bool = False
    more: bool = False
    rest: bool = False
    blank: bool = False
    spaced: bool = False
    looks: Mapping[str, Callable[[str], object]] = field(default_factory=dict)
    named: Callable[[Sequence[str]], Places | None] | None = None
    fits: Sequence[Fit] = ()
    advice: str = "correct the line"


@dataclass(frozen=True)
class Layout:
    """Where the columns wanted are in a row of so many cells; None of one that there is not.

    `header` says whether the first row has names.
    """

    places: tuple[int | None, ...]
    width: int
    header: bool


def read_columns(
    path: Path | str, wanted: TableColumns, layout: Layout | None = None
) -> Iterator[tuple[str, list[str]]]:
    """The place of each row, and its cells of the columns wanted, "" for an optional one that is not there.

    Raise BadFile for a row of other columns. The `layout` is that of the file, if it is known.
    """
    table, first = _opened(Path(path), wanted)
    layout, place = layout or _layout(table, first, wanted), table.place
    rows = chain(first, table.rows)
    if layout.header and table.names is None:
        next(rows, None)
    for number, cells in rows:
        filled = any(map(str.strip, cells))
        if wanted.rest and table.form == "tsv" and len(cells) > layout.width:
            cells = [*cells[: layout.width - 1], "\t".join(cells[layout.width - 1 :])]
        over = not wanted.more and any(map(str.strip, cells[layout.width :]))
        if filled and (len(cells) < layout.width or over):
            said = "as in line 1" if layout.header or layout.width > len(wanted.names) else ""
            raise _other_columns(f"{place}{number}", cells, layout.width, wanted, said)
        found = ["" if one is None or not filled else cells[one] for one in layout.places]
        if table.form == "csv":
            found = [*map(plain_cell, found)]
        if wanted.blank or any(map(str.strip, found)):
            yield f"{place}{number}", found


def layout_of(path: Path, wanted: TableColumns) -> Layout:
    """Where the columns wanted are in a file; BadFile if that is not clear."""
    table, first = _opened(path, wanted)
    return _layout(table, first, wanted)


def _opened(path: Path, wanted: TableColumns) -> tuple[TableRows, list[NumberedRow]]:
    table = open_table(path, len(wanted.names), spaced=wanted.spaced)
    first = list(islice(table.rows, SAMPLE))
    if table.names is None and (names := _beside_row_names([cells for _, cells in first])) is not None:
        unnumbered = ((number, cells[1:]) for number, cells in table.rows)
        first = [(number, cells[1:]) for number, cells in first[1:]]
        return replace(table, rows=unnumbered, names=list(names)), first
    return table, first


def _beside_row_names(rows: Sequence[Sequence[str]]) -> Sequence[str] | None:
    """The names in the first row, if rows have the numbers from 1 on before them, as R writes; else None."""
    names, below = (rows or [[]])[0], rows[1:]
    numbered = [row[:1] for row in below] == [[str(number)] for number in range(1, len(rows))]
    if not names or len(below) < 2 or not numbered:
        return None
    unnamed = all(len(row) == len(names) + 1 for row in below)
    return names if unnamed else None if names[0].strip() else names[1:]


def _layout(table: TableRows, first: Sequence[NumberedRow], wanted: TableColumns) -> Layout:
    filled = [cells for _, cells in first if any(map(str.strip, cells))]
    names = table.names if table.names is not None else (filled or [[]])[0]
    below = filled if table.names is not None else filled[1:]
    if len(names) > MOST_COLUMNS:
        raise _other_columns(f"{table.place}1", names, len(wanted.names), wanted)
    places = _by_names(names, wanted)
    if places is not None and not _recur(names, places, below):
        return Layout(_in_order(places, below, wanted), len(names), header=True)
    needed = [name for name in wanted.names if name not in wanted.optional]
    told = bool(wanted.looks or wanted.fits)
    if wanted.header or (table.names is not None and not told):
        said = ", one ".join(" or ".join(wanted.names[name]) for name in needed)
        raise BadFile(
            f"{table.place}1: expected a first line of names with a column {said}, got {names[:4]}; "
            f"{wanted.advice}"
        )
    if told and filled and (found := _told(table, filled, wanted)) is not None:
        return found
    if told and filled and len(names) != len(needed):
        raise _other_columns(f"{table.place}{first[0][0]}", names, len(needed), wanted)
    order = needed if len(names) == len(needed) else [*wanted.names]
    plain = tuple(order.index(name) if name in order else None for name in wanted.names)
    return Layout(plain, len(order), header=False)


def _told(table: TableRows, rows: Sequence[Sequence[str]], wanted: TableColumns) -> Layout | None:
    """The columns by what they hold, below a first row that may have names of one's own; None if unclear."""
    header = table.names is None and _is_header(rows, wanted)
    places = _by_content(rows[header:], wanted)
    if places is not None and table.names is None and [*places].count(None) == len(wanted.looks):
        header = header or _fits_below(rows, places, wanted.fits)
    if header:
        log.warning("%s1: %r is read as names of columns", table.place, " | ".join(rows[0])[:60])
    if places is None:
        return None
    shown = [f"{name} {at + 1}" for name, at in zip(wanted.names, places, strict=True) if at is not None]
    if [at for at in places if at is not None] != [*range(len(rows[0]))]:
        log.info("%s columns read: %s", table.place, ", ".join(shown))
    return Layout(places, len(rows[0]), header or table.names is not None)


def _other_columns(
    where: str, cells: Sequence[str], least: int, wanted: TableColumns, line: str = ""
) -> BadFile:
    named = line or ", ".join(name for name in wanted.names if name not in wanted.optional)
    return BadFile(
        f"{where}: expected {least} columns, {named}, got {len(cells)} ({' | '.join(cells)[:60]!r}); "
        f"{wanted.advice}"
    )


# By names


def _by_names(first: Sequence[str], wanted: TableColumns) -> Places | None:
    """Where a first row names each column; None if it does not name all that are needed."""
    if wanted.named is not None:
        return wanted.named(first)
    folded = [folded_name(cell) for cell in first]
    found = [
        next((folded.index(one) for name in names if (one := folded_name(name)) in folded), None)
        for names in wanted.names.values()
    ]
    needed = zip(found, wanted.names, strict=True)
    return None if any(place is None and name not in wanted.optional for place, name in needed) else found


def _recur(names: Sequence[str], places: Places, rows: Sequence[Sequence[str]]) -> bool:
    """Whether what could be names stands in most rows: it is codes of languages beside the texts."""
    named = [place for place in places if place is not None]
    again = [row for row in rows if [row[p] for p in named if p < len(row)] == [names[p] for p in named]]
    return 2 * len(again) > len(rows)


def _in_order(places: Places, rows: Sequence[Sequence[str]], wanted: TableColumns) -> tuple[int | None, ...]:
    """The places, those of text in the order that fits clearly best."""
    among = places[: len(wanted.fits)]
    texts = [place for place in among if place is not None]
    if len(texts) < 2:
        return tuple(places)
    fitting = _fitting(_columns(rows), texts, wanted.fits) if rows else None
    return (*(fitting or texts), *places[len(texts) :])


# By content


def _columns(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The cells of each column that are not blank, of the rows that are as long as the first."""
    whole = [row for row in rows if len(row) == len(rows[0])]
    return [[one for cell in column if (one := cell.strip())] for column in zip(*whole, strict=True)]


def _mostly(cells: Sequence[str], test: Callable[[str], object]) -> bool:
    return 2 * sum(bool(test(cell)) for cell in cells) > len(cells)


def has_number(cell: str) -> bool:
    """Whether a cell has a number."""
    return number_in(cell) is not None


def _is_header(rows: Sequence[Sequence[str]], wanted: TableColumns) -> bool:
    """Whether a first row that has no known names has others: above what is no text it has some."""
    columns = _columns(rows[1:])
    return len(columns) == len(rows[0]) and any(
        cell.strip() and not looks(cell.strip()) and cells and all(map(looks, cells))
        for looks in wanted.looks.values()
        for cell, cells in zip(rows[0], columns, strict=True)
    )


def _fits_below(rows: Sequence[Sequence[str]], places: Places, fits: Sequence[Fit]) -> bool:
    """Whether the rows fit, but not the first one, whose few words may be names of columns."""
    sides = [(at, fit) for at, fit in zip(places, fits, strict=False) if at is not None]
    first = all(len(rows[0][at].split()) <= _NAME and not fit(rows[0][at]) for at, fit in sides)
    fit_of = [sum(fit(row[at]) for row in rows[1:] if at < len(row)) for at, fit in sides]
    return first and bool(sides) and min(fit_of) > _FITS * (len(rows) - 1)


def _by_content(rows: Sequence[Sequence[str]], wanted: TableColumns) -> tuple[int | None, ...] | None:
    """Where each column is, by what it holds; None if that is not clear."""
    columns = _columns(rows)
    others = {
        name: [place for place, cells in enumerate(columns) if cells and _mostly(cells, looks)]
        for name, looks in wanted.looks.items()
    }
    needed = [name for name in wanted.names if name not in wanted.looks and name not in wanted.optional]
    taken = _texts(columns, {*chain(*others.values())}, len(needed), wanted.fits)
    if taken is None:
        return None
    found: dict[str, int] = dict(zip(needed, taken, strict=True))
    for name, fitting in others.items():
        near = [one for one in (max(taken) + 1, min(taken) - 1) if one in fitting]
        free = [one for one in (*near, *fitting) if one not in found.values() and one not in taken]
        free = [one for one in free if not _counts(columns[one])] or free
        if not free and name not in wanted.optional:
            return None
        if free:
            found[name] = free[0]
        if name not in wanted.optional and any(columns[one] != columns[free[0]] for one in free[1:]):
            log.warning(
                "the %s is read from column %d; name the columns in a first row if you mean another one",
                name, free[0] + 1,
            )  # fmt: skip
    return tuple(found.get(name) for name in wanted.names)


def _texts(
    columns: Sequence[Sequence[str]], others: Collection[int], needed: int, fits: Sequence[Fit]
) -> list[int] | None:
    """The columns of text, as many as are needed; None if which they are is not clear."""
    texts = [
        place for place, cells in enumerate(columns)
        if cells and place not in others and (fits or _is_text(cells))
    ]  # fmt: skip
    if len(texts) < needed:
        return None
    letters = {place: sum(map(len, {*columns[place]})) for place in texts}
    if fits:
        most = max(letters.values())
        return _fitting(columns, [one for one in texts if _SAYS_NOTHING * letters[one] > most], fits)
    ranked = sorted(texts, key=lambda place: -letters[place])
    if len(ranked) > needed and letters[ranked[needed - 1]] < _SAYS_MORE * letters[ranked[needed]]:
        return None
    return sorted(ranked[:needed])


def _counts(cells: Sequence[str]) -> bool:
    """Whether cells number the rows, in equal steps."""
    known = [number for number in map(number_in, cells) if number is not None]
    steps = {two - one for one, two in pairwise(known)}
    return len(known) == len(cells) > 2 and len(steps) == 1 and steps != {0}


def _is_text(cells: Sequence[str]) -> bool:
    """Whether cells that are not all the same are no ids, addresses or numbers."""
    return len({*cells}) > (len(cells) > 1) and not _mostly(cells, _NO_TEXT.fullmatch)


def _fitting(columns: Sequence[Sequence[str]], texts: Sequence[int], fits: Sequence[Fit]) -> list[int] | None:
    """The columns of text that fit best, as they stand unless another order of them is clearly better."""
    most = max(1, _CELLS // max(1, len(texts)))
    cells = {place: columns[place][:most] for place in texts if place < len(columns)}
    known = {place: [sum(map(fit, own)) / max(1, len(own)) for fit in fits] for place, own in cells.items()}
    best = {
        place for side in range(len(fits))
        for place in sorted(known, key=lambda place: -known[place][side])[:_BEST]
    }  # fmt: skip
    orders = [*permutations([place for place in known if place in best], len(fits))]
    if not orders:
        return None
    fit_of = {order: sum(known[place][side] for side, place in enumerate(order)) for order in orders}
    chosen = max(orders, key=lambda order: fit_of[order])
    first = next(order for order in orders if {*order} == {*chosen})
    if len(texts) > len(fits) and not fit_of[chosen]:
        return None
    return [*(chosen if fit_of[chosen] > fit_of[first] + _CLEARLY * len(fits) else first)]
