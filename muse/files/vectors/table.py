"""Table: words and rows as a format yields them, block by block, and gathering them into Vectors."""

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from reprlib import repr as brief
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from muse.errors import BadFile, BadSetting, Mismatch
from muse.files.json_text import without_surrogates
from muse.files.payloads import Label, Payload
from muse.files.plain_text import read_lines
from muse.files.vectors.broken import Dropped, as_text, keep_whole
from muse.orthography import lowercase
from muse.vectors import Matrix, Vectors, name_of_repeated

log = logging.getLogger(__name__)

Block = tuple[list[str], Matrix]  # p words and their rows (p, d)
BLOCK_ROWS = 8_192  # rows converted at once
_LARGEST = float(np.finfo(np.float32).max)
_ROWS = 1000  # rows looked up at once
_NAMED, _SURE_KEYS = 8, 20  # languages in a message; words that must all look like keys
_COMPARED = 4  # numbers of a row by which rows that may be equal are found
_FEWEST_WORDS, _FIRST_WORDS = 5, 100  # that show what all words have, and that are looked at
_ODD_WORDS = {
    r"\d+[ \t]\S.*": "begins with a number, as of its row", r".+:": "ends with a colon",
    r"([\"']).+\1": "is in quotation marks",
}  # fmt: skip
_ONE_IN_DUPLICATES = 100  # words may share the vector of another one without a warning, of most files
_FEW_DUPLICATES = 10
# Keys of files with the words of several languages: ConceptNet's /c/fr/roi; fr:roi, fr/roi and fr_roi.
KEY = re.compile(r"(/c/[^/\s]+/|[a-z]{2,3}[:/_](?=\S))")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")  # of terminals: ids may be of several lines
_PART_OF_SPEECH = re.compile(r"(?<=.)/[nvarsx](?:/.*)?$")  # /c/fr/roi/n


@dataclass(frozen=True)
class RowsOnDisk:
    """An array (n, d) in a file, read a block at a time: a memory map would count as its reader's memory."""

    path: Path
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int  # its first byte

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        begin, end, _ = rows.indices(self.shape[0])
        d = self.shape[1]
        at = self.start + begin * d * self.dtype.itemsize
        return np.fromfile(self.path, self.dtype, (end - begin) * d, offset=at).reshape(-1, d)


class IntegerId(str):
    """An id that is an integer where it was read: text to whoever compares or shows it, a number if written.

    >>> IntegerId("7") == "7", IntegerId(7).number
    (True, 7)
    """

    __slots__ = ()

    @property
    def number(self) -> int:
        """The integer."""
        return int(self)


def item_ids(values: Sequence[Any], where: Callable[[int], str]) -> list[str]:
    """Ids as text, integers as IntegerId; BadFile, with `where` it is by its place, for the first without."""
    found = list[str]()
    for place, value in enumerate(values):
        if isinstance(value, int) and not isinstance(value, bool):
            found.append(IntegerId(value))
        elif (text := as_text(str(value) if isinstance(value, UUID) else value)) and (
            text.isprintable() or (isinstance(value, str) and not _CONTROLS.search(text))  # bytes may be none
        ):
            found.append(text)
        else:
            raise BadFile(
                f"{where(place)}: expected an id that is text or an integer, got {brief(value):.60}; correct "
                "it, without control characters"
            )
    return found


def item_rows(lists: Sequence[Any], dimension: int, column: str, where: Callable[[int], str]) -> Matrix:
    """Lists of a column as rows (b, d); BadFile, likewise, for the first that is not d finite numbers."""
    try:
        found = np.array(lists)
        if found.dtype.kind in "fiu" and found.shape == (len(lists), dimension):
            with np.errstate(over="ignore"):
                rows = found.astype(np.float32)
            if np.isfinite(rows).all():
                return rows
    except (ValueError, OverflowError):  # of several lengths, or of hundreds of digits
        pass
    faults = ((place, fault_of_numbers(one, dimension)) for place, one in enumerate(lists))
    place, fault = next(((place, fault) for place, fault in faults if fault), (0, "integers too large"))
    raise BadFile(
        f"{where(place)}: expected {dimension} finite numbers in {column!r}, got {fault}; correct or remove "
        "that row"
    )


