"""A folder of test sets for sentence encoders: SentEval's classification, SICK, STS-B and STS 2012 to 2016.

    senteval/MR.tsv             label, sentence
    nli/SICK.train.tsv          id, sentence, sentence, relatedness, label
    sts/stsb-en-train.csv       sentence, sentence, rating; en is the language
    sts/semeval/2012.SET.tsv    rating, sentence, sentence; any number of sets of 2012 to 2016

Columns are separated by tabs (.csv: by commas) and have no header; every file may be packed (.gz), and may
also lie in the folder itself. Or the files are as SentEval's download script leaves them, in the folder, its
downstream or its data/downstream, in English. `_TASKS` has the files of all tasks, in both layouts; of STS
there the ratings of STS.input.SET.txt are the lines of STS.gs.SET.txt.

A task of which no file is there is left out.
"""

import logging
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from muse.errors import BadFile, BadSetting
from muse.evaluation.ratings import NO_RATING, RATED, rating_in, warn_of_unrated
from muse.files.columns import TableColumns, read_columns
from muse.files.plain_text import read_lines
from muse.sentences.files.nli import bare
from muse.sentences.files.sentence_text import read_aligned

log = logging.getLogger(__name__)

FOLDS, GIVEN, REGRESSION, COSINE = "folds", "given", "regression", "cosine"  # how a task is scored
ENGLISH = "en"
# The sets of each year. SentEval has none of the machine translations of 2013 (SMT).
SETS: Mapping[str, tuple[str, ...]] = {
    "STS12": ("MSRpar", "MSRvid", "OnWN", "SMTeuroparl", "SMTnews"),
    "STS13": ("FNWN", "OnWN", "SMT", "headlines"),
    "STS14": ("OnWN", "deft-forum", "deft-news", "headlines", "images", "tweet-news"),
    "STS15": ("answers-forums", "answers-students", "belief", "headlines", "images"),
    "STS16": ("answer-answer", "headlines", "plagiarism", "postediting", "question-question"),
}
_LABEL, _FIRST, _SECOND, _RATING = "label", "sentence", "second sentence", "rating"
# What headers call the columns.
_NAMES: Mapping[str, tuple[str, ...]] = {
    _LABEL: ("label", "quality", "entailment_judgment"),
    _FIRST: ("sentence", "sentence_a", "#1 string"),
    _SECOND: ("second sentence", "sentence_b", "#2 string"),
    _RATING: ("rating", "relatedness_score"),
}
_SENTEVAL = ("", "downstream", "data/downstream")  # where its folders lie
_TWO, _ANY, _STS_RATINGS = ("0", "1"), (-math.inf, math.inf), (0.0, 5.0)


