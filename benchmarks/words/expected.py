"""The expected share of right first translations against P@1, and the error of `muse.ranking.expected`.

    python -m benchmarks.words.expected --spaces FOLDER --out FILE.csv [--pairs en-fr,en-it]
        [--help-given none,500,5000] [--draws 0-2] [--words 5000] [--without en-de=FILE.npz]
        [--shared ../shared] [--threads 2]
    python -m benchmarks.words.expected --out FILE.csv --errors

Each space is aligned once and kept in FOLDER with its answers (benchmarks/words/all_evidence.py); a row is of
one direction. With --words the answers to so many are chosen anew, without pairs. The usual trees were
learned on en-de: for this pair others are given, by --without.

`expected` is what is printed, `surest` what it rests on: the mean probability over frequent words whose
answer is not more probable for another word; `probability` is that of all, for comparison. P@1 is on the gold
list (`_gold`) and on the training list, of words without a given pair. Like the gold list, the RARER_SHARE of
the training list that comes last has rarer words: `rarer` is P@1 on these, or on the whole list where its
order says nothing. `--errors` reads the file and prints how far off estimates are, language by language:
P@1 had no part in them, but for the ERROR of the interval, which is that of other languages. `noise` is the
calibration error that right probabilities would have, on average, on a list of so many words.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.support.draws import NONE, write_draw
from benchmarks.support.kept_rows import read_rows
from benchmarks.support.options import NEEDED, REPEATED, command_line
from benchmarks.support.pairs import SHARED, Pair, find_pair, known_targets
from benchmarks.support.tables import append_rows, commit, header, numbers, today
from benchmarks.support.tables import row as table_row
from benchmarks.words.all_evidence import calibration_error, made
from muse.files import read_lexicon
from muse.lexicon import Lexicon
from muse.ranking.expected import WIDTH, ExpectedPrecision, frequent_probability, log_odds_of
from muse.ranking.model import read_pretrained
from muse.ranking.train_ranker import learn_answers
from muse.search.exact import set_threads
from muse.space import Space
from muse.space.derived import AnswerTable
from muse.vectors import Vectors

PAIRS = "en-fr,en-de,en-it,web-fr-en,zhang-glove-es-en,zhang-glove-it-en,en-ru,ru-en"
MEAN_OF = 10_000  # the most frequent words, of the plain mean of probabilities
RARER_SHARE = 0.3
LEAST_QUERIES = 100  # of a list that errors are measured on
COLUMNS = (
    "pair", "help", "draw", "source", "target", "words", "by", "expected", "low", "high", "surest",
    "probability", "held_out", "queries", "p_at_1", "rarer", "query_probability", "calibration_error",
    "noise",    "queries_gold", "p_at_1_gold", "query_probability_gold", "calibration_error_gold",
    "noise_gold", "commit", "date",
)  # fmt: skip
NOISE_DRAWS = 50
GIVEN = {True: "without pairs", False: "with pairs"}
ALL = "all"
Row = dict[str, Any]
Sides = tuple[Vectors, Vectors]


def measured(
    table: AnswerTable,
    expected: ExpectedPrecision,
    sides: Sides,
    lists: dict[str, Lexicon],
    *,
    by_frequency: bool,
) -> Row:
    """The figures of a direction, with `lists` by the ends of their columns, maybe in order of frequency."""
    starts = table.pointers[: MEAN_OF + 1]
    first = table.probability[starts[:-1][np.diff(starts) > 0]]
    row: Row = {
        "source": sides[0].language, "target": sides[1].language, "words": len(table),
        "expected": expected.p_at_1 / 100, "low": expected.ci95[0] / 100, "high": expected.ci95[1] / 100,
        "surest": frequent_probability(table), "probability": first.sum() / (len(starts) - 1),
    }  # fmt: skip
    rng = np.random.default_rng(0)
    for end, lexicon in lists.items():
        gold = known_targets(lexicon, *sides)
        queries = np.array(sorted(gold))
        if len(queries) < LEAST_QUERIES:
            continue
        columns, _, shares = table.padded(queries)
        right = np.array(
            [best in gold[row] for row, best in zip(queries.tolist(), columns[:, 0], strict=True)]
        )
        probability = shares[:, 0].astype(np.float64)
        row |= {f"queries{end}": len(queries), f"p_at_1{end}": right.mean()}
        row |= {f"query_probability{end}": probability.mean()}
        row |= {f"calibration_error{end}": calibration_error(probability, right)}
        drawn = (rng.random(len(probability)) < probability for _ in range(NOISE_DRAWS))
        row |= {f"noise{end}": np.mean([calibration_error(probability, one) for one in drawn])}
        if not end:
            order = list(dict.fromkeys(x for x, _ in lexicon.pairs))
            begin = round((1 - RARER_SHARE) * len(order)) if by_frequency else 0
            last = {sides[0].index.get(word) for word in order[begin:]}
            row["rarer"] = right[[one in last for one in queries.tolist()]].mean()
    return row


def lists_of(pair: Pair, own: int, known: frozenset[str], folder: Path) -> dict[str, Lexicon]:
    """The training list, without `known` words, and the gold list of a direction, where there are any."""
    if own == 0:
        found = {"": pair.training_in(folder), "_gold": pair.gold_in(folder)}
    else:
        lists, way = pair.gold[0].parent, f"{pair.target}-{pair.source}"
        found = {"": lists / f"{way}.0-5000.txt", "_gold": lists / f"{way}.5000-6500.txt"}
    read = {
        end: read_lexicon(path).pairs for end, path in found.items() if path is not None and path.exists()
    }
    return {end: Lexicon(tuple(one for one in pairs if one[0] not in known)) for end, pairs in read.items()}


def answered(
    space: Space, pair: Pair, words: str, draw: int, trees: Path | None
) -> Iterator[tuple[AnswerTable, ExpectedPrecision, Sides] | None]:
    """The answers of both directions, those of the space or of its most frequent words without pairs."""
    sides = space.vectors(pair.source), space.vectors(pair.target)
    if words == ALL:
        for way in (sides, sides[::-1]):
            table = space.answers(way[0].language, way[1].language)
            expected = None if table is None else ExpectedPrecision.of_report(table.report)
            yield None if table is None or expected is None else (table, expected, way)
        return
    few = sides[0].most_frequent(int(words)), sides[1].most_frequent(int(words))
    pretrained = read_pretrained() if trees is None else read_pretrained(trees)
    found = learn_answers(
        (few[0].words, few[1].words), (np.array(few[0].matrix), np.array(few[1].matrix)),
        rng=np.random.default_rng(draw), pretrained=pretrained,
    )  # fmt: skip
    for one, way in zip(found, (few, few[::-1]), strict=True):
        table = replace(one.answers, report=one.report.as_json())
        expected = ExpectedPrecision.of(frequent_probability(table))
        yield None if one.report.by == "csls" else (table, expected, way)


def rows(asked: argparse.Namespace) -> Iterator[Row]:
    """The rows of all spaces."""
    without = {name: Path(path) for name, path in (one.split("=") for one in asked.without)}
    for name in asked.pairs.split(","):
        pair, trees = find_pair(name, asked.shared), without.get(name)
        for help_, draw in product(asked.help_given.split(","), numbers(asked.draws)):
            given = None
            if help_ != NONE:
                given = write_draw(pair, pair.vectors(), help_, draw, asked.spaces)
            space = made(pair, given, asked.spaces / f"{name}.{help_}.{draw}", draw, trees)
            known = read_lexicon(given).pairs if given else ()
            for own, one in enumerate(answered(space, pair, asked.words, draw, trees)):
                if one is None:
                    continue
                table, expected, way = one
                lists = lists_of(pair, own, frozenset(pair[own] for pair in known), asked.spaces)
                row = measured(table, expected, way, lists, by_frequency=not pair.split)
                row |= {"by": table.report["by"], "held_out": table.report.get("held_out_p_at_1", "")}
                yield row | {"pair": name, "help": help_, "draw": draw, "commit": commit(), "date": today()}


def languages(rows: Sequence[Row]) -> list[str]:
    """All languages but English, which is on one side of most pairs."""
    return sorted({one for row in rows for one in (row["source"], row["target"])} - {"en"})


def groups_of(row: Row) -> tuple[str, ...]:
    """What a row is counted under: its languages, whether pairs were given, and all."""
    return row["source"], row["target"], GIVEN[row["help"] == NONE], "all"


def error_of(rows: Sequence[Row]) -> float:
    """The root mean square, in log odds, of the estimates against `rarer`."""
    known = [(float(row["rarer"]), float(row["expected"])) for row in rows if row["rarer"]]
    return float(np.sqrt(np.mean([(log_odds_of(true) - log_odds_of(one)) ** 2 for true, one in known])))


def errors(path: Path) -> None:
    """Prints the error in log odds, and how far off the estimates are for each language."""
    found = [row for row in read_rows(path) if row["expected"]]
    for given in GIVEN.values():
        print(f"{error_of([row for row in found if given in groups_of(row)]):.3f} {given}, in log odds")
    print()
    columns = (
        "estimates",
        "mean absolute error",
        "of the plain mean",
        "in the interval",
        "in that of others",
    )
    header(("language", "list", *columns, "calibration error", "of right probabilities"))
    for name, on, end in (("training", "rarer", ""), ("gold", "p_at_1_gold", "_gold")):
        for language in (*languages(found), *GIVEN.values(), "all"):
            of = [row for row in found if row[on] and language in groups_of(row)]
            if not of:
                continue
            kept = (on, "expected", "probability", "low", "high", f"calibration_error{end}", f"noise{end}")
            values = np.array([[float(row[key]) for key in kept] for row in of])
            true, expected, plain, low, high, calibration, noise = values.T
            off = [100 * abs(true - one).mean() for one in (expected, plain)]
            others = [row for row in found if language not in (row["source"], row["target"])]
            error = {
                given: error_of([row for row in others if given in groups_of(row)])
                for given in GIVEN.values()
            }
            odds = np.log(values[:, :2] / (1 - values[:, :2]))
            width = WIDTH * np.array([error[groups_of(row)[2]] for row in of])
            inside = (low <= true) & (true <= high), abs(odds[:, 0] - odds[:, 1]) <= width
            shares = (f"{100 * one.mean():.0f} %" for one in inside)
            medians = (f"{np.median(one):.3f}" for one in (calibration, noise))
            figures = (*(f"{one:.1f}" for one in off), *shares, *medians)
            table_row([language, name, len(of), *figures])


def main() -> None:
    """Measures, or prints the errors."""
    asked = command_line(
        __doc__, out=NEEDED, spaces=(Path("spaces"), "folder of the spaces"), pairs=PAIRS, help_given=NONE,
        draws="0", words=(ALL, "of either language"), without=REPEATED,
        errors=(False, "print those of --out"), shared=SHARED, threads=2,
    )  # fmt: skip
    if asked.errors:
        errors(asked.out)
        return
    asked.spaces.mkdir(parents=True, exist_ok=True)
    set_threads(asked.threads)
    append_rows(asked.out, COLUMNS, rows(asked))


if __name__ == "__main__":
    main()
