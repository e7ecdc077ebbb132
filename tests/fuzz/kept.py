"""Targets that are derived of a space, and tables and lists of words: answers, caches, CSV, spreadsheets.

A damaged file is refused by its checksum. So that the checks behind that are reached as well, each is read a
second time with the checksum that it has.
"""

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from muse.commands.word_tables import read_words
from muse.embedding import pretrained
from muse.files import read_lexicon
from muse.files.archive import arrays_of
from muse.files.lexicons import dictionary_writer
from muse.files.space_folder import checksum, derived_name
from muse.files.tables import plain_cell, table_writer
from muse.lexicon import Entry
from muse.ranking import oov
from muse.ranking.canonical import CanonicalMap
from muse.ranking.model import AnswerModel, ProbabilityCurve
from muse.ranking.oov import OovRanker, SpelledAlike, Targets, UnseenWords
from muse.ranking.probability import CALIBRATION, Calibration, _possible, write_calibration
from muse.ranking.spelling import Grams
from muse.ranking.trees import BoostedTrees
from muse.space import derived
from tests.fuzz.target import Target
from tests.fuzz.texts import SENTENCES, files, only
from tests.support.spaces import raw_rows

COUNT = 7  # words of either language
DIRECTION = ("fr", "en")
CACHE, SUMS = "cache.npz", "sums.json"


Read = Callable[[Path], Iterator[Any]]


