"""P@1 by CSLS and by all evidence, without pairs and with some, with paired intervals and calibration.

    python -m benchmarks.words.all_evidence --spaces FOLDER --out FILE.csv [--pairs en-fr,en-it]
        [--help-given none,500,5000] [--draws 0] [--elsewhere FILE.npz] [--list development]
        [--shared ../shared] [--extra "--threads 1"]

Each space is aligned once and kept in FOLDER, as PAIR.HELP.DRAW, with the maps that were fitted without a
part of the pairs. `--list development` measures on a part of the training list without any pair given,
`--list test` on the gold list. `csls_other` and `evidence_other` are P@1 of the queries whose gold lacks
their own string; `worst_band` the largest difference between mean probability and P@1 of three bands of
frequency; `vectors`, `frequency` and `spelling` the shares of words that have another answer without this
kind of evidence. The trees from elsewhere were learned on en-fr and en-de: for these pairs, and for others
with the same languages, give others with --elsewhere.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.draws import HELP, IDENTICAL, NONE, has_draws, write_draw
from benchmarks.support.pairs import SHARED, Pair, find_pair, is_for_test
from benchmarks.support.tables import commit, numbers, today
from benchmarks.words.kept_views import align, read_given
from muse.answers.candidates import NeighbourLists
from muse.answers.choice import learn_answers
from muse.answers.model import ELSEWHERE, ChosenAnswers, read_elsewhere
from muse.evaluation.words import compare
from muse.files import read_lexicon, read_vectors
from muse.lexicon import Lexicon
from muse.space import AlignedSpace, load_space
from muse.space.answer_table import AnswerTable

PAIRS = "en-fr,en-de,en-it,en-ru,ru-en,web-fr-en,zhang-glove-es-en,zhang-glove-it-en"
TRUSTED = 0.9
BANDS = 3
COLUMNS = (
    "pair", "help", "draw", "list", "queries", "csls", "evidence", "difference", "low", "high",
    "csls_other", "evidence_other", "calibration_error", "worst_band", "trusted", "trusted_right", "by",
    "labelled", "mix", "vectors", "frequency", "spelling", "seconds", "commit", "date",
)  # fmt: skip

Numbers = NDArray[np.int64]


def calibration_error(probability: NDArray[np.float64], right: NDArray[np.bool_], bins: int = 10) -> float:
    """The mean difference between probability and share right, over bins of equal size (Naeini, 2015)."""
    parts = np.array_split(np.argsort(probability, kind="stable"), bins)
    return sum(
        abs(float(probability[at].mean() - right[at].mean())) * len(at) for at in parts if len(at)
    ) / len(right)


def gold_of(lexicon: Lexicon, space: AlignedSpace, pair: Pair) -> dict[int, set[int]]:
    """The rows of the translations of each query that the vectors cover, by frequency."""
    found: dict[int, set[int]] = {}
    indices = lexicon.indices(space.vectors(pair.source).index, space.vectors(pair.target).index)
    for row, column in sorted(indices.tolist()):
        found.setdefault(row, set()).add(column)
    return found


def measured(
    answers: AnswerTable, lists: NeighbourLists, gold: Mapping[int, set[int]], own: Mapping[int, int]
) -> dict[str, Any]:
    """The figures of one list; `own` has the target that is the same string as a query."""
    queries = np.array(list(gold))
    first, by_csls = answers.first()[queries], lists.columns[queries, 0]
    right, csls = (
        np.array([int(column) in gold[int(row)] for row, column in zip(queries, found, strict=True)])
        for found in (first, by_csls)
    )
    other = np.array([own.get(int(row), -1) not in gold[int(row)] for row in queries])
    compared = compare(right, csls, np.random.default_rng(0))
    row = {
        "queries": len(queries), "csls": compared.second, "evidence": compared.first,
        "difference": compared.difference, "low": compared.ci95[0], "high": compared.ci95[1],
        "csls_other": 100 * csls[other].mean(), "evidence_other": 100 * right[other].mean(),
    }  # fmt: skip
    probability = answers.probability[answers.pointers[queries]].astype(np.float64)
    if np.isnan(probability).any():
        return row
    bands = np.array_split(np.arange(len(queries)), BANDS)  # by frequency
    trusted = probability >= TRUSTED
    return row | {
        "calibration_error": calibration_error(probability, right),
        "worst_band": max(abs(float(probability[at].mean() - right[at].mean())) for at in bands),
        "trusted": trusted.mean(), "trusted_right": right[trusted].mean() if trusted.any() else "",
    }  # fmt: skip


def learned(
    space: AlignedSpace, pair: Pair, folder: Path, elsewhere: Path | None
) -> tuple[ChosenAnswers, float]:
    """The answers of a pair, and the seconds they take."""
    sides = space.vectors(pair.source), space.vectors(pair.target)
    given, trees = read_given(folder), None if elsewhere is None else read_elsewhere(elsewhere)
    began = time.perf_counter()
    found = learn_answers(
        (sides[0].words, sides[1].words), (sides[0].matrix, sides[1].matrix), given,
        rng=np.random.default_rng(0), elsewhere=trees,
    )  # fmt: skip
    return found[0], time.perf_counter() - began


def rows(asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The row of each cell."""
    for name in asked.pairs.split(","):
        pair = find_pair(name, asked.shared)
        sides = tuple(
            read_vectors(file, language=language, lowercase=pair.lower)
            for file, language in ((pair.source_file, pair.source), (pair.target_file, pair.target))
        )
        for help_ in asked.help_given.split(","):
            for draw in numbers(asked.draws) if has_draws(help_) else [0]:
                folder = asked.spaces / f"{name}.{help_}.{draw}{'.part' * asked.development}"
                if not (folder / "manifest.json").exists():
                    given = None
                    if help_ != NONE:
                        given = write_draw(pair, (sides[0], sides[1]), help_, draw, asked.spaces)
                        if asked.development and help_ != IDENTICAL:
                            _without_development(given)
                    align(pair, given, folder, asked.extra.split())
                yield {"pair": name, "help": help_, "draw": draw} | _row(asked, pair, folder)