def fault_of_numbers(value: object, dimension: int) -> str:
    """What there is in place of a list of d numbers that are finite in float32; "" if it is one."""
    if not isinstance(value, list):
        return f"{value!r:.60}"
    if len(value) != dimension:
        return f"{len(value)}"
    odd = [one for one in value if isinstance(one, bool) or not isinstance(one, int | float)]
    if odd:
        return f"{odd[0]!r:.60} among them"
    try:
        finite = all(abs(float(one)) <= _LARGEST for one in value)
    except OverflowError:  # an integer of hundreds of digits
        finite = False
    return "" if finite else "nan, inf or a number too large among them"


@dataclass(frozen=True)
class Table:
    """A file being read: its dimension, an estimate of its rows, and its blocks, read lazily.

    `max_rows` is an estimate of the number of rows that is bounded even if the header of the file is wrong;
    an error in a block is raised when that block is requested, so errors after `max_vocab` are ignored.
    `frequency_ordered` is whether it holds words, most frequent first, or rows in no order, which may have
    `texts`; of these, `max_rows` is exact if `counted`, and ids are those of the file, or the numbers of the
    rows if they are `numbered`. `dropped` are the broken words that the blocks have left out so far, and rows
    without a vector, which are among the `max_rows` and have texts. `payload` is what else rows have.
    """

    path: Path
    dimension: int
    max_rows: int
    blocks: Iterator[Block]
    frequency_ordered: bool = True
    texts: Iterable[str] | None = None
    dropped: Dropped = field(default_factory=Dropped)
    payload: Payload | None = None
    label: Label | None = None
    counted: bool = True

    @property
    def numbered(self) -> bool:
        """Whether no column of the file has ids or words, so that rows are known by their numbers."""
        return self.label is None and not self.frequency_ordered


@dataclass(frozen=True)
class ReadOptions:
    """What to read of a file: the first `max_vocab` words of a language, or of the given `words`.

    `words` are for n-grams, which compose their vectors; `column` is one of several that have vectors, and
    `id` the one that has the ids.
    """

    language: str = ""
    max_vocab: int | None = None
    lowercase: bool = False
    words: Sequence[str] | None = None
    column: str | None = None
    id: str | None = None

    def __post_init__(self) -> None:
        if self.max_vocab is not None and self.max_vocab < 1:
            raise BadSetting(f"max_vocab must be at least 1 or None for every word, got {self.max_vocab}")


@dataclass(frozen=True, eq=False)
class WordRows:
    """Words as a file has them, and a function that looks up the rows (p, d) of p words, finite or not.

    With `has_ngrams` it composes a row for any string; otherwise only what `encoded` lists has one.
    """

    path: Path
    dimension: int
    encoded: Callable[[], Sequence[str | bytes]]
    has_ngrams: bool
    lookup: Callable[[Sequence[str]], Matrix]

    def words(self) -> list[str]:
        """The words, but for a few that are no UTF-8, which a warning counts."""
        encoded, dropped = self.encoded(), Dropped()
        words, _ = keep_whole(self.path, encoded, np.zeros((len(encoded), 1)), dropped)
        dropped.settle(self.path, beyond_ascii=sum(not word.isascii() for word in words))
        return words

    def rows(self, words: Sequence[str]) -> Matrix:
        """The vectors (n, d) of n words; BadFile if a number is not finite."""
        found = self.lookup(words)
        return finite_rows(self.path, found, "download it again", lambda place: f"for {words[place]!r}")

    def table(self, words: Sequence[str] | None = None) -> Table:
        """The table of its words, or of the given ones if n-grams compose their vectors."""
        named, dropped = self.encoded() if words is None else words, Dropped()

        def block(begin: int) -> Block:
            own = named[begin : begin + _ROWS]
            texts = [as_text(word) for word in own]
            found = np.zeros((len(own), self.dimension), np.float32)
            known = [place for place, text in enumerate(texts) if text]
            found[known] = self.lookup([text for text in texts if text])
            return keep_whole(self.path, own, found, dropped)

        blocks = map(block, range(0, len(named), _ROWS))
        return Table(self.path, self.dimension, len(named), blocks, dropped=dropped)


def words_table(path: Path, words: Sequence[str | bytes], rows: NDArray[Any] | RowsOnDisk) -> Table:
    """The table of words and their rows (n, d)."""
    _check_shape(path, rows)
    dropped, blocks = Dropped(), (slice(at, at + BLOCK_ROWS) for at in range(0, len(words), BLOCK_ROWS))
    whole = (keep_whole(path, words[block], rows[block], dropped) for block in blocks)
    return Table(path, rows.shape[1], len(words), whole, dropped=dropped)


