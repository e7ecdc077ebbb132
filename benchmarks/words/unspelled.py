"""What is gained over CSLS where spelling says nothing: the words of the target are random strings.

    python -m benchmarks.words.unspelled --spaces FOLDER --out FILE.csv [--pairs en-fr,en-de,en-it]
        [--list development,test] [--draw 0] [--without en-fr=FILE.npz,...] [--threads 2] [--shared ../shared]

FOLDER has the space of each pair, aligned without pairs with the seed --draw, as PAIR.none. Only its vectors
and the ranks of its words are left to choose by, in both directions. P@1 on the training list, on the list
`5000-6500`, or on both; back, the pairs of the same list are read from the right. Intervals are those of the
paired bootstrap over the queries.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.options import NEEDED, REPEATED, command_line
from benchmarks.support.pairs import SHARED, find_pair
from benchmarks.support.tables import append_rows, commit, today
from benchmarks.words.all_evidence import calibration_error
from benchmarks.words.pretrained import known, sides
from muse.evaluation.score import bootstrap_mean
from muse.files import read_lexicon
from muse.ranking.candidates import NeighbourLists
from muse.ranking.model import PRETRAINED, csls_answers, read_pretrained
from muse.ranking.train_ranker import learn_answers
from muse.search.exact import set_threads
from muse.vectors import Numbers

LETTERS = np.array([*"abcdefghijklmnopqrstuvwxyz"])
SHORTEST, LONGEST = 3, 10
COLUMNS = (
    "pair", "draw", "direction", "list", "queries", "by", "csls", "evidence", "difference", "low", "high",
    "probability", "calibration_error", "commit", "date",
)  # fmt: skip


def random_strings(count: int, rng: np.random.Generator) -> list[str]:
    """So many different strings of letters."""
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(rng.choice(LETTERS, rng.integers(SHORTEST, LONGEST)))] = None
    return list(found)


def measured(name: str, trees: Path, asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A row for each list and direction of a pair."""
    pair = find_pair(name, asked.shared)
    source, target = sides(pair, asked.spaces / f"{name}.none")
    words = [*source.words], random_strings(len(target), np.random.default_rng(0))
    rows = np.asarray(source.matrix), np.asarray(target.matrix)
    found = learn_answers(words, rows, rng=np.random.default_rng(0), pretrained=read_pretrained(trees))
    lists = NeighbourLists.of(*rows)
    for kind in asked.list.split(","):
        path = pair.gold_in(asked.spaces) if kind == "test" else pair.must_train_in(asked.spaces)
        gold = known([*read_lexicon(path).pairs], source, target)
        ways = zip(("there", "back"), found, (lists, lists.reversed()), (gold, gold[:, ::-1]), strict=True)
        for direction, chosen, of, pairs in ways:
            answers = chosen.answers.first(), csls_answers(of).first()
            queries = np.unique(pairs[:, 0])
            right, by_csls = (_are(one[queries], queries, pairs) for one in answers)
            low, high = bootstrap_mean(right - by_csls, np.random.default_rng(0))
            probability = chosen.answers.probability[chosen.answers.pointers[queries]].astype(np.float64)
            yield {
                "pair": name, "draw": asked.draw, "direction": direction, "list": path.name,
                "queries": len(queries), "by": chosen.report.by,
                "csls": 100 * by_csls.mean(), "evidence": 100 * right.mean(),
                "difference": 100 * (right - by_csls).mean(), "low": 100 * low, "high": 100 * high,
                "probability": 100 * probability.mean(),
                "calibration_error": calibration_error(probability, right > 0),
                "commit": commit(), "date": today(),
            }  # fmt: skip


def _are(answers: Numbers, queries: Numbers, pairs: Numbers) -> NDArray[np.float64]:
    """1 for each query (q,) whose answer (q,) makes one of the pairs (p, 2), else 0."""
    gold = {*map(tuple, pairs.tolist())}
    return np.array([pair in gold for pair in zip(queries.tolist(), answers.tolist(), strict=True)], float)


def main() -> None:
    """Measures and writes a row a direction."""
    asked = command_line(
        __doc__, spaces=NEEDED, out=NEEDED, pairs="en-fr,en-de,en-it", list="development", draw=0,
        without=REPEATED, threads=2, shared=SHARED,
    )  # fmt: skip
    set_threads(asked.threads)
    without = dict(one.split("=") for one in asked.without)
    for name in asked.pairs.split(","):
        append_rows(asked.out, COLUMNS, measured(name, Path(without.get(name, PRETRAINED)), asked))


if __name__ == "__main__":
    main()