def _row(asked: argparse.Namespace, pair: Pair, folder: Path) -> dict[str, Any]:
    space = load_space(folder)
    direction, seconds = learned(space, pair, folder, asked.elsewhere)
    lists = NeighbourLists.of(space.vectors(pair.source).matrix, space.vectors(pair.target).matrix)
    path = pair.training_in(asked.spaces) if asked.development else pair.gold_in(asked.spaces)
    if path is None:
        raise SystemExit(f"{pair.name} has no such list")
    gold = gold_of(read_lexicon(path), space, pair)
    words, index = space.vectors(pair.source).words, space.vectors(pair.target).index
    if asked.development:
        gold = {row: targets for row, targets in gold.items() if is_for_development(words[row])}
    own = {row: index[words[row]] for row in gold if words[row] in index}
    report = direction.report
    found = measured(direction.answers, lists, gold, own) | dict(report.decided)
    found |= {"by": report.by, "labelled": report.labelled, "mix": report.mix, "seconds": seconds}
    return found | {"list": asked.list, "commit": commit(), "date": today()}


def is_for_development(word: str) -> bool:
    """Whether a source word of a training list is measured on while settings are chosen."""
    return is_for_test(word[::-1])


def _without_development(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if not is_for_development(line.split("\t")[0])]
    path.write_text("".join(kept), encoding="utf-8")


def arguments() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--spaces", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.csv")
    parser.add_argument("--pairs", default=PAIRS)
    parser.add_argument("--help-given", default=",".join(HELP))
    parser.add_argument("--draws", default="0")
    parser.add_argument("--elsewhere", type=Path, default=ELSEWHERE if ELSEWHERE.exists() else None)
    parser.add_argument("--list", choices=("development", "test"), default="development")
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--extra", default="")
    asked = parser.parse_args()
    asked.development = asked.list == "development"
    return asked


def main() -> None:
    """Measures and writes a row a cell."""
    asked = arguments()
    new = not asked.out.exists()
    with asked.out.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        for row in rows(asked):
            short = {
                key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()
            }
            writer.writerow(short)
            file.flush()
            print(*(f"{key} {short.get(key, '')}" for key in COLUMNS), flush=True)


if __name__ == "__main__":
    main()