def items_table(path: Path, rows: NDArray[Any] | RowsOnDisk, ids: Sequence[str] | None = None) -> Table:
    """The table of items with the rows (n, d), and with their ids; without, these are numbers from 0."""
    _check_shape(path, rows)
    count, label = rows.shape[0], None if ids is None else Label("ids")

    def block(begin: int) -> Block:
        end = min(begin + BLOCK_ROWS, count)
        own: list[str] = [*map(IntegerId, range(begin, end))] if ids is None else [*ids[begin:end]]
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite then is reported
            return own, finite_rows(
                path, np.asarray(rows[begin:end], np.float32), "remove that row",
                lambda place: f"in row {begin + place}",
            )  # fmt: skip

    blocks = map(block, range(0, count, BLOCK_ROWS))
    return Table(path, rows.shape[1], count, blocks, frequency_ordered=False, label=label)


def _check_shape(path: Path, rows: NDArray[Any] | RowsOnDisk) -> None:
    if len(rows.shape) != 2 or rows.dtype.kind not in "fiu" or not all(rows.shape):
        raise BadFile(
            f"{path}: expected n rows of d real numbers, got {rows.dtype} of shape {rows.shape}; save a "
            "two-dimensional array"
        )


def finite_rows(path: Path, rows: Matrix, advice: str, where: Callable[[int], str]) -> Matrix:
    """The rows (n, d); BadFile, with `where` it is by its place, for the first that has nan or inf."""
    finite = np.isfinite(rows).all(axis=1)  # (n,)
    if not finite.all():
        place = where(int(np.argmin(finite)))
        raise BadFile(f"{path}: expected finite numbers, got nan or inf {place}; {advice}")
    return rows


def check_options(path: Path, options: ReadOptions, *, ngrams: bool = False, columns: bool = False) -> None:
    """Raise BadSetting for words where no n-grams compose their vectors, or for a column where are none."""
    if (named := options.column or options.id) is not None and not columns:
        raise BadSetting(
            f"{path}: a column is chosen of Parquet, JSON lines and CSV, got {named!r} for another format; "
            "leave it out"
        )
    if options.words is not None and not ngrams:
        raise BadSetting(
            f"{path}: a list of words is for vectors composed of n-grams (a fastText .bin, a spaCy pipeline "
            "in mode floret), got vectors of words; leave the list out"
        )


def chosen_column(path: Path, vectors: Sequence[str], column: str | None, structs: Mapping[str, str]) -> str:
    """The column to read of those that hold `vectors`: the one asked for, the only one, or one called vector.

    Raise BadSetting, with their names, if it is not clear which, and for one of the `structs`, which are
    columns or fields with parts of the given names; LookupError if no column holds vectors.
    """
    name = next(iter(structs), None) if column is None and not vectors else column
    if name in structs:
        raise BadSetting(
            f"{path}: vectors must be lists of numbers, got {name!r}, a struct ({structs[str(name)]}); save "
            "its numbers as a column of their own"
        )
    if column in vectors or (column is None and len(vectors) == 1):
        return column or vectors[0]
    if column is None and "vector" in vectors:
        return "vector"
    if column is None and not vectors:
        raise LookupError("no column of them holds lists of numbers")
    found = "none" if column is None else repr(column)
    raise BadSetting(
        f"{path}: --column (or --src-column, --tgt-column) must be one of its columns of vectors "
        f"({', '.join(vectors) or 'it has none'}), got {found}"
    )


