"""A folder of test sets for sentence encoders: SentEval's classification, SICK, STS-B and STS 2012 to 2016.

    senteval/MR.tsv             label, sentence; also CR, SUBJ, MPQA
    senteval/SST2.train.tsv     label, sentence; also .dev and .test
    senteval/TREC.train.tsv     label, sentence; also .test
    senteval/MRPC.train.tsv     label, sentence, sentence; also .val and .test
    nli/SICK.train.tsv          id, sentence, sentence, relatedness, label; also .dev and .test
    sts/stsb-en-train.csv       sentence, sentence, rating; also -test; en is the language
    sts/semeval/2012.SET.tsv    rating, sentence, sentence; any number of sets of 2012 to 2016

Columns are separated by tabs (.csv: by commas) and have no header; every file may be packed (.gz), and may
also lie in the folder itself. A task of which no file is there is left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from muse.errors import BadFile
from muse.files.plain_text import read_lines
from muse.files.sentence_text import read_rated_sentences

FOLDS, GIVEN, REGRESSION, COSINE = "folds", "given", "regression", "cosine"  # how a task is scored
YEARS = ("2012", "2013", "2014", "2015", "2016")
ENGLISH = "en"
_LABEL, _FIRST, _SECOND, _RATING = "label", "sentence", "second sentence", "rating"
_SINGLE, _PAIR = (_LABEL, _FIRST), (_LABEL, _FIRST, _SECOND)
_SICK = ("id", _FIRST, _SECOND, _RATING, _LABEL)
_STS = (_RATING, _FIRST, _SECOND)
# Of each task of SentEval: how it is scored, the beginning of its files' names, its parts, and its columns.
_SENTEVAL: Mapping[str, tuple[str, str, tuple[str, ...], tuple[str, ...]]] = {
    "MR": (FOLDS, "MR", ("",), _SINGLE),
    "CR": (FOLDS, "CR", ("",), _SINGLE),
    "SUBJ": (FOLDS, "SUBJ", ("",), _SINGLE),
    "MPQA": (FOLDS, "MPQA", ("",), _SINGLE),
    "SST-2": (GIVEN, "SST2", (".train", ".dev", ".test"), _SINGLE),
    "TREC": (GIVEN, "TREC", (".train", ".test"), _SINGLE),
    "MRPC": (GIVEN, "MRPC", (".train", ".val", ".test"), _PAIR),
    "SICK-E": (GIVEN, "SICK", (".train", ".dev", ".test"), _SICK),
    "SICK-R": (REGRESSION, "SICK", (".train", ".test"), _SICK),
}
TASKS = (*_SENTEVAL, "STS-B", *(f"STS{year[2:]}" for year in YEARS))


class SuitePart(NamedTuple):
    """The rows of a part or set: first sentences, second ones where there are pairs, labels, and ratings."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    labels: tuple[str, ...]
    ratings: tuple[float, ...]


class SuiteTask(NamedTuple):
    """A task: how it is scored, and its parts (train, dev, test; of a cosine the sets) with their files."""

    name: str
    scored: str
    parts: Mapping[str, SuitePart]
    files: tuple[Path, ...]


def read_suite(folder: Path, language: str = ENGLISH, names: Sequence[str] = TASKS) -> list[SuiteTask]:
    """The tasks of these names that a folder has in a language; of others than English, STS-B alone.

    Raise BadFile if it has none, for a task without one of its parts, and, naming the line, for a line that
    has not the columns of its task.
    """
    if not folder.is_dir():
        raise BadFile(f"{folder}: expected a folder of test sets, got none; check its name")
    found = [task for name in names if (task := _task(folder, language, name)) is not None]
    if not found:
        raise BadFile(
            f"{folder}: expected files of {', '.join(names)} in {language}, found none; it needs "
            "senteval/MR.tsv.gz or others that the documentation lists"
        )
    return found


def _task(folder: Path, language: str, name: str) -> SuiteTask | None:
    if name == "STS-B":
        paths = {part: _found(folder, "sts", f"stsb-{language}-{part}.csv") for part in ("train", "test")}
        return _of_parts(name, REGRESSION, paths, ())
    if language != ENGLISH:
        return None
    if name not in _SENTEVAL:
        return _of_year(folder, name)
    scored, start, endings, columns = _SENTEVAL[name]
    inside = "nli" if start == "SICK" else "senteval"
    paths = {_part(ending): _found(folder, inside, f"{start}{ending}.tsv") for ending in endings}
    return _of_parts(name, scored, paths, columns)


def _part(ending: str) -> str:
    return {"": "all", ".val": "dev"}.get(ending, ending[1:])


def _found(folder: Path, inside: str, name: str) -> Path | None:
    places = (folder / inside / name, folder / name)
    candidates = (path for place in places for path in (place.with_name(f"{name}.gz"), place))
    return next((path for path in candidates if path.is_file()), None)


def _of_parts(
    name: str, scored: str, paths: Mapping[str, Path | None], columns: Sequence[str]
) -> SuiteTask | None:
    there = {part: path for part, path in paths.items() if path is not None}
    if not there:
        return None
    if missing := [part for part in paths if part not in there]:
        raise BadFile(
            f"{next(iter(there.values()))}: {name} needs the parts {', '.join(paths)}, found no "
            f"{' and no '.join(missing)} beside it; add the file, or leave out {name} with --tasks"
        )
    read = {part: _rows(path, columns) if columns else _rated(path) for part, path in there.items()}
    return SuiteTask(name, scored, read, tuple(there.values()))


def _of_year(folder: Path, name: str) -> SuiteTask | None:
    year = f"20{name[3:]}"
    paths: dict[str, Path] = {}
    for place in (folder / "sts" / "semeval", folder / "semeval", folder):
        for path in sorted([*place.glob(f"{year}.*.tsv"), *place.glob(f"{year}.*.tsv.gz")]):
            paths.setdefault(path.name.removesuffix(".gz").removesuffix(".tsv")[5:], path)
    if not paths:
        return None
    sets = {part: _rows(path, _STS) for part, path in paths.items()}
    return SuiteTask(name, COSINE, sets, tuple(paths.values()))


def _rated(path: Path) -> SuitePart:
    found = read_rated_sentences(path)
    return SuitePart(found.first, found.second, (), found.ratings)


def _rows(path: Path, columns: Sequence[str]) -> SuitePart:
    """The rows of a file of these columns; BadFile for another number of columns, and without rows."""
    cells: dict[str, list[str]] = {name: [] for name in columns}
    ratings = []
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        fields = line.split("\t")
        if len(fields) != len(columns) or not fields[0].strip():
            raise BadFile(
                f"{path}:{number}: expected {len(columns)} columns, {', '.join(columns)}, separated by tabs, "
                f"got {len(fields)} ({line[:60]!r}); correct the line"
            )
        for name, field in zip(columns, fields, strict=True):
            cells[name].append(field)
        if _RATING in cells:
            ratings.append(_number(cells[_RATING][-1], f"{path}:{number}"))
    if not cells[columns[0]]:
        raise BadFile(f"{path}: expected lines of {', '.join(columns)}, found none; check the file")
    labels = (label.strip() for label in cells.get(_LABEL, ()))
    return SuitePart(tuple(cells[_FIRST]), tuple(cells.get(_SECOND, ())), tuple(labels), tuple(ratings))


def _number(text: str, where: str) -> float:
    try:
        rating = float(text)
    except ValueError:
        rating = math.nan
    if not math.isfinite(rating):
        raise BadFile(f"{where}: expected a number as the rating, got {text!r}; correct the line")
    return rating