def _sum_up(folder: Path) -> None:
    """Write the checksums of all files of a folder."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != SUMS]
    sums = {path.relative_to(folder).as_posix(): checksum(path) for path in files}
    (folder / SUMS).write_text(json.dumps(sums), encoding="utf-8")


def _sums(folder: Path) -> dict[str, Any]:
    """The checksums; none where they are damaged, as a manifest is refused."""
    with suppress(ValueError, OSError, RecursionError):
        found = json.loads((folder / SUMS).read_bytes())
        return found if isinstance(found, dict) else {}
    return {}


def _twice(read: Callable[[derived.DerivedFiles], Iterator[Any]]) -> Read:
    """What is read with the checksum that a file should have, and with the one that it has."""

    def both(folder: Path) -> Iterator[Any]:
        logger = logging.getLogger("muse")
        level = logger.level
        logger.setLevel(logging.CRITICAL)
        try:
            yield from read(derived.DerivedFiles(folder, _sums(folder)))
            _sum_up(folder)
            yield from read(derived.DerivedFiles(folder, _sums(folder)))
        finally:
            logger.setLevel(level)

    return both


def _answers(folder: Path) -> None:
    drawn = np.random.default_rng(0)
    counts = np.array([0, 2, 1, 3, 0, 1, 2])
    total = int(counts.sum())
    table = derived.AnswerTable(
        np.concatenate([[0], np.cumsum(counts)]), np.arange(total) % COUNT,
        drawn.uniform(-1, 1, total).astype(np.float32), np.linspace(1, 0, total).astype(np.float32),
        {"chosen": True, "pairs": 5},
    )  # fmt: skip
    derived.write_answers(folder / "0", DIRECTION, table)
    _sum_up(folder / "0")


def _table(files: derived.DerivedFiles) -> Iterator[Any]:
    table = derived.read_answers(files, DIRECTION, ([""] * COUNT,) * 2)
    if table is not None:
        yield from (table.first(), table.csls, table.probability)
        columns, csls, probability = table.padded(np.arange(COUNT))
        assert ((columns >= 0) == (csls > -np.inf)).all()
        yield probability
        table.within(np.arange(COUNT), 3)


def _hubness(folder: Path) -> None:
    import torch

    for language in DIRECTION:
        (folder / "0" / language).mkdir(parents=True)
    rows = torch.from_numpy(raw_rows(0, COUNT, 2)[:, 0] / 10)
    derived.write_hubness(folder / "0", DIRECTION, (rows, rows))
    _sum_up(folder / "0")


def _hubs(files: derived.DerivedFiles) -> Iterator[Any]:
    for languages in (DIRECTION, DIRECTION[::-1]):
        if (found := derived.read_hubness(files, languages, COUNT)) is not None:
            assert found.shape == (COUNT,)
            yield found


def _caches(folder: Path) -> None:
    pretrained._keep(folder / "0" / CACHE, raw_rows(0, COUNT, 3))


def _cache(folder: Path) -> Iterator[Any]:
    if (found := pretrained._kept(folder / CACHE, COUNT)) is not None:
        assert len(found) == COUNT
        yield found


def _calibrations(folder: Path) -> None:
    (folder / "0" / "fr").mkdir(parents=True)
    write_calibration(folder / "0", *DIRECTION, Calibration(closed_set=0.05, open_set=0.06, none=0.4))
    _sum_up(folder / "0")


def _calibration(files: derived.DerivedFiles) -> Iterator[Any]:
    if (found := files.read(derived_name(CALIBRATION, *DIRECTION), _possible)) is not None:
        yield vars(found)


def _unseen(folder: Path) -> None:
    drawn = np.random.default_rng(0)
    names = ("ab", "bc", "cd")

    def spelled(ends: bool) -> SpelledAlike:
        grams = Grams(names, np.ones(3, np.float32), raw_rows(1, 3, 2), ends)
        return SpelledAlike(grams, raw_rows(2, 1, 2)[0], raw_rows(3, COUNT, 2))

    scores = np.sort(drawn.uniform(-1, 1, (COUNT, 3)).astype(np.float32))[:, ::-1].copy()
    hubness = drawn.uniform(0, 1, COUNT).astype(np.float32)
    named = drawn.integers(-1, COUNT, (COUNT, 2))
    maps = tuple(CanonicalMap(raw_rows(seed, 2, 2), raw_rows(seed + 2, 1, 2)[0]) for seed in (4, 5))
    both = spelled(False), spelled(True)
    trees = BoostedTrees(*(np.array(one) for one in (
        [0, 1, -1, -1, -1, 2, -1, -1], [0.5, 0, 0, 0, 0, 1, 0, 0], [1, 2, 0, 0, 0, 6, 0, 0],
        [4, 3, 0, 0, 0, 7, 0, 0], [0, 0, -1, 0.5, 1, 0, 2, -2.0], [0, 5], [0.25],
    )))  # fmt: skip
    model = AnswerModel(trees, trees, 0.5, ProbabilityCurve.identity(), 1.0)
    unseen = OovRanker(model, COUNT, scores, hubness, named, *both, hubness, (maps[0], maps[1]))
    oov.write_unseen(folder / "0", DIRECTION, unseen)
    _sum_up(folder / "0")


def _model(files: derived.DerivedFiles) -> Iterator[Any]:
    name = derived_name(oov.MODEL, *DIRECTION)
    if (
        found := files.read(name, lambda content: oov.possible(arrays_of(content), (COUNT, COUNT), 2))
    ) is not None:
        yield from (found.hubness_back, found.mapped_hubness, found.whole.grams.basis)
        words, targets = ["abc", "bcd"], ["ab", "bc", "cd", "abcd", "x", "é", "y z"]
        rows = raw_rows(0, 2, 2), raw_rows(1, COUNT, 2)
        mapped = found.maps[1].refined(rows[1]) if found.maps else rows[1]
        answers = found.answer(UnseenWords(words, rows[0]), Targets(targets, rows[1], mapped))
        yield from (answers.csls, answers.probability)


# Lists of words that are translated, and tables and dictionaries of words as odd as they come.


def _listed(folder: Path) -> Iterator[Any]:
    for form in (None, "csv", "tsv", "xlsx"):
        yield len(read_words(only(folder), form))


def _odd_words(folder: Path) -> list[str]:
    text = only(folder).read_bytes().decode(errors="surrogateescape")
    # No vocabulary has words that begin or end with a space.
    return [word for part in text.split("\n") if (word := part.strip())][:20]


def _dictionary_back(form: str) -> Read:
    """What writes odd words into a dictionary, and checks that it is read as it was written, if it was."""

    def read(folder: Path) -> Iterator[Any]:
        words = _odd_words(folder)
        if form == "muse":  # as in tables, these signs are between several translations of a word
            words = [word for word in words if not {*word} & {*",;|/"}]
        pairs = [*dict.fromkeys(zip(words, reversed(words), strict=True))]
        place = folder / f"back.{form}"
        with dictionary_writer(place, form=form) as write:
            for source, target in pairs:
                write(Entry(source, target, 0.5, 1, 0.25))
        found = read_lexicon(place, languages=DIRECTION)
        assert found.pairs == tuple(pairs), form
        yield from found.scores or ()

    return read


def _table_back(form: str) -> Read:
    """What writes odd words into a table for spreadsheets, and checks what a spreadsheet would show."""

    def read(folder: Path) -> Iterator[Any]:
        words = _odd_words(folder)
        place = folder / f"back.{form}"
        with table_writer(place, {"word": str, "number": float}) as write:
            for number, word in enumerate(words):
                write([word, number / 2])
        found = list(_cells[form](place))
        assert found == words, (found, words)
        yield len(found)

    return read


def _csv_cells(place: Path) -> Iterator[str]:
    import csv

    before = csv.field_size_limit(1 << 24)  # a word may be longer than the module takes unasked
    try:
        with place.open(newline="", encoding="utf-8-sig") as stream:
            rows = [*csv.reader(stream)][1:]
    finally:
        csv.field_size_limit(before)  # it is of the process, and other tests read in it
    for row in rows:
        assert not row[0].startswith(("=", "+", "-", "@", "\t", "\r")), row
        yield plain_cell(row[0])


def _sheet_cells(place: Path) -> Iterator[str]:
    import openpyxl

    book = openpyxl.load_workbook(place, read_only=True)
    try:
        for row in [*book.worksheets[0].iter_rows()][1:]:
            assert row[0].data_type == "s", row[0].value
            yield str(row[0].value)
    finally:
        book.close()


_cells: Mapping[str, Callable[[Path], Iterator[str]]] = {"csv": _csv_cells, "xlsx": _sheet_cells}

_HOSTILE = ("=1+1", "@x", "'-", "\x1b]0;x\x07", "a,b;c", 'd"e', "l'été", "日本", "\u202e", "-", "a b", "+5")
_LISTS = files({"x.txt": "\n".join([*SENTENCES, *_HOSTILE]) + "\n", "y.txt": "\ufeffchat\r\nnew york\n"})

TARGETS = (
    Target("kept.answers", _answers, _twice(_table)),
    Target("kept.hubness", _hubness, _twice(_hubs)),
    Target("kept.encoder", _caches, _cache),
    Target("kept.calibration", _calibrations, _twice(_calibration)),
    Target("kept.unseen", _unseen, _twice(_model)),
    Target("words", _LISTS, _listed),
    *(
        Target(f"dictionary.back.{form}", _LISTS, _dictionary_back(form))
        for form in ("muse", "tsv", "jsonl", "csv", "xlsx")
    ),
    *(Target(f"table.back.{form}", _LISTS, _table_back(form)) for form in ("csv", "xlsx")),
)