def gather(table: Table, wanted: ReadOptions) -> Vectors:
    """The wanted words with their rows in one matrix, allocated once if the table's estimate is right."""
    if wanted.lowercase and not table.frequency_ordered:
        raise BadSetting(f"{table.path}: --lower is for words, got items without a vocabulary; leave it out")
    chosen: _Words | _Items = (_Words if table.frequency_ordered else _Items)(wanted)
    most, rows_read, beyond_ascii, any_value = wanted.max_vocab, 0, 0, False
    guess = table.max_rows if most is None else min(table.max_rows, most)
    matrix = np.empty((0, 1), np.float32)
    for words, rows in table.blocks:
        if words:  # else only blank lines: rows of width 0
            beyond_ascii += sum(not word.isascii() for word in words)
            keep = chosen.keep(words)
            needed = rows_read + len(keep)
            if not len(matrix):
                # It takes memory only as rows are written: too high an estimate costs address space alone.
                matrix = np.empty((max(needed, guess), table.dimension), np.float32)
            elif needed > len(matrix):
                matrix.resize((max(needed, len(matrix) * 3 // 2), table.dimension), refcheck=False)
            matrix[rows_read:needed] = fresh = rows if len(keep) == len(rows) else rows[keep]  # (p, d)
            rows_read, any_value = needed, any_value or bool(fresh.any())
        if chosen.enough:  # what follows is not wanted, broken or not
            break
        table.dropped.check_hope()
    table.dropped.settle(table.path, beyond_ascii=beyond_ascii, read=chosen.end if chosen.enough else None)
    chosen.check(table.path)
    if not any_value:
        got = "only zeros" if rows_read else "no word or row with one"
        raise BadFile(f"{table.path}: expected vectors, got {got}; check the program that wrote the file")
    matrix.resize((rows_read, table.dimension), refcheck=False)
    if table.frequency_ordered:
        _warn_of_shared(table.path, list(chosen.words), matrix)
    return Vectors(
        wanted.language, tuple(chosen.words), matrix, repeated=chosen.repeated,
        frequency_ordered=table.frequency_ordered, texts=_texts_of(table, chosen),
    )  # fmt: skip


def _texts_of(table: Table, chosen: "_Chosen") -> list[str] | None:
    """The texts of the rows kept, from those of the whole file; Mismatch if there are not as many."""
    if (texts := table.texts) is None:
        return None
    rows = chosen.read + len(table.dropped)
    if isinstance(texts, Sized) and not table.counted and not chosen.enough and len(texts) != rows:
        raise Mismatch(
            f"{table.path}: expected a text for each of {rows} rows, got {len(texts)}; give one text a line, "
            "in the order of the rows"
        )
    return list(islice(texts_read(table), len(chosen.words)))


def texts_read(table: Table) -> Iterator[str]:
    """The texts of the rows that its blocks had, without those of rows that they left out."""
    left_out = set(table.dropped.places)
    return (text for place, text in enumerate(table.texts or ()) if place not in left_out)


class _Chosen:
    """The words or ids kept so far: each once, in order, up to the number wanted."""

    def __init__(self, wanted: ReadOptions) -> None:
        # A dict keeps order: it is both the list of words and the set of those seen.
        self.words: dict[str, None] = {}
        self.repeated = self.read = 0  # of those before the block being read
        self.end = 0  # the place after the last one kept
        self._wanted = wanted

    @property
    def enough(self) -> bool:
        return self._wanted.max_vocab is not None and len(self.words) >= self._wanted.max_vocab


class _Words(_Chosen):
    """Words: those that are keys of several languages are those of the wanted one, without their prefix."""

    _prefixes: Counter[str] | None = None  # of the languages whose keys were read, if words are keys

    def keep(self, words: list[str]) -> list[int]:
        """The places in a block of the words that are kept of it."""
        kept, language = [], self._wanted.language
        sure = words[0].startswith("/c/") or len(words) >= _SURE_KEYS
        if not self.read and sure and all(map(KEY.match, words)):
            self._prefixes = Counter()
        for place, word in enumerate(words if self._prefixes is None else self._of_language(words)):
            if self.enough:
                break
            form = lowercase(word, language) if self._wanted.lowercase else word
            if form in self.words:
                self.repeated += 1
            elif form:
                self.words[form] = None
                kept.append(place)
        self.end = self.read + kept[-1] + 1 if kept else self.end
        self.read += len(words)
        return kept

    def _of_language(self, words: list[str]) -> list[str]:
        """The words without their prefixes; in place of those of other languages, the empty string."""
        prefixes = [match[1] if (match := KEY.match(word)) else "" for word in words]
        self._prefixes = (self._prefixes or Counter()) + Counter(prefixes)
        language = self._wanted.language
        own = {concept := f"/c/{language}/", *(f"{language}{sign}" for sign in ":/_")}
        kept = [word[len(one) :] if one in own else "" for word, one in zip(words, prefixes, strict=True)]
        return [_PART_OF_SPEECH.sub("", word) for word in kept] if concept in prefixes else kept

    def check(self, path: Path) -> None:
        """Warn of what all words show, or raise Mismatch if none is of the language."""
        first = [*islice(self.words, _FIRST_WORDS)]
        for pattern, what in _ODD_WORDS.items():
            if len(first) >= _FEWEST_WORDS and all(re.fullmatch(pattern, word, re.DOTALL) for word in first):
                log.warning("%s: every word %s, such as %r: remove it", path, what, first[0])
        if self._prefixes is None:
            return
        names = sorted({prefix.removeprefix("/c/").rstrip("/:_") for prefix in self._prefixes} - {""})
        some = ", ".join(names[:_NAMED]) + (", ..." if names[_NAMED:] else "")
        if not self.words:
            raise Mismatch(
                f"{path}: expected words of {self._wanted.language}, got keys of other languages ({some}); "
                "call the language what the file calls it"
            )
        # ConceptNet's own files are sorted.
        in_order = list(self.words) == sorted(self.words) and len(self.words) > 1
        log.log(
            logging.WARNING if in_order else logging.INFO,
            "%s: the words are keys of languages (%s), of which those of %s are read%s",
            path, some, self._wanted.language,
            ", in alphabetical order; the most frequent first is better" if in_order else "",
        )  # fmt: skip


class _Items(_Chosen):
    """The ids of items: all are kept, and where one is repeated, each has a name of its own."""

    def __init__(self, wanted: ReadOptions) -> None:
        super().__init__(wanted)
        self._rows_of: Counter[str] = Counter()  # ids that are repeated, and how many rows they have

    def keep(self, words: list[str]) -> list[int]:
        """The places in a block of the ids that are kept of it."""
        most = self._wanted.max_vocab
        wanted = words if most is None else words[: most - len(self.words)]
        for one in wanted:
            name = str(one)
            if one in self.words:
                rows = max(self._rows_of[one], 1)
                while (name := name_of_repeated(one, rows := rows + 1)) in self.words:
                    pass  # an id of the file is called so
                self._rows_of[str(one)] = rows
            self.words[name] = None
        self.end += len(wanted)
        self.read += len(words)
        return list(range(len(wanted)))

    def check(self, path: Path) -> None:
        """Warn of ids that repeat."""
        if self._rows_of:
            one, rows = self._rows_of.most_common(1)[0]
            log.warning(
                "%s: ids repeat (%d of them, such as %r on %d rows): all %d rows are read, the second one of "
                "an id as %r",
                path, len(self._rows_of), one, rows, len(self.words), name_of_repeated(one, 2),
            )  # fmt: skip


def _warn_of_shared(path: Path, words: Sequence[str], matrix: Matrix) -> None:
    """Warn of words that share a vector, as unknown words of some models do, but for rows of zeros."""
    # Few rows of real vectors agree in the first numbers: only those are compared whole.
    first = np.ascontiguousarray(matrix[:, :_COMPARED])
    keys = first.view(f"V{first.itemsize * first.shape[1]}").ravel().tolist()  # (n,) bytes
    counts, same = Counter(keys), Counter[bytes]()
    places = [place for place, key in enumerate(keys) if counts[key] > 1 and matrix[place].any()]
    same.update(matrix[place].tobytes() for place in places)
    shared = same.total() - len(same)
    if shared > 1 and (shared >= _FEW_DUPLICATES or shared * _ONE_IN_DUPLICATES >= len(words)):
        ((row, largest),) = same.most_common(1)
        word = next(words[place] for place in places if matrix[place].tobytes() == row)
        log.warning(
            "%s: %d of %d words with the vector of another word, %d of them with that of %r; as translations "
            "they cannot be told apart",
            path, shared, len(words), largest - 1, word,
        )  # fmt: skip


# Texts, which rows stand for, a text a line


def one_line(text: str) -> str:
    r"""The text on one line, each run of white space a space, as UTF-8 can write it.

    >>> one_line("A dog\n runs. ")
    'A dog runs.'
    """
    return without_surrogates(" ".join(text.split()))


def with_texts(table: Table, path: Path | None) -> Table:
    """The table with the texts of its rows in a file, if one is given.

    Raise BadSetting if the table has words, Mismatch unless each row has one text.
    """
    if path is None:
        return table
    if table.frequency_ordered:
        raise BadSetting(
            f"{path}: texts are for items without a vocabulary, got words in {table.path}; leave it out"
        )
    texts = [one_line(line) for line in read_lines(path)]
    if table.counted and len(texts) != table.max_rows:  # else `gather` checks it
        raise Mismatch(
            f"{path}: expected a line for each of {table.max_rows} rows of {table.path}, got "
            f"{len(texts)}; give one text a line, in the order of the rows"
        )
    return replace(table, texts=texts)
