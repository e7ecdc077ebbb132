"""The expected share of right first translations against P@1, and the error of `muse.ranking.expected`.

    python -m benchmarks.words.expected --spaces FOLDER --out FILE.csv [--pairs en-fr,en-it]
        [--help-given none,5000] [--draws 0] [--variants 5000,30000:third] [--shared ../shared] [--threads 2]
    python -m benchmarks.words.expected --out FILE.csv --errors

Each space is aligned once and kept in FOLDER (benchmarks/words/all_evidence.py), and its answers are chosen
without pairs in each of its VARIANTS: with fewer words, a random half or third of them, noise in the vectors
(in lengths of a row), or random strings in place of the target's words. `probability` is the estimate;
`mutual` and `gain` of the verdict are what else is known. P@1 is on the gold list (`p_at_1_gold`) and, where
no pairs were given, on the training list: `p_at_1` is the mean over BANDS of ranks, which the list covers
unevenly. `--errors` reads the file and prints how far off the estimate is, and a regression of P@1 on
training lists on all that is known, with one language left out of the regression at a time.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from benchmarks.support.draws import NONE, write_draw
from benchmarks.support.kept_rows import read_rows
from benchmarks.support.options import NEEDED, command_line
from benchmarks.support.pairs import SHARED, Pair, find_pair, known_targets
from benchmarks.support.tables import append_rows, commit, header, numbers, today
from benchmarks.support.tables import row as table_row
from benchmarks.words.all_evidence import calibration_error, made
from muse.alignment import Alignment
from muse.files import read_lexicon
from muse.learn.bilingual import normalise_in_place
from muse.learn.pair import LanguagePair
from muse.learn.verdict import judge
from muse.normalise import DEFAULT_STEPS, normalise
from muse.ranking.expected import FREQUENT, ExpectedPrecision, frequent_probability, log_odds_of
from muse.ranking.model import read_pretrained
from muse.ranking.train_ranker import learn_answers
from muse.search.exact import set_threads
from muse.space import Space
from muse.space.derived import AnswerTable
from muse.vectors import Vectors

PAIRS = "en-fr,en-de,en-it,web-fr-en,zhang-glove-es-en,zhang-glove-it-en,en-ru,ru-en"
VARIANTS = "30000,10000,30000:third,10000:third,5000,5000:half,5000:noise0.5,5000:noise1,5000:strings,2500"
MOST_GAIN = 3.0  # beyond, the gain rests on a handful of pairs
PARTS = {"half": 2, "third": 3}
LETTERS = tuple("bcdfghjklmnpqrstvwxz")
BANDS, LEAST_IN_BAND = 5, 10  # of the ranks up to FREQUENT, and queries in each; one may lack them
LEAST_QUERIES = 100  # of a list that errors are measured on
RIDGE = 1.0  # of each weight but that of the mean probability, which is drawn to 1
COLUMNS = (
    "pair", "help", "draw", "variant", "source", "target", "words", "verdict", "by", "probability", "mutual",
    "gain", "queries", "p_at_1", "query_probability", "queries_gold", "p_at_1_gold", "query_probability_gold",
    "calibration_error_gold", "commit", "date",
)  # fmt: skip
Row = dict[str, Any]
Sides = tuple[Vectors, Vectors]


def varied(sides: Sides, variant: str, rng: np.random.Generator) -> Sides:
    """The rows in the shared space (n, k) and (m, k) of a variant, the most frequent words first."""
    count, *changes = variant.split(":")
    found = [side.most_frequent(int(count)) for side in sides]
    for change in changes:
        if change in PARTS:
            kept = [np.sort(rng.permutation(len(side))[: len(side) // PARTS[change]]) for side in found]
            found = [side.chosen(rows) for side, rows in zip(found, kept, strict=True)]
        elif change.startswith("noise"):
            found = [_noisy(side, float(change.removeprefix("noise")), rng) for side in found]
        else:
            found[1] = _renamed(found[1], np.random.default_rng(3))
    return found[0], found[1]


def _noisy(side: Vectors, level: float, rng: np.random.Generator) -> Vectors:
    noise = rng.normal(0, level / np.sqrt(side.dimension), side.matrix.shape)
    return Vectors(
        side.language, side.words, normalise((side.matrix + noise).astype(np.float32), ["unit"])[0]
    )


def _renamed(side: Vectors, rng: np.random.Generator) -> Vectors:
    strings = dict[str, None]()
    while len(strings) < len(side):
        strings["".join(rng.choice(LETTERS, rng.integers(3, 9)))] = None
    return Vectors(side.language, tuple(strings), np.asarray(side.matrix))


def measured(space: Space, pair: Pair, variant: str, folder: Path, known: frozenset[str]) -> Iterator[Row]:
    """The row of each direction of a variant; `known` are the source words whose pairs were given."""
    rng, languages = np.random.default_rng(0), (pair.source, pair.target)
    whole = space.vectors(pair.source), space.vectors(pair.target)
    kept = varied(whole, variant.split(":strings")[0], np.random.default_rng(11))  # with their own words
    sides = varied(whole, variant, np.random.default_rng(11))
    gain = _gain(sides)
    rows = np.asarray(sides[0].matrix), np.asarray(sides[1].matrix)
    found = learn_answers((sides[0].words, sides[1].words), rows, rng=rng, pretrained=read_pretrained())
    for own, other in ((0, 1), (1, 0)):
        report, table = found[own].report, found[own].answers
        row: Row = {"variant": variant, "source": languages[own], "target": languages[other]}
        row |= {"words": len(sides[own]), "by": report.by}
        if report.by == "csls":
            yield row
            continue
        first, back = (found[side].answers.first() for side in (own, other))
        mutual = float(((first >= 0) & (back[first] == np.arange(len(first))))[:FREQUENT].mean())
        probability = frequent_probability(table)
        row |= {"probability": probability, "mutual": mutual, "gain": gain}
        for path, end in _lists(pair, own, folder):
            if end or not known:
                row |= _on_list(table, (kept[own], kept[other]), path, end)
        yield row


def _gain(sides: Sides) -> float:
    """The gain of the verdict on rows that are mapped already."""
    source, target = (
        normalise_in_place(Vectors(side.language, side.words, np.array(side.matrix)), DEFAULT_STEPS)[0]
        for side in sides
    )
    identity = Alignment(np.eye(source.dimension, dtype=np.float32))
    return judge(LanguagePair(source, target), identity, np.random.default_rng(0)).gain


def _lists(pair: Pair, own: int, folder: Path) -> Iterator[tuple[Path, str]]:
    """The training list and the gold list of a direction, where there are any."""
    if own == 0 and pair.training is not None:
        yield pair.training_in(folder) or pair.training, ""
    if own == 0:
        yield pair.gold_in(folder), "_gold"
    lists = pair.gold[0].parent
    for part, end in (("0-5000", ""), ("5000-6500", "_gold")):
        path = lists / f"{pair.target}-{pair.source}.{part}.txt"
        if own and path.exists():
            yield path, end


def _on_list(table: AnswerTable, sides: Sides, path: Path, end: str) -> Row:
    gold = known_targets(read_lexicon(path), *sides)
    queries = np.array(sorted(gold))
    columns, _, shares = table.padded(queries)
    right = np.array([best in gold[row] for row, best in zip(queries.tolist(), columns[:, 0], strict=True)])
    probability = shares[:, 0].astype(np.float64)
    found = {f"queries{end}": len(queries), f"query_probability{end}": probability.mean()}
    if not end:
        return found | {"p_at_1": banded(queries, right, min(FREQUENT, len(table)))}
    error = calibration_error(probability, right)
    return found | {"p_at_1_gold": right.mean(), "calibration_error_gold": error}


def banded(queries: NDArray[np.int64], right: NDArray[np.bool_], words: int) -> float | str:
    """The mean P@1 of bands of ranks up to `words`; empty where queries (q,) are in too few of them."""
    band = queries * BANDS // words
    found = [right[band == one].mean() for one in range(BANDS) if (band == one).sum() >= LEAST_IN_BAND]
    return float(np.mean(found)) if len(found) >= BANDS - 1 else ""


def rows(asked: argparse.Namespace) -> Iterator[Row]:
    """The rows of all spaces."""
    for name in asked.pairs.split(","):
        pair = find_pair(name, asked.shared)
        for help_ in asked.help_given.split(","):
            for draw in numbers(asked.draws):
                given = None
                if help_ != NONE:
                    given = write_draw(pair, pair.vectors(), help_, draw, asked.spaces)
                space = made(pair, given, asked.spaces / f"{name}.{help_}.{draw}", draw, None)
                known = frozenset(one[0] for one in read_lexicon(given).pairs) if given else frozenset()
                label = space.manifest.verdict.label
                for variant in asked.variants.split(","):
                    for row in measured(space, pair, variant, asked.spaces, known):
                        row |= {"pair": name, "help": help_, "draw": draw, "verdict": label}
                        yield row | {"commit": commit(), "date": today()}


# The errors


def known_of(rows: Sequence[Row]) -> NDArray[np.float64]:
    """What the estimate is linear in, beside a constant: (n, 4)."""
    return np.array([
        [1.0, log_odds_of(float(r["probability"])), log_odds_of(float(r["mutual"])),
         min(max(float(r["gain"]), 0.0), MOST_GAIN)] for r in rows
    ])  # fmt: skip


def fitted(rows: Sequence[Row]) -> NDArray[np.float64]:
    """The constant and the weights (4,), none of which is negative: more evidence never means less."""
    x, y = known_of(rows), np.array([log_odds_of(float(r["p_at_1"])) for r in rows])
    signed = np.hstack([x, -x[:, :1]])  # the constant alone may be negative
    prior, drawn_to = np.sqrt(RIDGE) * np.eye(5)[1:4], np.sqrt(RIDGE) * np.eye(3)[0]
    weights, _ = nnls(np.vstack([signed, prior]), np.append(y, drawn_to))
    return np.asarray(np.append(weights[0] - weights[4], weights[1:4]))


def left_out(rows: Sequence[Row], on: str) -> Iterator[tuple[str, Row, float]]:
    """Each language, and each of its rows with a P@1 `on` a list: its log odds by a fit to other languages.

    English, on one side of most pairs, stays.
    """
    for language in languages(rows):
        others = [row for row in rows if row["p_at_1"] and language not in (row["source"], row["target"])]
        weights = fitted(others)
        for row in rows:
            queries = int(row["queries_gold"] or 0) if on == "p_at_1_gold" else LEAST_QUERIES
            known = row[on] and queries >= LEAST_QUERIES
            if known and language in (row["source"], row["target"]):
                yield language, row, float(known_of([row])[0] @ weights)


def languages(rows: Sequence[Row]) -> list[str]:
    """All languages but English."""
    return sorted({one for row in rows for one in (row["source"], row["target"])} - {"en"})


def errors(path: Path) -> None:
    """Prints the error in log odds, and how far off the estimates are for each language left out."""
    rows = [row for row in read_rows(path) if row["probability"]]
    known = [(float(row["p_at_1"]), float(row["probability"])) for row in rows if row["p_at_1"]]
    apart = np.array([log_odds_of(true) - log_odds_of(one) for true, one in known])
    print(
        f"{len(known)} on training lists: ERROR = {np.sqrt((apart**2).mean()):.3f}, mean {apart.mean():.3f}\n"
    )
    header(("language", "list", "estimates", "mean absolute error", "of the regression", "in the interval"))
    for name, on in (("training", "p_at_1"), ("gold", "p_at_1_gold")):
        found = list(left_out(rows, on))
        for language in (*languages(rows), "all"):
            of = [(row, x) for own, row, x in found if language in (own, "all")]
            if not of:
                continue
            pairs = ((float(row[on]), float(row["probability"]), 1 / (1 + np.exp(-x))) for row, x in of)
            true, plain, regressed = np.array(list(pairs)).reshape(-1, 3).T
            bounds = np.array([ExpectedPrecision.of(one).ci95 for one in plain]).reshape(-1, 2) / 100
            inside = (bounds[:, 0] <= true) & (true <= bounds[:, 1])
            off = (f"{100 * abs(true - one).mean():.1f}" for one in (plain, regressed))
            table_row([language, name, len(of), *off, f"{100 * inside.mean():.0f} %"])


def main() -> None:
    """Measures, or prints the errors."""
    asked = command_line(
        __doc__, out=NEEDED, spaces=(Path("spaces"), "folder of the spaces"), pairs=PAIRS, help_given=NONE,
        draws="0", variants=VARIANTS, errors=(False, "print those of --out"), shared=SHARED, threads=2,
    )  # fmt: skip
    if asked.errors:
        errors(asked.out)
        return
    asked.spaces.mkdir(parents=True, exist_ok=True)
    set_threads(asked.threads)
    append_rows(asked.out, COLUMNS, rows(asked))


if __name__ == "__main__":
    main()