class SuitePart(NamedTuple):
    """The rows of a part or set: first sentences, second ones where there are pairs, labels, and ratings."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    labels: tuple[str, ...]
    ratings: tuple[float, ...]


class SuiteTask(NamedTuple):
    """A task: how it is scored, its parts (train, dev, test; of a cosine the sets), and the files of each."""

    name: str
    scored: str
    parts: Mapping[str, SuitePart]
    files: Mapping[str, tuple[Path, ...]]


class _SuiteRow(NamedTuple):
    """What a line has; None, "" and nan where its columns have no such thing."""

    where: str
    first: str
    second: str | None = None
    label: str = ""
    rating: float = math.nan


class _SuiteLayout(NamedTuple):
    """Where files lie, the names of those of each part, and their columns; {} in a name is the language.

    `split` makes the columns of a line in Latin-1, where it is no table. Without a column of labels, those of
    a part's first file have the label 0, those of its second 1.
    """

    places: tuple[str, ...]
    parts: Mapping[str, tuple[str, ...]]
    columns: TableColumns
    split: Callable[[str], list[str]] | None = None


class _Kind(NamedTuple):
    """How a task is scored, all labels that there are, the least and the greatest rating, and its layouts."""

    scored: str
    labels: tuple[str, ...]
    ratings: tuple[float, float]
    layouts: tuple[_SuiteLayout, ...] = ()


def _columns(*names: str, header: bool = False, more: bool = False) -> TableColumns:
    others = [name for name in names if name not in _NAMES]
    return TableColumns({name: _NAMES.get(name, ()) for name in names}, others, header=header, more=more)


def _own(place: str, names: str, endings: Mapping[str, str], *columns: str) -> _SuiteLayout:
    """The layout of muse: a file a part, named by its ending."""
    parts = {part: (names.format(ending),) for part, ending in endings.items()}
    return _SuiteLayout((place, ""), parts, _columns(*columns))


def _senteval(
    place: str, names: Mapping[str, str | tuple[str, ...]], columns: TableColumns,
    split: Callable[[str], list[str]] | None = None,
) -> _SuiteLayout:  # fmt: skip
    parts = {part: (name,) if isinstance(name, str) else name for part, name in names.items()}
    return _SuiteLayout(tuple(f"{above}/{place}".lstrip("/") for above in _SENTEVAL), parts, columns, split)


def _line(line: str) -> list[str]:
    return [line]


def _by_folds(name: str, negative: str, positive: str) -> _Kind:
    return _Kind(FOLDS, _TWO, _ANY, (
        _own("senteval", "{}.tsv", {"all": name}, _LABEL, _FIRST),
        _senteval(name, {"all": (negative, positive)}, _columns(_FIRST), _line),
    ))  # fmt: skip


_IN_THREE = {"train": "train", "dev": "dev", "test": "test"}
_SICK_LABELS, _SICK_RATINGS = ("CONTRADICTION", "ENTAILMENT", "NEUTRAL"), (1.0, 5.0)
_SICK = (
    _own("nli", "SICK.{}.tsv", _IN_THREE, "id", _FIRST, _SECOND, _RATING, _LABEL),
    _senteval(
        "SICK", {"train": "SICK_train.txt", "dev": "SICK_trial.txt", "test": "SICK_test_annotated.txt"},
        _columns("id", _FIRST, _SECOND, _RATING, _LABEL, header=True),
    ),
)  # fmt: skip
_TASKS: Mapping[str, _Kind] = {
    "MR": _by_folds("MR", "rt-polarity.neg", "rt-polarity.pos"),
    "CR": _by_folds("CR", "custrev.neg", "custrev.pos"),
    "SUBJ": _by_folds("SUBJ", "subj.subjective", "subj.objective"),
    "MPQA": _by_folds("MPQA", "mpqa.neg", "mpqa.pos"),
    "SST-2": _Kind(GIVEN, _TWO, _ANY, (
        _own("senteval", "SST2.{}.tsv", _IN_THREE, _LABEL, _FIRST),
        _senteval("SST/binary", {part: f"sentiment-{part}" for part in _IN_THREE}, _columns(_FIRST, _LABEL)),
    )),
    "TREC": _Kind(GIVEN, ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"), _ANY, (
        _own("senteval", "TREC.{}.tsv", {"train": "train", "test": "test"}, _LABEL, _FIRST),
        # The coarse class and the sentence, of lines such as DESC:manner How did it begin.
        _senteval("TREC", {"train": "train_5500.label", "test": "TREC_10.label"}, _columns(_LABEL, _FIRST),
                  lambda line: re.split(r":\S* ?|$", line, maxsplit=1)),
    )),
    "MRPC": _Kind(GIVEN, _TWO, _ANY, (
        _own("senteval", "MRPC.{}.tsv", {**_IN_THREE, "dev": "val"}, _LABEL, _FIRST, _SECOND),
        _senteval("MRPC", {part: f"msr_paraphrase_{part}.txt" for part in ("train", "test")},
                  _columns(_LABEL, "id", "other id", _FIRST, _SECOND, header=True)),
    )),
    "SICK-E": _Kind(GIVEN, _SICK_LABELS, _SICK_RATINGS, _SICK),
    "SICK-R": _Kind(REGRESSION, _SICK_LABELS, _SICK_RATINGS, tuple(
        layout._replace(parts={part: layout.parts[part] for part in ("train", "test")}) for layout in _SICK
    )),
    "STS-B": _Kind(REGRESSION, (), _STS_RATINGS, (
        _SuiteLayout(("sts", ""), {part: (f"stsb-{{}}-{part}.csv",) for part in ("train", "test")}, RATED),
        _senteval("STS/STSBenchmark", {part: f"sts-{part}.csv" for part in ("train", "test")},
                  _columns("genre", "file", "year", "id", _RATING, _FIRST, _SECOND, more=True)),
    )),
}  # fmt: skip
TASKS = (*_TASKS, *SETS)


def tasks_of(language: str) -> tuple[str, ...]:
    """The names of the tasks that there may be in a language: all in English, STS-B in any other."""
    return TASKS if language == ENGLISH else ("STS-B",)


def read_suite(folder: Path, language: str = ENGLISH, names: Sequence[str] | None = None) -> list[SuiteTask]:
    """The tasks of these names that a folder has in a language; without names, all that it has.

    What a year of STS lacks, and what of a test part is in the train part too, is logged as a warning. Raise
    BadFile if the folder has no task, or not one of these names; for a task without one of its files or with
    two of one; and, naming the line, for a line that has not the columns, labels and ratings of its task.
    Raise BadSetting for a name that is in English alone.
    """
    if not folder.is_dir():
        found = "a file" if folder.exists() else "none of that name"
        raise BadFile(f"{folder}: expected a folder of test sets, got {found}; check its name")
    possible = tasks_of(language)
    if alone := [name for name in names or () if name not in possible]:
        raise BadSetting(
            f"the tasks in {language} are {', '.join(possible)}; got {', '.join(alone)}, in English alone; "
            "choose other tasks or another language"
        )
    tasks = {name: _task(folder, language, name) for name in names or possible}
    if missing := [name for name, task in tasks.items() if task is None and names]:
        raise BadFile(
            f"{folder}: expected files of {', '.join(missing)} in {language}, found none; add them, or leave "
            "out the task"
        )
    if not any(tasks.values()):
        raise BadFile(
            f"{folder}: expected files of {', '.join(possible)} in {language}, found none; it needs "
            f"{'senteval/MR.tsv.gz' if language == ENGLISH else f'sts/stsb-{language}-train.csv'} or others "
            "that the documentation lists"
        )
    return [task for task in tasks.values() if task is not None]


def _task(folder: Path, language: str, name: str) -> SuiteTask | None:
    if name in SETS:
        return _of_year(folder, name)
    kind = _TASKS[name]
    found = [
        (files, layout)
        for layout in kind.layouts
        if (language == ENGLISH or layout.columns is RATED)
        and (files := _located(folder, layout, language, name)) is not None
    ]
    if not found:
        return None
    if len(found) > 1:
        raise _twice(name, *(next(iter(files.values()))[0] for files, _ in found))
    files, layout = found[0]
    rows = {part: _part_rows(paths, layout, kind) for part, paths in files.items()}
    if kind.scored == GIVEN:
        _check_learned(rows)
    if "test" in rows:
        _warn_of_repeated(name, rows)
    return SuiteTask(name, kind.scored, {part: _as_part(of, kind) for part, of in rows.items()}, files)


def _located(
    folder: Path, layout: _SuiteLayout, language: str, task: str
) -> dict[str, tuple[Path, ...]] | None:
    """The files of each part, None if there are none of any; BadFile if there are some, but not all."""
    names = {part: [name.format(language) for name in of] for part, of in layout.parts.items()}
    found = {name: _found(folder, layout.places, name, task) for of in names.values() for name in of}
    there = [path for path in found.values() if path is not None]
    if not there:
        return None
    if missing := [name for name, path in found.items() if path is None]:
        raise BadFile(
            f"{there[0]}: {task} needs {', '.join(found)}, found no {' and no '.join(missing)} beside it; "
            f"add the file, or leave out {task} with --tasks"
        )
    return {part: tuple(path for name in of if (path := found[name])) for part, of in names.items()}


def _found(folder: Path, places: Sequence[str], name: str, task: str) -> Path | None:
    candidates = (folder / place / packed for place in places for packed in (name, f"{name}.gz"))
    there = [path for path in candidates if path.is_file()]
    if len(there) > 1:
        raise _twice(task, *there)
    return there[0] if there else None


def _twice(task: str, first: Path, second: Path, *_: Path) -> BadFile:
    return BadFile(f"{second}: expected one file of {task}, found {first} too; keep the one that you mean")


def _of_year(folder: Path, name: str) -> SuiteTask | None:
    found = list[tuple[str, tuple[Path, ...]]]()
    for place in (folder / "sts" / "semeval", folder / "semeval", folder):
        for path in [one for ending in ("tsv", "tsv.gz") for one in place.glob(f"20{name[3:]}.*.{ending}")]:
            found.append((path.name.removesuffix(".gz").removesuffix(".tsv")[5:], (path,)))
    for above in _SENTEVAL:
        for path in (folder / above / "STS" / f"{name}-en-test").glob("STS.input.*.txt"):
            given = path.name.removeprefix("STS.input.").removesuffix(".txt")
            # Of all pairs of a year at once (ALL) there may be a file too.
            if (part := given.removeprefix("surprise.")) in SETS[name]:
                found.append((part, (path, path.with_name(f"STS.gs.{given}.txt"))))
    files: dict[str, tuple[Path, ...]] = {}
    for part, paths in sorted(found):
        if part in files:
            raise _twice(f"{name}'s {part}", files[part][0], paths[0])
        files[part] = paths
    if not files:
        return None
    if missing := [part for part in SETS[name] if part not in files]:
        log.warning(
            "%s: %s is the mean over %d sets here, without %s", folder, name, len(files), ", ".join(missing)
        )
    kind, own = _Kind(COSINE, (), _STS_RATINGS), _SuiteLayout((), {}, _columns(_RATING, _FIRST, _SECOND))
    rows = (_part_rows(paths, own, kind) if len(paths) == 1 else _beside(*paths) for paths in files.values())
    parts = {part: _as_part(of, kind) for part, of in zip(files, rows, strict=True)}
    return SuiteTask(name, COSINE, parts, files)


def _beside(sentences: Path, gold: Path) -> list[_SuiteRow]:
    """The pairs of a file with the ratings on the lines of another; one with a blank rating is left out."""
    pairs, ratings = read_aligned(sentences, gold)
    rows, without = [], list[str]()
    for number, (line, rating) in enumerate(zip(pairs, ratings, strict=True), 1):
        first, tab, rest = line.partition("\t")
        if not tab:
            raise BadFile(
                f"{sentences}:{number}: expected two sentences separated by a tab, got {line[:60]!r}; "
                "correct the line"
            )
        if rating.strip().casefold() in NO_RATING:
            without.append(f"{gold}:{number}")
            continue
        given = rating_in(rating, f"{gold}:{number}", _STS_RATINGS)
        rows.append(_SuiteRow(f"{sentences}:{number}", first, rest.partition("\t")[0], rating=given))
    warn_of_unrated(gold, without)
    return rows


def _part_rows(paths: Sequence[Path], layout: _SuiteLayout, kind: _Kind) -> list[_SuiteRow]:
    """The rows of the files of a part; BadFile, naming the line, for one that cannot be right."""
    rows, without, columns = list[_SuiteRow](), list[str](), layout.columns
    for place, path in enumerate(paths):
        before = len(rows)
        for where, cells in _split(path, layout.split) if layout.split else read_columns(path, columns):
            row = dict(zip(columns.names, cells, strict=False))
            label = row.get(_LABEL, str(place)).strip()
            if _LABEL in row and label not in kind.labels:
                raise BadFile(
                    f"{where}: a label must be one of {', '.join(kind.labels)}; got {label[:60]!r}; correct "
                    "the line, or remove it if it is a header"
                )
            if row.get(_RATING, "0").strip().casefold() in NO_RATING:
                without.append(where)
                continue
            rating = rating_in(row[_RATING], where, kind.ratings) if _RATING in row else math.nan
            rows.append(_SuiteRow(where, row[_FIRST], row.get(_SECOND), label, rating))
        if len(rows) == before:
            raise BadFile(f"{path}: expected rows of {', '.join(columns.names)}, found none; check the file")
    warn_of_unrated(paths[0], without)
    return rows


def _split(path: Path, split: Callable[[str], list[str]]) -> Iterator[tuple[str, list[str]]]:
    for number, line in enumerate(read_lines(path, "latin-1"), 1):
        # A blank line of a file of bare sentences is an empty one: SentEval counts it among its 3,775 of CR.
        if line.strip() or split is _line:
            yield f"{path}:{number}", split(line)


def _check_learned(rows: Mapping[str, Sequence[_SuiteRow]]) -> None:
    """Raise BadFile, naming the line, for a label that the train part has not."""
    learned = sorted({row.label for row in rows["train"]})
    for row in (row for part, of in rows.items() if part != "train" for row in of):
        if row.label not in learned:
            raise BadFile(
                f"{row.where}: a label must be one that the train part has, {', '.join(learned)}; got "
                f"{row.label!r}; correct the line, or take the whole train part"
            )


def _warn_of_repeated(task: str, rows: Mapping[str, Sequence[_SuiteRow]]) -> None:
    learned, tested = (
        [(bare(row.first), bare(row.second or "")) for row in rows[part]] for part in ("train", "test")
    )
    known = {*learned}
    if again := [row for row, said in zip(rows["test"], tested, strict=True) if said in known]:
        log.warning(
            "%s: %d of %d rows of the test part of %s are in its train part too (%r): what is measured is "
            "too favourable", again[0].where, len(again), len(rows["test"]), task, again[0].first[:60],
        )  # fmt: skip


def _as_part(rows: Sequence[_SuiteRow], kind: _Kind) -> SuitePart:
    # The rows of a part have the same columns.
    rated = not math.isnan(rows[0].rating)
    return SuitePart(
        tuple(row.first for row in rows),
        tuple(row.second for row in rows if row.second is not None),
        tuple(row.label for row in rows) if kind.labels else (),
        tuple(row.rating for row in rows) if rated else (),
    )
